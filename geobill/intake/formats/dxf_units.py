"""The unit of a drawing: what its header says, and whether its coordinates agree. Proposed, never applied.

Reference: Autodesk's DXF reference, HEADER ($INSUNITS, $MEASUREMENT); UTM in Brazil, zones 18 to 25.
"""

from collections.abc import Iterator, Mapping, Sequence

from geobill.domain.finding import Finding

# $INSUNITS → name, metres, what --unit takes
_UNITS: dict[int, tuple[str, float, str | None]] = {
    1: ("inches", 0.0254, "in"), 2: ("feet", 0.3048, "ft"), 3: ("miles", 1609.344, None), 4: ("millimetres", 0.001, "mm"),
    5: ("centimetres", 0.01, "cm"), 6: ("metres", 1.0, "m"), 7: ("kilometres", 1000.0, "km"), 10: ("yards", 0.9144, None),
    13: ("microns", 1e-6, None), 14: ("decimetres", 0.1, None), 15: ("decametres", 10.0, None),
    16: ("hectometres", 100.0, None), 21: ("US survey feet", 1200 / 3937, None),
}  # fmt: skip
_ASKS = ("drawing_units", "drawing_units_doubtful")
_EASTINGS, _NORTHINGS = (100_000.0, 900_000.0), (6_200_000.0, 10_600_000.0)  # metres, all of Brazil


def unit_findings(file: str, variables: Mapping[str, str], middle: tuple[float, float] | None) -> Iterator[Finding]:
    """Say what a drawing's header tells of its unit, and where the coordinates contradict it.

    Parameters
    ----------
    file : str
        Its name.
    variables : mapping of str to str
        Variables of the header, each with its first value.
    middle : (float, float) or None
        Where the drawing lies, in its own unit.
    """
    code, said = _header(variables)
    if said is None:
        other = {"0": "inches or feet", "1": "millimetres, centimetres or metres"}.get(
            variables.get("$MEASUREMENT", "")
        )
        hint = f"; $MEASUREMENT speaks of {other}" if other else ""
        reason = "has no $INSUNITS" if not code else f"has $INSUNITS {code[:10]}, which names no unit"
        message = f"{file} doesn't say its unit: it {reason}{hint}. Coordinates are taken for metres."
        yield Finding("drawing_units", "warning", message, "Ask the sender; for another unit import with --unit.")
    elif said[2] == "m":
        yield Finding("drawing_units", "note", f"{file} says that its unit is the metre ($INSUNITS 6), as it is taken.")
    else:
        name, _, option = said
        message = (
            f"{file} says that its unit is {name} ($INSUNITS {code}); geobill takes metres unless it is told otherwise."
        )
        fix = (
            f"Import with --unit {option} once the operator confirms it: many drawings carry the unit of a template."
            if option
            else "There is no --unit for that: ask for the drawing in metres."
        )
        yield Finding("drawing_units", "warning", message, fix)
    if middle is None:
        return
    fitting = [option for _, metres, option in _UNITS.values() if option and _in_brazil(middle, metres)]
    if said is not None and fitting and not _in_brazil(middle, said[1]):
        message = (
            f"The unit in the header of {file} ({said[0]}) contradicts its coordinates: around {middle[0]:.10g}, {middle[1]:.10g} "
            f"they would be UTM in Brazil in {' or '.join(fitting)}, and no place there in {said[0]}."
        )
        fix = f"Ask the operator; if the coordinates are right, import with --unit {fitting[0]}."
        yield Finding("drawing_units_doubtful", "warning", message, fix)


def unit_option(variables: Mapping[str, str]) -> str | None:
    """Return what ``--unit`` would say of the unit in a header; None where there is no such option."""
    _, said = _header(variables)
    return None if said is None else said[2]


def unit_given(said: Sequence[Finding], header: str | None, given: str, file: str, layer: str) -> list[Finding]:
    """Put what the header says beside the unit that a person gave, in the place of what was asked of them.

    Parameters
    ----------
    said : sequence of Finding
        Of a layer of a drawing.
    header : str or None
        Unit that the header names, as `unit_option` has it.
    given : str
        What ``--unit`` says, another one than metres.
    file, layer : str
        Their names.
    """
    kept = [one for one in said if one.code not in _ASKS]
    if len(kept) == len(said):
        return kept
    if header == given:
        message = f"{file} was read in {given}, as --unit and its header say."
        return [*kept, Finding("drawing_units", "note", message, layer=layer)]
    if header is None:
        message = f"{file} was read in {given}, as --unit says; its header names no unit to hold against it."
        return [*kept, Finding("drawing_units", "note", message, layer=layer)]
    message = f"{file} was read in {given}, as --unit says; its header contradicts that: it says {header}."
    fix = "Make sure that the operator confirms the unit: many drawings carry the unit of a template."
    return [*kept, Finding("drawing_units", "warning", message, fix, layer)]


def _header(variables: Mapping[str, str]) -> tuple[str, tuple[str, float, str | None] | None]:
    """Return ``$INSUNITS`` as it is written, and the unit that it names."""
    code = variables.get("$INSUNITS", "").strip()
    return code, _UNITS.get(int(code)) if code.isdigit() else None


def _in_brazil(middle: tuple[float, float], metres: float) -> bool:
    x, y = middle[0] * metres, middle[1] * metres
    return _EASTINGS[0] <= x <= _EASTINGS[1] and _NORTHINGS[0] <= y <= _NORTHINGS[1]
