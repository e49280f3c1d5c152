"""IBGE's grids for datum shifts: which PROJ asks for here, which are at hand, and how a folder of them is taken in.

PROJ's database names the grids of its own data package (``br_ibge_SAD69_003.tif``) and, as their origin, those that IBGE
hands out (``SAD69_003.gsb``); PROJ opens a file by what is in it, so IBGE's serve as well under the name that it asks for.
"""

import hashlib
import os
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import hypot, isfinite
from pathlib import Path

from pyproj import CRS, datadir

from geobill.domain.network import Municipality
from geobill.errors import InputError
from geobill.intake.crs import best_operation, forget_operations, missing_operation, same_system
from geobill.intake.crs_known import DATUMS

FOLDER, DIGESTS = "grids", "sha256.txt"  # in a workspace
PLAUSIBLE_M = 50.0  # a grid and the plain translation of its datum lie within metres of each other


@dataclass(frozen=True)
class Grid:
    """A grid that PROJ would use for files in one datum.

    ``file`` is the name that PROJ asks for, ``also`` that of its origin; accuracies in metres, ``accuracy_without_m`` None
    where files in that datum are refused without the grid; ``path`` where it was found.
    """

    datum: str
    crs: str
    file: str
    also: str | None
    path: str | None
    accuracy_m: float
    accuracy_without_m: float | None


@dataclass(frozen=True)
class Taken:
    """A grid file that was copied into a workspace."""

    file: str
    source: str
    sha256: str
    datum: str


def use_grids(folder: Path | None) -> None:
    """Have PROJ look for grids in a folder besides its own places; None for its own places only.

    Raises
    ------
    InputError
        If a grid in the folder isn't the file that was put there.
    """
    there = None if folder is None or not folder.is_dir() else folder
    stamps = (
        [] if there is None else [(p.name, p.stat().st_mtime_ns, p.stat().st_size) for p in sorted(there.iterdir())]
    )
    if there is not None:
        _check_digests(there)
    _look_in(there, tuple(stamps))


@lru_cache(maxsize=1)  # whatever was looked in last stays; anything else is looked at anew
def _look_in(folder: Path | None, stamps: tuple[tuple[str, int, int], ...]) -> None:
    own = _own_places()
    datadir.set_data_dir(own if folder is None else os.pathsep.join((own, str(folder.resolve()))))
    forget_operations()


@lru_cache(maxsize=1)
def _own_places() -> str:
    return str(datadir.get_data_dir())


def grids_for(municipality: Municipality) -> list[Grid]:
    """Grids that PROJ would use to carry files in Brazil's older datums into the workspace's system."""
    found = []
    for datum in DATUMS:
        source = CRS.from_epsg(datum.geographic)
        if same_system(source, CRS.from_user_input(municipality.crs)):
            continue
        used, lacking = best_operation(source, municipality), missing_operation(source, municipality)
        plain = best_operation(source, municipality, with_grids=False)
        without = None if plain is None else plain.accuracy_m
        crs = f"EPSG:{datum.geographic}"
        if used is not None and used.grids and used.accuracy_m is not None:
            for name in used.grids:
                found.append(Grid(datum.name, crs, name, _origin(name), _path_of(name), used.accuracy_m, without))
        elif lacking is not None:
            for name in lacking.grids:
                found.append(Grid(datum.name, crs, name, _origin(name), None, lacking.accuracy_m, without))
    return found


def take_grids(source: Path, target: Path, municipality: Municipality) -> tuple[list[Taken], list[str]]:
    """Check the grids in a folder and copy them into the workspace's, all or nothing.

    Parameters
    ----------
    source, target : Path
        Folder that the user names, and the workspace's own, which is made where it is missing.
    municipality : Municipality
        Where the grids must serve.

    Returns
    -------
    list of Taken, list of str
        What was copied, under the names that PROJ asks for, and the names of the files that were left.

    Raises
    ------
    InputError
        If there is no such folder, no grid that PROJ asks for, or one that PROJ can't use here.
    """
    if not source.is_dir():
        raise InputError(f"{source} is no folder: name the folder in which IBGE's grids (or PROJ's data package) lie.")
    use_grids(None)
    asked = grids_for(municipality)
    files = sorted(p for p in source.iterdir() if p.is_file())
    chosen: dict[str, tuple[Grid, Path]] = {}
    for grid in asked:
        for name in (grid.file, grid.also or grid.file):  # PROJ's own name goes first
            same = [p for p in files if p.name.casefold() == name.casefold()]
            if same and grid.file not in chosen:
                chosen[grid.file] = (grid, same[0])
    if not chosen:
        names = ", ".join(f"{g.file} (or {g.also})" if g.also else g.file for g in asked)
        shown = ", ".join(p.name for p in files[:10]) or "nothing"
        raise InputError(
            f"{source} has none of the grids that PROJ asks for here: {names}. It has {shown}. Nothing was changed."
        )
    with tempfile.TemporaryDirectory() as trial:
        for grid, file in chosen.values():
            shutil.copyfile(file, Path(trial) / grid.file)
        try:
            _look_in(Path(trial), (("trial", 0, 0),))
            for grid, file in chosen.values():
                _try(grid, file, municipality)
        finally:
            use_grids(None)
    target.mkdir(exist_ok=True)
    taken = [Taken(g.file, f.name, _copy(f, target / g.file), g.datum) for g, f in chosen.values()]
    digests = _digests(target) | {t.file: t.sha256 for t in taken}
    lines = "".join(f"{sha256}  {name}\n" for name, sha256 in sorted(digests.items()))
    (target / DIGESTS).write_text(lines, encoding="utf-8", newline="\n")
    used = {f for _, f in chosen.values()}
    return taken, [p.name for p in files if p not in used]


