"""What a month charges by zone: sums taken from the lines of the bill, and the two maps that show them."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from math import ceil, floor, log10

import geopandas as gpd
import numpy as np
import shapely

from geobill.documents.drawing import Frame, line_path, mm, polygon_path
from geobill.documents.words import metres, number, reais
from geobill.domain.invoice import Line

CLASSES = 5
WIDTH_MM, LOWEST_MM, HIGHEST_MM, MARGIN_MM = 180.0, 70.0, 190.0, 4.0
SMALLEST_EXTENT_M = 50.0
LONGEST_BAR_SHARE = 0.25
BAR_LABEL_MM = 16.0
DENSE_MM_PER_MM2 = 0.2  # of drawn network: above it, lines as wide as usual would hide the zones
ZERO_M, ZERO = Decimal("0.00"), Decimal("0.00")
Key = tuple[str | None, Decimal]


@dataclass(frozen=True)
class ZoneSum:
    """What the lines of a month charge in one zone, by its name and value as the lines are grouped."""

    zone: str | None
    land_value: Decimal
    length_m: Decimal
    amount: Decimal

    @property
    def key(self) -> Key:
        """Name and value: zones of the map that share both are one."""
        return self.zone, self.land_value


@dataclass(frozen=True)
class ColourClass:
    """One class of a map: its number from 1 (light) to 5 (dark), what it means, and the zones in it by shape number."""

    number: int
    label: str
    shapes: tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class ZoneMap:
    """One of the two maps: ``name`` is ``metros`` or ``reais``."""

    name: str
    title: str
    alt: str
    classes: tuple[ColourClass, ...]


@dataclass(frozen=True)
class ZoneDrawing:
    """Shapes that both maps share, in millimetres of paper, and the maps themselves.

    ``shapes`` are paths by number; ``without_charge`` are the numbers of those that no line names; ``dense`` is whether
    the network needs thinner lines. ``unplaced`` are sums whose zone isn't on the map (the mean of two zones along their
    border has a value of its own).
    """

    width: str
    height: str
    shapes: tuple[tuple[int, str], ...]
    without_charge: tuple[int, ...]
    charged: str
    held: str
    exempt: str
    dense: bool
    bar_length: str
    bar_label: str
    bar_label_x: str
    bar_box: str
    maps: tuple[ZoneMap, ...]
    unplaced: tuple[ZoneSum, ...]


def zone_sums(lines: Iterable[Line]) -> tuple[ZoneSum, ...]:
    """Metres and reais of the network's lines by zone and land value, the largest amount first; exact sums of lines."""
    length: dict[Key, Decimal] = defaultdict(lambda: ZERO_M)
    amount: dict[Key, Decimal] = defaultdict(lambda: ZERO)
    for line in lines:
        if line.kind == "network" and line.land_value is not None and line.length_m is not None:
            length[line.zone, line.land_value] += line.length_m
            amount[line.zone, line.land_value] += line.amount
    ordered = sorted(length, key=lambda k: (-amount[k], k[0] or "", k[1]))
    return tuple(ZoneSum(zone, value, length[zone, value], amount[zone, value]) for zone, value in ordered)


