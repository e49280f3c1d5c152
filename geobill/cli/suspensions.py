"""Orders of courts against the charge: recorded, listed, lifted; and the legal risks by kind of utility."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from geobill.cli import app as shared
from geobill.cli import complete
from geobill.cli.app import JsonOption, WorkspaceOption
from geobill.errors import InputError

if TYPE_CHECKING:
    from datetime import date

    from geobill.domain.suspension import SuspensionFile

suspension_app = typer.Typer(
    no_args_is_help=True, help="Orders of courts that keep amounts from being demanded, and legal risks."
)
NameArgument = Annotated[str, typer.Argument(metavar="ID", help="Id of the suspension.")]


@suspension_app.command("add")
def suspension_add(
    id_: Annotated[str, typer.Option("--id", metavar="ID", help="Id by which the suspension is named here.")],
    case: Annotated[str, typer.Option(metavar="NUMBER", help="Number of the lawsuit.")],
    court: Annotated[str, typer.Option(metavar="NAME", help="The court.")],
    kind: Annotated[str, typer.Option(metavar="K", help="injunction, final or modulated.")],
    effect: Annotated[str, typer.Option(metavar="E", help="accrues, not_charged or judicial_deposit.")],
    articles: Annotated[
        list[str], typer.Option(metavar="A", help="Article disapplied; repeat it, or write several with commas.")
    ],
    from_: Annotated[str, typer.Option("--from", metavar="DATE", help="First day of its effect.")],
    until: Annotated[str | None, typer.Option(metavar="DATE", help="Last day, where the order sets one.")] = None,
    operator: Annotated[
        str | None, typer.Option(metavar="ID", help="Whose equipment.", autocompletion=complete.operators)
    ] = None,
    service: Annotated[str | None, typer.Option(metavar="S", help="Kind of service.")] = None,
    permit: Annotated[str | None, typer.Option(metavar="N", help="Only what stands under this permit.")] = None,
    area: Annotated[Path | None, typer.Option(metavar="FILE", help="Only within these polygons.")] = None,
    layer: Annotated[str | None, typer.Option(metavar="L", help="Layer of the area's file.")] = None,
    crs: Annotated[
        str | None, typer.Option(metavar="EPSG:n", help="System of the area's file, if it says none.")
    ] = None,
    note: Annotated[str, typer.Option(metavar="TEXT", help="What else the order says.")] = "",
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Record an order of a court: the months that it touches set its amounts apart from then on; it never changes."""
    from geobill.cli.answers import finding_answer
    from geobill.domain.dates import parse_date
    from geobill.domain.suspension import Suspension
    from geobill.pipeline.suspensions import AreaFile, add_suspension

    if area is None and (layer is not None or crs is not None):
        raise InputError(
            "--layer and --crs belong to the file of an area: give it with --area FILE, or leave them out."
        )
    order = Suspension(
        id=id_.strip(),
        court_case=case.strip(),
        court=court.strip(),
        kind=kind.strip(),
        effect=effect.strip(),
        articles=_articles(articles),
        from_on=parse_date(from_, "--from"),
        until_on=None if until is None else parse_date(until, "--until"),
        operator=_given(operator, "--operator"),
        service=_given(service, "--service"),
        permit=_given(permit, "--permit"),
        note=note.strip(),
    )
    file = None if area is None else AreaFile(area, layer, crs)
    made = add_suspension(shared.open_given(workspace), order, file, shared.now())
    data = _answer(made.file, shared.today()) | {
        "rows": made.rows,
        "area_m2": made.area_m2,
        "findings": [finding_answer(f) for f in made.findings],
    }
    said = "".join(f"\n  {f['severity']}: {f['message']}; {f['fix']}" for f in data["findings"])
    shared.answer(data, json, lambda: f"recorded: {_describe(data)}\n  concerns {made.rows} stored rows{said}")


