"""Mutated files against the reader: no crash, no hang, no traceback, nothing but reports and refusals.

``make fuzz`` runs this for five minutes (``--seconds``). Seeds are small files of every format, made here, and the awkward
files of ../shared/data where they are at hand. Hypothesis draws the mutations and shrinks what fails; each file is read in a
process of its own, so that a crash or a hang of a library is seen as well. A failing file is kept in fuzz/found/.
"""

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st

from geobill.errors import GeobillError

HERE = Path(__file__).resolve().parent
FOUND = HERE / "found"
SHARED = HERE.parents[1] / "shared" / "data"
LIMIT_S = 20  # a small file that takes longer hangs
LARGEST = 400_000  # bytes of a seed
SUFFIXES = {
    ".shp", ".dbf", ".prj", ".cpg", ".shx", ".gpkg", ".geojson", ".geojsonl", ".fgb", ".parquet", ".kml", ".kmz", ".gml", ".tab",
    ".mif", ".dxf", ".csv", ".xlsx", ".sqlite", ".zip",
}  # fmt: skip
NUMBERS = (
    b"NaN",
    b"Infinity",
    b"-1e308",
    b"99999999999999999999",
    b"1.234",
    b"0",
    b"\0",
    b"]]>",
    b"<!ENTITY x>",
    b'"',
    b"..",
)


def make_seeds(folder: Path) -> None:
    """Write one small network in every format that the file library can write."""
    import geopandas as gpd
    import pandas as pd
    import pyogrio
    import shapely

    lines = [shapely.LineString([(322000 + 9 * i, 7416000), (322009 + 9 * i, 7416003 + i)]) for i in range(12)]
    columns = {
        "COD_ID": [f"{i:03}" for i in range(12)],
        "LARGURA": ["0,50"] * 11 + ["1.234"],
        "NOME": ["Rua São João"] * 12,
    }
    frame = gpd.GeoDataFrame(columns, geometry=lines, crs="EPSG:31983")
    degrees = frame.to_crs(4326)
    for name, options in {
        "rede.shp": {"encoding": "cp1252"}, "rede.gpkg": {}, "rede.fgb": {}, "rede.tab": {"driver": "MapInfo File"},
        "rede.mif": {"driver": "MapInfo File"}, "rede.gml": {"driver": "GML"},
        "rede.sqlite": {"driver": "SQLite", "SPATIALITE": "YES"},
    }.items():  # fmt: skip
        pyogrio.write_dataframe(frame, folder / name, **options)
    pyogrio.write_dataframe(frame[["geometry"]], folder / "rede.dxf", driver="DXF")
    for name in ("rede.geojson", "rede.geojsonl", "rede.kml"):
        driver = {"rede.geojsonl": "GeoJSONSeq", "rede.kml": "LIBKML"}.get(name)
        pyogrio.write_dataframe(degrees, folder / name, **({"driver": driver} if driver else {}))
    frame.to_parquet(folder / "rede.parquet")
    table = pd.DataFrame({**columns, "wkt": [g.wkt for g in lines]})
    table.to_csv(folder / "rede.csv", sep=";", index=False)
    _write_xlsx(table, folder / "rede.xlsx")
    for archive, stem in (("rede.zip", "rede.shp"), ("rede.kmz", "rede.kml")):
        import zipfile

        with zipfile.ZipFile(folder / archive, "w", zipfile.ZIP_DEFLATED) as made:
            for part in folder.glob(Path(stem).stem + ".*"):
                if part.suffix in ((".shp", ".dbf", ".shx", ".prj", ".cpg") if stem.endswith("shp") else (".kml",)):
                    made.write(part, part.name)


def _write_xlsx(table, path: Path) -> None:
    import xlsxwriter

    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet("rede")
        for column, name in enumerate(table.columns):
            sheet.write_string(0, column, name)
            for row, value in enumerate(table[name], 1):
                sheet.write_string(row, column, value)


def find_seeds(folder: Path) -> list[Path]:
    """List the files that are mutated: those made here, and the small ones of ../shared/data."""
    make_seeds(folder)
    real = [p for p in SHARED.rglob("*") if p.is_file()] if SHARED.is_dir() else []
    known = [p for p in (*folder.iterdir(), *real) if p.suffix.lower() in SUFFIXES]
    return sorted((p for p in known if 0 < p.stat().st_size <= LARGEST), key=lambda p: p.name)


def mutations() -> st.SearchStrategy[list[tuple]]:
    """Draw what is done to a file's bytes; places are shares of its length, so that one draw fits every seed."""
    place = st.floats(0, 1, allow_nan=False)
    return st.lists(
        st.one_of(
            st.tuples(st.just("flip"), place, st.integers(1, 255)),
            st.tuples(st.just("cut"), place, place),
            st.tuples(st.just("drop"), place, st.integers(1, 64)),
            st.tuples(st.just("repeat"), place, st.integers(1, 4096)),
            st.tuples(st.just("write"), place, st.sampled_from(NUMBERS)),
            st.tuples(st.just("fill"), place, st.sampled_from([b"\0", b"\xff", b"9"])),
            st.tuples(st.just("head"), place, st.integers(0, 255)),  # the first bytes decide what a file is
        ),
        min_size=1, max_size=6,
    )  # fmt: skip


