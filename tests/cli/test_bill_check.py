"""``geobill bill`` and ``geobill bill check`` on the command line: options, exit codes, answers."""

import pytest
from workspaces import done, geobill

MONTH = ("--month", "2026-11")
LOOK = ("bill", "check", *MONTH)
ISSUE = ("bill", *MONTH, "--issued-on", "2026-12-01")


def test_help_shows_both():
    answer = geobill("bill", "--help")
    assert answer.code == 0
    for shown in ("--draft", "--month", "--issued-on", "--due", "--out", "--by", "check"):
        assert shown in answer.out
    assert "--note" in geobill("bill", "check", "--help").out


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("bill",), "Missing option '--month'"),
        (("bill", "--json"), "Missing option '--month'"),
        (("bill", "--draft"), "Missing option '--month'"),
        (("bill", "check"), "Missing option '--month'"),
        (("bill", "audit"), "No such command 'audit'"),
        (("bill", *MONTH, "check", *MONTH), "--month before check: write options after its name"),
        (("bill", "--by", "Ana", "check", *MONTH), "--by before check"),
        (("bill", "--draft", *MONTH, "--due", "2026-12-15"), "a draft is neither issued nor due"),
        (("bill", "--draft", *MONTH, "--issued-on", "2026-12-01"), "a draft is neither issued nor due"),
        (("bill", "check", *MONTH, "--note", "certo"), "name who checked with --by NAME"),
    ],
)
def test_a_command_line_that_is_wrong(workspace, command, said):
    answer = geobill(*command, workspace=workspace)
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err


def test_json_and_workspace_before_and_after_the_name(workspace):
    expected = done(*LOOK, workspace=workspace)
    assert set(expected) == {"month", "previous", "digest", "drafted", "checked", "unpriced", "operators"}
    at = ("-w", workspace)
    for command in (
        ("--json", *at, *LOOK),
        ("bill", "--json", *at, "check", *MONTH),
        (*LOOK, "--json", *at),
        (*at, "bill", "--json", "check", *MONTH),
    ):
        assert geobill(*command).json == expected
    issued = geobill("--json", *at, *ISSUE).json
    assert geobill(*ISSUE, *at, "--json").json["operators"] == issued["operators"]


def test_the_workspace_of_one_command_isnt_that_of_the_next(workspace, tmp_path):
    assert geobill("bill", "-w", workspace, "check", *MONTH).code == 0
    answer = geobill("bill", "check", *MONTH, env={"GEOBILL_WORKSPACE": str(tmp_path)})
    assert answer.code == 1
    assert "is no geobill workspace" in answer.err


def test_what_bill_check_answers(workspace):
    looked = done(*LOOK, workspace=workspace)
    assert (looked["month"], looked["previous"]) == ("2026-11", "2026-10")
    assert looked["drafted"] is None is looked["checked"]
    drafted = done("bill", *MONTH, "--draft", "--by", "Ana", workspace=workspace)["drafted"]
    assert drafted == {"by": "Ana", "at": drafted["at"], "digest": looked["digest"], "note": ""}
    checked = done(*LOOK, "--by", "Bia", "--note", "ok", workspace=workspace)
    assert checked["drafted"] == drafted
    assert checked["checked"] == {"by": "Bia", "at": checked["checked"]["at"], "digest": looked["digest"], "note": "ok"}
    alfa = checked["operators"][0]
    assert set(alfa) == {"operator", "previous_total", "total", "difference", "issued", "causes"}
    assert set(alfa["causes"][0]) == {"cause", "segments", "length_m", "amount", "examples"}
    assert all(isinstance(alfa[k], str) for k in ("previous_total", "total", "difference"))
    assert all(isinstance(c[k], str) for c in alfa["causes"] for k in ("length_m", "amount"))


def test_what_a_person_reads(workspace):
    said = geobill(*LOOK, workspace=workspace).out
    assert "2026-11: no draft" in said
    assert "not checked: no check stands for these figures" in said
    assert "beside 2026-10:" in said
    drafted = geobill("bill", *MONTH, "--draft", "--by", "Ana", workspace=workspace).out
    assert "draft without number alfa: R$" in drafted
    assert "drafted by Ana, nothing issued; next: geobill bill check --month 2026-11 --by NAME" in drafted
    assert "(not issued; priced now) -> R$" in drafted
    checked = geobill(*LOOK, "--by", "Bia", workspace=workspace).out
    assert "conferido por Bia em " in checked
    rows = [line for line in checked.splitlines() if line.startswith("    ")]
    new = next(
        r for r in rows if "new segments" in r
    )  # A2 of alfa: from 16 November, 50 × 0.50 × 10.50 × 0.015 × 15/30
    assert new.split() == ["+1.97", "new", "segments", "1", "(A2),", "50.00", "m"]


def test_words_are_there_for_every_cause():
    from geobill.billing.compare import CAUSES
    from geobill.cli.bill import CAUSES as WORDS

    assert set(WORDS) == set(CAUSES)


def test_bill_says_who_checked(workspace):
    done("bill", *MONTH, "--draft", "--by", "Ana", workspace=workspace)
    assert done(*ISSUE, workspace=workspace)["checked"] is None  # the settings ask for nobody
