"""Pieces: the part of each segment in each zone, in lengths that add up to the segment's to the last digit."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import shapely
from shapely.ops import substring

from geobill.errors import InputError
from geobill.frames import plan_lengths, whole_units
from geobill.pricing.cut import Rules, ZoneSet, cut
from geobill.pricing.edges import Ints

HELD_OVERLAP, HELD_NO_ZONE = "overlap", "no_zone"
_PIECE = ["line", "zone", "mate", "held", "flags", "payer"]  # what stretches of one piece have in common


def zone_set(zones: gpd.GeoDataFrame, *, zone: str, land_value: str) -> ZoneSet:
    """Zones as the cutter takes them, from a frame with names and values.

    Parameters
    ----------
    zones : GeoDataFrame
        Valid polygons, metres.
    zone, land_value : str
        Columns with the zone's name and its value in reais a square metre (anything that reads as an exact decimal).
    """
    values = [Decimal(str(v)) for v in zones[land_value]]
    rank = {v: n for n, v in enumerate(sorted(set(values)))}
    polygons = np.asarray(zones.geometry.values, dtype=object)
    # equal values: the name decides, then the place, so that the order of rows never does
    corner = zones.geometry.bounds[["minx", "miny"]].to_numpy() if len(zones) else np.empty((0, 2))
    names = [str(name) for name in zones[zone]]
    keys = sorted(range(len(values)), key=lambda n: (names[n], *corner[n], n))
    order = np.empty(len(values), dtype=np.int64)
    order[keys] = np.arange(len(values))
    return ZoneSet(polygons, np.array([rank[v] for v in values], dtype=np.int64), order)


@dataclass(frozen=True)
class CutLines:
    """Lines cut over zones, nothing rounded yet.

    ``stretches`` are those of :func:`geobill.pricing.cut.cut` with ``nth``, the part of its line from 0, instead of
    ``part``; ``line`` is the position of the segment. ``turn`` orders zones where remainders are equal.
    """

    stretches: pd.DataFrame
    turn: Ints

    def of(self, positions: Ints) -> "CutLines":
        """Return the stretches of some of the lines, numbered by their place in ``positions``."""
        place = np.full(int(max(self.stretches["line"].max(), -1)) + 1 if len(self.stretches) else 0, -1)
        place[positions] = np.arange(len(positions))
        mine = self.stretches[place[self.stretches["line"]] >= 0]
        mine = mine.assign(line=place[mine["line"]]).sort_values(["line", "nth", "start_m"], ignore_index=True)
        return CutLines(mine, self.turn)


def cut_segments(
    segments: gpd.GeoDataFrame,
    zones: gpd.GeoDataFrame,
    *,
    zone: str = "zone",
    land_value: str = "land_value",
    rules: Rules,
) -> CutLines:
    """Cut segments over value zones; see :func:`split_segments`, which also rounds."""
    _check_systems(segments, zones)
    ground = zone_set(zones, zone=zone, land_value=land_value)
    stretches = cut(segments.geometry.values, ground, rules)
    first = stretches.groupby("line")["part"].transform("min")
    stretches = stretches.assign(nth=stretches["part"] - first).drop(columns="part")
    # equal remainders: by the names of the zones, never by the order of rows
    return CutLines(stretches, np.append(ground.order, -1))


def split_segments(
    segments: gpd.GeoDataFrame,
    zones: gpd.GeoDataFrame,
    *,
    segment: str = "segment",
    zone: str = "zone",
    land_value: str = "land_value",
    rules: Rules,
    precision_m: Decimal = Decimal("0.01"),
) -> pd.DataFrame:
    """Cut segments over value zones into pieces.

    Parameters
    ----------
    segments : GeoDataFrame
        Lines in one projected system, metres; column ``segment`` holds the id.
    zones : GeoDataFrame
        Valid polygons in the same system, with a name and a value in reais a square metre.
    rules : Rules
        The policy keys ``on_border``, ``on_overlap``, ``max_gap_m``.
    precision_m : Decimal
        A segment's measured length is rounded once, half up, to this; its pieces share it out by largest remainder.

    Returns
    -------
    pandas.DataFrame
        What :func:`share_pieces` returns.

    Raises
    ------
    InputError
        If the systems differ or are in degrees.
    """
    made = cut_segments(segments, zones, zone=zone, land_value=land_value, rules=rules)
    total = whole_units(plan_lengths(segments.geometry.values), precision_m)
    return share_pieces(made, segments, zones, total, segment, zone, land_value, precision_m)


def share_pieces(
    made: CutLines,
    segments: gpd.GeoDataFrame,
    zones: gpd.GeoDataFrame,
    total: Ints,
    segment: str = "segment",
    zone: str = "zone",
    land_value: str = "land_value",
    precision_m: Decimal = Decimal("0.01"),
    located: bool = False,
) -> pd.DataFrame:
    """Put the stretches of each zone together and share out each segment's length among them.

    Parameters
    ----------
    made : CutLines
        The segments cut; stretches may carry ``payer``, the position of the line that pays for them, and ``inside``,
        the areas in which they lie: a piece is then parted by it, and its parts add up to what it would be unparted.
    segments, zones : GeoDataFrame
        What they were cut from.
    total : array of int64
        Length of each segment in whole multiples of the precision: measured, or as the operator declared it.
    located : bool
        Whether to add ``geometry``, where each piece lies, for drawing; the price never depends on it.

    Returns
    -------
    pandas.DataFrame
        One row a piece: ``row`` (position of the segment), ``segment``, ``zone`` (None where it lies in none or is
        held), ``zone_row`` (position, -1 for none), ``land_value`` (Decimal; the mean of lowest and highest where
        ``on_border`` is ``mean``; None for none), ``length_m`` (float64, whole multiples of the precision), ``units``
        (the same as int64 multiples of ``precision_m``), ``held`` (``overlap``, ``no_zone`` or None), ``flags``
        (tuple of ``on_border``, ``on_overlap``, ``in_gap``, ``same_strip``), ``payer`` (position, -1 for none) and, where
        the stretches have it, ``inside``.
        Pieces of a segment add up to its length; a piece that rounds to nothing has no row.
    """
    stretches = made.stretches.assign(raw_m=made.stretches["end_m"] - made.stretches["start_m"])
    if "payer" not in stretches:
        stretches["payer"] = -1
    pieces = stretches.groupby(_PIECE, sort=True, as_index=False)["raw_m"].sum()
    turn = made.turn[pieces["zone"]] * len(made.turn) + made.turn[pieces["mate"]]
    exact = pieces["raw_m"].to_numpy() / float(precision_m)
    measured = whole_units(plan_lengths(segments.geometry.values), precision_m)
    scale = np.where(total == measured, 1.0, total * float(precision_m) / plan_lengths(segments.geometry.values))
    pieces["units"] = _share_out(pieces["line"].to_numpy(), exact * scale[pieces["line"]], turn, total)
    by = [*_PIECE, "inside"] if "inside" in stretches else _PIECE
    if "inside" in stretches:
        pieces = _share_by_area(pieces, stretches)
    if located:
        stretches["geometry"] = _draw(segments.geometry.values, stretches)
        drawn = stretches.groupby(by, sort=True)["geometry"]
        pieces["geometry"] = [shapely.multilinestrings(list(shapes)) for _, shapes in drawn]
    pieces = pieces[pieces["units"] > 0].reset_index(drop=True)
    named = _named(pieces, segments[segment], zones[zone], zones[land_value], precision_m)
    return named.assign(**{c: pieces[c].to_numpy() for c in ("inside", "geometry") if c in pieces})


def _share_by_area(pieces: pd.DataFrame, stretches: pd.DataFrame) -> pd.DataFrame:
    """Share out each piece among its parts inside and outside of areas, so that they add up to the piece that it was."""
    parts = stretches.groupby([*_PIECE, "inside"], sort=True, as_index=False)["raw_m"].sum()
    of = parts.groupby(_PIECE, sort=True).ngroup().to_numpy()
    share = parts["raw_m"].to_numpy() / np.maximum(pieces["raw_m"].to_numpy()[of], 1e-12)
    units = pieces["units"].to_numpy()
    turn = pd.factorize(parts["inside"], sort=True)[0]
    return parts.assign(units=_share_out(of, share * units[of], turn, units))


def _held_as(held: bool, zone: int) -> str:
    return HELD_OVERLAP if held else HELD_NO_ZONE if zone < 0 else ""


def _draw(lines: Any, stretches: pd.DataFrame) -> list[Any]:
    parts, owner = shapely.get_parts(shapely.force_2d(np.asarray(lines, dtype=object)), return_index=True)
    first = np.searchsorted(owner, stretches["line"], "left")
    at = first + stretches["nth"].to_numpy()
    return [substring(parts[n], s.start_m, s.end_m) for n, s in zip(at, stretches.itertuples(), strict=True)]


def _check_systems(segments: gpd.GeoDataFrame, zones: gpd.GeoDataFrame) -> None:
    for frame, what in ((segments, "The segments"), (zones, "The zones")):
        if frame.crs is not None and not frame.crs.is_projected:
            raise InputError(
                f"{what} are in {frame.crs.name}, in degrees. Lengths in degrees price nothing: carry them to a "
                "projected system in metres first, for example with .to_crs('EPSG:31983')."
            )
    if segments.crs is not None and zones.crs is not None and segments.crs != zones.crs:
        raise InputError(
            f"The segments are in {segments.crs.name} and the zones in {zones.crs.name}: cut one over the other only "
            "in one system; carry the segments over with segments.to_crs(zones.crs)."
        )


def _share_out(line: Ints, exact: Any, turn: Ints, total: Ints) -> Ints:
    """Whole units for each piece that add up to their line's total, by largest remainder.

    ``line`` is sorted; ``exact`` is each piece's measured length in units. Remainders that differ by less than a
    hundred-thousandth of a unit are equal; among them the lower ``turn`` comes first.
    """
    units = np.floor(exact).astype(np.int64)
    missing = total - np.bincount(line, weights=units, minlength=len(total)).astype(np.int64)
    order = np.lexsort((turn, -np.round(exact - units, 5), line))
    place = np.arange(len(line)) - np.searchsorted(line, line[order], "left")
    size = np.bincount(line, minlength=len(total))
    rounds, extra = np.divmod(missing, np.maximum(size, 1))
    units[order] += rounds[line[order]] + (place < extra[line[order]])
    return units


def _named(
    pieces: pd.DataFrame, ids: pd.Series, names: pd.Series, values: pd.Series, precision_m: Decimal
) -> pd.DataFrame:
    place, mate = pieces["zone"].to_numpy(), pieces["mate"].to_numpy()
    label = np.array([*names, None], dtype=object)  # -1, no zone, is the last one
    value = np.array([*(Decimal(str(v)) for v in values), None], dtype=object)
    zone, land_value = label[place], value[place]
    for n in np.flatnonzero(mate >= 0):
        zone[n] = " / ".join(sorted((str(label[place[n]]), str(label[mate[n]]))))
        land_value[n] = (value[place[n]] + value[mate[n]]) / 2
    held = [_held_as(h, z) for h, z in zip(pieces["held"], place, strict=True)]
    per_unit = 1 / precision_m
    whole = per_unit == per_unit.to_integral_value()
    return pd.DataFrame(
        {
            "row": pieces["line"].to_numpy(),
            "segment": ids.to_numpy()[pieces["line"]],
            "zone": pd.Series(zone, dtype=object),
            "zone_row": place,
            "land_value": pd.Series(land_value, dtype=object),
            "length_m": pieces["units"] / float(per_unit) if whole else pieces["units"] * float(precision_m),
            "units": pieces["units"].to_numpy(),
            "held": pd.Series([h or None for h in held], dtype=object),
            "flags": pd.Series([tuple(f.split(",")) if f else () for f in pieces["flags"]], dtype=object),
            "payer": pieces["payer"].to_numpy(),
        }
    )
