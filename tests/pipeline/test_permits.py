"""The register of permits: acts each once, states that follow them, money, and what imports say about permits."""

import shutil

import pytest
from permit_town import (
    DEPOSIT,
    NETWORK,
    PAPERS,
    add_permit,
    approve,
    grant,
    import_cabinet,
    import_line,
    issue,
    make_town,
    pay_deposit,
    pay_fee,
    refused,
    refused_issue,
    request,
)
from workspaces import done, geobill, write_network

from pipeline.checks import query


@pytest.fixture(scope="module")
def towns(tmp_path_factory):
    """The town empty, with a permit requested, and with it granted; not to be changed."""
    folder = tmp_path_factory.mktemp("permits")
    empty = make_town(folder / "empty")
    requested = shutil.copytree(empty, folder / "requested" / "ws")
    request(requested)
    granted = shutil.copytree(requested, folder / "granted" / "ws")
    grant(granted)
    return {"empty": empty, "requested": requested, "granted": granted}


@pytest.fixture
def town(towns, tmp_path, request):
    """Copy of a town at a stage, to be changed."""
    return shutil.copytree(towns[getattr(request, "param", "requested")], tmp_path / "ws")


def at(stage):
    return pytest.mark.parametrize("town", [stage], indirect=True)


def listed(root, on="2026-11-30", number="P1"):
    permits = done("permit", "list", "--on", on, workspace=root)["permits"]
    return next(p for p in permits if p["number"] == number)


def missing(permit):
    return [m["code"] for m in permit["missing"]]


# -- states


def test_states_follow_the_acts(town):
    assert listed(town)["state"] == "requested"
    approve(town, papers=("works", "legal"))
    assert listed(town)["state"] == "requested"
    approve(town, papers=("mayor",))
    assert (listed(town)["state"], missing(listed(town))) == ("approved", ["deposit", "fee"])
    pay_deposit(town)
    pay_fee(town)
    assert missing(listed(town)) == []
    issue(town)
    assert listed(town)["state"] == "granted"
    done("permit", "remove", "--number", "P1", "--on", "2027-02-10", workspace=town)
    assert (listed(town)["state"], listed(town)["removed_on"]) == ("removed", "2027-02-10")


def test_what_is_planned_stands_from_the_publication_to_the_removal(town):
    def metres(on):
        permit = listed(town, on)
        return permit["planned_m"], permit["standing_m"], permit["planned_m3"], permit["standing_m3"]

    assert metres("2026-11-30") == ("4000.00", "0.00", "1.5", "0")
    grant(town)
    assert metres("2026-11-04") == ("4000.00", "0.00", "1.5", "0")
    assert metres("2026-11-05") == ("0.00", "4000.00", "0", "1.5")
    done("permit", "remove", "--number", "P1", "--on", "2027-02-10", workspace=town)
    assert metres("2027-02-10") == ("0.00", "4000.00", "0", "1.5")
    assert metres("2027-02-11") == ("0.00", "0.00", "0", "0")


def test_rows_themselves_are_never_rewritten(town):
    rows = "SELECT segment, status, installed_on, removed_on, permit FROM segments"
    before = query(town, rows)
    grant(town)
    done("permit", "remove", "--number", "P1", "--on", "2027-02-10", workspace=town)
    assert query(town, rows) == before == [("P1-linha", "planned", None, None, "P1")]


def test_the_whole_file_is_shown(town):
    grant(town)
    shown = done("permit", "show", "--number", "P1", workspace=town)
    assert [(a["kind"], a["on"], a["reference"], a["amount"]) for a in shown["acts"]] == [
        ("works_opinion", "2026-10-05", "Parecer SMO 41/2026", None),
        ("legal_opinion", "2026-10-08", "Parecer SMAJ 12/2026", None),
        ("authorisation", "2026-10-10", "Despacho GP 9/2026", None),
        ("deposit_paid", "2026-10-20", "881", DEPOSIT),
        ("fee_paid", "2026-10-20", "882", "312.40"),
    ]
    assert [(d["number"], d["monthly"]) for d in shown["decrees"]] == [("8.001/2026", "345.00")]
    assert "Parecer SMO 41/2026 Eng. Rui Prado" in geobill("permit", "show", "--number", "P1", workspace=town).out


