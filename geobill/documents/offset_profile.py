"""The chart of one finding: how far the nearest permitted line is, metre by metre, against the reach that decides."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import ceil, floor, log10
from typing import Any

import shapely

from geobill.documents.drawing import SIMPLIFY_MM, mm
from geobill.documents.words import number

WIDE_MM: tuple[float, float] = (174.0, 36.0)
SMALL_MM: tuple[float, float] = (84.0, 28.0)
LEFT_MM, RIGHT_MM, TOP_MM, BOTTOM_MM = 11.0, 3.0, 4.0, 9.0
ROOM_ABOVE = 1.25  # the axis goes this far above what it shows
TICKS_EVERY_MM = {"x": 22.0, "y": 6.0}
LABEL_CHARACTER_MM = 1.25


@dataclass(frozen=True)
class OffsetProfile:
    """Distance to the nearest permitted line, place by place, as ``detection.offsets.offset_profile`` gives it.

    ``places`` are metres along the finding and the offset there, None where no line lies within ``searched_m``. Of what is
    permitted and wasn't found (``to_surveyed``), it is the distance to the nearest surveyed line.
    """

    places: Sequence[tuple[float | Decimal, float | Decimal | None]]
    searched_m: float | Decimal
    to_surveyed: bool = False

    @property
    def lines(self) -> str:
        """What the distance is measured to."""
        return "rede levantada" if self.to_surveyed else "rede permitida"

    @property
    def along_m(self) -> tuple[float, ...]:
        """Metres along the finding."""
        return tuple(float(along) for along, _ in self.places)

    @property
    def offset_m(self) -> tuple[float | None, ...]:
        """Offset at each place, in metres."""
        return tuple(None if offset is None else float(offset) for _, offset in self.places)


@dataclass(frozen=True)
class Chart:
    """A chart that is worked out and waits for its drawing (template ``perfil.svg.j2``), told in words too."""

    values: Mapping[str, Any]
    alt: str
    width_mm: float


def offset_chart(profile: OffsetProfile, reach_m: Decimal, number_on_paper: int, size_mm: tuple[float, float]) -> Chart:
    """Work out the chart of a finding's offsets.

    Parameters
    ----------
    profile : OffsetProfile
        At least two places.
    reach_m : Decimal
        Metres within which a surveyed line counts as permitted: tolerance and accuracies.
    number_on_paper : int
        The finding's number on the paper.
    size_mm : (float, float)
        Width and height on paper.
    """
    width, height = size_mm
    room_x, room_y = width - LEFT_MM - RIGHT_MM, height - TOP_MM - BOTTOM_MM
    start, end = profile.along_m[0], max(profile.along_m[-1], profile.along_m[0] + 0.01)
    known = [o for o in profile.offset_m if o is not None]
    least = float(reach_m) * (ROOM_ABOVE * 1.2 if known else 3)
    top = _round_up(max([least, *(o * ROOM_ABOVE for o in known)]))

    def x_of(metres: float) -> float:
        return LEFT_MM + (metres - start) / (end - start) * room_x

    def y_of(metres: float) -> float:
        return TOP_MM + room_y * (1 - min(metres, top) / top)

    runs, gaps = _runs(profile)
    curves = [_curve([(x_of(profile.along_m[i]), y_of(profile.offset_m[i] or 0.0)) for i in run]) for run in runs]
    bands = [_band(x_of(profile.along_m[a]), x_of(profile.along_m[b]), profile) for a, b in gaps]
    reach_y = y_of(float(reach_m))
    values = {
        "width": mm(width),
        "height": mm(height),
        "left": mm(LEFT_MM),
        "right": mm(width - RIGHT_MM),
        "top": mm(TOP_MM),
        "base": mm(height - BOTTOM_MM),
        "room_x": mm(room_x),
        "room_y": mm(room_y),
        "curves": [c for c in curves if c],
        "bands": bands,
        "reach": {"y": mm(reach_y), "text_y": mm(reach_y - 0.9), "x": mm(width - RIGHT_MM - 1),
                  "text": f"alcance {number(reach_m)} m"},
        "ticks_x": [{"at": mm(x_of(start + t)), "text": _tick(t)} for t in _ticks(end - start, room_x / TICKS_EVERY_MM["x"])],
        "ticks_y": [{"at": mm(y_of(t)), "text": _tick(t)} for t in _ticks(top, room_y / TICKS_EVERY_MM["y"])],
        "middle_x": mm(LEFT_MM + room_x / 2),
        "axis_y": mm(height - 1.2),
        "middle_y": mm(TOP_MM + room_y / 2),
    }  # fmt: skip
    return Chart(values, _alt(profile, reach_m, number_on_paper, end - start), width)


def _runs(profile: OffsetProfile) -> tuple[list[list[int]], list[tuple[int, int]]]:
    """Part the places into runs where there is a permitted line, and the stretches between where there is none."""
    runs: list[list[int]] = []
    gaps: list[tuple[int, int]] = []
    last = len(profile.offset_m) - 1
    for i, offset in enumerate(profile.offset_m):
        if offset is not None:
            if i == 0 or profile.offset_m[i - 1] is None:
                runs.append([])
            runs[-1].append(i)
        elif i == 0 or profile.offset_m[i - 1] is not None:
            gaps.append((max(i - 1, 0), i))
        if offset is None:
            gaps[-1] = (gaps[-1][0], min(i + 1, last))
    return runs, gaps


def _curve(points: Sequence[tuple[float, float]]) -> str:
    if len(points) < 2:
        return ""
    line = shapely.simplify(shapely.LineString(points), SIMPLIFY_MM)
    return "M" + "L".join(f"{mm(x)} {mm(y)}" for x, y in line.coords)


def _band(left: float, right: float, profile: OffsetProfile) -> dict[str, str]:
    text = f"sem {profile.lines} a até {_tick(float(profile.searched_m))} m"
    fits = right - left > LABEL_CHARACTER_MM * len(text)
    return {
        "x": mm(left),
        "width": mm(max(right - left, 0.2)),
        "middle": mm((left + right) / 2),
        "text": text if fits else "",
    }


def _round_up(value: float) -> float:
    """Next of 1, 1.5, 2, 3, 4, 5, 6, 8 times a power of ten.

    Examples
    --------
    >>> _round_up(4.3), _round_up(11), _round_up(0.9)
    (5.0, 15.0, 1.0)
    """
    power = 10.0 ** floor(log10(max(value, 0.01)))
    return float(next(s * power for s in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if s * power >= value - 1e-9))


def _ticks(span: float, most: float) -> list[float]:
    """Round places from 0 to the end, no more than there is room for."""
    rough = span / max(most, 1.0)
    power = 10.0 ** floor(log10(max(rough, 0.01)))
    step = next(s * power for s in (1, 2, 5, 10) if s * power >= rough - 1e-9)
    return [round(i * step, 6) for i in range(floor(span / step + 1e-9) + 1)]


def _tick(value: float) -> str:
    return number(Decimal(f"{value:.2f}".rstrip("0").rstrip(".")))


def _alt(profile: OffsetProfile, reach_m: Decimal, number_on_paper: int, length: float) -> str:
    """Describe the chart to somebody who can't see it."""
    known = [o for o in profile.offset_m if o is not None]
    told = f"Gráfico do achado {number_on_paper}: afastamento até a {profile.lines} mais próxima ao longo de {_tick(length)} metros. "
    if not known:
        return told + f"Não há {profile.lines} a até {_tick(float(profile.searched_m))} metros, em toda a extensão."
    beyond = sum(o > float(reach_m) for o in known)
    share = ceil(100 * beyond / len(known)) if beyond < len(known) else 100
    told += (
        f"O afastamento vai de {_tick(min(known))} a {_tick(max(known))} metros; o alcance, em linha tracejada, é de "
        f"{number(reach_m)} metros, e {share}% dos pontos medidos passam dele."
    )
    if len(known) < len(profile.offset_m):
        told += f" Em parte da extensão não há {profile.lines} a até {_tick(float(profile.searched_m))} metros."
    return told
