"""Where a workspace's files must lie: its municipality with its boundary, and the grids that its datum shifts use."""

from dataclasses import dataclass, replace
from pathlib import Path

from geobill.domain.finding import Finding
from geobill.domain.network import Municipality
from geobill.errors import InputError
from geobill.intake.boundary import area_km2, boundary_text, only_where, read_boundary
from geobill.intake.grids import FOLDER, Grid, Taken, grids_for, take_grids, use_grids
from geobill.intake.reader import read_layer
from geobill.store.settings import FILE_NAME, Settings, replace_file, set_boundary
from geobill.store.workspace import Workspace

BOUNDARY_FILE = "limite.geojson"


@dataclass(frozen=True)
class BoundarySet:
    """A boundary that was put into a workspace; ``sha256`` is that of the file it came from."""

    file: str
    source: str
    sha256: str
    area_km2: float
    findings: tuple[Finding, ...]


def place_of(workspace: Workspace) -> Municipality:
    """Return where a workspace's files must lie; see `place_at`."""
    return place_at(workspace.root, workspace.settings)


def place_at(root: Path, settings: Settings) -> Municipality:
    """Return the municipality with the boundary of its file, and have the workspace's grids used from here on.

    Raises
    ------
    InputError
        If the boundary or a grid can't be used.
    """
    use_grids(root / FOLDER)
    if settings.boundary is None:
        return settings.municipality
    path = root / settings.boundary
    if not path.exists():
        raise InputError(
            f"{FILE_NAME} names {settings.boundary} as the municipality's boundary, and there is no such file in {root}. It decides "
            "which rows lie outside: put it back, set another with geobill crs boundary FILE, or take the line out."
        )
    outline, _ = read_boundary(read_layer(path), None, settings.municipality)
    return replace(settings.municipality, boundary_wkb=outline)


def set_boundary_from(
    workspace: Workspace, file: Path, layer: str | None, crs: str | None, where: str | None
) -> BoundarySet:
    """Read a municipality's boundary, keep it in the workspace as GeoJSON and name it in ``geobill.toml``.

    A file that lies in the workspace already, and says all that is needed, is only named. ``where`` picks rows, see
    `geobill.intake.boundary.only_where`.

    Raises
    ------
    InputError
        If it can't be the boundary; nothing is changed.
    """
    use_grids(workspace.root / FOLDER)
    found = read_layer(file, layer)
    if where is not None:
        found = only_where(found, where)
    outline, findings = read_boundary(found, crs, workspace.settings.municipality)
    root, name = workspace.root.resolve(), BOUNDARY_FILE
    if file.resolve().is_relative_to(root) and layer is None and crs is None and where is None:
        name = file.resolve().relative_to(root).as_posix()
    else:
        replace_file(root / name, boundary_text(outline, workspace.settings.municipality).encode())
    set_boundary(root / FILE_NAME, name)
    return BoundarySet(name, file.name, found.sha256, area_km2(outline), findings)


def list_grids(workspace: Workspace) -> list[Grid]:
    """Return the grids that files in older datums would use, with those of the workspace at hand."""
    use_grids(workspace.root / FOLDER)
    return grids_for(workspace.settings.municipality)


def add_grids(workspace: Workspace, folder: Path) -> tuple[list[Taken], list[str]]:
    """Take the grids of a folder into the workspace; see `geobill.intake.grids.take_grids`."""
    try:
        return take_grids(folder, workspace.root / FOLDER, workspace.settings.municipality)
    finally:
        use_grids(workspace.root / FOLDER)
