"""A QGIS project of the workspace: the store's layers, read-only, beside copies into which decisions may be typed."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import shapely
from sqlalchemy import Select, select

from geobill.documents.findings_gpkg import CASES, FieldMap
from geobill.documents.gpkg_layers import Layer
from geobill.documents.month_gpkg import month_gpkg, month_layers
from geobill.documents.qgis_layout import Sheet
from geobill.documents.qgis_project import NO_GEOMETRY, Group, MapLayer, Project, project_qgz
from geobill.documents.statute_words import StatuteWords
from geobill.documents.store_styles import StoreStyle
from geobill.documents.words import short_date
from geobill.domain.dates import BillingMonth
from geobill.domain.detection import DISMISSED, IN_CASE, SUSPECTED, UPHELD
from geobill.errors import InputError
from geobill.pipeline.findings_out import write_review
from geobill.pipeline.month import Stored, edition_on
from geobill.pipeline.store_styles import style_store
from geobill.store.batches import not_in_force
from geobill.store.networks import Cadastre
from geobill.store.settings import replace_file
from geobill.store.tables import FEATURES, Tables
from geobill.store.workspace import Workspace

SUFFIX = ".qgz"
REVIEW_FILE = "revisao.gpkg"
REVIEW, BILLING, RECORD = "Revisão", "Cobrança", "Cadastro"  # map themes
PINS = f"revisao_{CASES}"  # ids of layers: QGIS replaces those of ten letters or fewer
MOST_OPERATORS = 20  # layers of one operator each
STATES = (
    (SUSPECTED, "Achados a decidir", (REVIEW,)),
    (UPHELD, "Achados que procedem", (REVIEW,)),
    (IN_CASE, "Achados em processo", (REVIEW,)),
    (DISMISSED, "Achados que não procedem", ()),
)
TABLES: dict[str, str] = {  # tables of the store that people read, with their titles; blobs and archives are left out
    "operators": "Operadoras",
    "batches": "Lotes importados",
    "editions": "Edições do Mapa de Valores",
    "permits": "Permissões",
    "permit_acts": "Atos das permissões",
    "decrees": "Decretos",
    "invoices": "Faturas",
    "invoice_lines": "Linhas das faturas",
    "notes": "Notas",
    "cases": "Processos",
    "case_acts": "Atos dos processos",
    "suspensions": "Ordens judiciais",
    "surveys": "Levantamentos",
    "finding_acts": "Atos sobre achados",
    "finding_states": "Situação dos achados",
}
SHEETS = (("Evidência A4", 297.0, 210.0), ("Evidência A3", 420.0, 297.0))
SAMPLE_EXTENT_M = 500.0


@dataclass(frozen=True)
class Written:
    """What a project came to: its file, the data beside it, and how many layers and findings are in it."""

    project: Path
    data: tuple[Path, ...]
    layers: int
    findings: int


def write_project(
    workspace: Workspace, path: Path, *, on: date, now: str, month: BillingMonth | None = None
) -> Written:
    """Write a project and, beside it, the copies that it edits; the store itself is only read by it.

    Parameters
    ----------
    workspace : Workspace
    path : Path
        Ends in ``.qgz``.
    on : date
        Day whose edition of the Mapa de Valores is shown.
    now : str
        The moment in UTC, ISO text with Z.
    month : BillingMonth or None
        A month whose pieces are shown as they are priced.

    Raises
    ------
    InputError
        If the path doesn't end in ``.qgz``, its folder isn't there, or decisions that aren't on record would be lost.
    """
    if path.suffix.lower() != SUFFIX:
        raise InputError(f"{path.name} must end in {SUFFIX}: QGIS knows a project by that. Nothing was written.")
    if not path.parent.is_dir():
        raise InputError(f"The folder {path.parent} isn't there. Nothing was written. Make it, or name another.")
    store = _relative(workspace.database.path, path.parent)
    styles = {s.table: s for s in style_store(workspace, now)}
    review = path.parent / REVIEW_FILE
    billed = None if month is None else _price(workspace, month)  # refused before anything is written
    shown, layers = write_review(workspace, review, on)
    data, groups = [review], [_review_group(layers, shown)]
    if month is not None and billed is not None:
        beside = path.parent / f"cobranca-{month}.gpkg"
        replace_file(
            beside, month_gpkg(billed, f"Cobrança de {month}", workspace.database.srid, f"{month}-01T00:00:00.000Z")
        )
        data.append(beside)
        groups.append(_month_group(billed, beside.name, month))
    groups += _store_groups(workspace, styles, store, on, has_month=month is not None)
    authority, extent = workspace.settings.authority, _extent(shown)
    place = workspace.settings.municipality.name
    legend = [
        (one.id, "Situação de cada achado" if one.id == PINS else one.title)
        for one in _all(groups[:1])
        if REVIEW in one.themes
    ]
    sheets = [
        Sheet(
            name, width, height, authority.name, authority.secretariat,
            f"{place}. Situação em {short_date(on)}. EPSG:{workspace.database.srid}. Feito com o geobill.",
            REVIEW, extent, PINS, legend,
        )
        for name, width, height in SHEETS
    ]  # fmt: skip
    project = Project(f"geobill: {place}", workspace.database.srid, extent, groups, (REVIEW, BILLING, RECORD), sheets)
    replace_file(path, project_qgz(project))
    return Written(path, tuple(data), sum(1 for _ in _all(groups)), len(shown.findings))


def _relative(target: Path, folder: Path) -> str:
    """Return a path as the project has it: relative to its folder, with forward slashes."""
    try:
        found = Path(os.path.relpath(target.resolve(), folder.resolve())).as_posix()
    except ValueError:  # another drive of Windows
        raise InputError(
            f"{folder} is on another drive than the workspace: a project there couldn't be moved. Nothing was written. Choose a "
            "folder on the same drive, or the workspace's own."
        ) from None
    return found if found.startswith("..") else f"./{found}"


def _all(members: Sequence[MapLayer | Group]) -> Iterator[MapLayer]:
    for one in members:
        if isinstance(one, Group):
            yield from _all(one.members)
        else:
            yield one


def _extent(shown: FieldMap) -> tuple[float, float, float, float]:
    """Return the ground that the project opens on: the findings', else the network's, else the map's."""
    choices: tuple[Any, ...] = (
        [s.shape for s in shown.findings],
        shown.segments.geometry.values,
        shown.zones.geometry.values,
        shown.equipment.geometry.values,
    )
    found = next((shapes for shapes in choices if len(shapes)), None)
    if found is None:
        return (0.0, 0.0, SAMPLE_EXTENT_M, SAMPLE_EXTENT_M)
    x0, y0, x1, y1 = map(float, shapely.total_bounds(found))
    return (x0, y0, x1, y1)


