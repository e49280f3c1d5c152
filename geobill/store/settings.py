"""``geobill.toml``: who issues, where, under which statute and policy."""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import date
from pathlib import Path
from typing import Any

import tomlkit

from geobill.domain.dates import parse_date
from geobill.domain.network import Authority
from geobill.errors import InputError, StoreError
from geobill.law.policy import Policy, check_policy_value, parse_policy

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
# o que passa dos limites por até estes metros ainda é aceito
margin_m = 500

[authority]
name = "Prefeitura Municipal de Caieiras"
cnpj = ""
address = ""
secretariat = "Secretaria Municipal de Obras, Projetos e Planejamento"
legal_office = "Secretaria Municipal de Assuntos Jurídicos"
mayor = ""
payment_instructions = ""

[statute]
name = "{statute}"

[calendar]
# feriados municipais: "MM-DD" (todo ano) ou "AAAA-MM-DD" (um ano só)
local_holidays = []
# dias sem expediente bancário além dos feriados nacionais e estaduais
carnival_without_banking = true
corpus_christi_without_banking = true

# política: o que a lei deixa em aberto. Sem linha, vale o padrão (veja: geobill policy show)
[policy]
"""


@dataclass(frozen=True)
class MunicipalityPlace:
    """Where the municipality lies and in which system it measures; ``bbox`` in degrees of EPSG:4674."""

    name: str
    crs: str
    bbox: tuple[float, float, float, float]
    margin_m: float

    @property
    def srid(self) -> int:
        """EPSG code of the measuring system."""
        return int(self.crs.split(":")[1])


@dataclass(frozen=True)
class Calendar:
    """Days without banking besides the national and state holidays."""

    state: str
    local_holidays: tuple[str, ...] = ()
    carnival_without_banking: bool = True
    corpus_christi_without_banking: bool = True


@dataclass(frozen=True)
class Settings:
    """The whole of ``geobill.toml``, checked."""

    municipality: MunicipalityPlace
    authority: Authority
    statute: str
    calendar: Calendar
    policy: Policy
    policy_given: Mapping[str, str] = field(default_factory=dict)


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
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as fault:
        raise StoreError(f"{path} can't be read: {fault}. Correct it, or restore it from a copy.") from None
    place = _table(raw, "municipality", path)
    authority = _table(raw, "authority", path)
    calendar = raw.get("calendar", {})
    state = str(_entry(place, "state", "municipality", path))
    names = {f.name for f in fields(Authority)} - {"municipality", "state"}
    unknown = set(authority) - names
    if unknown:
        raise InputError(
            f"{path}: [authority] has the unknown key(s) {', '.join(sorted(unknown))}; known: {', '.join(sorted(names))}."
        )
    given = {str(k): _policy_text(k, v) for k, v in raw.get("policy", {}).items()}
    return Settings(
        municipality=_place(place, path),
        authority=Authority(
            municipality=str(_entry(place, "name", "municipality", path)),
            state=state,
            **{k: str(v) for k, v in authority.items()},
        ),
        statute=str(_entry(_table(raw, "statute", path), "name", "statute", path)),
        calendar=Calendar(
            state=state,
            local_holidays=tuple(_holiday(str(h), path) for h in calendar.get("local_holidays", ())),
            carnival_without_banking=bool(calendar.get("carnival_without_banking", True)),
            corpus_christi_without_banking=bool(calendar.get("corpus_christi_without_banking", True)),
        ),
        policy=parse_policy(given),
        policy_given=given,
    )


def write_settings(path: Path, statute: str) -> None:
    """Write a new ``geobill.toml`` with the defaults."""
    path.write_text(TEMPLATE.format(statute=statute), encoding="utf-8", newline="\n")


def set_policy(path: Path, key: str, value: str) -> str:
    """Write one policy key into ``geobill.toml``, comments kept, all or nothing; return the value as written."""
    stored = check_policy_value(key, value)
    read_settings(path)  # a file that can't be read is refused before it is touched
    document = tomlkit.parse(path.read_text(encoding="utf-8-sig"))
    document.setdefault("policy", tomlkit.table())[key] = stored
    replace_file(path, tomlkit.dumps(document).encode())
    return stored


def replace_file(path: Path, content: bytes) -> None:
    """Write a file so that a reader, or a power cut, finds the old one or the new one, never half of one."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with partial.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as fault:
        partial.unlink(missing_ok=True)
        raise StoreError(
            f"{path} can't be written: {fault.strerror}. Close it where it is open, or check the permissions."
        ) from None


def _policy_text(key: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _table(raw: Mapping[str, Any], name: str, path: Path) -> Mapping[str, Any]:
    table = raw.get(name)
    if not isinstance(table, dict):
        raise InputError(f"{path} lacks the section [{name}]: compare it with a fresh one (geobill init OTHER_DIR).")
    return table


def _entry(table: Mapping[str, Any], key: str, section: str, path: Path) -> Any:
    if key not in table:
        raise InputError(f"{path}: [{section}] lacks {key}.")
    return table[key]


def _place(table: Mapping[str, Any], path: Path) -> MunicipalityPlace:
    crs = str(_entry(table, "crs", "municipality", path))
    if not crs.startswith("EPSG:") or not crs[5:].isdigit():
        raise InputError(f"{path}: crs = {crs!r} is not of the form EPSG:31983.")
    box = _entry(table, "bbox", "municipality", path)
    if not (
        isinstance(box, list)
        and len(box) == 4
        and all(isinstance(v, (int, float)) for v in box)
        and box[0] < box[2]
        and box[1] < box[3]
    ):
        raise InputError(
            f"{path}: bbox takes four numbers in degrees: lon min, lat min, lon max, lat max; it has {box!r}."
        )
    west, south, east, north = map(float, box)
    return MunicipalityPlace(
        str(_entry(table, "name", "municipality", path)),
        crs,
        (west, south, east, north),
        float(table.get("margin_m", 500)),
    )


def _holiday(text: str, path: Path) -> str:
    parse_date(text if len(text) == 10 else f"2000-{text}", f"local_holidays in {path}")
    return text


def holiday_on(text: str, day: date) -> bool:
    """Whether a local holiday as written in the settings falls on a day."""
    return day.isoformat() == text if len(text) == 10 else day.strftime("%m-%d") == text