def _try(grid: Grid, file: Path, municipality: Municipality) -> None:
    """Refuse a file that PROJ can't use as this grid in the middle of the municipality, or that moves it absurdly."""
    source = CRS.from_user_input(grid.crs)
    west, south, east, north = municipality.bbox
    lon, lat = (west + east) / 2, (south + north) / 2
    operation = best_operation(source, municipality)
    placed = None
    if operation is not None and grid.file in operation.grids:
        placed = operation.transformer.transform(lon, lat)
    if placed is None or not all(map(isfinite, placed)):
        raise InputError(
            f"PROJ can't use {file.name} as {grid.file} in {municipality.name}: it is no grid (NTv2 or GeoTIFF), it is cut short, "
            "or it covers another place. Nothing was changed; get the file again from IBGE or from PROJ's data package."
        )
    plain = best_operation(source, municipality, with_grids=False)
    if plain is None:
        return
    apart = hypot(*(a - b for a, b in zip(placed, plain.transformer.transform(lon, lat), strict=True)))
    if apart > PLAUSIBLE_M:
        raise InputError(
            f"{file.name} would move {municipality.name} {apart:,.0f} m from where IBGE's parameters put it (true to "
            f"{plain.accuracy_m:g} m): it isn't the grid of {grid.datum}. Nothing was changed."
        )


def _copy(source: Path, target: Path) -> str:
    """Copy a file so that nobody ever finds half of it; return its sha256."""
    partial = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        shutil.copyfile(source, partial)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    return _sha256(target)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _digests(folder: Path) -> dict[str, str]:
    """Read the digests that a workspace keeps of its grids, by file name."""
    list_ = folder / DIGESTS
    if not list_.is_file():
        return {}
    lines = list_.read_text(encoding="utf-8", errors="replace").splitlines()
    return {m[2]: m[1] for line in lines if (m := re.fullmatch(r"([0-9a-f]{64})  ([\w.-]+)", line))}


def _check_digests(folder: Path) -> None:
    known = _digests(folder)
    grids = [p for p in sorted(folder.iterdir()) if p.suffix.lower() in (".tif", ".gsb") and not p.name.startswith(".")]
    other = [p.name for p in grids if known.get(p.name) != _sha256(p)]
    gone = sorted(set(known) - {p.name for p in grids})
    if other or gone:
        what = "; ".join(
            [f"{name} isn't the file that was put there" for name in other] + [f"{name} is gone" for name in gone]
        )
        raise InputError(
            f"The grids in {folder} have changed: {what}. The same file would be carried to another place than before. Put the "
            f"grids in again with geobill crs grids FOLDER, or remove the folder {FOLDER} to do without."
        )


def _path_of(name: str) -> str | None:
    places: Sequence[str] = (*str(datadir.get_data_dir()).split(os.pathsep), datadir.get_user_data_dir())
    return next((str(Path(p) / name) for p in places if (Path(p) / name).is_file()), None)


@lru_cache(maxsize=64)
def _origin(name: str) -> str | None:
    """Name under which a grid's author hands it out, by PROJ's database."""
    database = next(
        (Path(p) / "proj.db" for p in _own_places().split(os.pathsep) if (Path(p) / "proj.db").is_file()), None
    )
    if database is None:
        return None
    connection = sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro", uri=True)
    try:
        query = "SELECT original_grid_name FROM grid_alternatives WHERE proj_grid_name = ?"
        row = connection.execute(query, (name,)).fetchone()
    except sqlite3.Error:
        return None
    finally:
        connection.close()
    return None if row is None else str(row[0])