# -- groups of layers


def _review_group(layers: Sequence[Layer], shown: FieldMap) -> Group:
    by_table = {layer.table: layer for layer in layers}

    def one(table: str, id_: str, title: str, themes: Sequence[str], subset: str = "") -> MapLayer:
        layer = by_table[table]
        kind = {"MultiLineString": "Line", "Point": "Point", "MultiPolygon": "Polygon"}[layer.geometry_type]
        return MapLayer(id_, title, f"./{REVIEW_FILE}|layername={table}", layer.style, kind, subset, themes)

    found = [
        one("achados", f"revisao_achados_{state}", title, themes, f"\"situacao\" = '{state}'")
        for state, title, themes in STATES
    ]
    owners = list(dict.fromkeys(s.operator for s in shown.findings))[:MOST_OPERATORS]
    by_owner = [
        one(
            "achados",
            f"revisao_achados_operadora_{n}",
            shown.operators.get(owner or "", "Operadora não sabida"),
            (),
            _owned(owner),
        )
        for n, owner in enumerate(owners, 1)
    ]
    return Group(
        "Revisão de achados",
        [
            one(CASES, PINS, "Decisões: digite aqui", (REVIEW,)),
            one("achados_pontos", "revisao_achados_pontos", "Achados em equipamentos", (REVIEW,)),
            *found,
            *([Group("Achados por operadora", by_owner, expanded=False)] if by_owner else []),
            one("equipamentos", "revisao_equipamentos", "Armários e postes", (REVIEW,)),
            one("levantamento", "revisao_levantamento", "Levantamento de campo", (REVIEW,)),
            one("permitido", "revisao_permitido", "Rede permitida", (REVIEW,)),
            one("zonas", "revisao_zonas", "Mapa de Valores", (REVIEW,)),
        ],
    )


def _owned(operator: str | None) -> str:
    """Filter of one operator's findings; its id is put into the SQL as text."""
    if operator is None:
        return '"operadora" IS NULL'
    quoted = operator.replace("'", "''")
    return f"\"operadora\" = '{quoted}'"


