"""geobill.toml: what is broken is named with what to do; what a person wrote in it stays."""

import pytest
from workspaces import done, geobill

from geobill.errors import GeobillError
from geobill.store import settings as settings_room
from geobill.store.settings import read_settings, set_policy, write_settings


@pytest.fixture
def path(tmp_path):
    made = tmp_path / "geobill.toml"
    write_settings(made, "caieiras-lei-3057-2001")
    return made


def change(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


BOX = "[-46.8232, -23.4268, -46.6545, -23.3262]"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[municipality]", "[municipality", "can't be read"),
        ("[municipality]\n", "[municipio]\n", "has municipio, which geobill doesn't know"),
        ('[statute]\nname = "caieiras-lei-3057-2001"', "", r"lacks the section \[statute\]"),
        ('[statute]\nname = "caieiras-lei-3057-2001"', "[statute]", r"\[statute\] lacks name"),
        ('state = "SP"\n', "", r"\[municipality\] lacks state"),
        ('state = "SP"\n', 'state = "São Paulo"\n', "state = 'São Paulo' is none of AC AL"),
        ('crs = "EPSG:31983"\n', "", r"\[municipality\] lacks crs"),
        ('"EPSG:31983"', '"31983"', "no projected system in metres"),
        ('"EPSG:31983"', '"EPSG:4674"', "no projected system in metres"),
        ('"EPSG:31983"', '"EPSG:2229"', "no projected system in metres"),
        ('"EPSG:31983"', '"EPSG:999999"', "no projected system in metres"),
        ('"EPSG:31983"', "31983", "no projected system in metres"),
        (BOX, "[-46.8232, -23.4268, -46.6545]", "bbox takes four numbers"),
        (BOX, "[-46.6545, -23.4268, -46.8232, -23.3262]", "bbox takes four numbers"),
        (BOX, "[313000, 7408000, 331000, 7419000]", "bbox takes four numbers in degrees"),
        (BOX, '["-46.8232", "-23.4268", "-46.6545", "-23.3262"]', "bbox takes four numbers"),
        (BOX, "[nan, nan, nan, nan]", "bbox takes four numbers"),
        (BOX, '"Caieiras"', "bbox takes four numbers"),
        ("margin_m = 500", 'margin_m = "500 m"', "margin_m takes metres"),
        ("margin_m = 500", "margin_m = -1", "margin_m takes metres"),
        ("margin_m = 500", "margem_m = 500", r"\[municipality\] has margem_m.*Known: bbox, crs, margin_m"),
        ('mayor = ""', 'prefeito = ""', r"\[authority\] has prefeito.*mayor"),
        ("local_holidays = []", 'local_holidays = "12-14"', "local_holidays takes a list"),
        ("local_holidays = []", 'local_holidays = ["14/12"]', "'14/12' in local_holidays is no day"),
        ("local_holidays = []", 'local_holidays = ["02-30"]', "'2000-02-30' is not a date"),
        ("local_holidays = []", 'local_holidays = ["2026-W48-1"]', "is no day: write MM-DD"),
        ("local_holidays = []", 'local_holiday = ["12-14"]', r"\[calendar\] has local_holiday, which"),
        ("carnival_without_banking = true", 'carnival_without_banking = "false"', "takes true or false"),
        ("second_person = false", 'second_person = "sim"', "second_person takes true or false, without quotes"),
        ("second_person = false", "duas_pessoas = true", r"\[billing\] has duas_pessoas.*Known: second_person"),
        ("[policy]\n", "[policy]\nmax_gap = 20\n", "no policy key 'max_gap'. Did you mean 'max_gap_m'"),
        ("[policy]\n", '[policy]\non_border = "lowest"\n', "Allowed: lower, higher, mean"),
        ("[policy]\n", "[policy]\nmax_gap_m = true\n", "give metres as a number"),
        ("[policy]\n", '[policy]\nreducer_method = "gradual"\n', "Allowed: whole, graduated"),
        ("[policy]\n", '[policy]\nlimitation_years = "ages"\n', "Allowed: years, 1 to 100, none"),
        ("[policy]\n", "", None),
    ],
)
def test_a_broken_entry_is_named(path, old, new, said):
    change(path, old, new)
    if said is None:
        assert read_settings(path).policy_given == {}
        return
    with pytest.raises(GeobillError, match=said):
        read_settings(path)