def mutate(content: bytes, changes: list[tuple]) -> bytes:
    """Apply the drawn changes to a file's bytes."""
    for kind, place, what in changes:
        at = int(place * max(len(content) - 1, 0))
        if kind == "flip" and content:
            content = content[:at] + bytes([content[at] ^ what]) + content[at + 1 :]
        elif kind == "head" and content:
            at = int(place * min(len(content) - 1, 200))
            content = content[:at] + bytes([what]) + content[at + 1 :]
        elif kind == "cut":
            content = content[: int(place * len(content))]
        elif kind == "drop":
            content = content[:at] + content[at + what :]
        elif kind == "repeat":
            content = content[:at] + content[at : at + what] * 2 + content[at + what :]
        elif kind == "write":
            content = content[:at] + what + content[at + len(what) :]
        elif kind == "fill":
            content = content[:at] + what * 64 + content[at + 64 :]
    return content


def read(path: Path) -> str:
    """Inspect a file and read each layer as a network, as the two commands do; say how far that came."""
    from dataclasses import replace
    from decimal import Decimal

    from geobill.intake.crs import CAIEIRAS
    from geobill.intake.inspect import inspect_file
    from geobill.intake.network import read_network
    from geobill.intake.reader import read_layers
    from geobill.intake.reading import Options, Part

    anywhere = replace(CAIEIRAS, margin_m=1e9)  # a file isn't refused for its place alone
    said = "inspected"
    for layer in inspect_file(path)["layers"]:
        asked = Options(operator="alfa", default_width_m=Decimal("0.50"), crs=None if layer["crs"] else "EPSG:31983")
        try:
            found = read_layers(path, [layer["name"]])
            assert len(found[0].frame) == layer["features"], "inspect and import count other rows"
            got = read_network([Part(found[0], asked)], anywhere, ["alfa"])
        except GeobillError:
            continue
        assert got.read == len(got.accepted) + len(got.set_aside), "rows are lost"
        said = "read"
    return said


def in_a_process(path: Path) -> str:
    """Return ``read``, ``inspected`` or ``refused``, or say how the reading failed: ``traceback``, ``crash`` or ``hang``."""
    told, tell = os.pipe()
    child = os.fork()
    if not child:
        os.close(told)
        devnull = os.open(os.devnull, os.O_WRONLY)
        os.dup2(devnull, 1)
        os.dup2(devnull, 2)
        try:
            said = read(path)
        except GeobillError as e:
            said = "refused" if len(str(e)) >= 20 else "refused without saying why"
        except BaseException:
            said = "traceback\n" + traceback.format_exc()
        os.write(tell, said.encode()[-60_000:])
        os._exit(0)
    os.close(tell)
    until = time.monotonic() + LIMIT_S
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > until:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            os.close(told)
            return f"hang: no answer in {LIMIT_S} s"
        time.sleep(0.002)
    with os.fdopen(told, "rb") as pipe:
        return pipe.read().decode() or "crash: the process died without a word"


def place_beside(seed: Path, folder: Path, content: bytes) -> Path:
    """Put a mutated file where its untouched companions are, and name what is to be read."""
    for part in seed.parent.glob(glob_safe(seed.stem) + ".*"):
        if part.is_file() and part.stat().st_size <= LARGEST:
            shutil.copyfile(part, folder / part.name)
    (folder / seed.name).write_bytes(content)
    whole = seed.with_suffix(".shp") if seed.suffix.lower() in (".dbf", ".prj", ".cpg", ".shx") else seed
    return folder / whole.name


def glob_safe(stem: str) -> str:
    """Write a name so that it matches itself alone."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in stem)


def run(seconds: float, examples: int, seed: int) -> tuple[Counter, int]:
    """Fuzz in rounds of some examples until the time is over; the first failure is raised with the smallest file that shows it."""
    import geobill.intake.inspect
    import geobill.intake.network  # noqa: F401  the children are born with the libraries loaded

    answers: Counter = Counter()
    until = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as made:
        seeds = find_seeds(Path(made))

        @settings(
            max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck),
            phases=(Phase.generate, Phase.shrink), print_blob=False, report_multiple_bugs=False,
        )  # fmt: skip
        @given(st.integers(0, len(seeds) - 1), mutations())
        def check(which: int, changes: list[tuple]) -> None:
            origin = seeds[which]
            with tempfile.TemporaryDirectory() as folder:
                path = place_beside(origin, Path(folder), mutate(origin.read_bytes(), changes))
                said = in_a_process(path)
                answers[said.split("\n")[0]] += 1
                if said not in ("read", "inspected", "refused"):
                    FOUND.mkdir(exist_ok=True)
                    kept = FOUND / f"{origin.stem}-{abs(hash(tuple(changes))) % 10**8}{origin.suffix}"
                    shutil.copytree(folder, kept.with_suffix(""), dirs_exist_ok=True)
                    raise AssertionError(f"{origin.name} with {changes}: {said}\nkept in {kept.with_suffix('')}")

        rounds = 0
        while not rounds or time.monotonic() < until:
            seeded(seed + rounds)(check)()
            rounds += 1
        return answers, len(seeds)


def main() -> int:
    """Run for some seconds and say what came of it."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--seconds", type=float, default=300)
    ask.add_argument("--seed", type=int, default=int(time.time()))
    asked = ask.parse_args()
    began = time.monotonic()
    answers, seeds = run(asked.seconds, 200, asked.seed)
    total = sum(answers.values())
    print(
        f"{total} mutated files of {seeds} seeds in {time.monotonic() - began:.0f} s (seed {asked.seed}): {dict(answers)}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
