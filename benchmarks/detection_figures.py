"""Recall and precision by metre of what detection finds, over many surveys with a known truth, as a Markdown table.

usage: python benchmarks/detection_figures.py [--shared DIR] [--seeds N] [--network FILE] [--layer L …] [--sigma M …] [--tolerance M …]
The surveys are those of the acceptance (cases/run_detection.py): a network shifted and shaken by sigma metres, cut and joined
elsewhere, some of it missing, with undeclared stretches hidden in it. Each cell is mean (worst) over the seeds, in per cent.
"""

import argparse
import importlib.util
import pathlib
from decimal import Decimal

import geopandas as gpd
import numpy as np
import shapely

from geobill.detection.lines import detect_lines
from geobill.domain.detection import UNDECLARED_SEGMENT, DetectionTerms
from geobill.frames import SEGMENTS, SURVEY_LINES

HERE = pathlib.Path(__file__).resolve().parents[1]
FIRST_SEED = 3057


def main() -> None:
    """Run all combinations and print the table."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--shared", type=pathlib.Path, default=HERE.parent / "shared")
    ask.add_argument("--seeds", type=int, default=10)
    ask.add_argument("--network", type=pathlib.Path, help="default: the permitted network of 2021")
    ask.add_argument("--layer", action="append", help="default: SSDMT and SSDBT")
    ask.add_argument("--sigma", type=float, action="append")
    ask.add_argument("--tolerance", type=Decimal, action="append")
    ask.add_argument("--plain", action="store_true", help="score plain buffering by the tolerance instead")
    ask.add_argument("--each", action="store_true", help="print each seed's figures too")
    args = ask.parse_args()
    maker = acceptance(args.shared / "cases/run_detection.py")
    network = args.network or args.shared / "data/caieiras/rede_permitida_2021.gpkg"
    tolerances = args.tolerance or [Decimal(t) for t in (1, 2, 3, 5)]
    print("| layer | sigma | figure |", " | ".join(f"tolerance {t} m" for t in tolerances), "|")
    print("| --- | --- | --- |", " | ".join("---" for _ in tolerances), "|")
    for layer in args.layer or ("SSDMT", "SSDBT"):
        allowed = gpd.read_file(network, layer=layer)
        allowed = allowed[allowed.geometry.length > 0]
        permitted = frame(allowed.geometry.to_numpy(), SEGMENTS)
        for sigma in args.sigma or (0.3, 0.5, 1.0):
            figures = np.zeros((args.seeds, len(tolerances), 2))
            for seed in range(args.seeds):
                drawn, hidden = maker.survey(allowed, np.random.default_rng(FIRST_SEED + seed), sigma)
                survey = frame(drawn.geometry.to_numpy(), SURVEY_LINES)
                for t, tolerance in enumerate(tolerances):
                    figures[seed, t] = score(survey, permitted, hidden, tolerance, args.plain)
                    if args.each:
                        print(f"{layer} {sigma} {FIRST_SEED + seed} {tolerance}: {figures[seed, t]}", flush=True)
            for column, name in enumerate(("recall", "precision")):
                mean, worst = 100 * figures[:, :, column].mean(axis=0), 100 * figures[:, :, column].min(axis=0)
                cells = (f"{m:.2f} ({w:.2f})" for m, w in zip(mean, worst, strict=True))
                print(f"| {layer} | {sigma} m | {name} |", " | ".join(cells), "|", flush=True)


def acceptance(path: pathlib.Path):
    """Load the acceptance's script as a module."""
    spec = importlib.util.spec_from_file_location("run_detection", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def score(
    survey: gpd.GeoDataFrame,
    permitted: gpd.GeoDataFrame,
    hidden: shapely.Geometry,
    tolerance: Decimal,
    plain: bool,
) -> tuple[float, float]:
    """Recall and precision as the acceptance counts them, on the terms that ``geobill detect`` takes by itself."""
    if plain:
        near = shapely.union_all(shapely.buffer(permitted.geometry.to_numpy(), float(tolerance)))
        found = shapely.difference(shapely.union_all(survey.geometry.to_numpy()), near)
    else:
        terms = DetectionTerms(tolerance, tolerance, moved_within_m=2 * tolerance)
        findings = detect_lines(survey, permitted, terms).findings
        found = shapely.union_all(findings.geometry[findings["kind"] == UNDECLARED_SEGMENT].to_numpy())
    recall = shapely.intersection(hidden, shapely.buffer(found, 0.05)).length / hidden.length
    return recall, shapely.intersection(found, shapely.buffer(hidden, 0.05)).length / max(found.length, 1e-9)


def frame(lines: np.ndarray, columns: tuple[str, ...]) -> gpd.GeoDataFrame:
    """Fill a contract with what it takes."""
    made = gpd.GeoDataFrame({c: None for c in columns if c != "geometry"}, index=range(len(lines)), geometry=lines)
    made["source_row"] = np.arange(1, len(lines) + 1)
    made["segment"] = made["source_row"].astype(str)
    made["width_m"] = "0.50"
    return made.set_crs("EPSG:31983")


if __name__ == "__main__":
    main()
