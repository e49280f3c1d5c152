"""A profile as a TOML file: those that geobill ships, how one is read (strictly), how one is written."""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from functools import cache
from importlib.resources import files
from typing import Any

import tomlkit

from geobill.domain.network import STATUSES
from geobill.domain.record import sha256
from geobill.errors import InputError
from geobill.intake.columns import nearest
from geobill.intake.profile import ANY, CLOSED, KEYS, KINDS, NOT_CHARGED, LayerProfile, Profile, Width
from geobill.intake.reading import UNIT_FACTORS, UNITS_M

BUILT_IN: tuple[str, ...] = ("bdgd", "edgv3", "generico")  # the general one last: what names a layer goes before it
_TOP = ("name", "title", "source", "signs", "layers", "widths")
_LAYER = ("match", "kind", "reason", "columns", "constants", "absent", "statuses", "status_if_known", "unit", "units")
_WIDTH = ("width", "decision", "service", "level")
_CONSTANTS = ("service", "level", "status", "permit")
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
# names that Windows keeps for devices: a file of such a name can't be copied there
_DEVICES = frozenset({"con", "prn", "aux", "nul", *(f"{d}{n}" for d in ("com", "lpt") for n in range(10))})


def check_name(name: str) -> str:
    """Return a profile's name where it can be a file's: nothing of a path gets through.

    Raises
    ------
    InputError
        If it has anything but small letters, digits, ``-`` and ``_``, or is a device's name.
    """
    if not _NAME.fullmatch(name) or name in _DEVICES:
        raise InputError(
            f"{name!r} can't be the name of a profile: take up to 40 small letters without accents, digits, - and _, for example "
            "operadora-alfa."
        )
    return name


def built_in_text(name: str) -> str:
    """Return the text of a profile that geobill ships."""
    return files("geobill.intake").joinpath("profiles", f"{name}.toml").read_text(encoding="utf-8")


@cache
def built_in_profiles() -> tuple[Profile, ...]:
    """Return all profiles that geobill ships, the general one last."""
    return tuple(parse_profile(built_in_text(name), name) for name in BUILT_IN)


# -- reading


def parse_profile(text: str, where: str) -> Profile:
    """Read a profile; whatever it says that geobill wouldn't obey is refused.

    Parameters
    ----------
    text : str
        TOML.
    where : str
        Names the file, for messages.

    Raises
    ------
    InputError
        Naming the entry, what is wrong with it and, for an unknown one, the nearest that is known.
    """
    try:
        raw = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as fault:
        raise InputError(f"{where} isn't TOML: {fault}. Correct it in a text editor.") from None
    _known(raw, _TOP, where, where)
    name = check_name(_text(raw, "name", where))
    tables = _tables(raw, "layers", where)
    if not tables:
        raise InputError(f"{where} has no [[layers]]: it names no layer, so none would ever be opened.")
    layers = tuple(_layer(one, f"{where}, layer {n}") for n, one in enumerate(tables, 1))
    _check_together(layers, where)
    widths = [_width(one, f"{where}, width {n}") for n, one in enumerate(_tables(raw, "widths", where), 1)]
    layers = _with_widths(layers, widths, where)
    signs = _texts(raw["signs"], f"{where}: signs") if "signs" in raw else ()
    return Profile(name, _text(raw, "title", where), _text(raw, "source", where), layers, sha256(text), signs)


def _layer(raw: Mapping[str, Any], where: str) -> LayerProfile:
    _known(raw, _LAYER, where, where)
    match, kind = _texts(raw.get("match"), f"{where}: match"), _text(raw, "kind", where)
    if kind not in KINDS:
        raise InputError(f"{where}: kind can't be {kind!r}.{nearest(kind, KINDS)} Known: {', '.join(KINDS)}.")
    if kind in (NOT_CHARGED, CLOSED):
        if extra := sorted(set(raw) - {"match", "kind", "reason"}):
            raise InputError(f"{where}: it is {kind!r}, so {', '.join(extra)} would never be obeyed. Leave it out.")
        return LayerProfile(match, kind, _text(raw, "reason", where))
    keys = KEYS[kind]
    columns = {k: _texts(v, f"{where}: columns.{k}") for k, v in _table(raw, "columns", where).items()}
    _known(columns, keys, f"{where}: columns", where)
    _check_distinct(columns, where)
    constants = {k: _string(v, f"{where}: constants.{k}") for k, v in _table(raw, "constants", where).items()}
    _known(constants, [k for k in _CONSTANTS if k in keys], f"{where}: constants", where)
    if both := sorted(set(columns) & set(constants)):
        raise InputError(f"{where}: {', '.join(both)} has a column and a constant: say it once.")
    units = {k: _string(v, f"{where}: units.{k}") for k, v in _table(raw, "units", where).items()}
    _check_units(units, columns, where)
    unit = _string(raw.get("unit", "m"), f"{where}: unit")
    if unit not in UNITS_M:
        raise InputError(f"{where}: unit can't be {unit!r}. Allowed: {', '.join(UNITS_M)}.")
    if_known = raw.get("status_if_known", False)
    if not isinstance(if_known, bool) or (if_known and "status" not in columns):
        raise InputError(f"{where}: status_if_known takes true or false, and needs columns.status.")
    return LayerProfile(
        match, kind, _string(raw.get("reason", ""), f"{where}: reason", blank=True), columns, constants,
        _absent(raw.get("absent", {}), keys, where), _statuses(_table(raw, "statuses", where), where), if_known, unit, units,
    )  # fmt: skip


