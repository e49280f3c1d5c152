"""A delivery held against the network on record: a wrong datum shows as one shift of nearly everything."""

from collections.abc import Sequence

import geopandas as gpd
from pyproj import CRS
from pyproj.exceptions import CRSError

from geobill.domain.finding import Finding, LayerRead
from geobill.domain.network import Municipality
from geobill.errors import InputError
from geobill.intake.crs import label
from geobill.intake.reading import Part, Reading
from geobill.intake.shift import HIT_M, DatumShift, find_datum_shift


def check_datum(
    parts: Sequence[Part], reading: Reading, stored: gpd.GeoDataFrame, place: Municipality
) -> tuple[Finding, ...]:
    """Find layers that would lie on the network on record in another datum than the one they were read in.

    Parameters
    ----------
    parts, reading
        The layers, and what was read of them, in the same order.
    stored : GeoDataFrame
        The network on record, of all operators.
    place : Municipality
        The workspace's.

    Returns
    -------
    tuple of Finding
        ``crs_suspect`` where the user named the system with ``--crs``: that word stands.

    Raises
    ------
    InputError
        Where only the file says its system.
    """
    reference, found = stored.geometry.to_numpy(), []
    for part, layer in zip(parts, reading.layers, strict=True):
        last = layer.first_row + layer.read
        mine = reading.accepted["source_row"].between(layer.first_row, last, inclusive="left")
        try:
            source = CRS.from_user_input(layer.crs.source)
        except CRSError:  # a system without a code: its datum is none of those that could be mixed up
            continue
        shift = find_datum_shift(reading.accepted.geometry.to_numpy()[mine], reference, place, source)
        if shift is None:
            continue
        message = _message(part.layer.path.name, layer, shift)
        if part.options.crs is None:
            raise InputError(f"{message} {_way_out(shift, layer)} Nothing was changed.")
        found.append(
            Finding("crs_suspect", "warning", message, "It was read as --crs says; ask the sender again.", layer.name)
        )
    return tuple(found)


def _message(file: str, layer: LayerRead, shift: DatumShift) -> str:
    named = " or ".join(label(code) for code in shift.codes)
    east = f"{abs(shift.dx_m):.2f} m {'east' if shift.dx_m > 0 else 'west'}"
    north = f"{abs(shift.dy_m):.2f} m {'north' if shift.dy_m > 0 else 'south'}"
    head = (
        f"{file} was read as {label(layer.crs.source)}, and only {shift.share_as_labelled:.0%} of its vertices lie within "
        f"{HIT_M:g} m of the network on record; moved {east} and {north}, {shift.share_shifted:.0%} do. "
    )
    if shift.twice:
        return head + (
            f"That is the shift from {named} to {layer.crs.source}, as if it had been applied to coordinates that needed none. Every "
            "stretch would be charged by the zone beside it."
        )
    return head + (
        f"That is where it lies if its coordinates are really in {named}. Every stretch would be charged by the zone beside it."
    )


def _way_out(shift: DatumShift, layer: LayerRead) -> str:
    sure = f"if it is right as it is, give --crs {layer.crs.source}"
    if shift.twice:
        return f"Ask the sender for the file as it was before the conversion; {sure}."
    return f"Ask the sender, then import it with --crs {shift.codes[0]}; {sure} (perhaps what is on record is off)."
