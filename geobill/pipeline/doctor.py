"""``geobill doctor``: the machine and a workspace looked at, nothing changed; each thing that isn't well with what to do."""

import importlib.metadata as metadata
import os
import platform
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import NamedTuple

import pyogrio
import pyproj
import shapely
import typst
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from geobill.documents.typesetting import typeset
from geobill.domain.health import Check
from geobill.domain.network import Municipality
from geobill.domain.record import sha256
from geobill.errors import InputError, LawError, PolicyError, StoreError, TemplateError
from geobill.intake.crs import CAIEIRAS
from geobill.intake.formats import FORMATS
from geobill.intake.grids import grids_for
from geobill.law.reading import parse_statute
from geobill.pipeline.place import place_at
from geobill.store.settings import FILE_NAME, Settings, read_settings
from geobill.store.soundness import examine_store, look_into
from geobill.store.statutes import read_statute
from geobill.store.workspace import STORE_NAME

PYTHONS = SpecifierSet(">=3.11,<3.14")
FONTS = ("Libertinus Serif", "DejaVu Sans Mono")  # those that the templates name
ROOM_MB = 500
PROBE = """#set document(title: [geobill doctor], date: datetime(year: 2000, month: 1, day: 1))
#set text(lang: "pt", font: "Libertinus Serif")
= Ação, §, º, R\\$ 1.234,56
#text(font: "DejaVu Sans Mono")[0123456789abcdef]
"""
INSTALL_AGAIN = "Install geobill anew: make demo in its folder, or the bundle's installer."


class Health(NamedTuple):
    """All that the doctor saw."""

    versions: dict[str, str]
    checks: tuple[Check, ...]

    def count(self, state: str) -> int:
        """How many checks ended in a state."""
        return sum(check.state == state for check in self.checks)


def examine(workspace: Path | None, version: str) -> Health:
    """Look at this machine and, where one is named, at a workspace; nothing is changed in either."""
    settings, found = (None, []) if workspace is None else _settings(workspace)
    place = CAIEIRAS
    if workspace is not None and settings is not None:
        place, said = _place(workspace, settings)
        found += said
    checks = [*_python(), *_packages(), *_files(), *_grids(place), *_fonts(), *_temporary()]
    if workspace is not None:
        checks += [*found, *_folder(workspace)]
        if settings is not None:
            checks += examine_store(workspace / STORE_NAME, settings.municipality.srid)
            checks += [*_leftovers(workspace), *_papers(workspace)]
    return Health(versions(version), tuple(checks))


def versions(version: str) -> dict[str, str]:
    """Versions of what figures, maps and documents rest on."""
    return {
        "geobill": version,
        "Python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "GDAL": pyogrio.__gdal_version_string__,
        "GEOS": shapely.geos_version_string,
        "PROJ": pyproj.proj_version_str,
        "SQLite": sqlite3.sqlite_version,
        **{
            name: _installed(name) or "missing"
            for name in ("typst", "geopandas", "shapely", "sqlalchemy", "alembic", "typer")
        },
    }


# -- the machine


def _python() -> list[Check]:
    runs = platform.python_version()
    if not PYTHONS.contains(runs, prereleases=True):
        return [
            Check(
                "Python", "fault", f"{runs} isn't one of {PYTHONS}", "Install geobill under Python 3.11, 3.12 or 3.13."
            )
        ]
    return [Check("Python", "ok", f"{runs} at {sys.prefix}")]


def _packages(requires: Iterable[str] | None = None) -> list[Check]:
    """Whether each package that geobill asks for is installed, in a version that it was made for."""
    if requires is None:
        try:
            requires = metadata.requires("geobill") or ()
        except metadata.PackageNotFoundError:
            message = "geobill runs from its folder and isn't installed: what it asks for can't be looked up"
            return [Check("packages", "warning", message, INSTALL_AGAIN)]
    wrong, well = [], 0
    for requirement in map(Requirement, requires):
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue
        stands = _installed(requirement.name)
        if stands is None or not requirement.specifier.contains(stands, prereleases=True):
            wrong.append(f"{requirement.name} is {stands or 'missing'}, it takes {requirement.specifier}")
        else:
            well += 1
    if wrong:
        return [Check("packages", "fault", "; ".join(wrong), INSTALL_AGAIN)]
    return [Check("packages", "ok", f"{well} packages, each in a version that geobill was made for")]