@suspension_app.command("list")
def suspension_list(
    on: Annotated[str | None, typer.Option("--on", metavar="D", help="Day that is looked at (else today).")] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """List the suspensions and how each stands."""
    from geobill.pipeline.suspensions import list_suspensions

    day = _day(on)
    found = [_answer(f, day) for f in list_suspensions(shared.open_given(workspace))]
    shared.answer({"suspensions": found}, json, lambda: "\n".join(map(_describe, found)) or "No suspensions.")


@suspension_app.command("show")
def suspension_show(
    name: NameArgument,
    on: Annotated[str | None, typer.Option("--on", metavar="D", help="Day that is looked at (else today).")] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Show one suspension: the order, its area, how many stored rows it concerns, and its end."""
    from geobill.pipeline.suspensions import show_suspension

    found = show_suspension(shared.open_given(workspace), name.strip())
    data = _answer(found.file, _day(on)) | {"rows": found.rows, "area_m2": found.area_m2}
    shared.answer(data, json, lambda: f"{_describe(data)}\n  concerns {found.rows} stored rows")


@suspension_app.command("lift")
def suspension_lift(
    name: NameArgument,
    on: Annotated[str, typer.Option("--on", metavar="DATE", help="First day that may be demanded again.")],
    by: Annotated[str, typer.Option(metavar="NAME", help="Who records it.")],
    reference: Annotated[str, typer.Option(metavar="R", help="The decision that ends the order.")],
    months: Annotated[
        str, typer.Option(metavar="none|YYYY-MM:YYYY-MM", help="Which suspended months may be billed after all.")
    ],
    late_charges: Annotated[
        str, typer.Option(metavar="yes|no", help="Whether late charges run on the months that come back.")
    ],
    note: Annotated[str, typer.Option(metavar="TEXT", help="What else was decided.")] = "",
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Record the end of an order. Bills nothing: it says which months a person may bill, and with which command."""
    from geobill.billing.check import read_name
    from geobill.domain.dates import parse_date
    from geobill.domain.suspension import Lifting
    from geobill.pipeline.suspensions import lift_suspension

    if late_charges not in ("yes", "no"):
        raise InputError(
            f"--late-charges can't be {late_charges!r}. Write yes or no: whether they run is decided, never assumed."
        )
    first, last = _months(months)
    lifting = Lifting(
        suspension=name.strip(),
        on=parse_date(on, "--on"),
        by=read_name(by),
        reference=reference.strip(),
        months_from=first,
        months_until=last,
        late_charges=late_charges == "yes",
        note=note.strip(),
    )
    made = lift_suspension(shared.open_given(workspace), lifting, shared.now())
    billable = [
        {
            "month": str(b.month),
            "operator": b.operator,
            "invoices": list(b.invoices),
            "command": b.command,
            "said": b.said,
        }
        for b in made.months
    ]
    data = _answer(made.file, lifting.on) | {"billable": billable}
    shared.answer(data, json, lambda: _describe_lifting(data))


@suspension_app.command("risks")
def suspension_risks(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """List the notes on legal risks by kind of utility; they warn before issue and change no amount."""
    from geobill.domain.record import to_plain
    from geobill.law.legal_risk import load_risks

    known = load_risks()
    data = {
        "checked_on": known.checked_on.isoformat(),
        "checked_by": known.checked_by,
        "risks": [to_plain(r) for r in known.notes],
    }
    shared.answer(
        data,
        json,
        lambda: "\n".join(
            [
                *(
                    f"{r.utility}: {r.court}, {r.reference}: {r.says} (speaks for the {r.favours})\n    {r.diz}"
                    for r in known.notes
                ),
                f"last looked at on {data['checked_on']} by {data['checked_by']}; no amount rests on them",
            ]
        ),
    )


def _articles(given: list[str]) -> tuple[str, ...]:
    """Articles in the order given, each once: ``7``, ``7 § 2``; ``§`` may stand without blanks."""
    parts = [" ".join(part.replace("§", " § ").split()) for text in given for part in text.split(",")]
    return tuple(dict.fromkeys(p for p in parts if p))


def _given(value: str | None, option: str) -> str | None:
    """Return what an option says; a blank one is refused, since leaving it out means everybody."""
    if value is not None and not value.strip():
        raise InputError(f"{option} is blank: the order would reach further than it says. Give it, or leave it out.")
    return None if value is None else value.strip()


def _months(text: str) -> tuple[str | None, str | None]:
    from geobill.domain.dates import BillingMonth

    if text.strip() == "none":
        return None, None
    first, sign, last = text.partition(":")
    if not sign:
        raise InputError(
            f"--months {text!r} says neither none nor two months: write none, or first and last as 2026-03:2026-09. Which months "
            "come back is decided, never assumed."
        )
    return str(BillingMonth.parse(first)), str(BillingMonth.parse(last))


def _day(text: str | None) -> "date":
    from geobill.domain.dates import parse_date

    return shared.today() if text is None else parse_date(text, "--on")


def _answer(file: "SuspensionFile", on: "date") -> dict[str, Any]:
    from geobill.domain.record import to_plain

    last = file.last_day
    state = "lifted" if file.lifting is not None and file.lifting.on <= on else "in_force"
    if on < file.suspension.from_on:
        state = "not_yet"
    elif state == "in_force" and last is not None and last < on:
        state = "ended"
    return {
        **to_plain(file.suspension),
        "state": state,
        "last_day": None if last is None else last.isoformat(),
        "lifting": None if file.lifting is None else to_plain(file.lifting),
    }


def _describe(data: dict[str, Any]) -> str:
    from geobill.billing.suspensions import EFFECT_WORDS

    whose = [data["operator"], data["service"], f"permit {data['permit']}" if data["permit"] else None]
    where = ", within an area" if data["area_wkt"] else ""
    until = f" to {data['last_day']}" if data["last_day"] else ""
    said = (
        f"{data['id']}: case {data['court_case']}, {data['court']} ({data['kind']}), arts. {', '.join(data['articles'])}, "
        f"{', '.join(filter(None, whose))}{where}, from {data['from_on']}{until}: {EFFECT_WORDS[data['effect']]}; {data['state']}"
    )
    if data["lifting"]:
        back = data["lifting"]
        span = (
            f"{back['months_from']} to {back['months_until']} come back"
            if back["months_from"]
            else "no month comes back"
        )
        charges = "late charges run" if back["late_charges"] else "no late charges"
        said += f"\n  lifted on {back['on']} by {back['by']} ({back['reference']}): {span}, {charges}"
    return said


def _describe_lifting(data: dict[str, Any]) -> str:
    lines = [_describe(data)]
    lines += [
        f"  {b['month']}{', ' + b['operator'] if b['operator'] else ''}: "
        + (f"may be billed now, by a person: {b['command']} ({b['said']})" if b["command"] else b["said"])
        for b in data["billable"]
    ]
    return "\n".join([*lines, "nothing was billed"])
