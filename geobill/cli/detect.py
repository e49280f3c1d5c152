"""The command that finds what nobody declared: a survey held against what permits allow (arts. 4, 9, 10)."""

from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated, Any

import typer

from geobill.cli import app as shared
from geobill.cli import complete
from geobill.cli.app import JsonOption, WorkspaceOption
from geobill.cli.files import CrsOption, EncodingOption, LayersOption, MapOption, read_width
from geobill.errors import InputError

MOST_M = 1000  # a tolerance beyond this compares nothing


def detect(
    survey: Annotated[Path, typer.Option(metavar="FILE", help="What was seen: any file that `geobill formats` lists.")],
    tolerance: Annotated[str, typer.Option(metavar="M", help="Metres within which two lines are taken for one.")],
    operator: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="Whose network was surveyed (else nobody knows, and all permits count).",
            autocompletion=complete.operators,
        ),
    ] = None,
    layer: LayersOption = None,
    map_: MapOption = None,
    crs: CrsOption = None,
    encoding: EncodingOption = None,
    unit: Annotated[
        str, typer.Option(metavar="m|mm|cm|km|ft|in", help="What one unit of the drawing's coordinates is.")
    ] = "m",
    min_length: Annotated[
        str | None, typer.Option(metavar="M", help="Shortest stretch that is a finding (else the tolerance).")
    ] = None,
    survey_accuracy: Annotated[
        str,
        typer.Option(
            metavar="M", help="Positional accuracy of the survey, one standard deviation; it widens the tolerance."
        ),
    ] = "0",
    permitted_accuracy: Annotated[
        str, typer.Option(metavar="M", help="Positional accuracy of what is on record, likewise.")
    ] = "0",
    moved_within: Annotated[
        str | None,
        typer.Option(
            metavar="M",
            help="How far from a permitted stretch that is missing a surveyed one is taken for it, moved (else twice the reach).",
        ),
    ] = None,
    service: Annotated[
        list[str] | None, typer.Option(metavar="S", help="Only rows of this service; may be repeated.")
    ] = None,
    on: Annotated[
        str | None, typer.Option("--on", metavar="D", help="As permitted on this day, YYYY-MM-DD (else today).")
    ] = None,
    default_width: Annotated[
        str | None, typer.Option(metavar="M", help="Strip width that prices what the survey gives no width for.")
    ] = None,
    against: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Compare with this file instead of what is on record.")
    ] = None,
    against_layer: Annotated[
        list[str] | None, typer.Option(metavar="LAYER", help="Layer of --against; may be repeated.")
    ] = None,
    again: Annotated[
        bool,
        typer.Option(
            "--again",
            help="Compare a file anew, in the place of its comparisons for that operator or for nobody (without --operator: of all of "
            "them); what nobody decided in those leaves the queue.",
        ),
    ] = False,
    by: Annotated[str, typer.Option(metavar="WHO", help="Who compares.")] = "",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.gpkg", help="Also write the findings for QGIS, styled.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be found; keep nothing.")] = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Find what a survey shows and no permit allows (art. 10), by metre: it waits for a reviewer (geobill serve)."""
    from geobill.domain.dates import parse_date
    from geobill.domain.detection import DetectionTerms
    from geobill.intake.reading import Options
    from geobill.pipeline.detect import Wanted
    from geobill.pipeline.detect import detect as run
    from geobill.pipeline.store_styles import style_store
    from geobill.pipeline.survey_files import FieldFile

    reach = read_metres(tolerance, "--tolerance")
    if reach == 0:
        raise InputError("--tolerance 0 takes no two lines for one: give metres above 0, for example 3.")
    accuracies = [
        read_metres(text, option)
        for text, option in ((survey_accuracy, "--survey-accuracy"), (permitted_accuracy, "--permitted-accuracy"))
    ]
    shortest = reach if min_length is None else read_metres(min_length, "--min-length")
    terms = DetectionTerms(reach, shortest, accuracies[0], accuracies[1])
    farthest = Decimal(f"{2 * terms.reach_m:.2f}").normalize()
    if moved_within is not None:
        farthest = read_metres(moved_within, "--moved-within")
    terms = DetectionTerms(reach, shortest, accuracies[0], accuracies[1], farthest)
    if against is None and against_layer:
        raise InputError("--against-layer is about a file to compare with: name it with --against FILE.")
    opened = shared.open_given(workspace)
    options = Options(
        operator=operator, crs=crs, mapping=shared.read_mapping(map_), unit=unit, encoding=encoding,
        length_precision_m=opened.settings.policy.length_precision_m,
    )  # fmt: skip
    wanted = Wanted(
        terms=terms,
        on=shared.today() if on is None else parse_date(on, "--on"),
        operator=operator,
        services=tuple(dict.fromkeys(s.strip() for s in service or ())),
        default_width_m=None if default_width is None else read_width(default_width),
        against=None if against is None else FieldFile(against, tuple(against_layer or ()), Options()),
        again=again,
    )
    if out is not None:
        from geobill.pipeline.findings_out import check_target

        check_target(opened, out)
    found = run(
        opened, FieldFile(survey, tuple(layer or ()), options), wanted, by=by, now=shared.now(), dry_run=dry_run
    )
    data = detection_answer(found)
    if found.kept:
        style_store(opened, shared.now())
    if out is not None:
        from geobill.pipeline.findings_out import write_findings

        data["files"] = [str(write_findings(opened, found, out))]
    shared.answer(data, json, lambda: _said(data))


