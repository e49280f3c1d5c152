"""Findings made up, always the same: what the templates of the papers that rest on them are tried out on."""

from datetime import date
from decimal import Decimal

import geopandas as gpd
from shapely import LineString, Point, box
from shapely.geometry.base import BaseGeometry

from geobill.documents import case_papers as papers
from geobill.documents.case_papers import case_job
from geobill.documents.case_sample import FIGURES, ID, SHOWN, SIGNED, sample_case
from geobill.documents.constatacao import Shown, Signed, constatacao_job
from geobill.documents.evidence_map import Ground as Around
from geobill.documents.forms import Job
from geobill.documents.grounds import Ground, Grounds, Price
from geobill.documents.offset_profile import OffsetProfile
from geobill.documents.overrides.folder import PACKAGE, Templates
from geobill.documents.sample import AUTHORITY, OPERATOR
from geobill.domain.case import CLANDESTINE, Case
from geobill.domain.dates import BillingMonth
from geobill.domain.detection import (
    MISSING,
    UNDECLARED_EQUIPMENT,
    UNDECLARED_SEGMENT,
    UPHELD,
    WIDER,
    DetectionTerms,
    FieldFinding,
    FindingAct,
    FindingFile,
    Survey,
)
from geobill.domain.record import sha256

EAST, NORTH, CRS = 330_000.0, 7_414_000.0, "EPSG:31983"
SURVEY, UPHELD_AT = "V00001", "2026-02-27T13:40:00Z"
TERMS = DetectionTerms(Decimal("3.00"), Decimal("5.00"), Decimal("0.50"), Decimal("1.00"), Decimal("8.00"))
ON_FINDINGS: tuple[str, ...] = (papers.NOTICE, papers.NONCONFORMITY_NOTICE, papers.DECISION, papers.ENDING)


def sample_survey() -> Survey:
    """Return a survey whose metres add up."""
    figures = {
        "survey_length_m": "1284.30", "matched_m": "1186.18", "undeclared_m": "98.12", "moved_m": "0.00", "more_m": "0.00",
        "below_minimum_m": "2.31", "equipment_surveyed": "3", "equipment_matched": "2", "equipment_undeclared": "1",
    }  # fmt: skip
    return Survey(
        SURVEY, "levantamento_2026.gpkg", "rede", sha256("sample survey"), OPERATOR.id, (), TERMS, figures,
        compared_on="2026-02-26", by="Caio Prado",
    )  # fmt: skip


def sample_shown() -> tuple[Shown, ...]:
    """Return a stretch, a cabinet, a strip that is too wide and a stretch that wasn't found."""
    return (
        _shown(_finding(1, UNDECLARED_SEGMENT, "L17", "98.12", ("9.84", "13.02", "13.51"), "0.95"), _line((40, 14), (138, 19)),
               "Rua das Amoreiras, zona Centro", 14.0),
        _shown(_finding(2, UNDECLARED_EQUIPMENT, "A3", "0.00", None, "0.99", volume_m3="2.40"), Point(EAST + 90, NORTH + 26)),
        _shown(_finding(3, WIDER, "L18", "60.00", ("0.41", "0.62", "0.70"), "0.80", "S1", width="1.20", permitted="0.50"),
               _line((150, 0.4), (210, 0.4)), "zona Laranjeiras", 0.5),
        _shown(_finding(4, MISSING, "S2", "72.00", ("45.10", "50.00", "50.20"), "0.93", "S2"), _line((0, 60), (72, 60))),
    )  # fmt: skip


def sample_around() -> Around:
    """Return what lies around them: two permitted lines, what was surveyed, three zones."""
    permitted = [_line((0, 0), (260, 0)), _line((0, 60), (72, 60))]
    surveyed = [_line((0, 0.4), (260, 0.5)), _line((40, 14), (138, 19))]
    zones = [box(EAST + x, NORTH - 40, EAST + x + 95, NORTH + 100) for x in (-20, 80, 180)]
    return Around(
        gpd.GeoDataFrame(geometry=permitted, crs=CRS),
        gpd.GeoDataFrame(geometry=surveyed, crs=CRS),
        gpd.GeoDataFrame({"zone": ["Centro", "Laranjeiras", "Serpa"]}, geometry=zones, crs=CRS),
        gpd.GeoDataFrame(geometry=[Point(EAST + 20, NORTH + 3)], crs=CRS),
        gpd.GeoDataFrame(geometry=[Point(EAST + 90, NORTH + 26)], crs=CRS),
    )


def sample_constatacao_job(templates: Templates = PACKAGE) -> Job:
    """Return the sample of the paper that shows the findings."""
    case = Case(ID, CLANDESTINE, OPERATOR.id, date(2026, 3, 2), "Rede e armário na Rua das Amoreiras, sem permissão")
    signed = Signed(date(2026, 3, 2), SIGNED, "Auto 31/2026")
    law = FIGURES.statute_title
    return constatacao_job(
        case, signed, OPERATOR, AUTHORITY, [sample_survey()], sample_shown(), sample_around(), law, templates=templates
    )


def sample_grounds() -> Grounds:
    """Return what the other papers of the same case say of its findings."""
    price = Price(
        BillingMonth(2026, 4), Decimal("1187.40"), Decimal("2374.80"), BillingMonth(2019, 3), BillingMonth(2026, 4),
        Decimal("168420.33"), "2026/000125",
    )  # fmt: skip
    named = tuple(Ground(one.file.finding, one.where) for one in sample_shown())
    return Grounds(named, date(2026, 3, 2), "Auto 31/2026", sha256("auto"), price)


def sample_job_on_findings(paper: str) -> Job:
    """Return the sample of one of the other papers, of a case that stands on findings."""
    file = sample_case(*SHOWN[paper])
    return case_job(file, file.acts[-1], OPERATOR, AUTHORITY, FIGURES, sample_grounds())


def _line(*places: tuple[float, float]) -> LineString:
    return LineString([(EAST + x, NORTH + y) for x, y in places])


def _shown(finding: FieldFinding, shape: BaseGeometry, where: str = "", offset: float | None = None) -> Shown:
    length, profile = float(finding.length_m), None
    if length:
        places = tuple((length * i / 20, None if offset is None else offset + 0.05 * i) for i in range(21))
        profile = OffsetProfile(places, 10 * TERMS.reach_m, finding.kind == MISSING)
    upheld = FindingAct(finding.id, UPHELD, "Ana Lima", "visto no local", at=UPHELD_AT)
    return Shown(FindingFile(finding, (upheld,)), shape, where, profile)


def _finding(
    number: int, kind: str, segment: str, length: str, offsets: tuple[str, str, str] | None, confidence: str,
    row: str | None = None, width: str | None = None, permitted: str | None = None, volume_m3: str | None = None,
) -> FieldFinding:  # fmt: skip
    mean, most, greatest = (Decimal(o) for o in offsets) if offsets else (None, None, None)
    return FieldFinding(
        f"{SURVEY}-{number:05d}", SURVEY, kind, OPERATOR.id, number, segment, 0.0, float(length), Decimal(length), row, mean, most,
        greatest, Decimal(confidence), "telecomunicações", None, width and Decimal(width), permitted and Decimal(permitted),
        volume_m3 and Decimal(volume_m3), None,
    )  # fmt: skip
