"""A small town that was surveyed: what is permitted, what was seen, what was found; made by hand, without matching anything.

Alfa has 1,000 m of permitted cable along y = 5 in a zone of R$ 200/m². The survey has it, 300 m that carry on past its end,
200 m across the street at y = 20, and a cabinet that nobody permitted.
"""

from decimal import Decimal

import geopandas as gpd
import shapely
from pricing.shapes import ORIGIN
from workspaces import done, import_network, import_zones, write_network, write_zones

from geobill.domain.detection import DetectionTerms, FieldFinding, Survey
from geobill.store.surveys import SurveyRegister
from geobill.store.workspace import open_workspace

NOW = "2026-11-30T12:00:00Z"
SRID = 31983
TERMS = DetectionTerms(Decimal(3), Decimal(3), moved_within_m=Decimal(6))
ALFA = "Alfa Telecomunicações S.A."


def at(*xy):
    """A line through places in metres from the origin of the tests."""
    return shapely.LineString([(ORIGIN[0] + x, ORIGIN[1] + y) for x, y in xy])


def town(folder):
    """A workspace with two operators, a map of values and a network that is permitted."""
    workspace = folder / "town"
    done("init", workspace)
    done("operator", "add", "--id", "alfa", "--name", ALFA, "--cnpj", "11.222.333/0001-81", workspace=workspace)
    done("operator", "add", "--id", "beta", "--name", "Beta <b>Redes</b> & Cia.", workspace=workspace)
    import_zones(workspace, write_zones(folder / "zonas.geojson", ("Z1", 200, 0, 0, 3000, 100)))
    network = write_network(folder / "alfa.geojson", ("S1", 0.5, ((0, 5), (1000, 5))))
    import_network(workspace, network, "alfa")
    return workspace


def field_town(folder, more=0):
    """The town with a survey and its findings; ``more`` adds short stretches, each a finding, to make a long queue."""
    workspace = town(folder)
    lines = [at((0, 5.4), (1300, 5.4)), at((100, 20), (300, 20))]
    found = [
        finding(1, "undeclared_segment", "alfa", "1", 300, start=1000, permitted="S1", offset=None, amount="450.00"),
        finding(2, "undeclared_segment", "alfa", "2", 200, offset="15.00", amount="300.00"),
        finding(3, "undeclared_equipment", "alfa", "K1", 0, volume="2", amount="300.00"),
    ]
    shapes = [at((1000, 5.4), (1300, 5.4)), lines[1], shapely.Point(ORIGIN[0] + 50, ORIGIN[1] + 8)]
    for n in range(more):
        x, y = 1400 + (n % 250) * 6, 10 + (n // 250) * 0.4
        line = at((x, y), (x + 5, y))
        found.append(
            finding(
                4 + n, "undeclared_segment", None if n % 7 == 0 else "beta", str(n + 3), 5, offset="8.00", amount="7.50"
            )
        )
        lines.append(line)
        shapes.append(line)
    keep(workspace, lines, found, shapes)
    return workspace


def finding(
    number, kind, operator, segment, length, *, start=0.0, permitted=None, offset="4.00", volume=None, amount=None
):
    """A finding of the survey V00001."""
    some = None if offset is None else Decimal(offset)
    return FieldFinding(
        id=f"V00001-{number:05d}", survey="V00001", kind=kind, operator=operator, source_row=int(segment) if segment.isdigit() else 1,
        segment=segment, start_m=start, end_m=start + length, length_m=Decimal(length).quantize(Decimal("0.01")), permitted=permitted,
        offset_mean_m=some, offset_p95_m=some, offset_max_m=some, confidence=Decimal("0.99"), service=None, level=None,
        width_m=None if volume else Decimal("0.5"), permitted_width_m=None, volume_m3=volume and Decimal(volume),
        permitted_volume_m3=None, month_amount=amount and Decimal(amount),
    )  # fmt: skip


def keep(workspace, lines, found, shapes):
    """Keep a survey of some lines, and a cabinet, with what was found in it."""
    opened = open_workspace(workspace)
    rows = {
        "source_row": range(1, len(lines) + 1), "segment": [str(n) for n in range(1, len(lines) + 1)], "operator": "alfa",
        "service": None, "level": None, "width_m": "0.5",
    }  # fmt: skip
    seen = gpd.GeoDataFrame(rows, geometry=[shapely.MultiLineString([g]) for g in lines], crs=SRID)
    boxes = gpd.GeoDataFrame(
        {"source_row": [1], "equipment": ["K1"], "operator": ["alfa"], "service": [None], "volume_m3": ["2"]},
        geometry=[shapely.Point(ORIGIN[0] + 50, ORIGIN[1] + 8)], crs=SRID,
    )  # fmt: skip
    length = sum(Decimal(f"{g.length:.2f}") for g in lines)
    undeclared = sum(f.length_m for f in found)
    figures = {"survey_length_m": f"{length}", "matched_m": f"{length - undeclared}", "undeclared_m": f"{undeclared}"}
    survey = Survey(
        "V00001",
        "levantamento.gpkg",
        "rede",
        "0" * 64,
        "alfa",
        (),
        TERMS,
        figures,
        compared_on="2026-11-30",
        by="Caio Prado",
    )
    with opened.database.write() as connection:
        SurveyRegister(connection, opened.database.tables, opened.database.srid).save(
            survey, seen, boxes, found, shapes, NOW
        )
