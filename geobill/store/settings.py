"""``geobill.toml``: who issues, where, under which statute and policy."""

import math
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import date
from pathlib import Path
from typing import Any

from geobill.domain.dates import BillingMonth, parse_date
from geobill.domain.network import Authority, Municipality
from geobill.errors import InputError, StoreError
from geobill.law.policy import Policy, check_policy_value, parse_policy
from geobill.store.policy_lines import PROFILE, SINCE, with_policy_value, with_value

FILE_NAME = "geobill.toml"

TEMPLATE = """\
# geobill: este arquivo diz quem cobra, por qual lei e com que política. Edite-o à vontade; os nomes das chaves ficam.

[municipality]
name = "Caieiras"
state = "SP"
# sistema de coordenadas das medições e da cobrança (SIRGAS 2000 / UTM 23S)
crs = "EPSG:31983"
# limites em graus (EPSG:4674): lon mínima, lat mínima, lon máxima, lat máxima
bbox = [-46.8232, -23.4268, -46.6545, -23.3262]
# o que passa dos limites por até estes metros ainda é aceito; com o limite oficial (geobill crs boundary ARQUIVO, que escreve
# aqui boundary = "limite.geojson"), vale ele no lugar do retângulo
margin_m = 500

[authority]
name = "Prefeitura Municipal de Caieiras"
cnpj = ""
address = ""
secretariat = "Secretaria Municipal de Obras, Projetos e Planejamento"
legal_office = "Secretaria Municipal de Assuntos Jurídicos"
mayor = ""
# como o cargo se escreve: "Prefeito Municipal" ou "Prefeita Municipal"
mayor_title = "Prefeito Municipal"
payment_instructions = ""

[statute]
name = "{statute}"

[calendar]
# feriados municipais: "MM-DD" (todo ano) ou "AAAA-MM-DD" (um ano só)
local_holidays = []
# dias sem expediente bancário além dos feriados nacionais e estaduais
carnival_without_banking = true
corpus_christi_without_banking = true

[billing]
# segunda pessoa: com true, uma pessoa faz o rascunho (bill --draft), outra confere (bill check), e só então se emite;
# com false, uma só pessoa pode fazer tudo
second_person = false

# política: o que a lei deixa em aberto. Sem linha, vale o padrão (veja: geobill policy show)
[policy]
"""


_STATES = "AC AL AM AP BA CE DF ES GO MA MG MS MT PA PB PE PI PR RJ RN RO RR RS SC SE SP TO"
_BOM = "\ufeff"
# the file's sections and their keys; the law's own room knows those of [policy]
_SECTIONS: dict[str, tuple[str, ...]] = {
    "municipality": ("name", "state", "crs", "bbox", "margin_m", "boundary"),
    "authority": tuple(f.name for f in fields(Authority) if f.name not in ("municipality", "state")),
    "statute": ("name",),
    "calendar": ("local_holidays", "carnival_without_banking", "corpus_christi_without_banking"),
    "billing": ("second_person",),
    "policy": (),
}


@dataclass(frozen=True)
class Calendar:
    """Days without banking besides the national and state holidays."""

    state: str
    local_holidays: tuple[str, ...] = ()
    carnival_without_banking: bool = True
    corpus_christi_without_banking: bool = True


@dataclass(frozen=True)
class Billing:
    """Habits of issuing: whether another person than the drafter must check a month before it is issued."""

    second_person: bool = False


@dataclass(frozen=True)
class Settings:
    """The whole of ``geobill.toml``, checked."""

    municipality: Municipality
    authority: Authority
    statute: str
    calendar: Calendar
    policy: Policy
    policy_given: Mapping[str, str] = field(default_factory=dict)
    billing: Billing = Billing()
    policy_since: Mapping[BillingMonth, Mapping[str, str]] = field(default_factory=dict)
    profiles: Mapping[str, Policy] = field(default_factory=dict)
    profiles_given: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    boundary: str | None = None  # file of the municipality's outline, within the workspace's folder

    def policy_in(self, month: BillingMonth, profile: str | None = None) -> Policy:
        """Return the policy that a month is priced under: that of every month and all dated changes up to this one.

        A named profile's values come last: it says what it would be, whatever the month.
        """
        given = dict(self.policy_given)
        for since, changes in self.policy_since.items():
            given |= changes if since <= month else {}
        return parse_policy(given | (self.profiles_given[profile] if profile else {}))