def _installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _files() -> list[Check]:
    """Whether the installed libraries read every format that geobill reads."""
    drivers = pyogrio.list_drivers()
    lacking = [f.name for f in FORMATS if f.driver and not f.reads_itself and "r" not in drivers.get(f.driver, "")]
    if lacking:
        return [Check("file formats", "fault", f"GDAL doesn't read {', '.join(lacking)}", INSTALL_AGAIN)]
    return [Check("file formats", "ok", f"{', '.join(f.name for f in FORMATS)} can be read")]


def _grids(place: Municipality) -> list[Check]:
    """How well files in Brazil's older datums can be carried into the workspace's system with the grids at hand."""
    found = []
    for grid in grids_for(place):
        name, better, without = f"datum {grid.datum}", grid.accuracy_m, grid.accuracy_without_m
        fix = (
            f"Where a metre matters, ask for the file in {place.crs}, or get IBGE's grid {grid.also or grid.file} (or PROJ's data "
            "package) and put it in with geobill crs grids FOLDER."
        )
        if grid.path is not None:
            found.append(Check(name, "ok", f"true to {better:g} m, by {grid.path}"))
        elif without is None:
            lack = f"with the grid {grid.file} it would be true to {better:g} m"
            message = f"files in it are refused: no operation of known accuracy at hand; {lack}"
            found.append(Check(name, "warning", message, fix))
        else:
            message = f"true to {without:g} m; with the grid {grid.file} it would be {better:g} m"
            found.append(Check(name, "warning", message, fix))
    return found


def _fonts() -> list[Check]:
    """Whether Typst has the fonts of the documents, and a PDF/A of them compiles."""
    there = typst.Fonts(include_system_fonts=False, include_embedded_fonts=True).families()
    lacking = [name for name in FONTS if name not in there]
    found = [Check("fonts", "ok", f"Typst carries {' and '.join(FONTS)}")]
    if lacking:
        message = f"Typst lacks {', '.join(lacking)}: documents would be set in another face, not the same to the byte"
        found = [Check("fonts", "fault", message, INSTALL_AGAIN)]
    try:
        pdf = typeset(PROBE, {}, date(2000, 1, 1), "the doctor's probe")
    except TemplateError as error:
        return [*found, Check("PDF/A", "fault", f"no document can be made: {error}", INSTALL_AGAIN)]
    if not pdf.startswith(b"%PDF-"):
        return [*found, Check("PDF/A", "fault", "what Typst makes is no PDF", INSTALL_AGAIN)]
    return [*found, Check("PDF/A", "ok", f"a probe compiles to PDF/A-2a ({len(pdf)} bytes)")]


def _temporary() -> list[Check]:
    """Whether SQLite and GDAL have a place for what they put aside."""
    folder = tempfile.gettempdir()
    try:
        with tempfile.TemporaryFile() as file:
            file.write(b"geobill")
    except OSError as error:
        fix = "Make room there, or set TMPDIR (TEMP on Windows) to a folder that you may write."
        return [Check("temporary files", "fault", f"{folder} can't be written: {error.strerror}", fix)]
    return [Check("temporary files", "ok", f"{folder} can be written")]


# -- the workspace


def _settings(root: Path) -> tuple[Settings | None, list[Check]]:
    try:
        settings = read_settings(root / FILE_NAME)
        parse_statute(read_statute(root, settings.statute))
    except (InputError, LawError, PolicyError, StoreError) as error:
        return None, [
            Check("settings", "fault", str(error), f"Correct {FILE_NAME}; the store wasn't looked at without it.")
        ]
    found = [Check("settings", "ok", f"{settings.municipality.name}, {settings.statute}")]
    blank = [name for name in ("name", "cnpj", "address", "mayor") if not getattr(settings.authority, name).strip()]
    if blank:
        fix = f"Fill in [authority] in {FILE_NAME} before the first invoice: what is issued never changes."
        found.append(Check("issuer", "warning", f"{', '.join(blank)} blank: invoices and decrees print a gap", fix))
    return settings, found


