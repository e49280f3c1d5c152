"""Past months of a case on the real network: 26 years × 12 months of one operator, seconds and months really priced.

usage: python benchmarks/past_months.py [--data DIR] [--spread]      (DIR of data: ../shared/data/caieiras)
``--spread`` gives the lawful network an installation day in each month since the law, so that no two months are alike.
"""

import argparse
import pathlib
import tempfile
import time

import geopandas as gpd
import pandas as pd
from same_strip import HERE, geobill

FOUND = 100  # rows of the case: a hundred stretches of low voltage
EDITIONS = ("2001-06-27", "2006-01-01", "2011-01-01", "2016-01-01", "2021-01-01")
STEPS = (
    ("notify", "2026-08-10", "--reference", "N1"),
    ("opinion", "2026-09-10", "--kind", "technical", "--reference", "P1"),
    ("opinion", "2026-09-11", "--kind", "legal", "--reference", "P2"),
    ("impossibility", "2026-09-12", "--reference", "L1"),
    ("confirm", "2026-10-20", "--outcome", "doubled", "--reference", "S1"),
)


def main() -> None:
    """Decide a case over a hundred stretches, and bill its months since the law."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--data", type=pathlib.Path, default=HERE.parent / "shared/data/caieiras")
    ask.add_argument("--spread", action="store_true", help="no two months alike")
    args = ask.parse_args()
    with tempfile.TemporaryDirectory() as tmp:
        ws = pathlib.Path(tmp) / "workspace"
        prepare(ws, args.data, pathlib.Path(tmp), args.spread)
        start = time.perf_counter()
        answer = geobill(ws, "bill", "--retroactive", "C1", "--issued-on", "2026-11-30", "--dry-run")
        looked = time.perf_counter() - start
        start = time.perf_counter()
        issued = geobill(ws, "bill", "--retroactive", "C1", "--issued-on", "2026-11-30")
        print(
            f"{len(answer['months'])} months of {FOUND} stretches, R {answer['months'][-1]['reducer']}: {answer['priced']} priced, "
            f"the others like them; worked out in {looked:.1f} s, issued with its papers in {time.perf_counter() - start:.1f} s; "
            f"R$ {issued['total']} demanded"
        )


def prepare(ws: pathlib.Path, data: pathlib.Path, folder: pathlib.Path, spread: bool) -> None:
    """Make a workspace of medium and low voltage, five editions of the map, and a decided case."""
    geobill(ws, "init", str(ws), workspace=False)
    geobill(ws, "operator", "add", "--id", "energia", "--name", "Energia")
    values = ["--layer", "zonas_bairro", "--map", "zone=ZONA", "--map", "land_value=VALOR_M2"]
    for since in EDITIONS:
        edition = ["--edition", since, "--in-force-from", since]
        geobill(ws, "import", "land-values", str(data / "mapa_de_valores.gpkg"), *edition, *values)
    rows = pd.concat([gpd.read_file(data / "rede_levantada_2024.gpkg", layer=n) for n in ("SSDMT", "SSDBT")])
    rows = rows.reset_index(drop=True)
    months = [f"{2001 + n // 12}-{n % 12 + 1:02d}-15" for n in range(300)]
    rows["INSTALADO"] = [months[n % 300] if spread else None for n in range(len(rows))]
    found, lawful = rows.iloc[-FOUND:], rows.iloc[:-FOUND]
    width = ["--default-width", "0.50", "--map", "segment=COD_ID", "--operator", "energia"]
    for name, part, more in (
        ("lawful", lawful, ["--map", "installed_on=INSTALADO"] if spread else []),
        ("found", found, ["--map", "status=SITUACAO"]),
    ):
        part.assign(SITUACAO="suspected").to_file(folder / f"{name}.gpkg", engine="pyogrio")
        geobill(ws, "import", "network", str(folder / f"{name}.gpkg"), *width, *more)
    (folder / "ids.txt").write_text("\n".join(map(str, found["COD_ID"])), encoding="utf-8")
    decide = [
        ("D1", "above_100_km", "0.60"),
        ("D2", "ample_defence_days", "30"),
        ("D3", "limitation_years", "none"),
    ]
    for id_, question, answer in decide:
        act = ["--number", id_, "--date", "2026-08-01", "--signatory", "P", "--question", question, "--answer", answer]
        geobill(ws, "decision", "add", "--id", id_, *act)
        geobill(ws, "policy", "set", question, id_ if question == "above_100_km" else answer)
    what = ["--kind", "clandestine", "--operator", "energia", "--id", "C1", "--on", "2026-08-03", "--subject", "x"]
    geobill(ws, "case", "open", *what, "--rows", str(folder / "ids.txt"))
    for step, on, *more in STEPS:
        geobill(ws, "case", step, "C1", "--on", on, "--by", "Secretaria", *more)


if __name__ == "__main__":
    main()