# -- register


@at("empty")
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--number", "P1", "--operator", "gama"), "There is no operator 'gama'"),
        (("--number", " ", "--operator", "alfa"), "needs a number and an operator"),
        (("--number", "P1", "--operator", "alfa", "--requested-on", "2001-06-26"), "art. 18"),
    ],
)
def test_a_permit_that_cant_be_registered(town, options, said):
    assert said in refused(town, "permit", "add", *options)
    assert query(town, "SELECT count(*) FROM permits") == [(0,)]


def test_a_number_is_registered_once(town):
    assert "registered already" in refused(town, "permit", "add", "--number", "P1", "--operator", "beta")


@pytest.mark.parametrize(
    "command", [("permit", "show", "--number"), ("permit", "remove", "--on", "2026-12-01", "--number")]
)
def test_an_unknown_permit_is_refused(town, command):
    assert "There is no permit 'P9'" in refused(town, *command, "P9")


# -- approval


def test_each_paper_is_recorded_once(town):
    approve(town, papers=("works",))
    said = refused(town, "permit", "approve", "--number", "P1", *PAPERS["legal"], *PAPERS["works"])
    assert "art. 2) is recorded already: Parecer SMO 41/2026 of 2026-10-05" in said
    assert query(town, "SELECT kind FROM permit_acts") == [
        ("works_opinion",)
    ]  # the legal opinion beside it wasn't taken


def test_three_papers_in_one_command_share_a_date(town):
    references = ("--works-opinion", "A", "--legal-opinion", "B", "--mayor-authorisation", "C")
    done(
        "permit",
        "approve",
        "--number",
        "P1",
        *references,
        "--legal-on",
        "2026-10-02",
        "--date",
        "2026-10-03",
        workspace=town,
    )
    assert query(town, "SELECT reference, act_on FROM permit_acts ORDER BY fid") == [
        ("A", "2026-10-03"), ("B", "2026-10-02"), ("C", "2026-10-03"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "give at least one of --works-opinion"),
        (("--works-opinion", "A"), "has no date"),
        (("--works-opinion", " ", "--date", "2026-10-01"), "blank"),
        (("--works-on", "2026-10-01"), "whose reference isn't given"),
        (("--works-opinion", "A", "--date", "2026-08-31"), "before the permit P1 was requested"),
        (("--works-opinion", "A", "--date", "2001-06-26"), "art. 18"),
        (("--works-opinion", "A", "--date", "31/10/2026"), "not a date"),
    ],
)
def test_an_approval_that_is_none(town, options, said):
    assert said in refused(town, "permit", "approve", "--number", "P1", *options)
    assert query(town, "SELECT count(*) FROM permit_acts") == [(0,)]


# -- deposit and emolumentos


def test_the_deposit_is_three_monthly_prices_of_the_day(town):
    asked = done("deposit", "demand", "--permit", "P1", "--on", "2026-10-15", workspace=town)
    by_hand = 3 * (
        4000 * 50 * 400 * 3 * 50 // 1_000_000 + 150 * 150
    )  # cm of width, cents, per cents, tenths of m³: cents
    assert by_hand == 3 * (12000 + 22500)
    assert (asked["amount"], asked["note"]) == ("1035.00", "3 x R$ 345.00")
    assert "demanded on 2026-10-15 already" in refused(
        town, "deposit", "demand", "--permit", "P1", "--on", "2026-10-15"
    )


