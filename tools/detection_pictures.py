"""Where detection and plain buffering differ on the real pair of networks: metres by class, and three pictures.

usage: python tools/detection_pictures.py [--data DIR] [--out DIR] [--tolerance M]     (by hand; DIR of data: ../shared/data/caieiras)
"""

import argparse
import pathlib
from decimal import Decimal

import geopandas as gpd
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import shapely

from geobill.detection.cut import stretches
from geobill.detection.drawn import drawn
from geobill.detection.lines import LineDetection, detect_lines
from geobill.domain.detection import DetectionTerms
from geobill.frames import SEGMENTS, SURVEY_LINES

HERE = pathlib.Path(__file__).resolve().parents[1]
PERMITTED, SURVEYED, FOUND, MOVED, BUFFER = "#0072b2", "#5f6b73", "#d55e00", "#b8860b", "#cfe3f1"
UNDECLARED = "undeclared"
# what of ours plain buffering doesn't have, and the other way round: name and how to say it
OURS_ONLY = {
    "crossing": "where it crosses a permitted line",
    "root": "from the root of a branch on",
    "past_end": "from the end of the permitted line on",
}
PICTURES = {
    "past-the-end": ("past_end", "Where the permitted line ends or turns off: undeclared from there on"),
    "crossing": ("crossing", "Across a permitted line: undeclared over its whole length"),
    "moved": ("moved", "Beside a permitted line that the survey doesn't have otherwise: moved"),
}


def main() -> None:
    """Compare, print, draw."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--data", type=pathlib.Path, default=HERE.parent / "shared/data/caieiras")
    ask.add_argument("--out", type=pathlib.Path, default=HERE / "docs/decisions")
    ask.add_argument("--tolerance", type=Decimal, default=Decimal(1))
    args = ask.parse_args()
    permitted = frame(args.data / "rede_permitida_2021.gpkg", SEGMENTS)
    survey = frame(args.data / "rede_levantada_2024.gpkg", SURVEY_LINES)
    terms = DetectionTerms(args.tolerance, args.tolerance, moved_within_m=2 * args.tolerance)
    result = detect_lines(survey, permitted, terms)
    buffered = shapely.buffer(shapely.union_all(permitted.geometry.to_numpy()), float(args.tolerance))
    classes = differences(result, survey, buffered)
    report(result, survey, buffered, classes)
    for name, (kind, title) in PICTURES.items():
        path = args.out / f"0010-{name}.png"
        draw(path, title, classes, kind, result, survey, permitted, float(args.tolerance))


def frame(path: pathlib.Path, columns: tuple[str, ...]) -> gpd.GeoDataFrame:
    """Fill a contract with a network's medium voltage."""
    read = gpd.read_file(path, layer="SSDMT")
    made = gpd.GeoDataFrame({c: None for c in columns if c != "geometry"}, index=read.index, geometry=read.geometry)
    made["source_row"] = np.arange(1, len(read) + 1)
    made["segment"] = read["COD_ID"]
    made["width_m"] = "0.50"
    return made


def differences(result: LineDetection, survey: gpd.GeoDataFrame, buffered: shapely.Geometry) -> gpd.GeoDataFrame:
    """Stretches on which the two disagree, with their class: ours alone by place, plain buffering's by our state."""
    lines = drawn(survey.geometry.to_numpy())
    runs = result.runs
    row = runs["source_row"].to_numpy() - 1
    part = np.searchsorted(lines.row, row)  # rows of this network have one part each
    shapes = stretches(lines.parts, part, runs["start_m"].to_numpy(), runs["end_m"].to_numpy())
    undeclared = (runs["state"] == UNDECLARED).to_numpy()
    outside = shapely.difference(shapes, buffered)
    found = []
    kept = shapely.union_all(shapes[~undeclared])
    whole = shapely.get_parts(shapely.line_merge(shapely.union_all(shapes[undeclared])))
    for shape, near in zip(whole, shapely.intersection(whole, buffered), strict=True):
        found += [(place(one, shape, kept), one) for one in shapely.get_parts(shapely.line_merge(near))]
    for shape, state in zip(outside[~undeclared], runs["state"][~undeclared], strict=True):
        found += [(state, one) for one in shapely.get_parts(shape)]
    table = gpd.GeoDataFrame({"kind": [k for k, _ in found]}, geometry=[g for _, g in found], crs=survey.crs)
    return table[table.geometry.length > 0.001].reset_index(drop=True)


def place(one: shapely.LineString, whole: shapely.LineString, kept: shapely.Geometry) -> str:
    """Class of a bit of a finding that lies within the tolerance of a permitted line."""
    ends = [shapely.Point(whole.coords[0]), shapely.Point(whole.coords[-1])]
    touched = [e for e in ends if one.distance(e) < 0.01]
    if not touched:
        return "crossing"
    # where it carries one permitted line on, that ended; else it is a branch
    return "past_end" if any(ways(kept, e) == 1 for e in touched) else "root"


def ways(kept: shapely.Geometry, at: shapely.Point) -> int:
    """How many ways surveyed lines that are permitted lead away from a place."""
    ring = at.buffer(0.3)
    return len(shapely.get_parts(shapely.intersection(kept, ring.exterior))) if kept.distance(at) < 0.05 else 0


