"""The review page with a large town: 50,000 findings, 200,000 stretches permitted and as many surveyed, all made up.

usage: python benchmarks/review_page.py [--findings N] [--stretches N] [--keep DIR]
Prints how long the map's tiles take and how large they are, how long the pages take, the first view in Chromium from the
click to the map at rest, and the most memory that the server took.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import time
from decimal import Decimal

import geopandas as gpd
import numpy as np
import shapely
from playwright.sync_api import sync_playwright
from same_strip import geobill

from geobill.domain.detection import DetectionTerms, FieldFinding, Survey
from geobill.store.surveys import SurveyRegister
from geobill.store.workspace import open_workspace

CORNER, WIDE_M = (318_000, 7_410_000), 14_000
NOW = "2026-11-30T12:00:00Z"
PORT = 8471
# no graphics card is needed: SwiftShader draws, slowly
ARGUMENTS = (
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--no-first-run",
)
KINDS = ("undeclared_segment", "more_than_permitted", "moved", "missing_in_survey")


def main() -> None:
    """Make the town, then measure."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--findings", type=int, default=50_000)
    ask.add_argument("--stretches", type=int, default=200_000)
    ask.add_argument("--keep", type=pathlib.Path, help="keep the workspace here, and use it again where it is there")
    args = ask.parse_args()
    with tempfile.TemporaryDirectory() as tmp:
        ws = (args.keep or pathlib.Path(tmp)) / "town"
        if not ws.is_dir():
            make_town(ws, args.stretches, args.findings)
        measure_tiles(ws)
        measure_pages(ws)


def make_town(ws: pathlib.Path, stretches: int, findings: int) -> None:
    """Make a workspace: one operator, one zone, a network in streets, the same surveyed half a metre beside, findings."""
    geobill(ws, "init", str(ws), workspace=False)
    geobill(ws, "operator", "add", "--id", "alfa", "--name", "Alfa Telecomunicações S.A.")
    rng = np.random.default_rng(3057)
    network = streets(rng, stretches)
    files = ws / "files"
    files.mkdir()
    box = shapely.box(*CORNER, CORNER[0] + WIDE_M, CORNER[1] + WIDE_M)
    gpd.GeoDataFrame({"zona": ["Z1"], "valor": [200]}, geometry=[box], crs=31983).to_file(files / "zonas.gpkg")
    values = ["--map", "zone=zona", "--map", "land_value=valor", "--edition", "2026", "--in-force-from", "2026-01-01"]
    geobill(ws, "import", "land-values", str(files / "zonas.gpkg"), *values)
    gpd.GeoDataFrame({"cod": np.arange(stretches)}, geometry=network, crs=31983).to_file(files / "rede.gpkg")
    geobill(
        ws,
        "import",
        "network",
        str(files / "rede.gpkg"),
        "--operator",
        "alfa",
        "--map",
        "segment=cod",
        "--default-width",
        "0.5",
    )
    keep_survey(ws, rng, network, findings)


def streets(rng: np.random.Generator, count: int) -> np.ndarray:
    """Draw stretches of 20 to 60 m, east or north, on streets 60 m apart."""
    start = rng.uniform(0, WIDE_M - 100, (count, 2))
    along = rng.integers(0, 2, count)
    start[np.arange(count), 1 - along] = np.round(start[np.arange(count), 1 - along] / 60) * 60
    step = np.zeros((count, 2))
    step[np.arange(count), along] = rng.uniform(20, 60, count)
    return shapely.linestrings(np.stack([start, start + step / 2, start + step], axis=1) + CORNER)


