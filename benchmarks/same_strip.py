"""The real month of one operator whose medium and low voltage share poles, under ``same_strip`` each and once.

usage: python benchmarks/same_strip.py [--data DIR] [--picture FILE.png]      (DIR of data: ../shared/data/caieiras)
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from decimal import Decimal

import geopandas as gpd
import matplotlib.pyplot as plt

HERE = pathlib.Path(__file__).resolve().parents[1]
PAID, SHARED, ALONE = "#0b6e99", "#d1495b", "#b9c0c7"


def main() -> None:
    """Price the month under both settings, print metres and reais, and draw where the shared metres are."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--data", type=pathlib.Path, default=HERE.parent / "shared/data/caieiras")
    ask.add_argument("--picture", type=pathlib.Path, help="where the shared metres are, as PNG")
    args = ask.parse_args()
    with tempfile.TemporaryDirectory() as tmp:
        ws = pathlib.Path(tmp) / "workspace"
        prepare(ws, args.data)
        found = {setting: price(ws, setting) for setting in ("each", "once")}
        report(found)
        if args.picture:
            draw(gpd.read_file(ws / "once.gpkg"), args.picture)


def prepare(ws: pathlib.Path, data: pathlib.Path) -> None:
    """Make a workspace with the map by district, both networks as one operator's, and R above 100 km decided."""
    geobill(ws, "init", str(ws), workspace=False)
    geobill(ws, "operator", "add", "--id", "energia", "--name", "Energia MT e BT")
    values = ["--layer", "zonas_bairro", "--map", "zone=ZONA", "--map", "land_value=VALOR_M2"]
    edition = ["--edition", "2026", "--in-force-from", "2026-01-01"]
    geobill(ws, "import", "land-values", str(data / "mapa_de_valores.gpkg"), *edition, *values)
    named = data / "rede_levantada_2024.gpkg"
    for layer in ("SSDMT", "SSDBT"):
        width = ["--default-width", "0.50", "--map", "segment=COD_ID"]
        geobill(ws, "import", "network", str(named), "--layer", layer, "--operator", "energia", *width)
    answer = ["--question", "above_100_km", "--answer", "0.60"]
    geobill(
        ws, "decision", "add", "--id", "D1", "--number", "1/2026", "--date", "2026-11-03", "--signatory", "P", *answer
    )
    geobill(ws, "policy", "set", "above_100_km", "D1")


def price(ws: pathlib.Path, setting: str) -> dict:
    """Price November under one setting; pieces go into SETTING.gpkg."""
    geobill(ws, "policy", "set", "same_strip", setting)
    return geobill(ws, "price", "--month", "2026-11", "--pieces", str(ws / f"{setting}.gpkg"))


def report(found: dict[str, dict]) -> None:
    """Print the extension, what is flagged, what another line pays for, and reais."""
    totals = {}
    for setting, priced in found.items():
        (operator,) = priced["operators"]
        flagged = sum(Decimal(x["length_m"]) for x in operator["lines"] if "same_strip" in x["flags"])
        charged = sum(Decimal(x["length_m"]) for x in operator["lines"])
        elsewhere = Decimal(priced["conservation"]["metres"]["priced"]) - charged
        totals[setting] = Decimal(operator["total"])
        print(
            f"same_strip = {setting}: {operator['network_length_m']} m set R = {operator['reducer']}; {charged} m on lines, of "
            f"which {flagged} m flagged; {elsewhere} m paid for by another line; R$ {operator['total']}"
        )
    print(f"difference: R$ {totals['each'] - totals['once']}")


def draw(pieces: gpd.GeoDataFrame, path: pathlib.Path) -> None:
    """Draw the network: alone in its strip, paying for a shared strip, and paid for by the other line."""
    with_other = pieces["priced_with"].notna()
    flagged = pieces["flags"].fillna("").str.contains("same_strip")
    west, south, east, north = pieces.total_bounds
    figure, axes = plt.subplots(figsize=(10, 10 * (north - south) / (east - west) + 0.6), dpi=110)
    layers = (
        (pieces[~flagged], ALONE, 0.7, "sozinha na faixa"),
        (pieces[flagged & ~with_other], PAID, 2.8, "paga a faixa comum"),
        (pieces[with_other], SHARED, 1.0, "na faixa da outra, paga por ela"),
    )
    for rows, colour, width, name in layers:
        metres = rows["length_m"].astype(float).sum() / 1000
        label = f"{name}: {metres:,.1f} km".replace(".", ",")
        if len(rows):
            rows.plot(ax=axes, color=colour, linewidth=width, label=label)
    axes.set_title("MT e BT de uma entidade na mesma faixa (same_strip = once)", fontsize=12)
    axes.legend(loc="upper left", frameon=False)
    axes.set_axis_off()
    figure.tight_layout()
    figure.savefig(path, metadata={"Software": None})


def geobill(ws: pathlib.Path, *arguments: str, workspace: bool = True) -> dict:
    """Run a command and return its JSON answer."""
    command = [sys.executable, "-m", "geobill.cli.main", *(["-w", str(ws)] if workspace else []), *arguments, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ), check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)}: {done.stderr}")
    return json.loads(done.stdout)


if __name__ == "__main__":
    main()
