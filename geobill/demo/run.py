"""The demo: the main job on the sample city, with the very pipeline that the commands call."""

from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import tomlkit

from geobill.demo.city import (
    CITY_AUTHORITY,
    CITY_EDITION,
    CITY_EDITION_IN_FORCE_FROM,
    CITY_FILES,
    CITY_MONTH,
    CITY_OPERATORS,
    CityFile,
    make_city,
    write_city,
    write_survey,
)
from geobill.demo.field import FIELD_COLUMNS, FIELD_LAYER, FIELD_OPERATOR, FIELD_TOLERANCE_M
from geobill.domain.dates import BillingMonth
from geobill.domain.detection import DetectionTerms
from geobill.domain.finding import ImportReport
from geobill.errors import InputError
from geobill.intake.reading import Options
from geobill.pipeline.billing import BilledMonth, bill_month
from geobill.pipeline.detect import Detection, Wanted, detect
from geobill.pipeline.imports import import_rows
from geobill.pipeline.registers import add_operator
from geobill.pipeline.store_styles import style_store
from geobill.pipeline.survey_files import FieldFile
from geobill.pipeline.value_maps import import_land_values
from geobill.store.settings import FILE_NAME, replace_file
from geobill.store.workspace import Workspace, init_workspace, open_workspace

STATUTE = "caieiras-lei-3057-2001"


def run_demo(folder: Path, *, now: str, say: Callable[[str], None]) -> tuple[dict[str, Any], list[str]]:
    """Make the sample city's files and a workspace, bill its month, and say in six lines what was done.

    Parameters
    ----------
    folder : Path
        Folder to make; a demo that stands there already is refused, never overwritten.
    now : str
        The moment in UTC, from the command line's clock.
    say : callable
        Takes the progress messages.

    Returns
    -------
    tuple of dict and list of str
        What was done as plain data, and the six lines.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(
            f"{folder} isn't empty: the demo changes nothing that is there. Name another folder, or remove this one."
        )
    say("drawing the sample city")
    files = folder / "files"
    files.mkdir(parents=True)
    city = make_city()
    write_city(city, files)
    surveyed = write_survey(city, files)
    workspace = _workspace(folder / "workspace", now)
    reports = [(f, _import(workspace, files, f, now, say)) for f in CITY_FILES]
    month = BillingMonth.parse(CITY_MONTH)
    # the sample month is billed on the day after it ends, whenever the demo is run: its due date must not have passed
    day = month.following().first_day
    billed = bill_month(workspace, month, issued_on=day, due_on=None, out=folder / "documents", now=now, say=say)
    say("comparing a survey of alfa's cables with what is permitted")
    found = _detect(workspace, surveyed, month, now)
    return _data(folder, reports, billed, found), _lines(folder, reports, billed, found)


def _workspace(root: Path, now: str) -> Workspace:
    init_workspace(root, STATUTE, now)
    settings = tomlkit.parse((root / FILE_NAME).read_text(encoding="utf-8"))
    for key in ("name", "cnpj", "address", "secretariat", "legal_office", "mayor", "payment_instructions"):
        settings["authority"][key] = getattr(CITY_AUTHORITY, key)  # type: ignore[index]
    replace_file(root / FILE_NAME, tomlkit.dumps(settings).encode())
    workspace = open_workspace(root)
    for operator in CITY_OPERATORS:
        add_operator(workspace, operator, now)
    style_store(workspace, now)
    return workspace


def _import(workspace: Workspace, files: Path, file: CityFile, now: str, say: Callable[[str], None]) -> ImportReport:
    say(f"importing {file.file}")
    policy = workspace.settings.policy
    options = Options(
        operator=file.operator,
        mapping=file.columns,
        duplicate_stretch=policy.duplicate_stretch,  # type: ignore[arg-type]
        length_precision_m=policy.length_precision_m,
    )
    path, layer = files / file.file, file.layer
    if file.kind == "land-values":
        since = date.fromisoformat(CITY_EDITION_IN_FORCE_FROM)
        return import_land_values(
            workspace, path, layer, options, CITY_EDITION, since, replace=False, dry_run=False, now=now
        )
    layers = [layer] if layer else []
    return import_rows(workspace, file.kind, path, layers, options, replace=False, dry_run=False, now=now)


def _detect(workspace: Workspace, file: Path, month: BillingMonth, now: str) -> Detection:
    tolerance = Decimal(FIELD_TOLERANCE_M)
    terms = DetectionTerms(tolerance, tolerance, moved_within_m=2 * tolerance)
    options = Options(operator=FIELD_OPERATOR, mapping=FIELD_COLUMNS)
    wanted = Wanted(terms, month.last_day, FIELD_OPERATOR, default_width_m=Decimal("0.40"))
    return detect(workspace, FieldFile(file, (FIELD_LAYER,), options), wanted, by="Demonstração", now=now)


def _data(
    folder: Path, reports: list[tuple[CityFile, ImportReport]], billed: BilledMonth, found: Detection
) -> dict[str, Any]:
    return {
        "folder": str(folder),
        "month": str(billed.month.bill.month),
        "imports": [
            {"file": f.file, "read": r.read, "accepted": r.accepted, "set_aside": len(r.set_aside)} for f, r in reports
        ],
        "invoices": [{"number": i.number, "operator": i.operator.id, "total": f"{i.total:f}"} for i in billed.invoices],
        "survey": {"survey": found.survey.id, "findings": len(found.findings), **found.survey.figures},
        "files": [str(f) for f in billed.files],
    }


def _lines(
    folder: Path, reports: list[tuple[CityFile, ImportReport]], billed: BilledMonth, found: Detection
) -> list[str]:
    bill = billed.month.bill
    read, accepted = sum(r.read for _, r in reports), sum(r.accepted for _, r in reports)
    totals = ", ".join(f"{i.operator.id} R$ {i.total:f}" for i in billed.invoices)
    metres = bill.metres
    return [
        f"1. Read {len(reports)} files of a sample city: {read} rows = {accepted} accepted + {read - accepted} set aside,"
        " each with its reason.",
        f"2. Priced {bill.month}: {metres.stored} m stored = {metres.priced} priced + {metres.held} held + {metres.exempt} exempt"
        f" + {metres.suspended} suspended.",
        f"3. Issued {len(billed.invoices)} invoices: {totals}; {', '.join(e.operator for e in bill.exempt)} exempt (art. 13).",
        f"4. Compared a survey with what is permitted: {found.survey.figures['undeclared_m']} m of "
        f"{found.survey.figures['survey_length_m']} m undeclared, {len(found.findings)} findings; judge them on a map with "
        f"geobill -w {folder / 'workspace'} serve",
        f"5. Open {folder / 'documents' / 'index.html'} in a browser: the month's page, with maps and links to every document.",
        f"6. Open {folder / 'workspace' / 'cadastre.gpkg'} in QGIS, or ask again: geobill -w {folder / 'workspace'} price"
        f" --month {bill.month}",
    ]
