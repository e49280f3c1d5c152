"""Opens a GeoPackage in QGIS as a user would, draws it, and prints as JSON what QGIS made of its styles.

Run by the python3 that Debian's QGIS belongs to: qgis_look.py FILE PNG LAYER …  (the lowest layer first)
"""

import json
import sys
from collections import Counter

from qgis.core import (
    QgsApplication,
    QgsMapRendererParallelJob,
    QgsMapSettings,
    QgsProject,
    QgsRectangle,
    QgsRenderContext,
    QgsVectorLayer,
)
from qgis.PyQt.QtCore import QSize
from qgis.PyQt.QtGui import QColor


def look(path, png, names):
    layers = [QgsVectorLayer(f"{path}|layername={name}", name, "ogr") for name in names]
    said = {}
    for layer in layers:
        assert layer.isValid(), layer.name()
        QgsProject.instance().addMapLayer(layer)
        renderer = layer.renderer()
        settings = layer.labeling().settings() if layer.labeling() else None
        expression = settings.getLabelExpression() if settings else None
        said[layer.name()] = {
            "rows": layer.featureCount(),
            "crs": layer.crs().authid(),
            "index": layer.hasSpatialIndex() == 2,  # QgsFeatureSource.SpatialIndexPresent
            "renderer": renderer.type(),
            "legend": [item.label() for item in renderer.legendSymbolItems()],
            "labels": layer.labelsEnabled(),
            "labelled": expression.expression() if expression else None,
            "label_scale": settings.minimumScale if settings else None,
            "aliases": {f.name(): f.alias() for f in layer.fields()},
            "unseen": unseen(layer),
        }
    return {"layers": said, "colours": draw(layers, png)}


def unseen(layer):
    """Rows that no symbol of the style draws."""
    renderer, context = layer.renderer().clone(), QgsRenderContext()
    context.expressionContext().appendScopes([])
    context.expressionContext().setFields(layer.fields())
    renderer.startRender(context, layer.fields())
    missed = 0
    for feature in layer.getFeatures():
        context.expressionContext().setFeature(feature)
        missed += not renderer.willRenderFeature(feature, context)
    renderer.stopRender(context)
    return missed


def draw(layers, png):
    settings = QgsMapSettings()
    settings.setLayers(layers[::-1])
    settings.setOutputSize(QSize(1200, 800))
    settings.setOutputDpi(96)
    settings.setBackgroundColor(QColor("white"))
    settings.setDestinationCrs(layers[0].crs())
    extent = QgsRectangle()
    for layer in layers[1:]:
        if layer.featureCount():
            extent.combineExtentWith(layer.extent())
    extent.scale(1.15)
    settings.setExtent(extent)
    job = QgsMapRendererParallelJob(settings)
    job.start()
    job.waitForFinished()
    assert not job.errors(), [e.message for e in job.errors()]
    image = job.renderedImage()
    assert image.save(png)
    pixels = Counter(image.pixelColor(x, y).name() for x in range(1200) for y in range(800))
    return dict(pixels.most_common(400))


application = QgsApplication([], False)
application.initQgis()
print(json.dumps(look(sys.argv[1], sys.argv[2], sys.argv[3:])))
application.exitQgis()