def read_settings(path: Path) -> Settings:
    """Read and check ``geobill.toml``.

    Raises
    ------
    StoreError
        If it is missing or isn't TOML.
    InputError, PolicyError
        If an entry is missing, of another form, or names a policy that doesn't exist.
    """
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise StoreError(
            f"{path.parent} is no geobill workspace: it has no {FILE_NAME}. Make one with geobill init DIR, or name yours with -w DIR."
        ) from None
    except NotADirectoryError:
        raise StoreError(f"{path.parent} is a file, not a workspace folder: name the folder with -w DIR.") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as fault:
        raise StoreError(f"{path} can't be read: {fault}. Correct it, or restore it from a copy.") from None
    _check_known(raw, _SECTIONS, "the file", path)
    place = _table(raw, "municipality", path)
    authority = _table(raw, "authority", path)
    calendar = _table({"calendar": {}} | raw, "calendar", path)
    for section, keys in _SECTIONS.items():
        if keys:
            _check_known(raw.get(section, {}), keys, f"[{section}]", path)
    state = str(_entry(place, "state", "municipality", path))
    if state not in _STATES.split():
        raise InputError(f"{path}: state = {state!r} is none of {_STATES}: the holidays depend on it.")
    given, since, profiles = _policies(_table({"policy": {}} | raw, "policy", path), path)
    return Settings(
        municipality=_place(place, path),
        authority=Authority(
            municipality=str(_entry(place, "name", "municipality", path)),
            state=state,
            **{k: str(v) for k, v in authority.items()},
        ),
        statute=str(_entry(_table(raw, "statute", path), "name", "statute", path)),
        calendar=_calendar(calendar, state, path),
        policy=parse_policy(given),
        policy_given=given,
        policy_since=since,
        profiles={name: parse_policy(given | values) for name, values in profiles.items()},
        profiles_given=profiles,
        boundary=_boundary(place, path),
        billing=Billing(_switch(_table({"billing": {}} | raw, "billing", path), "second_person", False, path)),
    )


def write_settings(path: Path, statute: str) -> None:
    """Write a new ``geobill.toml`` with the defaults."""
    path.write_text(TEMPLATE.format(statute=statute), encoding="utf-8", newline="\n")


def set_policy(path: Path, key: str, value: str, since: BillingMonth | None = None) -> str:
    """Write one policy key into ``geobill.toml``, for every month or from one on; return the value as written.

    Comments are kept, all or nothing is written.
    """
    stored = check_policy_value(key, value)
    _rewrite(path, lambda text: with_policy_value(text, key, stored, since))
    return stored


def set_statute(path: Path, name: str) -> None:
    """Write the statute's name into ``geobill.toml``, comments kept, all or nothing."""
    _rewrite(path, lambda text: with_value(text, ["statute"], "name", name))


def set_boundary(path: Path, file: str) -> None:
    """Write the file of the municipality's boundary into ``geobill.toml``, comments kept, all or nothing."""
    _rewrite(path, lambda text: with_value(text, ["municipality"], "boundary", file))


def _rewrite(path: Path, change: Callable[[str], str]) -> None:
    read_settings(path)  # a file that can't be read is refused before it is touched
    before = path.read_bytes().decode()
    after = change(before.removeprefix(_BOM).replace("\r\n", "\n"))
    if "\r\n" in before:  # Notepad's line ends and mark stay as they are
        after = after.replace("\n", "\r\n")
    replace_file(path, ((_BOM if before.startswith(_BOM) else "") + after).encode())