def zone_maps(
    zones: gpd.GeoDataFrame,
    segments: gpd.GeoDataFrame,
    sums: Sequence[ZoneSum],
    held: Collection[tuple[str, str | None]] = (),
    exempt: Collection[str] = (),
) -> ZoneDrawing | None:
    """Draw the zones twice, by metres and by reais charged, with the month's network thin on top.

    Parameters
    ----------
    zones : geopandas.GeoDataFrame
        ``zone``, ``land_value`` (decimal text) and polygons in metres: the edition that the month was priced by.
    segments : geopandas.GeoDataFrame
        ``segment``, ``operator`` and lines in the same system: what is due in the month. The map shows where they are.
    sums : sequence of ZoneSum
        What is charged; see :func:`zone_sums`.
    held : collection of (operator, segment)
        Segments with held metres; segment None stands for all of an operator's.
    exempt : collection of str
        Operators whom the law doesn't reach.

    Returns
    -------
    ZoneDrawing or None
        None where there is neither network nor zone to draw.
    """
    zones, segments = (f[~(f.geometry.isna() | f.geometry.is_empty)] for f in (zones, segments))
    shown = segments if len(segments) else zones
    if not len(shown):
        return None
    frame = _frame(shown.total_bounds)
    by_key = {s.key: s for s in sums}
    shapes, numbers = _shapes(zones[zones.geometry.intersects(shapely.box(*frame.box))], frame)
    charged = {key: n for key, n in numbers.items() if key in by_key}
    on_map = {_key(z, v) for z, v in zip(zones["zone"], zones["land_value"], strict=True)}
    lines = segments.geometry.to_numpy()
    is_held = np.array(
        [(o, s) in held or (o, None) in held for o, s in zip(segments["operator"], segments["segment"], strict=True)],
        dtype=bool,
    )
    is_exempt = np.array([o in exempt for o in segments["operator"]], dtype=bool)
    bar_m = _bar_m(frame)
    return ZoneDrawing(
        width=mm(frame.width_mm),
        height=mm(frame.height_mm),
        shapes=tuple(shapes),
        without_charge=tuple(n for key, n in numbers.items() if key not in by_key),
        charged=line_path(lines[~is_held & ~is_exempt], frame),
        held=line_path(lines[is_held], frame),
        exempt=line_path(lines[is_exempt & ~is_held], frame),
        dense=float(shapely.length(lines).sum()) / frame.metres_per_mm
        > DENSE_MM_PER_MM2 * frame.width_mm * frame.height_mm,
        bar_length=mm(bar_m / frame.metres_per_mm),
        bar_label=f"{number(bar_m // 1000)} km" if bar_m >= 1000 else f"{number(bar_m)} m",
        bar_label_x=mm(bar_m / frame.metres_per_mm + 1.5),
        bar_box=mm(bar_m / frame.metres_per_mm + BAR_LABEL_MM),
        maps=(
            _zone_map("metros", "Metros cobrados por zona", "m", charged, by_key),
            _zone_map("reais", "Reais cobrados por zona", "R$", charged, by_key),
        ),
        unplaced=tuple(s for s in sums if s.key not in on_map),
    )


def classes(values: Iterable[Decimal]) -> list[tuple[Decimal, Decimal]]:
    """At most five ranges, above the first figure and up to the second, with round limits and about as many values in each.

    Examples
    --------
    >>> classes([Decimal(v) for v in ("3.20", "118", "240", "251", "999.99", "1204.05")])[-1]
    (Decimal('1000'), Decimal('1300'))
    >>> classes([Decimal("7")]), classes([])
    ([(Decimal('0'), Decimal('7'))], [])
    """
    ordered = sorted(v for v in values if v > 0)
    edges = sorted(
        {_rounded_up(ordered[ceil(len(ordered) * k / CLASSES) - 1]) for k in range(1, CLASSES + 1)} if ordered else ()
    )
    return list(zip((Decimal(0), *edges), edges, strict=False))


def _rounded_up(value: Decimal) -> Decimal:
    """Return the next number of two figures: a limit that reads well and below which the value lies."""
    step = Decimal(1).scaleb(max(value.adjusted() - 1, 0))
    return Decimal(int((value / step).to_integral_value(ROUND_CEILING) * step))


