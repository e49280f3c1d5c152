"""A survey of the field: lines and equipment as somebody saw them, with whatever was noted of owner, width and volume.

What can't be read of a row's figures or owner is unknown and said; only what can't be placed or measured is set aside. Two
rows in one place stand: two cables are what a survey is made to find.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
import shapely

from geobill.domain.network import Municipality
from geobill.errors import InputError
from geobill.intake.cabinets import SIDES
from geobill.intake.checks import fill_operator, run_checks
from geobill.intake.columns import nearest
from geobill.intake.network import as_multi, decimal_text
from geobill.intake.reader import Layer
from geobill.intake.reading import Options, Part, Reading
from geobill.intake.rows import Rows, finish, prepare
from geobill.intake.survey_checks import EQUIPMENT_CHECKS, LINE_CHECKS, note_repeated_ids

LINE_KEYS = ("segment", "width", "operator", "service", "level")
EQUIPMENT_KEYS = ("equipment", "volume", *SIDES, "operator", "service")

_POINT, _AREA, _LINES, _COLLECTION = (0, 4), (3, 6), (1, 5), 7


def read_survey_lines(parts: Sequence[Part], municipality: Municipality, operators: Collection[str]) -> Reading:
    """Read the lines of a survey.

    Parameters
    ----------
    parts : sequence of Part
        Layers of lines (see `survey_kinds`), each with its mapping by `LINE_KEYS`; none of them must be mapped.
    municipality : Municipality
        Where the survey must lie, and the system it is measured in.
    operators : collection of str
        Ids that the workspace knows; a row of somebody else is one whose owner nobody knows.

    Returns
    -------
    Reading
        ``accepted`` by `geobill.frames.SURVEY_LINES`.

    Raises
    ------
    InputError
        If the whole file can't be used: mapping, operator or coordinate system.
    """
    rows = _prepare(parts, municipality, LINE_KEYS, "segment", operators)
    rows.read_all(texts=("operator", "service", "level"), numbers=("width",))
    fill_operator(rows)
    run_checks(rows, LINE_CHECKS)
    note_repeated_ids(rows, "segment")
    v = rows.values
    columns = {
        "segment": rows.ids,
        "operator": v["operator"],
        "service": v["service"],
        "level": v["level"],
        "width_m": decimal_text(v["width"]),
    }
    return _numbered(rows, finish(rows, columns, as_multi(rows.geometry, "LineString"), measured=True))


def read_survey_equipment(parts: Sequence[Part], municipality: Municipality, operators: Collection[str]) -> Reading:
    """Read the poles, cabinets and other equipment of a survey: points, or the ground that they cover.

    Parameters
    ----------
    parts : sequence of Part
        Layers of points and areas (see `survey_kinds`), each with its mapping by `EQUIPMENT_KEYS`; a volume (cubic metres)
        or all three sides (metres) may be mapped.
    municipality, operators
        As in `read_survey_lines`.

    Returns
    -------
    Reading
        ``accepted`` by `geobill.frames.SURVEY_EQUIPMENT`; ``length_m`` is 0.

    Raises
    ------
    InputError
        As `read_survey_lines`, and where a volume is mapped twice or in part.
    """
    for part in parts:
        _check_volume_once(part.options)
    rows = _prepare(parts, municipality, EQUIPMENT_KEYS, "equipment", operators)
    rows.read_all(texts=("operator", "service"), numbers=("volume", *SIDES))
    fill_operator(rows)
    run_checks(rows, EQUIPMENT_CHECKS)
    note_repeated_ids(rows, "equipment")
    v = rows.values
    columns = {
        "equipment": rows.ids,
        "operator": v["operator"],
        "service": v["service"],
        "volume_m3": decimal_text(v["volume"]),
    }
    return _numbered(rows, finish(rows, columns, rows.geometry, measured=False))


# -- which rows are lines, which equipment


def is_lines(layer: Layer) -> bool:
    """Whether a layer holds lines, or nothing that could be equipment."""
    lines, equipment = _kinds(layer)
    return bool(lines.any()) or not equipment.any()


def survey_kinds(parts: Sequence[Part]) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """Part the layers of a survey into those of lines and those of equipment; a layer of both is both, row by row.

    A row without a geometry, or with one that is neither, goes with the lines of its layer where it has any. Of each
    mapping a kind gets its own keys.

    Raises
    ------
    InputError
        If a key is mapped that neither kind has, or one that is about a kind of which the survey has no row.
    """
    lines, equipment = [], []
    for part in parts:
        drawn, placed = _kinds(part.layer)
        if is_lines(part.layer):
            lines.append(_some(part, ~placed))
        if placed.any():
            equipment.append(_some(part, placed if is_lines(part.layer) else ~drawn))
    mapped = {key: column for part in parts for key, column in part.options.mapping.items()}
    _check_keys(mapped, bool(lines), bool(equipment))
    return tuple(_with_keys(p, LINE_KEYS) for p in lines), tuple(_with_keys(p, EQUIPMENT_KEYS) for p in equipment)


def _kinds(layer: Layer) -> tuple[np.ndarray, np.ndarray]:
    """Whether each row is a line, and whether it is a place or an area."""
    geometry = layer.frame.geometry.to_numpy()
    kind = np.where(shapely.is_missing(geometry) | shapely.is_empty(geometry), -1, shapely.get_type_id(geometry))
    lines = np.isin(kind, _LINES)
    for row in np.flatnonzero(kind == _COLLECTION):
        lines[row] = all(k in _LINES for k in shapely.get_type_id(shapely.get_parts(geometry[row])))
    return lines, np.isin(kind, (*_POINT, *_AREA))


def _some(part: Part, where: np.ndarray) -> Part:
    """Take some rows of a layer; they keep their numbers."""
    layer = part.layer
    if where.all():
        return part
    numbers = np.array([layer.number(int(at)) for at in np.flatnonzero(where)], dtype=np.int64)
    rises = None if layer.rises is None else layer.rises[where]
    frame = layer.frame[where].reset_index(drop=True)
    return replace(part, layer=replace(layer, frame=frame, numbers=numbers, rises=rises))


def _with_keys(part: Part, keys: Sequence[str]) -> Part:
    mapping = {k: c for k, c in part.options.mapping.items() if k in keys}
    return replace(part, options=replace(part.options, mapping=mapping))


def _check_keys(mapped: Mapping[str, str], lines: bool, equipment: bool) -> None:
    both = tuple(dict.fromkeys((*LINE_KEYS, *EQUIPMENT_KEYS)))
    for key, column in mapped.items():
        if key not in both:
            raise InputError(
                f"--map knows no key {key!r}.{nearest(key, both)} Of a survey's lines: {', '.join(LINE_KEYS)}; of its "
                f"equipment: {', '.join(EQUIPMENT_KEYS)}."
            )
        for keys, there, what in ((EQUIPMENT_KEYS, lines, "lines"), (LINE_KEYS, equipment, "points or areas")):
            if key not in keys and not there:
                raise InputError(
                    f"--map {key}={column} is about {what}, and the survey has none. Leave it out, or name the layer that has "
                    "them with --layer."
                )


# -- the whole file


def _prepare(
    parts: Sequence[Part], municipality: Municipality, keys: Sequence[str], id_key: str, operators: Collection[str]
) -> Rows:
    """Find columns and place of each layer; an owner needn't be named, but one that is named must be known."""
    for part in parts:
        named, column = part.options.operator, part.options.mapping.get("operator")
        if named and column:
            raise InputError(
                f"--operator {named} and --map operator={column} both say whose it is: give only one of them."
            )
        if named and named not in operators:
            known = ", ".join(sorted(operators)) or "none yet; add one with geobill operator add"
            near = nearest(named, operators)
            raise InputError(f"There is no operator {named!r} in this workspace.{near} Known operators: {known}.")
    rows = prepare(parts, municipality, keys, id_key, None)
    rows.operators = operators
    if any(p.layer.numbers is not None for p in parts):
        _name_by_number(rows, id_key)
    return rows


