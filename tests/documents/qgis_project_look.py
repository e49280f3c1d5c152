"""Opens a project in QGIS as a user would, prints its layouts, and prints as JSON what QGIS made of it.

Run by the python3 that Debian's QGIS belongs to: qgis_project_look.py PROJECT.qgz FOLDER
"""

import json
import sys

from qgis.core import (
    QgsApplication,
    QgsLayoutExporter,
    QgsLayoutItemLabel,
    QgsProject,
)
from qgis.PyQt.QtGui import QImage


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
        "saved": type_in(project.mapLayer("revisao_cases")),
    }


def type_in(layer):
    """Dismiss the second finding, as a person does in the form, and save."""
    (row,) = [f for f in layer.getFeatures() if f["achado"] == "V00001-00002"]
    assert layer.startEditing()
    for column, value in (("decisao", "não procede"), ("motivo", "É da prefeitura")):
        assert layer.changeAttributeValue(row.id(), layer.fields().indexFromName(column), value)
    return layer.commitChanges()


def print_out(layout, folder):
    """The sheet as it opens, then the first pages of its atlas."""
    name = layout.name().replace(" ", "-")
    settings = QgsLayoutExporter.ImageExportSettings()
    settings.dpi = 60
    atlas, scales, pixels = layout.atlas(), [], []

    def image(path):
        assert QgsLayoutExporter(layout).exportToImage(path, settings) == QgsLayoutExporter.Success
        drawn = QImage(path)
        pixels.append([drawn.width(), drawn.height()])
        labels = [item for item in layout.items() if isinstance(item, QgsLayoutItemLabel)]
        return [item.currentText() for item in sorted(labels, key=lambda i: i.zValue())]

    atlas.setEnabled(False)
    texts = [image(f"{folder}/{name}.png")]
    pdf = QgsLayoutExporter.PdfExportSettings()
    pdf.dpi = 60
    assert QgsLayoutExporter(layout).exportToPdf(f"{folder}/{name}.pdf", pdf) == QgsLayoutExporter.Success
    atlas.setEnabled(True)
    assert atlas.beginRender()
    for page in range(min(1, atlas.count())):
        assert atlas.seekTo(page)
        layout.refresh()
        texts.append(image(f"{folder}/{name}-{page + 1}.png"))
        scales.append(round(layout.referenceMap().scale()))
    atlas.endRender()
    return {"pages": atlas.count(), "pixels": pixels, "scales": scales, "texts": texts}


application = QgsApplication([], False)
application.initQgis()
print(json.dumps(look(sys.argv[1], sys.argv[2])))
QgsProject.instance().clear()
application.exitQgis()