@at("empty")
def test_no_deposit_without_anything_to_grant_or_beyond_the_law(town):
    add_permit(town)
    assert "art. 3 § 2" in refused(town, "deposit", "demand", "--permit", "P1", "--on", "2026-10-15")
    add_permit(town, "D1", "daec")
    assert "art. 13" in refused(town, "deposit", "demand", "--permit", "D1", "--on", "2026-10-15")


def test_payments_add_up_and_a_receipt_counts_once(town):
    pay_deposit(town, amount="1000.00")
    assert "already for this permit" in refused(
        town, "deposit", "record", "--permit", "P1", "--amount", "35", "--paid-on", "2026-10-21", "--receipt", "881"
    )
    approve(town)
    pay_fee(town)
    pay_deposit(town, amount="35.00", receipt="883")
    assert issue(town)["monthly"] == "345.00"


@pytest.mark.parametrize("amount", ["0", "-5", "1.001", "NaN", "dez", "1e3000", "1_000.00", "1e3", "٣٤٥.00"])
def test_an_amount_that_is_no_payment(town, amount):
    for what in ("deposit", "fee"):
        said = refused(
            town, what, "record", "--permit", "P1", "--amount", amount, "--paid-on", "2026-10-21", "--receipt", "1"
        )
        assert "--amount" in said
    assert query(town, "SELECT count(*) FROM permit_acts") == [(0,)]


@at("granted")
def test_a_deposit_is_released_only_after_the_removal(town):
    release = ("deposit", "release", "--permit", "P1", "--reason", "Rede retirada", "--on")
    assert "art. 3 § 1" in refused(town, *release, "2027-02-20")
    done("permit", "remove", "--number", "P1", "--on", "2027-02-10", workspace=town)
    assert "2027-02-10" in refused(town, *release, "2027-02-09")
    assert done(*release, "2027-02-20", workspace=town)["amount"] == DEPOSIT
    assert "nothing to release" in refused(town, *release, "2027-02-21")


def test_a_deposit_released_before_the_decree_is_missing_again(town):
    approve(town)
    pay_deposit(town)
    pay_fee(town)
    done("deposit", "release", "--permit", "P1", "--on", "2026-10-25", "--reason", "Pedido suspenso", workspace=town)
    assert missing(listed(town)) == ["deposit"]


def test_a_deposit_given_back_carries_no_decree_of_an_earlier_day(town):
    approve(town)
    pay_deposit(town)
    pay_fee(town)
    done("deposit", "release", "--permit", "P1", "--on", "2026-12-01", "--reason", "Desistiu", workspace=town)
    assert "art. 3 §§ 1, 2" in refused_issue(town)


def test_an_amount_is_said_with_its_cents(town):
    assert pay_deposit(town, amount="1035")["amount"] == "1035.00"


def test_a_receipt_that_looks_like_another_is_refused(town):
    pay_deposit(town)
    paid = ("--amount", "1", "--paid-on", "2026-10-21", "--receipt", "881\u200b")
    assert "can't be seen" in refused(town, "deposit", "record", "--permit", "P1", *paid)


@at("granted")
def test_rows_that_name_a_removed_permit_are_found(town):
    done("permit", "remove", "--number", "P1", "--on", "2027-02-10", workspace=town)
    report = import_line(town, "x1", 100, 100, "--permit", "P1")
    assert codes(report) == ["removed_permit"]


@at("granted")
@pytest.mark.parametrize(
    "command",
    [
        ("permit", "approve", "--number", "P1", "--works-opinion", "A", "--date", "2027-03-01"),
        ("permit", "remove", "--number", "P1", "--on", "2027-03-01"),
        ("deposit", "demand", "--permit", "P1", "--on", "2027-03-01"),
        ("deposit", "record", "--permit", "P1", "--amount", "1", "--paid-on", "2027-03-01", "--receipt", "9"),
        ("decree", "draft", "--permit", "P1", "--on", "2027-03-01"),
    ],
)
def test_nothing_is_done_about_a_removed_permit(town, command):
    assert "before the decree's publication" in refused(
        town, "permit", "remove", "--number", "P1", "--on", "2026-11-04"
    )
    done("permit", "remove", "--number", "P1", "--on", "2027-02-10", workspace=town)
    assert "ended with its removal on 2027-02-10" in refused(town, *command)