def read_metres(text: str, option: str) -> Decimal:
    """Read metres that a user typed: 0 or more, with a point or a comma."""
    try:
        metres = Decimal(text.strip().replace(",", "."))
    except InvalidOperation:
        metres = Decimal("NaN")
    if not metres.is_finite() or metres < 0 or metres > MOST_M:
        raise InputError(f"{option} {text!r} is no distance: give metres from 0 to {MOST_M}, for example 1.50.")
    return metres


def detection_answer(found: Any) -> dict[str, Any]:
    """Answer of ``detect``."""
    from geobill.cli.answers import finding_answer
    from geobill.domain.money import plain
    from geobill.pipeline.detect import wkt

    survey, terms, figures = found.survey, found.survey.terms, dict(found.survey.figures)
    return {
        "survey": survey.id if found.kept else None,
        "file": survey.file,
        "layer": survey.layer,
        "sha256": survey.sha256,
        "operator": survey.operator,
        "services": list(survey.services),
        "against": survey.against,
        "on": survey.compared_on,
        "tolerance_m": plain(terms.tolerance_m),
        "min_length_m": plain(terms.min_length_m),
        "survey_accuracy_m": plain(terms.survey_accuracy_m),
        "permitted_accuracy_m": plain(terms.permitted_accuracy_m),
        "reach_m": f"{terms.reach_m:.3f}",
        "moved_within_m": plain(terms.moved_within_m),
        **figures,
        "read": found.seen.read,
        "set_aside": [
            {"row": s.row, "id": s.id, "reason_code": s.reason_code, "reason": s.reason, "layer": s.layer}
            for s in found.seen.set_aside
        ],
        "replaces": list(found.replaces),
        "decided": list(found.decided),
        "findings": [
            {**finding_record(f), "geometry_wkt": wkt(shape)}
            for f, shape in zip(found.findings, found.shapes, strict=True)
        ],
        "warnings": [finding_answer(w) for w in found.warnings],
    }


def finding_record(finding: Any) -> dict[str, Any]:
    """One finding of a survey, every figure as decimal text."""
    from geobill.domain.record import to_plain

    data = to_plain(finding)
    return {**data, "start_m": f"{finding.start_m:.2f}", "end_m": f"{finding.end_m:.2f}"}


def _said(data: dict[str, Any]) -> str:
    kinds: dict[str, list[Any]] = {}
    for f in data["findings"]:
        kinds.setdefault(f["kind"], []).append(f)
    head = f"survey {data['survey']}" if data["survey"] else "nothing kept"
    lines = [
        f"{head}: {data['file']} ({data['layer']}), {data['read']} rows read, {len(data['set_aside'])} set aside",
        f"  within {data['reach_m']} m (tolerance {data['tolerance_m']}, accuracies {data['survey_accuracy_m']} and "
        f"{data['permitted_accuracy_m']}), from {data['min_length_m']} m on",
        f"  surveyed {data['survey_length_m']} m = matched {data['matched_m']} + undeclared {data['undeclared_m']}",
        f"  of the matched: moved {data['moved_m']}, more than permitted {data['more_m']}, "
        f"known as clandestine or in a case {data['in_case_m']}, leftovers below the least length {data['below_minimum_m']}",
        f"  permitted {data['permitted_length_m']} m, of which the survey doesn't have {data['missing_m']}",
    ]
    if int(data["equipment_surveyed"]):
        lines.append(
            f"  equipment: {data['equipment_surveyed']} surveyed = {data['equipment_matched']} matched + "
            f"{data['equipment_undeclared']} undeclared; {data['equipment_missing']} missing in the survey"
        )
    if data["decided"]:
        lines.append(f"  {len(data['decided'])} decided before and left as decided: {', '.join(data['decided'][:10])}")
    for kind, found in kinds.items():
        metres = sum(Decimal(f["length_m"]) for f in found)
        lines.append(f"  {len(found)} × {kind}" + (f", {metres} m" if metres else ""))
    lines += [f"  {w['severity']} {w['code']}: {w['message']} ({w['fix']})" for w in data["warnings"]]
    lines += [f"  {path}" for path in data.get("files", ())]
    if data["survey"] and data["findings"]:
        lines.append("  to judge them on a map: geobill serve")
    return "\n".join(lines)
