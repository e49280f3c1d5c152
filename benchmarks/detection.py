"""Two hundred thousand surveyed stretches against as many permitted ones: seconds and memory.

usage: python benchmarks/detection.py [--stretches N] [--accused SHARE] [--doubled SHARE]
A town of streets and wires, mean stretch 37 m with a vertex about every 12 m; the survey is the permitted network shifted and
shaken by half a metre, one stretch in thirty left out, and a share of it pushed 8 m aside, where nothing is permitted;
with --doubled a share of it is drawn twice, half a metre apart.
"""

import argparse
import resource
import time
from decimal import Decimal

import geopandas as gpd
import numpy as np
import shapely

from geobill.detection.lines import detect_lines
from geobill.domain.detection import DetectionTerms
from geobill.frames import SEGMENTS, SURVEY_LINES

BLOCK_M, SPAN_M, BEND_M = 111.0, 37.0, 1.0


def main() -> None:
    """Make both networks, compare them, and print what it took."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--stretches", type=int, default=200_000)
    ask.add_argument("--accused", type=float, default=0.05)
    ask.add_argument("--doubled", type=float, default=0.0)
    args = ask.parse_args()
    chance = np.random.default_rng(3057)
    lines = town(args.stretches, chance)
    permitted = frame(lines, SEGMENTS)
    survey = frame(surveyed(lines, args.accused, args.doubled, chance), SURVEY_LINES)
    terms = DetectionTerms(Decimal(3), Decimal(5), moved_within_m=Decimal(6))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    start, worked = time.perf_counter(), time.process_time()
    found = detect_lines(survey, permitted, terms)
    seconds, worked = time.perf_counter() - start, time.process_time() - worked
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    vertices = shapely.get_num_coordinates(survey.geometry.values).sum()
    print(f"{len(survey):,} surveyed stretches ({vertices:,} vertices) against {len(permitted):,} permitted")
    print(f"{seconds:.1f} s, {worked:.1f} s of them at work")
    print(f"memory: {most:,.0f} MB at most, of which {before:,.0f} MB were there before")
    print(f"survey {found.survey_length_m} m = matched {found.matched_m} + undeclared {found.undeclared_m}")
    print(
        f"moved {found.moved_m}, more {found.more_m}, below the minimum {found.below_minimum_m}, missing {found.missing_m}"
    )
    print(found.findings["kind"].value_counts().to_string())


def town(count: int, chance: np.random.Generator) -> np.ndarray:
    """Draw streets of three stretches a block, both ways, bent a little."""
    side = int(np.ceil(np.sqrt(count / 6)))
    col, row, third, way = np.unravel_index(chance.permutation(side * side * 6)[:count], (side, side, 3, 2))
    corner = np.stack([col, row], axis=1) * BLOCK_M + (330_000.0, 7_410_000.0)
    along = np.where(way[:, None] == 0, (1.0, 0.0), (0.0, 1.0))
    share = np.linspace(0.0, 1.0, 4)
    place = corner[:, None, :] + along[:, None, :] * (third[:, None, None] + share[None, :, None]) * SPAN_M
    # a bend in the block that is the same for all three
    s = (third[:, None] + share[None, :]) / 3
    bend = BEND_M * np.sin(2 * np.pi * s)
    place += bend[:, :, None] * along[:, None, ::-1]
    return shapely.linestrings(place)


def surveyed(lines: np.ndarray, accused: float, doubled: float, chance: np.random.Generator) -> np.ndarray:
    """Shift, shake, leave out, push aside, double and turn round."""
    lines = lines[chance.random(len(lines)) > 1 / 30]
    lines = np.r_[lines, lines[chance.random(len(lines)) < doubled]]
    xy = shapely.get_coordinates(lines).reshape(len(lines), 4, 2)
    xy = xy + chance.normal(0, 0.5, (len(lines), 1, 2)) + chance.normal(0, 0.5 / 3, xy.shape)
    way = xy[:, -1] - xy[:, 0]
    aside = np.stack([-way[:, 1], way[:, 0]], axis=1) / np.hypot(*way.T)[:, None]
    xy = xy + (chance.random(len(lines)) < accused)[:, None, None] * 8.0 * aside[:, None, :]
    turned = chance.random(len(lines)) < 0.4
    return shapely.linestrings(np.where(turned[:, None, None], xy[:, ::-1], xy))


def frame(lines: np.ndarray, columns: tuple[str, ...]) -> gpd.GeoDataFrame:
    """Fill a contract with what it takes."""
    made = gpd.GeoDataFrame({c: None for c in columns if c != "geometry"}, index=range(len(lines)), geometry=lines)
    made["source_row"] = np.arange(1, len(lines) + 1)
    made["segment"] = made["source_row"].astype(str)
    made["width_m"] = "0.50"
    return made.set_crs("EPSG:31983")


if __name__ == "__main__":
    main()
