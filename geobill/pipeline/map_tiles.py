"""Vector tiles of a workspace: what is permitted, surveyed and found, and the zones, as files that the review page's map reads.

Each layer is a file of its own for each of two levels, named by a digest of the rows that it draws: rows never change, so a
file that is there is right, and a stale one is never asked for. They lie in ``cache/`` and can be deleted at any time.
"""

import re
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import pyogrio
import shapely

from geobill.domain.record import canonical_json, sha256
from geobill.errors import StoreError
from geobill.pipeline.lawful import FOLLOWED, lawful, load_rights
from geobill.pipeline.map_place import to_degrees, to_tiles
from geobill.store.drawn import Drawn, Source, read_rows
from geobill.store.networks import Cadastre
from geobill.store.workspace import Workspace

FOLDER = "cache"
FORM = 2  # of the tiles: raised where a property or a level changes
FINDINGS, ZONES, PERMITTED, SURVEYED = "findings", "zones", "permitted", "surveyed"
OVERVIEW, DETAIL = "overview", "detail"
ZOOM = {OVERVIEW: 10, DETAIL: 14}  # at 23° south a tile is 36 km wide, or 2.25 km
MOST_IN_OVERVIEW = 6_000  # rows of a network: from afar the longest show where it runs
SHORT_M = 80.0  # a finding below this is hardly a pixel from afar: there it is a point
FILE_NAME = re.compile(
    r"(findings|zones|permitted|surveyed)(-V\d{5,9})?-(overview|detail)-[0-9a-f]{16}\.pmtiles", re.ASCII
)
# 16,384 steps across a tile are 0.14 m in the detail; nothing is left out of a full tile, nor drawn more coarsely
TILE_OPTIONS = {"EXTENT": "16384", "BUFFER": "512", "MAX_SIZE": "200000000", "MAX_FEATURES": "100000000"}
Say = Callable[[str], None]


@dataclass(frozen=True)
class TileFile:
    """One file of tiles: a layer (of one survey, where it is a survey's) at one level."""

    layer: str
    level: str
    survey: str | None
    sources: tuple[Source, ...]
    path: Path

    @property
    def ready(self) -> bool:
        """Say whether it is there."""
        return self.path.is_file()

    @property
    def is_empty(self) -> bool:
        """Say whether it was made and draws nothing: no row on record is lawful. The map isn't told of it."""
        return self.ready and self.path.stat().st_size == 0


def plan_tiles(workspace: Workspace, on: date) -> list[TileFile]:
    """Return the files that draw a workspace as it is now, with the zones in force on a day; made or not.

    A layer without rows has no file; what is permitted may have an empty one.
    """
    with workspace.database.read() as connection:
        drawn = Drawn(connection, workspace.database.tables)
        cadastre = Cadastre(connection, workspace.database.tables, workspace.database.srid)
        editions = [e for e in cadastre.find_editions() if e[1] <= on]
        surveys, batches, found = drawn.surveys(), drawn.batches(), drawn.with_findings()
        zones = [drawn.batch(editions[-1][2])] if editions else []
        lawful_on = [*load_rights(workspace, connection).stamp(on), drawn.turned(on)]
    # what a reviewer needs first is made first
    layers: list[tuple[str, str | None, Sequence[Source]]] = [
        (FINDINGS, None, [s for s in surveys if s.id in found]),
        (ZONES, None, zones),
        (PERMITTED, None, batches),
        *((SURVEYED, survey.id, [survey]) for survey in reversed(surveys)),
    ]
    folder = workspace.root / FOLDER
    return [
        TileFile(
            layer,
            level,
            survey,
            tuple(sources),
            folder / _name(workspace, layer, level, survey, sources, lawful_on if layer == PERMITTED else []),
        )
        for layer, survey, sources in layers
        if sources
        for level in (OVERVIEW, DETAIL)
    ]


def make_tiles(workspace: Workspace, on: date, say: Say = lambda _: None) -> list[TileFile]:
    """Make the files that are missing, findings first, and delete those that draw what isn't so any more.

    Two processes may do it at once: each writes beside and puts its file in place whole.

    Parameters
    ----------
    workspace : Workspace
    on : date
        The day whose edition of the value map is drawn.
    say : callable
        Takes a sentence on each layer that is made.

    Returns
    -------
    list of TileFile
        Those that the workspace needs now.

    Raises
    ------
    StoreError
        If the cache can't be written.
    """
    plan = plan_tiles(workspace, on)
    folder = workspace.root / FOLDER
    try:
        folder.mkdir(exist_ok=True)
        for layer, survey in dict.fromkeys((f.layer, f.survey) for f in plan):
            files = [f for f in plan if (f.layer, f.survey) == (layer, survey)]
            if not all(f.ready for f in files):
                rows = _load(workspace, files[0], on)
                say(f"map: {len(rows)} × {layer}{f' of {survey}' if survey else ''}")
                _write(rows, files, folder)
    except OSError as fault:
        raise StoreError(
            f"{folder} can't be written: {fault.strerror}. The map's tiles are kept there. Free some space, or choose a folder "
            "that you may write."
        ) from None
    needed = {f.path.name for f in plan}
    for old in folder.glob("*.pmtiles"):
        if FILE_NAME.fullmatch(old.name) and old.name not in needed:
            with suppress(OSError):  # Windows keeps what is being read: it goes the next time
                old.unlink()
    return plan