def _zone_map(name: str, title: str, unit: str, charged: Mapping[Key, int], sums: Mapping[Key, ZoneSum]) -> ZoneMap:
    def figure(of: ZoneSum) -> Decimal:
        return of.length_m if unit == "m" else of.amount

    ranges = classes(figure(sums[key]) for key in charged)
    found = []
    for position, (low, high) in enumerate(ranges):
        members = [(n, _told(sums[key])) for key, n in charged.items() if low < figure(sums[key]) <= high]
        shade = round(1 + position * (CLASSES - 1) / max(len(ranges) - 1, 1)) if len(ranges) > 1 else (CLASSES + 1) // 2
        found.append(ColourClass(shade, _label(low, high, unit, len(members)), tuple(members)))
    most = max((sums[key] for key in charged), key=figure, default=None)
    said = (
        f" {number(len(charged))} {'zona tem' if len(charged) == 1 else 'zonas têm'} cobrança; a maior é "
        f"{most.zone or 'sem nome'}, com {_amount(figure(most), unit)}. As figuras estão na tabela de zonas."
        if most
        else " Nenhuma zona tem cobrança neste mês."
    )
    alt = f"Mapa com o norte para cima: zonas do Mapa de Valores, mais escuras quanto mais {name} cobrados, e a rede por cima.{said}"
    return ZoneMap(name, title, alt, tuple(found))


def _label(low: Decimal, high: Decimal, unit: str, count: int) -> str:
    said = (
        f"até {_round_figure(high, unit)}"
        if low == 0
        else f"mais de {_round_figure(low, unit)} até {_round_figure(high, unit)}"
    )
    return f"{said} ({number(count)} {'zona' if count == 1 else 'zonas'})"


def _round_figure(value: Decimal, unit: str) -> str:
    digits = number(Decimal(int(value)))
    return f"{digits}\u00a0m" if unit == "m" else f"R$\u00a0{digits}"


def _amount(value: Decimal, unit: str) -> str:
    return metres(value) if unit == "m" else reais(value)


def _told(of: ZoneSum) -> str:
    return f"{of.zone or 'Zona sem nome'} ({reais(of.land_value)}/m²): {metres(of.length_m)}, {reais(of.amount)}"


def _shapes(zones: gpd.GeoDataFrame, frame: Frame) -> tuple[list[tuple[int, str]], dict[Key, int]]:
    """Return one path for each name and value, numbered in the order in which the zones come."""
    members: dict[Key, list[int]] = defaultdict(list)
    for row, (zone, value) in enumerate(zip(zones["zone"], zones["land_value"], strict=True)):
        members[_key(zone, value)].append(row)
    paper = frame.on_paper(zones.geometry.to_numpy())
    shapes, numbers = [], {}
    for key, rows in members.items():
        if path := polygon_path(paper[rows]):
            numbers[key] = len(shapes)
            shapes.append((len(shapes), path))
    return shapes, numbers


def _key(zone: object, land_value: object) -> Key:
    """Return name and value of a zone as the lines of a bill bear them."""
    return (None if zone is None or zone != zone else str(zone)), Decimal(str(land_value))


def _frame(bounds: np.ndarray) -> Frame:
    """Return the extent with a margin, as wide as the page; as high as it needs, within limits."""
    minx, miny, maxx, maxy = map(float, bounds)
    across, up = max(maxx - minx, SMALLEST_EXTENT_M), max(maxy - miny, SMALLEST_EXTENT_M)
    per_mm = max(across / (WIDTH_MM - 2 * MARGIN_MM), up / (HIGHEST_MM - 2 * MARGIN_MM))
    height = min(max(up / per_mm + 2 * MARGIN_MM, LOWEST_MM), HIGHEST_MM)
    left, top = (minx + maxx - WIDTH_MM * per_mm) / 2, (miny + maxy + height * per_mm) / 2
    return Frame(left, top, per_mm, WIDTH_MM, height)


def _bar_m(frame: Frame) -> int:
    """Longest bar of 1, 2 or 5 times a power of ten within a quarter of the width."""
    room = frame.width_mm * frame.metres_per_mm * LONGEST_BAR_SHARE
    power = 10 ** max(floor(log10(room)), 0)
    return max((step * power for step in (1, 2, 5) if step * power <= room), default=1)