def replace_file(path: Path, content: bytes) -> None:
    """Write a file so that a reader, or a power cut, finds the old one or the new one, never half of one."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        _write_and_rename(partial, path, content)
    except OSError as fault:
        partial.unlink(missing_ok=True)
        raise StoreError(
            f"{path} can't be written: {fault.strerror}. Close it where it is open, or check the permissions."
        ) from None


def _write_and_rename(partial: Path, path: Path, content: bytes, tries: int = 3) -> None:
    with partial.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    try:
        partial.replace(path)
    except FileNotFoundError:  # another run that starts now has swept it up with what killed runs left
        if tries == 1:
            raise
        _write_and_rename(partial, path, content, tries - 1)


def _policies(
    table: Mapping[str, Any], path: Path
) -> tuple[dict[str, str], dict[BillingMonth, dict[str, str]], dict[str, dict[str, str]]]:
    """Read ``[policy]``: values for every month, dated changes in the order of their months, and named profiles."""
    dated = {
        _dated(month, path): _policy_table(values, f"[policy.{SINCE}.{month}]", path)
        for month, values in _below(table, SINCE, path).items()
    }
    profiles = {
        name: _policy_table(values, f"[policy.{PROFILE}.{name}]", path)
        for name, values in _below(table, PROFILE, path).items()
    }
    own = {key: value for key, value in table.items() if key not in (SINCE, PROFILE)}
    return _policy_table(own, "[policy]", path), {month: dated[month] for month in sorted(dated)}, profiles


def _below(table: Mapping[str, Any], name: str, path: Path) -> Mapping[str, Any]:
    tables = table.get(name, {})
    if not isinstance(tables, dict) or not all(isinstance(t, dict) for t in tables.values()):
        example = f"[policy.{name}.{'2026-07' if name == SINCE else 'estudo'}]"
        raise InputError(f"{path}: {name!r} in [policy] holds tables, each with a heading such as {example}.")
    return tables


def _dated(month: str, path: Path) -> BillingMonth:
    if not re.fullmatch(r"\d{4}-\d{2}", month, re.ASCII):
        raise InputError(
            f"{path}: [policy.{SINCE}.{month}] names no month, and nobody could tell which months it decides: write YYYY-MM, for "
            f"example [policy.{SINCE}.2026-07]."
        )
    return BillingMonth.parse(month)


def _policy_table(table: Mapping[str, Any], where: str, path: Path) -> dict[str, str]:
    return {key: check_policy_value(key, _policy_text(value), f"{path}, {where}") for key, value in table.items()}


def _policy_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _check_known(table: Mapping[str, Any], known: Iterable[str], where: str, path: Path) -> None:
    unknown = sorted(set(table) - set(known))
    if unknown:
        raise InputError(
            f"{path}: {where} has {', '.join(unknown)}, which geobill doesn't know and would pass over. "
            f"Known: {', '.join(sorted(known))}."
        )


def _table(raw: Mapping[str, Any], name: str, path: Path) -> Mapping[str, Any]:
    table = raw.get(name)
    if not isinstance(table, dict):
        raise InputError(f"{path} lacks the section [{name}]: compare it with a fresh one (geobill init OTHER_DIR).")
    return table


def _entry(table: Mapping[str, Any], key: str, section: str, path: Path) -> Any:
    if key not in table:
        raise InputError(f"{path}: [{section}] lacks {key}.")
    return table[key]


def _place(table: Mapping[str, Any], path: Path) -> Municipality:
    crs = str(_entry(table, "crs", "municipality", path))
    if not re.fullmatch(r"EPSG:\d{1,6}", crs, re.ASCII) or not _is_metric(int(crs[5:])):
        raise InputError(
            f"{path}: crs = {crs!r} is no projected system in metres, in which lengths could be measured and charged: write it "
            'as "EPSG:31983".'
        )
    box = _entry(table, "bbox", "municipality", path)
    numbers = isinstance(box, list) and len(box) == 4 and all(map(_is_number, box))
    if not (numbers and -180 <= box[0] < box[2] <= 180 and -90 <= box[1] < box[3] <= 90):
        raise InputError(
            f"{path}: bbox takes four numbers in degrees: lon min, lat min, lon max, lat max; it has {box!r}."
        )
    margin = table.get("margin_m", 500)
    if not _is_number(margin) or margin < 0:
        raise InputError(f"{path}: margin_m takes metres as a number, 0 or more; it has {margin!r}.")
    west, south, east, north = map(float, box)
    return Municipality(
        str(_entry(table, "name", "municipality", path)), (west, south, east, north), crs, float(margin)
    )


def _boundary(table: Mapping[str, Any], path: Path) -> str | None:
    given = table.get("boundary")
    if given is None:
        return None
    if not isinstance(given, str) or not given.strip():
        raise InputError(
            f'{path}: boundary names a file in the workspace, for example "limite.geojson"; it has {given!r}.'
        )
    root = path.parent.resolve()
    if not (root / given).resolve().is_relative_to(root) or (root / given).resolve() == root:
        raise InputError(
            f"{path}: boundary = {given!r} lies outside the workspace, where it could change or vanish unnoticed: put the file "
            "into the workspace's folder (geobill crs boundary FILE does) and name it from there."
        )
    return given


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _is_metric(code: int) -> bool:
    from pyproj import CRS
    from pyproj.exceptions import CRSError

    try:
        crs = CRS.from_epsg(code)
    except CRSError:
        return False
    return crs.is_projected and all(axis.unit_name == "metre" for axis in crs.axis_info)


def _calendar(table: Mapping[str, Any], state: str, path: Path) -> Calendar:
    days = table.get("local_holidays", [])
    if not isinstance(days, list):
        raise InputError(f'{path}: local_holidays takes a list, for example ["12-14", "2026-11-20"]; it has {days!r}.')
    optional = ("carnival_without_banking", "corpus_christi_without_banking")
    switches = {key: _switch(table, key, True, path) for key in optional}
    return Calendar(state, tuple(_holiday(str(h), path) for h in days), **switches)


def _switch(table: Mapping[str, Any], key: str, default: bool, path: Path) -> bool:
    value = table.get(key, default)
    if not isinstance(value, bool):
        raise InputError(f"{path}: {key} takes true or false, without quotes; it has {value!r}.")
    return value


def _holiday(text: str, path: Path) -> str:
    if not re.fullmatch(r"(\d{4}-)?\d{2}-\d{2}", text, re.ASCII):
        raise InputError(
            f"{path}: {text!r} in local_holidays is no day: write MM-DD for every year, or YYYY-MM-DD for one."
        )
    parse_date(text if len(text) == 10 else f"2000-{text}", f"local_holidays in {path}")
    return text


def holiday_on(text: str, day: date) -> bool:
    """Whether a local holiday as written in the settings falls on a day."""
    return day.isoformat() == text if len(text) == 10 else day.strftime("%m-%d") == text
