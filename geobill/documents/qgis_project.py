"""A QGIS project written without QGIS: layers in groups, filters, map themes, print layouts; every path relative.

What is written is what QGIS 3.22 and newer read. A layer's style stands in the project as it stands in ``layer_styles``.
"""

import io
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement, fromstring, tostring

import pyproj

from geobill.documents.qgis_layout import SCALES, Sheet, add_layout
from geobill.documents.qml import HEAD

VERSION = "3.22.16-Białowieża"
FILE = "geobill.qgs"
FIRST_OF_ZIP = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip knows: no trace of the clock
NO_GEOMETRY = "No geometry"


@dataclass(frozen=True)
class MapLayer:
    """A layer of a project.

    ``source`` is a relative path with QGIS' own suffixes (``./revisao.gpkg|layername=achados``), ``subset`` a filter in SQL,
    ``style`` its QML, ``geometry`` Point, Line, Polygon or `NO_GEOMETRY`, ``themes`` the map themes that show it.
    """

    id: str
    title: str
    source: str
    style: str
    geometry: str
    subset: str = ""
    themes: Sequence[str] = ()

    @property
    def full_source(self) -> str:
        """Return the source with the filter, as QGIS opens it."""
        return f"{self.source}|subset={self.subset}" if self.subset else self.source


@dataclass(frozen=True)
class Group:
    """Layers, and groups of them, under one title."""

    title: str
    members: Sequence["MapLayer | Group"]
    expanded: bool = True


@dataclass(frozen=True)
class Project:
    """A project: title, EPSG code, the ground that it opens on (x0, y0, x1, y1), groups from the top, themes, layouts.

    The first theme is the one that it opens with.
    """

    title: str
    srid: int
    extent: tuple[float, float, float, float]
    groups: Sequence[Group]
    themes: Sequence[str]
    sheets: Sequence[Sheet]


