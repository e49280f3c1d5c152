"""The page of a file that was looked at, for whoever sent it."""

from dataclasses import replace
from datetime import date

from geobill.documents.inspection import render_inspection
from geobill.documents.inspection_map import LayerShapes
from geobill.intake.ground import ground_of
from geobill.pipeline.inspect import Look


def inspection_page(look: Look, day: date) -> bytes:
    """Render what was found as one page of HTML; ``day`` is when the file was looked at."""
    shapes = [LayerShapes(d.layer, d.geometry, d.one_in, d.system, d.assumed) for d in look.drawings]
    ground = ground_of(replace(look.municipality, margin_m=0.0))
    return render_inspection(look.report, shapes, ground, look.municipality.name, look.authority, day)