# -- imports


def codes(report):
    return [f["code"] for f in report["findings"]]


@at("empty")
def test_a_permit_that_nobody_registered_is_found_once_there_is_a_register(town):
    assert codes(import_line(town, "x1", 100, 100, "--permit", "Z9")) == []
    (lines,) = [o["lines"] for o in done("price", "--month", "2026-11", workspace=town)["operators"]]
    assert [line["flags"] for line in lines] == [[]]
    add_permit(town)
    report = import_line(town, "x2", 100, 120, "--permit", "Z9")
    assert codes(report) == ["unknown_permit"]
    assert report["findings"][0]["rows"] == [1]
    (lines,) = [o["lines"] for o in done("price", "--month", "2026-11", workspace=town)["operators"]]
    assert [(line["permit"], line["flags"], line["length_m"]) for line in lines] == [("Z9", ["no_decree"], "200.00")]


@at("empty")
def test_planned_rows_without_a_permit_are_found(town):
    assert codes(import_line(town, "x1", 100, 100, "--status", "planejado")) == ["planned_without_permit"]


def test_another_operators_permit_is_refused_by_name(town):
    file = write_network(town.parent / "b.geojson", ("B1", 0.5, [(0, 100), (50, 100)]))
    said = refused(town, "import", "network", file, "--operator", "beta", *NETWORK, "--permit", "P1")
    assert "Row 1 belongs to beta and names the permit 'P1' of alfa" in said
    assert query(town, "SELECT count(*) FROM batches WHERE operator = 'beta'") == [(0,)]


@at("empty")
def test_a_permit_whose_rows_are_anothers_is_refused(town):
    import_cabinet(town, "e1", 1, "--permit", "P7", operator="beta")
    assert "Stored rows of beta name the permit 'P7'" in refused(
        town, "permit", "add", "--number", "P7", "--operator", "alfa"
    )


@at("granted")
def test_what_is_planned_later_needs_a_permit_of_its_own(town):
    file = write_network(town.parent / "later.geojson", ("L1", 0.5, [(0, 100), (50, 100)]))
    command = ("import", "network", file, "--operator", "alfa", *NETWORK, "--permit", "P1", "--status", "planned")
    assert "granted by 8.001/2026" in refused(town, *command)
    assert "art. 2" in refused(town, *command)


@pytest.mark.parametrize(
    ("word", "status"),
    [
        ("planejado", "planned"),
        ("Planejada", "planned"),
        ("não cadastrado", "unregistered"),
        ("clandestino não cadastrado", "clandestine_unregistered"),
        ("existente", "existing"),
    ],
)
@at("empty")
def test_statuses_in_portuguese(town, word, status):
    import_line(town, "x1", 100, 100, "--status", word)
    assert query(town, "SELECT status FROM segments") == [(status,)]


@at("empty")
def test_a_column_and_an_option_together_are_refused(town):
    file = write_network(town.parent / "x.geojson", ("X1", 0.5, [(0, 100), (50, 100)]))
    for option, value in (("status", "planned"), ("permit", "P1")):
        column = ("--map", f"{option}=situacao", f"--{option}", value)
        said = refused(town, "import", "network", file, "--operator", "alfa", *NETWORK, *column)
        assert f"--{option} {value} and --map {option}=situacao" in said
    assert "--status is 'futuro'" in refused(
        town, "import", "network", file, "--operator", "alfa", *NETWORK, "--status", "futuro"
    )
    assert "--permit is blank" in refused(
        town, "import", "network", file, "--operator", "alfa", *NETWORK, "--permit", " "
    )