def project_qgz(project: Project) -> bytes:
    """Write a project as ``.qgz``; equal projects give equal bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        entry = zipfile.ZipInfo(FILE, FIRST_OF_ZIP)
        entry.compress_type = zipfile.ZIP_DEFLATED
        packed.writestr(entry, project_qgs(project).encode("utf-8"))
    return out.getvalue()


def project_qgs(project: Project) -> str:
    """Write a project as the XML of a ``.qgs``."""
    root = Element("qgis", projectname=project.title, version=VERSION)
    SubElement(root, "homePath", path="")
    SubElement(root, "title").text = project.title
    _add_system(SubElement(root, "projectCrs"), project.srid)
    layers = list(_layers(project.groups))
    tree = SubElement(root, "layer-tree-group")
    _add_tree(tree, project.groups, project.themes[0])
    canvas = SubElement(root, "mapcanvas", name="theMapCanvas", annotationsVisible="1")
    SubElement(canvas, "units").text = "meters"
    _add_box(SubElement(canvas, "extent"), project.extent)
    SubElement(canvas, "rotation").text = "0"
    _add_system(SubElement(canvas, "destinationsrs"), project.srid)
    listed = SubElement(root, "projectlayers")
    for layer in layers:
        _add_layer(listed, layer, project)
    order = SubElement(root, "layerorder")
    for layer in layers:
        SubElement(order, "layer", id=layer.id)
    properties = SubElement(root, "properties")
    SubElement(SubElement(properties, "Paths"), "Absolute", type="bool").text = "false"
    SubElement(SubElement(properties, "SpatialRefSys"), "ProjectionsEnabled", type="int").text = "1"
    SubElement(
        SubElement(properties, "Measure"), "Ellipsoid", type="QString"
    ).text = "NONE"  # in plan, as it is charged
    presets = SubElement(root, "visibility-presets")
    for theme in project.themes:
        _add_theme(presets, theme, layers, project.groups)
    layouts = SubElement(root, "Layouts")
    for sheet in project.sheets:
        add_layout(layouts, sheet)
    view = SubElement(root, "ProjectViewSettings", UseProjectScales="1")
    scales = SubElement(view, "Scales")
    for scale in SCALES:
        SubElement(scales, "Scale", Value=str(scale))
    _add_extent(view, project)
    return HEAD + tostring(root, encoding="unicode")


def _layers(members: "Sequence[MapLayer | Group]") -> Iterator[MapLayer]:
    for one in members:
        if isinstance(one, Group):
            yield from _layers(one.members)
        else:
            yield one


def _add_tree(parent: Element, members: "Sequence[MapLayer | Group]", theme: str) -> None:
    for one in members:
        if isinstance(one, Group):
            shown = any(theme in layer.themes for layer in _layers(one.members))
            group = SubElement(
                parent, "layer-tree-group", name=one.title, checked=_checked(shown), expanded=str(int(one.expanded))
            )
            SubElement(SubElement(group, "customproperties"), "Option")
            _add_tree(group, one.members, theme)
        else:
            SubElement(
                parent, "layer-tree-layer", id=one.id, name=one.title, source=one.full_source, providerKey="ogr",
                checked=_checked(theme in one.themes), expanded="0", legend_exp="", patch_size="-1,-1",
            )  # fmt: skip


def _checked(shown: bool) -> str:
    return "Qt::Checked" if shown else "Qt::Unchecked"


def _add_layer(parent: Element, layer: MapLayer, project: Project) -> None:
    styled = fromstring(layer.style.removeprefix(HEAD))
    kept = {key: value for key, value in styled.attrib.items() if key != "version"}
    drawn = SubElement(
        parent, "maplayer", {"type": "vector", "geometry": layer.geometry, "autoRefreshEnabled": "0", **kept}
    )
    SubElement(drawn, "id").text = layer.id
    SubElement(drawn, "datasource").text = layer.full_source
    SubElement(drawn, "layername").text = layer.title
    if layer.geometry != NO_GEOMETRY:
        _add_system(SubElement(drawn, "srs"), project.srid)
    SubElement(drawn, "provider", encoding="UTF-8").text = "ogr"
    for child in styled:
        if child.tag != "layerGeometryType":
            drawn.append(child)


def _add_theme(parent: Element, theme: str, layers: Sequence[MapLayer], groups: Sequence[Group]) -> None:
    preset = SubElement(
        parent, "visibility-preset", {"name": theme, "has-expanded-info": "1", "has-checked-group-info": "1"}
    )
    for layer in layers:
        if theme in layer.themes:
            SubElement(preset, "layer", id=layer.id, visible="1", expanded="0", style="default")
    checked = SubElement(preset, "checked-group-nodes")
    for path, group in _paths(groups):
        if any(theme in layer.themes for layer in _layers(group.members)):
            SubElement(checked, "checked-group-node", id=path)
    SubElement(preset, "expanded-group-nodes")


def _paths(groups: "Sequence[MapLayer | Group]", above: str = "") -> Iterator[tuple[str, Group]]:
    for one in groups:
        if isinstance(one, Group):
            path = f"{above}/{one.title}" if above else one.title
            yield path, one
            yield from _paths(one.members, path)


def _add_system(parent: Element, srid: int) -> None:
    crs = pyproj.CRS.from_epsg(srid)
    system = SubElement(parent, "spatialrefsys")
    SubElement(system, "wkt").text = crs.to_wkt("WKT2_2019")
    SubElement(system, "srid").text = str(srid)
    SubElement(system, "authid").text = f"EPSG:{srid}"
    SubElement(system, "description").text = crs.name
    SubElement(system, "geographicflag").text = str(crs.is_geographic).lower()


def _add_box(parent: Element, extent: tuple[float, float, float, float]) -> None:
    for name, value in zip(("xmin", "ymin", "xmax", "ymax"), extent, strict=True):
        SubElement(parent, name).text = f"{value:.3f}"


def _add_extent(view: Element, project: Project) -> None:
    box = dict(zip(("xmin", "ymin", "xmax", "ymax"), (f"{v:.3f}" for v in project.extent), strict=True))
    extent = SubElement(view, "DefaultViewExtent", box)
    _add_system(extent, project.srid)
