"""Opens a project in QGIS as a user would, prints its layouts, and prints as JSON what QGIS made of it.

Run by the python3 that Debian's QGIS belongs to: qgis_project_look.py PROJECT.qgz FOLDER
"""

import json
import sys

from qgis.core import (
    QgsApplication,
    QgsLayoutExporter,
    QgsProject,
)


def look(path, folder):
    project = QgsProject.instance()
    assert project.read(path), project.error()
    layers = {}
    for id_, layer in project.mapLayers().items():
        settings = [layer.editorWidgetSetup(n).type() for n in range(len(layer.fields()))]
        layers[id_] = {
            "title": layer.name(),
            "valid": layer.isValid(),
            "source": layer.source(),
            "rows": layer.featureCount(),
            "subset": layer.subsetString(),
            "renderer": layer.renderer().type() if layer.renderer() else None,
            "legend": [item.label() for item in layer.renderer().legendSymbolItems()] if layer.renderer() else [],
            "crs": layer.crs().authid(),
            "aliases": {f.name(): f.alias() for f in layer.fields()},
            "widgets": dict(zip((f.name() for f in layer.fields()), settings, strict=True)),
            "typed": [f.name() for n, f in enumerate(layer.fields()) if not layer.editFormConfig().readOnly(n)],
        }
    for id_, layer in project.mapLayers().items():
        layers[id_]["editable"] = layer.startEditing() and layer.rollBack()
    themes = project.mapThemeCollection()
    root = project.layerTreeRoot()
    return {
        "title": project.title(),
        "crs": project.crs().authid(),
        "layers": layers,
        "groups": [child.name() for child in root.children()],
        "shown": [node.layerId() for node in root.findLayers() if node.isVisible()],
        "themes": {name: themes.mapThemeVisibleLayerIds(name) for name in themes.mapThemes()},
        "layouts": {layout.name(): print_out(layout, folder) for layout in project.layoutManager().layouts()},
    }


def print_out(layout, folder):
    """The sheet as it opens, then the first pages of its atlas."""
    name = layout.name().replace(" ", "-")
    settings = QgsLayoutExporter.ImageExportSettings()
    settings.dpi = 96
    files = []
    atlas = layout.atlas()
    atlas.setEnabled(False)
    files.append(f"{folder}/{name}.png")
    assert QgsLayoutExporter(layout).exportToImage(files[-1], settings) == QgsLayoutExporter.Success
    pdf = QgsLayoutExporter.PdfExportSettings()
    assert QgsLayoutExporter(layout).exportToPdf(f"{folder}/{name}.pdf", pdf) == QgsLayoutExporter.Success
    atlas.setEnabled(True)
    assert atlas.beginRender()
    scales = []
    for page in range(min(3, atlas.count())):
        assert atlas.seekTo(page)
        layout.refresh()
        files.append(f"{folder}/{name}-{page + 1}.png")
        assert QgsLayoutExporter(layout).exportToImage(files[-1], settings) == QgsLayoutExporter.Success
        scales.append(round(layout.referenceMap().scale()))
    atlas.endRender()
    return {"pages": atlas.count(), "files": files, "scales": scales, "items": len(layout.items())}


application = QgsApplication([], False)
application.initQgis()
print(json.dumps(look(sys.argv[1], sys.argv[2])))
QgsProject.instance().clear()
application.exitQgis()