def _check_distinct(columns: Mapping[str, Sequence[str]], where: str) -> None:
    seen: dict[str, str] = {}
    for key, names in columns.items():
        for name in names:
            other = seen.setdefault(name.casefold(), key)
            if other != key:
                raise InputError(f"{where}: the column {name} stands for {other} and for {key}: it can hold only one.")


def _check_units(units: Mapping[str, str], columns: Mapping[str, Any], where: str) -> None:
    for key, unit in units.items():
        allowed = UNIT_FACTORS.get(key)
        if key not in columns or allowed is None:
            fit = [k for k in columns if k in UNIT_FACTORS]
            raise InputError(f"{where}: units.{key} stands for no column of figures. Those here: {', '.join(fit)}.")
        if unit not in allowed:
            raise InputError(f"{where}: units.{key} can't be {unit!r}. Allowed: {', '.join(allowed)}.")


def _absent(raw: Any, keys: Sequence[str], where: str) -> dict[str, frozenset[str]]:
    """Read the texts that say "not informed": a list for all keys, or a table of lists by key."""
    if not isinstance(raw, dict):
        texts = _texts(raw, f"{where}: absent")
        return {key: frozenset(t.strip() for t in texts) for key in keys}
    _known(raw, keys, f"{where}: absent", where)
    return {k: frozenset(t.strip() for t in _texts(v, f"{where}: absent.{k}")) for k, v in raw.items()}


def _statuses(raw: Mapping[str, Any], where: str) -> dict[str, str]:
    for word, status in raw.items():
        if status not in STATUSES:
            hint = nearest(str(status), STATUSES)
            raise InputError(f"{where}: statuses.{word!r} is {status!r}.{hint} Known: {', '.join(STATUSES)}.")
    return dict(raw)


def _check_together(layers: Sequence[LayerProfile], where: str) -> None:
    for kind in KEYS:
        mine = [one for one in layers if one.kind == kind]
        if len(mine) > 1 and any(one.is_general for one in mine):
            raise InputError(
                f'{where}: a layer that matches "*" takes every name, so it must be the only one of kind {kind}.'
            )
    for one in layers:
        if ANY in one.match and (len(one.match) > 1 or one.kind in (NOT_CHARGED, CLOSED)):
            raise InputError(f'{where}: "*" stands alone in its match, in a layer that is imported.')


def _width(raw: Mapping[str, Any], where: str) -> Width:
    _known(raw, _WIDTH, where, where)
    text = _text(raw, "width", where)
    try:
        width = Decimal(text)
    except InvalidOperation:
        width = Decimal("NaN")
    if not width.is_finite() or width <= 0:
        raise InputError(f'{where}: {text!r} is no width: give metres as text above 0, for example width = "0.50".')
    if "decision" not in raw:
        raise InputError(
            f"{where} names no decision: a width that nobody delivered decides the price (art. 7), so it rests on a decision "
            '(art. 15). Write decision = "ID", as recorded with geobill decision add.'
        )
    of = {k: _text(raw, k, where) for k in ("service", "level") if k in raw}
    return Width(width, _text(raw, "decision", where), of.get("service"), of.get("level"))


def _with_widths(layers: Iterable[LayerProfile], widths: Sequence[Width], where: str) -> tuple[LayerProfile, ...]:
    """Give each layer of a network the width that says most about its service and level."""
    used: set[int] = set()
    found = []
    for layer in layers:
        fits = [w for w in widths if layer.kind == "network" and _applies(w, layer)]
        most = max((_says(w) for w in fits), default=0)
        best = [w for w in fits if _says(w) == most]
        if len(best) > 1:
            raise InputError(
                f"{where}: two widths say as much of the layer {layer.match[0]}: make one of them narrower."
            )
        used |= {id(w) for w in fits}
        found.append(replace(layer, width=best[0]) if best else layer)
    for n, width in enumerate(widths, 1):
        if id(width) not in used:
            raise InputError(
                f"{where}: width {n} is for no layer here: its service and level must be constants of a network's layer."
            )
    return tuple(found)


def _says(width: Width) -> int:
    return (width.service is not None) + (width.level is not None)


def _applies(width: Width, layer: LayerProfile) -> bool:
    return all(
        said is None or layer.constants.get(key) == said
        for key, said in (("service", width.service), ("level", width.level))
    )