@pytest.mark.parametrize("line", ["policy = 3", "calendar = 3"])
def test_a_section_that_is_no_section_is_refused(tmp_path, path, line):
    section = line.split()[0]
    text = path.read_text(encoding="utf-8")
    head, _, tail = text.partition(f"[{section}]\n")
    rest = tail[tail.index("\n[") :] if "\n[" in tail else ""
    path.write_text(f"{line}\n{head}{rest}", encoding="utf-8")
    with pytest.raises(GeobillError, match=rf"lacks the section \[{section}\]"):
        read_settings(path)


@pytest.mark.parametrize(
    "content", [b"\xff\xfe[\x00m\x00", '[municipality]\nname = "Caieiras"'.encode("utf-16"), b"\x00" * 50]
)
def test_a_file_that_is_no_toml_is_refused(path, content):
    path.write_bytes(content)
    with pytest.raises(GeobillError, match=r"can't be read.*(Correct it|restore)"):
        read_settings(path)


def test_an_unknown_statute_lists_the_known_ones(tmp_path):
    done("init", tmp_path / "ws")
    change(tmp_path / "ws" / "geobill.toml", 'name = "caieiras-lei-3057-2001"', 'name = "caieiras-lei-1"')
    answer = geobill("price", "--month", "2026-11", workspace=tmp_path / "ws")
    assert answer.code == 1
    assert "caieiras-lei-3057-2001" in answer.err


def test_values_are_read_in_any_form_that_toml_has(path):
    change(
        path, "[policy]\n", '[policy]\nmax_gap_m = 12.5\nclandestine_counts_in_reducer = true\nrounding = "half_even"\n'
    )
    change(path, "local_holidays = []", 'local_holidays = ["12-14", 2026-11-20]')
    read = read_settings(path)
    assert read.policy.as_text()["max_gap_m"] == "12.5"
    assert read.policy.clandestine_counts_in_reducer is True
    assert read.calendar.local_holidays == ("12-14", "2026-11-20")


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "BOM"])
@pytest.mark.parametrize("ends", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
def test_policy_set_keeps_everything_else_as_it_was(path, mark, ends):
    before = mark + path.read_bytes().replace(b"\n", ends)
    path.write_bytes(before)
    assert set_policy(path, "max_gap_m", "5") == "5"
    assert path.read_bytes() == before + b'max_gap_m = "5"' + ends
    set_policy(path, "max_gap_m", "7.50")
    set_policy(path, "on_border", "mean")
    assert path.read_bytes() == before + b'max_gap_m = "7.50"' + ends + b'on_border = "mean"' + ends
    assert read_settings(path).policy_given == {"max_gap_m": "7.50", "on_border": "mean"}


def test_policy_set_keeps_a_comment_beside_the_value(path):
    change(path, "[policy]\n", "[policy]\nmax_gap_m = 20 # parecer 31/2026\n")
    set_policy(path, "max_gap_m", "8")
    assert 'max_gap_m = "8" # parecer 31/2026\n' in path.read_text(encoding="utf-8")


def test_policy_set_adds_the_section_where_it_is_missing(path):
    change(path, "[policy]\n", "")
    set_policy(path, "on_overlap", "lower")
    assert read_settings(path).policy.on_overlap == "lower"


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_policy_set_is_whole_or_not_at_all(path, monkeypatch, step):
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(*((settings_room.os, step) if step == "fsync" else (type(path), step)), full)
    with pytest.raises(GeobillError, match="can't be written: No space left on device"):
        set_policy(path, "on_overlap", "lower")
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == ["geobill.toml"]


def test_policy_set_touches_no_file_that_it_cannot_read(path):
    change(path, "[statute]", "[statute")
    before = path.read_bytes()
    with pytest.raises(GeobillError, match="can't be read"):
        set_policy(path, "on_overlap", "lower")
    assert path.read_bytes() == before


def test_one_person_may_do_everything_unless_the_file_says_otherwise(path):
    assert not read_settings(path).billing.second_person
    change(path, "second_person = false", "second_person = true")
    assert read_settings(path).billing.second_person


def test_a_file_from_before_the_section_is_read_as_it_was(path):
    text = path.read_text(encoding="utf-8")
    path.write_text(text[: text.index("[billing]")] + text[text.index("[policy]") :], encoding="utf-8")
    assert not read_settings(path).billing.second_person
