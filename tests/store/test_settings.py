"""geobill.toml: what is broken is named with what to do; what a person wrote in it stays."""

import pytest
from workspaces import done, geobill

from geobill.domain.dates import BillingMonth
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
        ("margin_m = 500", "margem_m = 500", r"\[municipality\] has margem_m.*Known: bbox, boundary, crs, margin_m"),
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
        ("[policy]\n", "[policy]\nsince = 3\n", r"'since' in \[policy\] holds tables.*2026-07"),
        ("[policy]\n", "[policy.since]\non_border = 'mean'\n", r"'since' in \[policy\] holds tables"),
        ("[policy]\n", "[policy.since.2026-7]\n", r"\[policy.since.2026-7\] names no month"),
        ("[policy]\n", "[policy.since.2026-13]\n", "'2026-13' is not a month"),
        (
            "[policy]\n",
            "[policy.since.2026-07]\nmax_gap = 5\n",
            r"\[policy.since.2026-07\]: There is no policy key 'max_gap'",
        ),
        ("[policy]\n", "[policy.since.2026-07]\non_border = 3\n", r"\[policy.since.2026-07\]: on_border can't be '3'"),
        ("[policy]\n", "[policy.profile]\nx = 3\n", r"'profile' in \[policy\] holds tables"),
        ("[policy]\n", "[policy.profile.x]\nmax_gap = 5\n", r"\[policy.profile.x\]: There is no policy key 'max_gap'"),
        ("[policy]\n", "[policy.outra]\n", "no policy key 'outra'"),
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


# -- dated changes and profiles

JULY, SEPTEMBER = BillingMonth(2026, 7), BillingMonth(2026, 9)
BY_HAND = """[policy]
on_border = "higher"

# decreto 9
[policy.since.2026-09] # de setembro em diante
on_border = "mean"

[policy.since.2026-07]
max_gap_m = 5

[policy.profile.estudo]
reducer_method = "graduated"
"""


def test_a_month_takes_the_changes_up_to_it_whatever_their_order_in_the_file(path):
    change(path, "[policy]\n", BY_HAND)
    read = read_settings(path)
    months = [BillingMonth(2026, m) for m in (6, 7, 8, 9, 12)]
    taken = [(p.on_border, str(p.max_gap_m)) for p in map(read.policy_in, months)]
    assert taken == [("higher", "20"), ("higher", "5"), ("higher", "5"), ("mean", "5"), ("mean", "5")]
    assert list(read.policy_since) == [JULY, SEPTEMBER]
    assert read.policy.on_border == "higher"


def test_a_profile_is_the_policy_with_its_own_values(path):
    change(path, "[policy]\n", BY_HAND)
    read = read_settings(path)
    assert (read.profiles["estudo"].reducer_method, read.profiles["estudo"].on_border) == ("graduated", "higher")
    assert read.policy.reducer_method == "whole"
    in_september = read.policy_in(SEPTEMBER, "estudo")
    assert (in_september.reducer_method, in_september.on_border) == ("graduated", "mean")


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "BOM"])
@pytest.mark.parametrize("ends", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
def test_a_dated_change_keeps_everything_else_as_it_was(path, mark, ends):
    before = mark + path.read_bytes().replace(b"\n", ends)
    path.write_bytes(before)
    set_policy(path, "max_gap_m", "5", SEPTEMBER)
    set_policy(path, "max_gap_m", "7", JULY)
    set_policy(path, "on_border", "mean", SEPTEMBER)
    july = ends.join([b"", b"[policy.since.2026-07]", b'max_gap_m = "7"', b""])
    september = ends.join([b"", b"[policy.since.2026-09]", b'max_gap_m = "5"', b'on_border = "mean"', b""])
    assert path.read_bytes() == before + july + september
    set_policy(path, "rounding", "half_even")
    assert path.read_bytes() == before + b'rounding = "half_even"' + ends + july + september


def test_a_dated_change_stands_in_its_place_and_comments_stay_with_their_tables(path):
    change(path, "[policy]\n", BY_HAND)
    path.write_text(path.read_text(encoding="utf-8") + "\n# fim\n", encoding="utf-8")
    set_policy(path, "on_border", "lower", BillingMonth(2026, 8))
    set_policy(path, "on_border", "higher", SEPTEMBER)
    set_policy(path, "on_border", "lower", BillingMonth(2027, 1))
    text = path.read_text(encoding="utf-8")
    assert text.index("[policy.since.2026-08]") < text.index("# decreto 9\n[policy.since.2026-09] # de setembro")
    assert '[policy.since.2026-09] # de setembro em diante\non_border = "higher"\n' in text
    assert text.endswith('# fim\n\n[policy.since.2027-01]\non_border = "lower"\n')
    assert read_settings(path).policy_in(BillingMonth(2027, 1)).on_border == "lower"


def test_tables_that_stand_apart_are_written_where_they_stand(path):
    text = path.read_text(encoding="utf-8")
    billing, policy = text.index("[billing]"), text.index("# política")
    later = "[policy.since.2026-11]\nrounding = 'half_even' # parecer 3\n"
    apart = f"{text[:billing]}{BY_HAND}\n{text[billing:policy]}{later}"
    path.write_text(apart, encoding="utf-8")
    set_policy(path, "rounding", "half_up", BillingMonth(2026, 11))
    set_policy(path, "same_strip", "once")
    changed = apart.replace("'half_even' # parecer 3", '"half_up" # parecer 3')
    changed = changed.replace('on_border = "higher"\n', 'on_border = "higher"\nsame_strip = "once"\n', 1)
    assert path.read_text(encoding="utf-8") == changed


@pytest.mark.parametrize(
    ("form", "since"),
    [
        ("since = {2026-07 = {on_border = 'mean'}}\n", JULY),
        ("since.2026-07.on_border = 'mean'\n", JULY),
        ('on_border = """\nmean"""\n', None),
    ],
)
def test_a_form_in_which_it_cannot_be_written_is_refused_untouched(path, form, since):
    change(path, "[policy]\n", f"[policy]\n{form}")
    before = path.read_bytes()
    with pytest.raises(GeobillError, match=r'without disturbing.*under the heading \[policy.*on_border = "lower"'):
        set_policy(path, "on_border", "lower", since)
    assert path.read_bytes() == before


def test_an_id_with_signs_of_its_own_is_written_so_that_it_is_read_again(path):
    set_policy(path, "above_100_km", 'D "1" \\ # x')
    assert read_settings(path).policy.above_100_km == 'D "1" \\ # x'
    set_policy(path, "above_100_km", "D2")
    assert path.read_text(encoding="utf-8").endswith('above_100_km = "D2"\n')