def report(
    result: LineDetection, survey: gpd.GeoDataFrame, buffered: shapely.Geometry, classes: gpd.GeoDataFrame
) -> None:
    """Print both sums and what lies between them."""
    plain = shapely.length(shapely.difference(survey.geometry.to_numpy(), buffered)).sum()
    print(f"plain buffering: {plain:.2f} m undeclared")
    print(
        f"ours: {result.undeclared_m} m undeclared, {result.moved_m} moved, {result.more_m} more than permitted, "
        f"{result.below_minimum_m} below the minimum, {result.missing_m} missing"
    )
    sums = classes.assign(m=classes.geometry.length).groupby("kind")["m"].agg(["sum", "count", "max"]).round(2)
    sums.insert(0, "whose", np.where(sums.index.isin(list(OURS_ONLY)), "ours alone", "plain buffering alone"))
    print(pd.DataFrame(sums).to_string())


def draw(
    path: pathlib.Path,
    title: str,
    classes: gpd.GeoDataFrame,
    kind: str,
    result: LineDetection,
    survey: gpd.GeoDataFrame,
    permitted: gpd.GeoDataFrame,
    tolerance: float,
) -> None:
    """Draw the longest difference of a class: plain buffering left, ours right."""
    of_kind = classes[classes["kind"] == kind]
    if not len(of_kind):
        print(f"{path.name}: no difference of this kind")
        return
    shape = of_kind.geometry[of_kind.geometry.length.idxmax()]
    x, y = shape.centroid.coords[0]
    half = max(6.0, 0.45 * shape.length)
    window = shapely.box(x - 1.4 * half, y - half, x + 1.4 * half, y + half)
    buffered = shapely.buffer(permitted.geometry.to_numpy(), tolerance)
    plain = shapely.difference(survey.geometry.to_numpy(), shapely.union_all(buffered))
    ours = result.findings[result.findings["kind"] == "undeclared_segment"].geometry.to_numpy()
    moved = result.findings[result.findings["kind"] == "moved"].geometry.to_numpy()
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.9), dpi=100)
    for ax, name, accused, elsewhere in (
        (axes[0], f"plain buffering ({tolerance:g} m)", plain, []),
        (axes[1], "geobill", ours, moved),
    ):
        put(ax, [shapely.union_all(buffered)], window, color=BUFFER, zorder=1, linewidth=0)
        put(ax, permitted.geometry, window, color=PERMITTED, linewidth=2.2, zorder=3)
        put(ax, survey.geometry, window, color=SURVEYED, linewidth=1.6, linestyle=(0, (4, 2)), zorder=4)
        put(ax, accused, window, color=FOUND, linewidth=3.4, zorder=5, alpha=0.85)
        put(ax, elsewhere, window, color=MOVED, linewidth=3.4, zorder=5, alpha=0.9)
        metres = shapely.length(shapely.intersection(np.asarray(accused, dtype=object), window)).sum()
        ax.set_title(f"{name}: {metres:.2f} m undeclared here", fontsize=10)
        ax.set_xlim(window.bounds[0], window.bounds[2])
        ax.set_ylim(window.bounds[1], window.bounds[3])
        ax.set_aspect("equal")
        ax.set_xlabel("")
        ax.set_ylabel("")
        ax.set_xticks([])
        ax.set_yticks([])
        scale(ax, window)
    handles = [
        plt.Line2D([], [], color=PERMITTED, linewidth=2.2, label="permitted 2021"),
        plt.Line2D([], [], color=SURVEYED, linewidth=1.6, linestyle=(0, (4, 2)), label="surveyed 2024"),
        plt.Line2D([], [], color=FOUND, linewidth=3.4, label="undeclared"),
        plt.Line2D([], [], color=MOVED, linewidth=3.4, label="moved"),
    ]
    figure.legend(handles=handles, loc="lower center", ncols=4, frameon=False, fontsize=9)
    figure.suptitle(title, fontsize=12)
    figure.tight_layout(rect=(0, 0.06, 1, 1))
    figure.savefig(path, metadata={"Software": None})
    plt.close(figure)
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB, around {x:.0f}, {y:.0f}")


def put(ax: plt.Axes, shapes, window: shapely.Polygon, **style) -> None:
    """Draw what of some shapes lies in the window."""
    here = shapely.intersection(np.asarray(shapes, dtype=object), window.buffer(5))
    here = gpd.GeoSeries(here[~shapely.is_empty(here)])
    if len(here):
        here.plot(ax=ax, aspect=None, **style)


def scale(ax: plt.Axes, window: shapely.Polygon) -> None:
    """Draw a bar of a round number of metres."""
    west, south, east, north = window.bounds
    length = next(r for r in (1, 2, 5, 10, 20, 50, 100, 200) if r >= (east - west) / 10)
    x, y = west + 0.04 * (east - west), south + 0.05 * (north - south)
    ax.plot([x, x + length], [y, y], color="black", linewidth=2.5, solid_capstyle="butt", zorder=6)
    ax.text(x + length / 2, y + 0.015 * (north - south), f"{length} m", ha="center", va="bottom", fontsize=8, zorder=6)


if __name__ == "__main__":
    main()