def keep_survey(ws: pathlib.Path, rng: np.random.Generator, network: np.ndarray, count: int) -> None:
    """Keep a survey of the network, shaken, with findings beside it, as a comparison would."""
    opened = open_workspace(ws)
    seen = shapely.transform(network, lambda xy: xy + 0.5)
    lines = gpd.GeoDataFrame(
        {"source_row": np.arange(1, len(seen) + 1), "segment": np.arange(1, len(seen) + 1).astype(str), "operator": "alfa",
         "service": None, "level": None, "width_m": "0.5"},
        geometry=shapely.multilinestrings(list(seen[:, None])), crs=31983,
    )  # fmt: skip
    boxes = gpd.GeoDataFrame(
        {c: [] for c in ("source_row", "equipment", "operator", "service", "volume_m3")}, geometry=[], crs=31983
    )
    shapes = streets(rng, count)
    lengths = np.round(shapely.length(shapes), 2)
    findings = [
        FieldFinding(
            id=f"V00001-{n + 1:05d}", survey="V00001", kind=KINDS[n % 20 // 17], operator="alfa" if n % 5 else None,
            source_row=n + 1, segment=str(n + 1), start_m=0.0, end_m=float(length), length_m=Decimal(f"{length:.2f}"),
            permitted=None, offset_mean_m=Decimal("7.50"), offset_p95_m=Decimal("8.10"), offset_max_m=Decimal("9.00"),
            confidence=Decimal("0.93"), service=None, level=None, width_m=Decimal("0.5"), permitted_width_m=None,
            volume_m3=None, permitted_volume_m3=None, month_amount=Decimal(f"{length * 1.5:.2f}"),
        )
        for n, length in enumerate(lengths)
    ]  # fmt: skip
    terms = DetectionTerms(Decimal(3), Decimal(3), moved_within_m=Decimal(6))
    total = sum(f.length_m for f in findings)
    figures = {"survey_length_m": f"{total}", "matched_m": "0.00", "undeclared_m": f"{total}"}
    survey = Survey(
        "V00001", "levantamento.gpkg", "rede", "0" * 64, "alfa", (), terms, figures, compared_on="2026-11-30", by="B"
    )
    with opened.database.write() as connection:
        register = SurveyRegister(connection, opened.database.tables, opened.database.srid)
        register.save(survey, lines, boxes, findings, list(shapes), NOW)


def measure_tiles(ws: pathlib.Path) -> None:
    """Make the tiles anew in a process of their own; print seconds by layer, size and memory."""
    for old in (ws / "cache").glob("*.pmtiles"):
        old.unlink()
    script = (
        "import resource, sys, time; from datetime import date; from pathlib import Path\n"
        "from geobill.pipeline.map_tiles import make_tiles; from geobill.store.workspace import open_workspace\n"
        "start = time.perf_counter(); say = lambda what: print(f'{time.perf_counter() - start:6.1f} s  {what}')\n"
        "files = make_tiles(open_workspace(Path(sys.argv[1])), date(2026, 11, 30), say); say('all made')\n"
        "print(f'tiles: {sum(f.path.stat().st_size for f in files) / 1e6:.1f} MB,', \n"
        "  f'peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB')\n"
    )
    subprocess.run([sys.executable, "-c", script, str(ws)], check=True)


def measure_pages(ws: pathlib.Path) -> None:
    """Serve the page in a process of its own; time its answers and a first view in Chromium, then read its peak memory."""
    server = subprocess.Popen(
        [sys.executable, "-m", "geobill.cli.main", "-w", str(ws), "serve", "--port", str(PORT), "--json"],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert server.stdout is not None
        print(server.stdout.readline().strip() or "the server didn't start")
        look(f"http://127.0.0.1:{PORT}")
        status = pathlib.Path(f"/proc/{server.pid}/status")
        if status.exists():
            peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
            print(f"server's peak memory: {int(peak.split()[1]) / 1024:.0f} MB")
    finally:
        server.terminate()
        server.wait()


def look(home: str) -> None:
    """Time what a browser asks, thrice each: the first time everything is loaded."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=list(ARGUMENTS))
        page = browser.new_page(viewport={"width": 1366, "height": 768}, reduced_motion="reduce")
        page.goto(f"{home}/entrar")
        page.fill("input[name=nome]", "Ana Lima")
        page.press("input[name=nome]", "Enter")
        page.wait_for_url("**/achados")
        page.wait_for_selector("html[data-mapa=pronto]", timeout=300_000)
        for path in (
            "/achados",
            "/achados?pagina=400",
            "/mapa/estados.json",
            "/mapa/estados.json?operadora=alfa",
            "/mapa/camadas.json",
        ):
            times = []
            for _ in range(3):
                start = time.perf_counter()
                page.request.get(home + path)
                times.append(time.perf_counter() - start)
            print(f"  {min(times):5.2f} to {max(times):5.2f} s  GET {path}")
        for what, path in (("the whole town", "/achados"), ("one finding", "/achados?achado=V00001-00007")):
            shown, rest = [], []
            for _ in range(3):
                start = time.perf_counter()
                page.goto(home + path, wait_until="commit")
                page.wait_for_selector("#fila .row")
                shown.append(time.perf_counter() - start)
                page.wait_for_selector("html[data-mapa=pronto]", timeout=300_000)
                rest.append(time.perf_counter() - start)
            print(
                f"  first view of {what}: list after {min(shown):.2f} s, map at rest after {min(rest):.2f} to {max(rest):.2f} s"
            )
        browser.close()


if __name__ == "__main__":
    main()