def _month_group(layers: Sequence[Layer], file: str, month: BillingMonth) -> Group:
    ground, pieces = layers

    def one(layer: Layer, kind: str, title: str) -> MapLayer:
        return MapLayer(
            f"cobranca_{layer.table}", title, f"./{file}|layername={layer.table}", layer.style, kind, "", (BILLING,)
        )

    return Group(
        f"Cobrança de {month}",
        [one(pieces, "Line", pieces.title), one(ground, "Polygon", ground.title)],
        expanded=False,
    )


def _price(workspace: Workspace, month: BillingMonth) -> tuple[Layer, ...]:
    with workspace.database.read() as connection:
        stored = Stored(workspace, connection)
        found = stored.price(month, located=True)
        ground, policy = found.zones, found.policy
        kept = (found.batch or "", policy.on_overlap, policy.as_text()["max_gap_m"])
        if stored.cadastre.has_coverage(*kept):
            ground = stored.cadastre.load_coverage(*kept)
        lines = {mine.operator.id: mine.lines for mine in found.bill.operators}
        return month_layers(found.priced.pieces, ground, lines, StatuteWords.of_month(found.law.figures, month))


def _store_groups(
    workspace: Workspace, styles: Mapping[str, StoreStyle], store: str, on: date, *, has_month: bool
) -> list[Group]:
    """Return the store's layers as they are kept, without what isn't in force, and its books."""
    with workspace.database.read() as connection:
        tables = workspace.database.tables
        edition_batch = edition_on(Cadastre(connection, tables, workspace.database.srid), on, needed=False)[2]
        out = [str(batch) for batch in connection.execute(not_in_force(tables, None)).scalars()]
        kinds = {
            table: sorted(
                {
                    g.geom_type.removeprefix("Multi")
                    for (g,) in connection.execute(select(tables.metadata.tables[table].c.geom))
                }
            )
            for table, declared in FEATURES.items()
            if declared == "GEOMETRY"
        }
    in_force = f'"batch" NOT IN ({", ".join(map(_quoted, out))})' if out else ""
    edition = "" if edition_batch is None else f'"batch" = {_quoted(edition_batch)}'
    filters: Mapping[str, str] = {
        "segments": in_force, "equipment": in_force, "value_zones": edition, "priced_coverage": edition,
    }  # fmt: skip
    billing = () if has_month else (BILLING,)
    themes: Mapping[str, Sequence[str]] = {
        "segments": (*billing, RECORD), "equipment": (BILLING, RECORD), "value_zones": (*billing, RECORD),
    }  # fmt: skip
    order = ("findings", "survey_equipment", "survey_lines", "equipment", "segments", "priced_coverage", "value_zones")
    drawn = [
        layer
        for table in order
        for layer in _store_layers(
            styles[table], store, kinds.get(table), filters.get(table, ""), themes.get(table, ())
        )
    ]
    books = [
        MapLayer(f"livro_{table}", title, f"{store}|layername={table}", styles[table].qml, NO_GEOMETRY)
        for table, title in TABLES.items()
    ]
    return [
        Group("Cadastro (só leitura)", drawn, expanded=False),
        Group("Livros (só leitura)", books, expanded=False),
    ]


def _shapes(tables: Tables, table: str) -> Select[Any]:
    return select(tables.metadata.tables[table].c.geom)


def _store_layers(
    style: StoreStyle, store: str, kinds: Sequence[str] | None, subset: str, themes: Sequence[str]
) -> Iterator[MapLayer]:
    """Layers of a table: one, or one for each kind of geometry that it has."""
    source = f"{store}|layername={style.table}"
    if kinds is None:
        kind = "Polygon" if FEATURES[style.table] == "MULTIPOLYGON" else "Line"
        yield MapLayer(f"cadastro_{style.table}", style.title, source, style.qml, kind, subset, themes)
        return
    for kind in kinds:
        said = {"Point": "pontos", "LineString": "linhas", "Polygon": "áreas"}.get(kind, kind)
        shown = {"LineString": "Line"}.get(kind, kind)
        yield MapLayer(
            f"cadastro_{style.table}_{kind}", f"{style.title} ({said})", f"{source}|geometrytype={kind}", style.qml, shown, subset,
            themes,
        )  # fmt: skip


def _quoted(text: str) -> str:
    inner = text.replace("'", "''")
    return f"'{inner}'"