def _place(root: Path, settings: Settings) -> tuple[Municipality, list[Check]]:
    """Return the municipality with its boundary and the workspace's grids in use, and what is wrong with either."""
    try:
        place = place_at(root, settings)
    except InputError as error:
        fix = "Until then nothing can be imported; what is issued stays as it is."
        return settings.municipality, [Check("place", "fault", str(error), fix)]
    if settings.boundary is None:
        return place, []
    return place, [Check("place", "ok", f"rows must lie within {settings.boundary} and {place.margin_m:g} m around it")]


def _folder(root: Path) -> list[Check]:
    """Whether commands may write here, and have room for it."""
    found = []
    closed = [str(p) for p in (root, root / FILE_NAME, root / STORE_NAME) if p.exists() and not os.access(p, os.W_OK)]
    if closed:
        fix = "Check the permissions (a network drive, a folder of another user), or copy the workspace to a place you may write."
        found.append(
            Check(
                "write access", "warning", f"read-only here: {', '.join(closed)}; looking works, writing doesn't", fix
            )
        )
    elif root.is_dir():
        found.append(Check("write access", "ok", f"{root} can be written"))
    if root.is_dir():
        store = root / STORE_NAME
        size = store.stat().st_size if store.is_file() else 0
        needed, free = max(ROOM_MB * 10**6, 3 * size), shutil.disk_usage(root).free
        state = "ok" if free >= needed else "warning"
        fix = (
            "" if state == "ok" else "Make room: a migration copies the store, and a month's documents are kept twice."
        )
        found.append(
            Check("free space", state, f"{free / 10**9:.1f} GB free, the store has {size / 10**6:.1f} MB", fix)
        )
    return found


def _leftovers(root: Path) -> list[Check]:
    """Half files of commands that were cut off, and copies that a migration left."""
    halves = sorted(str(p.relative_to(root)) for p in root.rglob(".*.part"))
    copies = sorted(p.name for p in root.glob(f"{Path(STORE_NAME).stem}.v*-*.gpkg"))
    found = [Check("leftovers", "ok", "no half-written files")]
    if halves:
        fix = "No geobill at work here? Then delete them, or run the command again: it sweeps them up."
        found = [
            Check("leftovers", "warning", f"half-written by a command that was cut off: {', '.join(halves[:5])}", fix)
        ]
    if copies:
        message = f"{len(copies)} kept from before a migration: {', '.join(copies[:5])}; delete what you no longer need"
        found.append(Check("older copies", "ok", message))
    return found


def _papers(root: Path) -> list[Check]:
    """Whether documents in the workspace's own folder are still those that were issued."""
    folder = root / "documents"
    if not (folder.is_dir() and (root / STORE_NAME).is_file()):
        return []
    try:
        with look_into(root / STORE_NAME) as connection:
            issued = dict(connection.execute("SELECT file_name, sha256 FROM documents"))
            if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'note_documents'").fetchone():
                issued |= dict(connection.execute("SELECT file_name, sha256 FROM note_documents"))
    except sqlite3.Error:
        return []  # said by the looks at the store
    files = [p for p in folder.rglob("*") if p.name in issued and p.is_file()]
    other = sorted(str(p.relative_to(root)) for p in files if sha256(p.read_bytes()) != issued[p.name])
    if other:
        message = f"not the bytes that were issued: {', '.join(other[:5])}"
        return [
            Check(
                "papers",
                "warning",
                message,
                "Bill the month again: it issues nothing twice and writes them as issued; a note: geobill invoice show N --out DIR.",
            )
        ]
    return [Check("papers", "ok", f"{len(files)} of {len(issued)} issued documents stand in documents/, as issued")]