def _known(table: Mapping[str, Any], known: Sequence[str], what: str, where: str) -> None:
    for key in table:
        if key not in known:
            raise InputError(
                f"{what} has {key!r}, which would be passed over.{nearest(key, known)} Known: {', '.join(known)}."
            )


def _tables(raw: Mapping[str, Any], name: str, where: str) -> list[Mapping[str, Any]]:
    tables = raw.get(name, [])
    if not isinstance(tables, list) or not all(isinstance(t, dict) for t in tables):
        raise InputError(f"{where}: {name} is written as [[{name}]], one heading for each.")
    return tables


def _table(raw: Mapping[str, Any], name: str, where: str) -> Mapping[str, Any]:
    table = raw.get(name, {})
    if not isinstance(table, dict):
        raise InputError(f"{where}: {name} is a table, for example {name} = {{ … }}.")
    return table


def _text(raw: Mapping[str, Any], name: str, where: str) -> str:
    if name not in raw:
        raise InputError(f"{where} lacks {name}.")
    return _string(raw[name], f"{where}: {name}")


def _string(value: Any, where: str, blank: bool = False) -> str:
    if not isinstance(value, str) or not (blank or value.strip()):
        raise InputError(f"{where} takes a text in quotes; it has {value!r}.")
    return value


def _texts(value: Any, where: str) -> tuple[str, ...]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not texts or not all(isinstance(t, str) for t in texts):
        raise InputError(f"{where} takes a list of texts in quotes, at least one; it has {value!r}.")
    return tuple(texts)


# -- writing

_HEAD = (
    "Perfil do geobill: como se leem os arquivos deste remetente. Guardado de um mapeamento que funcionou; edite à vontade.",
    "Em match cabem * (qualquer texto) e ? (uma letra). Camada que nenhum match nomeia nunca é aberta.",
    "Em columns cada chave pode ter vários nomes de coluna: por exemplo width = [\"LARGURA\", \"LARG_M\"].",
    "Outras chaves de [[layers]]: constants, absent (textos que dizem \"não informado\"), statuses (palavra do arquivo = status),",
    "unit (m, mm, ft: unidade do desenho) e units (unidade de uma coluna: por exemplo width = \"cm\").",
)  # fmt: skip
_ANY_NAME = "camada de qualquer nome; se o remetente dá nome às camadas, escreva-o aqui"
_NO_WIDTH = (
    "A largura padrão desta importação não foi guardada: ela decide o preço e repousa numa decisão. Registre-a (geobill decision",
    "add) e escreva, sem o #:",
)


def write_profile(
    name: str,
    title: str,
    source: str,
    kind: str,
    layers: Mapping[tuple[str, ...], Mapping[str, Any]],
    decision: str | None,
) -> str:
    """Write a profile from what was kept of an import (`profile_fit.said_of`), with comments for the analyst.

    Parameters
    ----------
    name, title, source : str
    kind : str
        Of the import.
    layers : mapping of tuple of str to mapping
        What was said of each layer, by the patterns that its name matches.
    decision : str or None
        On which default widths rest that were given on the command line; without one they are left out.
    """
    document = tomlkit.document()
    for line in _HEAD:
        document.add(tomlkit.comment(line))
    for key, value in (("name", name), ("title", title), ("source", source)):
        document.add(key, tomlkit.string(value))
    tables, widths = tomlkit.aot(), {}
    for match, said in layers.items():
        table = tomlkit.table()
        table.add("match", _match(match))
        table.add("kind", kind)
        columns = said.get("columns", {})
        said = {**said, "columns": {key: [columns[key]] for key in KEYS[kind] if key in columns}}
        for part in ("unit", "columns", "constants", "absent", "statuses", "units"):
            if said.get(part):
                table.add(part, _inline(said[part]))
        tables.append(table)
        if default := said.get("default_width"):
            constants = said.get("constants", {})
            of = {key: constants[key] for key in ("service", "level") if key in constants}
            widths[tuple(of.items())] = {"width": default["width"], "decision": default["decision"] or decision, **of}
    document.add("layers", tables)
    text = tomlkit.dumps(document)
    unsaid = [width for width in widths.values() if not width["decision"]]
    for width in widths.values():
        if width not in unsaid:
            text += "\n" + "\n".join(_width_lines(width)) + "\n"
    if unsaid:
        lines = [*_NO_WIDTH, *(line for width in unsaid for line in (*_width_lines(width), 'decision = "…"'))]
        text += "\n" + "\n".join(f"# {line}" for line in lines) + "\n"
    return text


def _match(patterns: Sequence[str]) -> Any:
    item = tomlkit.item(list(patterns))
    if tuple(patterns) == (ANY,):
        item.comment(_ANY_NAME)
    return item


def _width_lines(width: Mapping[str, str]) -> list[str]:
    return ["[[widths]]", *(f"{key} = {tomlkit.string(value).as_string()}" for key, value in width.items() if value)]


def _inline(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    table = tomlkit.inline_table()
    for key, inner in value.items():
        table.add(key, inner)
    return table
