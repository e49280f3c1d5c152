"""Reading large files: a million rows as GeoPackage, Shapefile and GeoParquet; seconds and peak memory of each way.

usage: python benchmarks/intake.py [--rows N] [--data DIR] [--keep DIR] [--import]      (DIR of data: ../shared/data/caieiras)

Compares, each in a process of its own: plain geopandas, `reader.read_layer`, `geobill inspect`; with --import also the
whole of `geobill import network`. The rows are those of the real network, again and again, each copy some metres
beside the last; without the real data they are made up.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

HERE = pathlib.Path(__file__).resolve().parents[1]
SUFFIXES = ("gpkg", "shp", "parquet")
PLAIN = "import sys, geopandas as g; p = sys.argv[1]; (g.read_parquet if p.endswith('parquet') else g.read_file)(p)"
LAYER = "import sys, pathlib; from geobill.intake.reader import read_layer; read_layer(pathlib.Path(sys.argv[1]))"
GEOBILL = [sys.executable, "-m", "geobill.cli.main"]
START = "import geobill.pipeline.inspect, geobill.cli.main"


def main() -> None:
    """Make the files, run each way once, print a table."""
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("--rows", type=int, default=1_000_000)
    ask.add_argument("--data", type=pathlib.Path, default=HERE.parent / "shared/data/caieiras")
    ask.add_argument("--keep", type=pathlib.Path, help="keep the files here, and take those that are there")
    ask.add_argument("--import", dest="imports", action="store_true", help="also import the network")
    args = ask.parse_args()
    with tempfile.TemporaryDirectory() as tmp:
        folder = args.keep or pathlib.Path(tmp)
        folder.mkdir(parents=True, exist_ok=True)
        for suffix in SUFFIXES:
            make(folder, suffix, args)
        print(f"{args.rows:,} rows; seconds with the program's start, and peak memory\n")
        print(f"{'':24s}" + "".join(f"{s:>20s}" for s in SUFFIXES))
        show("start alone", lambda _: [sys.executable, "-c", START], folder)
        show("geopandas", lambda p: [sys.executable, "-c", PLAIN, p], folder)
        show("read_layer", lambda p: [sys.executable, "-c", LAYER, p], folder)
        show("geobill inspect", lambda p: [*GEOBILL, "inspect", p, "--json"], folder)
        if args.imports:
            show("geobill import network", lambda p: importing(pathlib.Path(tmp), p), folder)


def importing(tmp: pathlib.Path, path: str) -> list[str]:
    """Make an empty workspace and return the command that imports a file into it."""
    ws = tmp / f"ws-{pathlib.Path(path).suffix[1:]}"
    for words in (["init", str(ws)], ["-w", str(ws), "operator", "add", "--id", "alfa", "--name", "Alfa"]):
        subprocess.run([*GEOBILL, *words], check=True, stdout=subprocess.DEVNULL, cwd=HERE)
    given = [
        "--operator",
        "alfa",
        "--default-width",
        "0.50",
        "--map",
        "segment=COD_ID",
        "--map",
        "declared_length=COMP",
    ]
    return [*GEOBILL, "-w", str(ws), "import", "network", path, *given, "--json"]


def show(name: str, command: Callable[[str], list[str]], folder: pathlib.Path) -> None:
    """Run one way on each file and print its row."""
    cells = [run(command(str(folder / f"rede.{suffix}"))) for suffix in SUFFIXES]
    print(f"{name:24s}" + "".join(f"{f'{s:.1f} s {mib:,.0f} MiB':>20s}" for s, mib in cells), flush=True)


def run(command: list[str]) -> tuple[float, float]:
    """Run a command; return its wall-clock seconds and its peak memory in MiB of its own."""
    begun = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=HERE)
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{' '.join(command)}: {said.decode(errors='replace')[-2000:]}")
    return time.perf_counter() - begun, usage.ru_maxrss / 1024


def make(folder: pathlib.Path, suffix: str, args: argparse.Namespace) -> None:
    """Write one file, in a process of its own: this one stays small, or its memory would count as its children's."""
    target = folder / f"rede.{suffix}"
    if not target.exists():
        subprocess.run([sys.executable, __file__, "--write", str(target), str(args.rows), str(args.data)], check=True)


def write(target: str, rows: int, data: pathlib.Path) -> None:
    """Write the rows to a file."""
    import geopandas as gpd
    import numpy as np
    import pandas as pd
    import shapely

    source = data / "rede_levantada_2024.gpkg"
    if source.exists():
        once = gpd.read_file(source, layer="SSDMT")
    else:
        way = np.random.default_rng(1).normal(0, 20, (1652, 4, 2)).cumsum(axis=1) + [322_000, 7_414_000]
        once = gpd.GeoDataFrame(
            {"COD_ID": [str(n) for n in range(1652)], "COMP": 30.0}, geometry=shapely.linestrings(way)
        )
    copies = -(-rows // len(once))
    frame = pd.concat([once] * copies, ignore_index=True).iloc[:rows]
    copy = np.repeat(np.arange(copies), len(once))[:rows]
    frame["COD_ID"] = frame["COD_ID"].astype(str) + "-" + pd.Series(copy, index=frame.index).astype(str)
    counts = shapely.get_num_coordinates(frame.geometry.to_numpy())
    beside = np.repeat(np.column_stack([copy % 25, copy // 25]) * 40.0, counts, axis=0)
    drawn = shapely.transform(frame.geometry.to_numpy(), lambda xy: xy + beside)
    frame = gpd.GeoDataFrame(frame.drop(columns="geometry"), geometry=drawn, crs="EPSG:31983")
    if target.endswith(".parquet"):
        frame.to_parquet(target)
    else:
        frame.to_file(target)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        write(sys.argv[2], int(sys.argv[3]), pathlib.Path(sys.argv[4]))
    else:
        main()
