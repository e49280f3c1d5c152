"""A month for QGIS: what everybody's invoices charge and what is held, piece by piece, over the Mapa de Valores."""

from collections.abc import Mapping, Sequence

import geopandas as gpd
import pandas as pd
import shapely

from geobill.documents import gpkg_styles
from geobill.documents.gpkg_annex import PIECES, coverage_layer, piece_row
from geobill.documents.gpkg_layers import TEXT, WRITE_FAULTS, Columns, Layer, gpkg_bytes, multi, titles
from geobill.documents.qml_forms import Form
from geobill.documents.statute_words import StatuteWords
from geobill.domain.invoice import Line
from geobill.errors import TemplateError

ALL_PIECES: Columns = (("operadora", TEXT, "Operadora"), *PIECES)


def month_layers(
    pieces: pd.DataFrame, coverage: gpd.GeoDataFrame, lines: Mapping[str, Sequence[Line]], statute: StatuteWords
) -> tuple[Layer, ...]:
    """Return the layers of a month, the ground first.

    Parameters
    ----------
    pieces : DataFrame
        Pieces of a priced month, with ``geometry``.
    coverage : GeoDataFrame
        The priced coverage.
    lines : mapping of operator to lines
        Those of each invoice, in their order.
    statute : StatuteWords
        On the day whose figures the month takes.
    """
    numbered = {operator: dict(enumerate(some, 1)) for operator, some in lines.items()}
    records = pieces.to_dict("records")
    rows = [{"operadora": r["operator"], **piece_row(r, numbered.get(r["operator"], {}), statute)} for r in records]
    style = gpkg_styles.piece_style(titles(ALL_PIECES), (row["situacao"] for row in rows), Form())
    shapes = multi([r["geometry"] for r in records], shapely.multilinestrings)
    drawn = Layer("pecas", "Peças do mês: cobradas e retidas", ALL_PIECES, "MultiLineString", style, rows, shapes)
    return coverage_layer(coverage, shapes, Form()), drawn


def month_gpkg(layers: Sequence[Layer], title: str, srid: int, moment: str) -> bytes:
    """Write the layers of a month as a GeoPackage.

    Raises
    ------
    TemplateError
        If the file can't be made.
    """
    try:
        return gpkg_bytes(layers, title, f"EPSG:{srid}", moment)
    except WRITE_FAULTS as fault:
        raise TemplateError(
            f"The GeoPackage of the month can't be made: {fault}. See that the folder for temporary files has room and may be "
            "written."
        ) from None
