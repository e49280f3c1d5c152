"""The real month: Caieiras' map and a real power network, through the commands; sums, seconds and peak memory.

usage: python benchmarks/real_month.py [--data DIR] [--keep DIR]      (DIR of data: ../shared/data/caieiras)
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parents[1]
MAPS = {"zonas_bairro": "ZONA", "zonas_quadra": "QUADRA"}
DECISION = [
    "--id",
    "D1",
    "--number",
    "1/2026",
    "--date",
    "2026-11-03",
    "--signatory",
    "Prefeito",
    "--question",
    "above_100_km",
    "--answer",
    "0.60",
]


def main() -> None:
    """Run the month over both maps, as two operators and as one, and print what came of it."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--data", type=pathlib.Path, default=HERE.parent / "shared/data/caieiras")
    ask.add_argument("--keep", type=pathlib.Path, help="keep the workspaces here")
    args = ask.parse_args()
    with tempfile.TemporaryDirectory() as tmp:
        root = args.keep or pathlib.Path(tmp)
        for zones, column in MAPS.items():
            for owners in (("mt", "bt"), ("light", "light")):
                run_month(args.data, root / f"{zones}-{owners[0]}", zones, column, owners)


def run_month(data: pathlib.Path, ws: pathlib.Path, zones: str, column: str, owners: tuple[str, str]) -> None:
    """Make a workspace, import, price and bill; print each step's seconds and peak memory."""
    print(f"\n{zones}, {'one operator' if owners[0] == owners[1] else 'two operators'}")
    geobill(ws, "init", str(ws), quiet=True, workspace=False)
    for owner in dict.fromkeys(owners):
        geobill(ws, "operator", "add", "--id", owner, "--name", f"Energia {owner}", quiet=True)
    values = ["--map", f"zone={column}", "--map", "land_value=VALOR_M2"]
    edition = ["--edition", "2026", "--in-force-from", "2026-01-01"]
    geobill(ws, "import", "land-values", str(data / "mapa_de_valores.gpkg"), "--layer", zones, *edition, *values)
    for owner, layer in zip(owners, ("SSDMT", "SSDBT"), strict=True):
        network = str(data / "rede_levantada_2024.gpkg")
        width = ["--default-width", "0.50", "--map", "segment=COD_ID"]
        geobill(ws, "import", "network", network, "--layer", layer, "--operator", owner, *width)
    report(geobill(ws, "price", "--month", "2026-11"))
    geobill(ws, "bill", "--month", "2026-11", "--issued-on", "2026-11-30")
    if owners[0] == owners[1]:
        geobill(ws, "decision", "add", *DECISION, quiet=True)
        geobill(ws, "policy", "set", "above_100_km", "D1", quiet=True)
        report(geobill(ws, "bill", "--month", "2026-11", "--issued-on", "2026-11-30"))


def geobill(ws: pathlib.Path, *words: str, quiet: bool = False, workspace: bool = True) -> dict:
    """Run one command; return its JSON."""
    command = [sys.executable, "-m", "geobill.cli.main", *(["-w", str(ws)] if workspace else []), *words, "--json"]
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        out = process.stdout.read()
        err = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{' '.join(words)}: {err}")
    if not quiet:
        what = " ".join(w for w in words[:3] if not w.startswith("/") and not w.startswith("-"))
        print(f"  {what:24s} {time.perf_counter() - start:6.1f} s  {usage.ru_maxrss / 1024:6.0f} MiB")
    return json.loads(out)


def report(month: dict) -> None:
    """Print a priced month's sums."""
    for o in month["operators"]:
        print(
            f"    {o['operator']}: R$ {o['total']}, {len(o['lines'])} lines, {o['network_length_m']} m, R {o['reducer']}"
        )
        held = [h for h in month["held"] if h["operator"] == o["operator"]]
        for code in sorted({h["code"] for h in held}):
            print(f"      held {code}: {sum(float(h['length_m']) for h in held if h['code'] == code):.2f} m")
        for h in held:
            if h["amount_if"]:
                print(f"      if {h['amount_if']['what']}: R$ {h['amount_if']['amount']}")
    metres = month["conservation"]["metres"]
    print(f"    metres {metres}")


if __name__ == "__main__":
    main()