def find_tiles(workspace: Workspace, name: str) -> Path | None:
    """Return the path of a file of tiles by the name that :func:`plan_tiles` gave it; None for any other name."""
    path = workspace.root / FOLDER / name
    return path if FILE_NAME.fullmatch(name) and path.is_file() and path.stat().st_size else None


def extent_of(workspace: Workspace) -> tuple[float, float, float, float]:
    """Return west, south, east and north (degrees) of what a first look shows: the findings, else the municipality."""
    with workspace.database.read() as connection:
        bounds = Drawn(connection, workspace.database.tables).bounds()
    if bounds is None:
        return workspace.settings.municipality.bbox
    west, south, east, north = shapely.bounds(to_degrees(shapely.box(*bounds), workspace.database.srid)[0]).tolist()
    return west, south, east, north


def _name(
    workspace: Workspace,
    layer: str,
    level: str,
    survey: str | None,
    sources: Sequence[Source],
    lawful_on: Sequence[Any],
) -> str:
    what = {"form": FORM, "srid": workspace.database.srid, "layer": layer, "level": level, "sources": list(sources)}
    what["lawful_on"] = list(lawful_on)
    return f"{layer}{f'-{survey}' if survey else ''}-{level}-{sha256(canonical_json(what))[:16]}.pmtiles"


# -- rows


def _load(workspace: Workspace, file: TileFile, on: date) -> gpd.GeoDataFrame:
    """Load what a layer draws, with the few properties that the map shows, in the tiles' system; longest first."""
    parts = []
    with workspace.database.read() as connection:
        rights = load_rights(workspace, connection)
    for table, columns, properties in DRAWN[file.layer]:
        part = read_rows(workspace.database, table, file.sources, columns)
        if file.layer == PERMITTED:
            part = lawful(rights.follow(part), on)
        parts.append(properties(part).set_geometry(part.geometry))
    some = [p for p in parts if len(p)]
    rows = gpd.GeoDataFrame(pd.concat(some, ignore_index=True)) if some else parts[0]
    shapes = rows.geometry.to_numpy()
    measured = np.where(shapely.get_dimensions(shapes) == 1, shapely.length(shapes), np.inf)
    order = np.argsort(-measured, kind="stable")
    return rows.iloc[order].set_geometry(
        gpd.GeoSeries(to_tiles(shapes[order], workspace.database.srid), rows.index[order], crs=3857)
    )


def _findings(rows: pd.DataFrame) -> gpd.GeoDataFrame:
    kept = rows[["id", "kind", "survey"]]
    return gpd.GeoDataFrame(kept.assign(key=rows["fid"].astype("int64"), length=rows["length_m"].astype(float)))


def _zones(rows: pd.DataFrame) -> gpd.GeoDataFrame:
    return gpd.GeoDataFrame(rows[["zone", "land_value"]].assign(value=rows["land_value"].astype(float)))


def _lines(rows: pd.DataFrame) -> gpd.GeoDataFrame:
    return gpd.GeoDataFrame(rows.rename(columns={"segment": "id"})[["id", *OF_OWNERS]])


def _boxes(rows: pd.DataFrame) -> gpd.GeoDataFrame:
    return gpd.GeoDataFrame(rows.rename(columns={"equipment": "id"})[["id", *OF_OWNERS]])


OF_OWNERS, OF_NETWORK = ("operator", "service"), ("operator", "service", *FOLLOWED)
# layer → the tables that it draws, their columns, and what the map knows of a row
DRAWN: dict[str, tuple[tuple[str, tuple[str, ...], Callable[[pd.DataFrame], gpd.GeoDataFrame]], ...]] = {
    FINDINGS: (("findings", ("id", "kind", "survey", "length_m"), _findings),),
    ZONES: (("value_zones", ("zone", "land_value"), _zones),),
    PERMITTED: (("segments", ("segment", *OF_NETWORK), _lines), ("equipment", ("equipment", *OF_NETWORK), _boxes)),
    SURVEYED: (
        ("survey_lines", ("segment", *OF_OWNERS), _lines),
        ("survey_equipment", ("equipment", *OF_OWNERS), _boxes),
    ),
}


# -- files


def from_afar(rows: gpd.GeoDataFrame, layer: str) -> gpd.GeoDataFrame:
    """Return what the overview draws of a layer, whose rows come longest first: no finding is ever left out."""
    if layer == ZONES:
        return rows
    if layer != FINDINGS:
        return rows.head(MOST_IN_OVERVIEW)
    shapes = rows.geometry.to_numpy().copy()
    short = (rows["length"] < SHORT_M).to_numpy()
    shapes[short] = shapely.centroid(shapes[short])
    return rows.set_geometry(gpd.GeoSeries(shapes, rows.index, crs=rows.crs))


def _write(rows: gpd.GeoDataFrame, files: Sequence[TileFile], folder: Path) -> None:
    for file in files:
        if not len(rows):  # GDAL makes no tiles of nothing
            file.path.touch()
            continue
        part = rows if file.level == DETAIL else from_afar(rows, file.layer)
        zoom = str(ZOOM[file.level])
        with tempfile.TemporaryDirectory(dir=folder, prefix="new-") as beside:
            made = Path(beside, "made.pmtiles")
            pyogrio.write_dataframe(
                part,
                made,
                driver="PMTiles",
                layer=file.layer,
                geometry_type="Unknown",
                dataset_options={**TILE_OPTIONS, "MINZOOM": zoom, "MAXZOOM": zoom},
            )
            made.replace(file.path)
