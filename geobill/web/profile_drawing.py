"""The offset profile of a finding as a drawing: positions on a sheet of a fixed size, worked out here, drawn by the template."""

from dataclasses import dataclass
from decimal import Decimal
from math import ceil, floor, log10

from geobill.documents import words
from geobill.domain.detection import FieldFinding
from geobill.pipeline.finding_profile import Profile

WIDTH, HEIGHT = 400, 150
LEFT, RIGHT, TOP, BOTTOM = 36, 14, 12, 26
MOST_ROWS = 24  # of the table that says the same in figures


@dataclass(frozen=True)
class Tick:
    """A label on an axis."""

    at: float
    label: str


@dataclass(frozen=True)
class ProfileDrawing:
    """Paths and labels on a sheet of ``WIDTH`` by ``HEIGHT``; ``alone`` are spans without anything near, as (x, width)."""

    line: str
    area: str
    alone: tuple[tuple[float, float], ...]
    reach_y: float
    floor_y: float
    along: tuple[Tick, ...]
    aside: tuple[Tick, ...]
    rows: tuple[tuple[Decimal, Decimal | None], ...]
    told: str


def draw_profile(profile: Profile, finding: FieldFinding) -> ProfileDrawing:
    """Lay out a profile: metres along the stretch to the right, the offset upwards, never cut off; said in the finding's figures."""
    length = float(profile.places[-1][0]) or 1.0
    offsets = [float(o) for _, o in profile.places if o is not None]
    reach = float(profile.reach_m)
    aside = _ticks(max([*offsets, reach * 1.4]), 4)
    top = aside[-1]
    floor_y = float(HEIGHT - BOTTOM)

    def x(at: Decimal | float) -> float:
        return round(LEFT + float(at) / length * (WIDTH - LEFT - RIGHT), 1)

    def y(offset: Decimal | float) -> float:
        return round(floor_y - float(offset) / top * (floor_y - TOP), 1)

    runs: list[list[tuple[float, float]]] = [[]]
    alone: list[tuple[float, float]] = []
    half = length / max(len(profile.places) - 1, 1) / 2
    for at, offset in profile.places:
        if offset is not None:
            runs[-1].append((x(at), y(offset)))
            continue
        left, right = x(max(float(at) - half, 0.0)), x(min(float(at) + half, length))
        if alone and not runs[-1]:
            alone[-1] = (alone[-1][0], round(right - alone[-1][0], 1))
        else:
            alone.append((left, round(right - left, 1)))
        if runs[-1]:
            runs.append([])
    drawn = [run for run in runs if run]
    return ProfileDrawing(
        line=" ".join("M" + " L".join(f"{a} {b}" for a, b in run) for run in drawn),
        area=" ".join(
            f"M{run[0][0]} {floor_y} L" + " L".join(f"{a} {b}" for a, b in run) + f" L{run[-1][0]} {floor_y} Z"
            for run in drawn
        ),
        alone=tuple(alone),
        reach_y=y(reach),
        floor_y=floor_y,
        along=tuple(Tick(x(at), _label(at)) for at in _ticks(length, 5) if at <= length),
        aside=tuple(Tick(y(at), _label(at)) for at in aside),
        rows=_rows(profile),
        told=_told(profile, finding, offsets),
    )


def _ticks(most: float, about: int) -> list[float]:
    """Round values from zero up to at least a greatest one: steps of 1, 2 or 5 times a power of ten."""
    rough = most / about
    power = 10 ** floor(log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * 0.999)
    return [step * n for n in range(ceil(most / step - 1e-9) + 1)]


def _label(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".").replace(".", ",")


def _rows(profile: Profile) -> tuple[tuple[Decimal, Decimal | None], ...]:
    """Return some of the places, evenly, and the last."""
    rows = profile.places[:: ceil(len(profile.places) / MOST_ROWS)]
    return rows if rows[-1] == profile.places[-1] else (*rows, profile.places[-1])


def _told(profile: Profile, finding: FieldFinding, offsets: list[float]) -> str:
    """Say the profile in a sentence, for whoever doesn't see it: mean and greatest offset are those on record."""
    if not offsets:
        return f"Nada a menos de {_label(float(profile.looked_m))} m em toda a extensão."
    beyond = sum(o is None or o > profile.reach_m for _, o in profile.places)
    alone = len(profile.places) - len(offsets)
    mean, greatest = finding.offset_mean_m, finding.offset_max_m
    if mean is None or greatest is None:  # what is drawn here wasn't measured when it was found
        apart = f"vai de cerca de {_label(min(offsets))} m a cerca de {_label(max(offsets))} m"
    elif mean == greatest:
        apart = f"é de {words.metres(mean)}"
    else:
        apart = f"é de {words.metres(mean)} em média e de {words.metres(greatest)} no máximo"
    whole = beyond in (0, len(profile.places))
    parts = [
        f"Ao longo de {words.metres(finding.length_m)}, o afastamento {apart}",
        f"{'toda ' if whole else _share(beyond, profile) + ' d'}a extensão está {'além' if beyond else 'dentro'} da tolerância "
        f"de {_label(float(profile.reach_m))} m",
    ]
    if alone:
        parts.append(f"em {_share(alone, profile)} não há nada a menos de {_label(float(profile.looked_m))} m")
    return "; ".join(parts) + "."


def _share(places: int, profile: Profile) -> str:
    """Write a share of the places in per cent: 0% and 100% only where it is none or all of them."""
    share = round(100 * places / len(profile.places))
    return f"{min(max(share, 1), 99) if 0 < places < len(profile.places) else share}%"