def _check_volume_once(options: Options) -> None:
    sides = [s for s in SIDES if s in options.mapping]
    if "volume" in options.mapping and sides:
        raise InputError(
            f"--map volume and --map {sides[0]} both say how big equipment is: map the volume, or the three sides, not both."
        )
    if sides and len(sides) < len(SIDES):
        raise InputError(
            f"--map {sides[0]} alone gives no volume: map all of length, breadth and height (metres), a volume, or none of them."
        )


def _before(rows: Rows) -> np.ndarray:
    """How many rows of the survey's layers stand before each row's own layer, as far as their numbers tell."""
    last = [int(rows.number[rows.part == at].max(initial=0)) for at in range(len(rows.parts))]
    return (np.cumsum(last) - last)[rows.part]


def _name_by_number(rows: Rows, id_key: str) -> None:
    """Name rows without an id by their number in the file, where only some rows of a layer were taken."""
    blank = {(f.layer, n) for f in rows.findings if f.code == "id_missing" for n in f.rows}
    before = _before(rows)
    for row in range(len(rows)):
        at = rows.part[row]
        if id_key not in rows.columns[at] or (rows.parts[at].layer.name, int(rows.number[row])) in blank:
            rows.ids[row] = str(int(before[row] + rows.number[row]))


def _numbered(rows: Rows, reading: Reading) -> Reading:
    """Count the rows as they stand in the file, where only some rows of a layer were taken."""
    if all(p.layer.numbers is None for p in rows.parts):
        return reading
    before, standing = _before(rows), rows.standing
    number = before + rows.number
    first = [int(before[rows.part == at][0]) + 1 if (rows.part == at).any() else 1 for at in range(len(rows.parts))]
    return replace(
        reading,
        accepted=reading.accepted.assign(source_row=number[standing]),
        aside=reading.aside.assign(source_row=number[~standing]),
        layers=tuple(replace(one, first_row=n) for one, n in zip(reading.layers, first, strict=True)),
    )
