"""Commands of the law itself: law, statute, assess."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from geobill.cli import app as shared
from geobill.cli import complete
from geobill.cli.app import JsonOption, WorkspaceOption

if TYPE_CHECKING:
    from geobill.law.figures import Figure
    from geobill.law.statutes.street_use import StreetUseLaw
    from geobill.pipeline.assess import Assessment
    from geobill.pipeline.law import LawShown

law_app = typer.Typer(
    no_args_is_help=True, help="The statute's dated figures: shown, confirmed, amended by a later act."
)
statute_app = typer.Typer(
    no_args_is_help=True, help="Statutes: those that geobill ships, and sister laws by figures alone."
)

ByOption = Annotated[str, typer.Option("--by", metavar="NAME", help="Who did it.")]


@law_app.command("show")
def law_show(
    on: Annotated[str | None, typer.Option("--on", metavar="DATE", help="Day, YYYY-MM-DD (else today).")] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """List the figures in force on a day, with article, act and dates, and up to when the law was checked."""
    from geobill.domain.dates import parse_date
    from geobill.pipeline.law import show_law

    day = shared.today() if on is None else parse_date(on, "--on")
    found = show_law(shared.open_given(workspace), day)
    shared.answer(_law_answer(found), json, lambda: _law_lines(found))


@law_app.command("confirm")
def law_confirm(
    until: Annotated[str, typer.Option(metavar="DATE", help="Up to this day nothing has changed, YYYY-MM-DD.")],
    by: ByOption,
    note: Annotated[str, typer.Option(metavar="TEXT", help="Where it was looked up.")] = "",
    shorten: Annotated[bool, typer.Option("--shorten", help="Take back a day that was confirmed wrongly.")] = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Record that somebody looked: no act has changed the statute's figures up to a day."""
    from geobill.domain.dates import parse_date
    from geobill.pipeline.law import confirm_law

    day = parse_date(until, "--until")
    made, before = confirm_law(shared.open_given(workspace), day, by, shared.now(), note, shorten=shorten)
    was = None if before is None else before.isoformat()
    data = {
        "statute": made.statute,
        "until": made.until.isoformat(),
        "before": was,
        "by": made.by,
        "at": made.at,
        "note": made.note,
    }
    shared.answer(data, json, lambda: f"{made.statute}: checked up to {data['until']} by {made.by} (before: {was}).")


@law_app.command("amend", context_settings={"ignore_unknown_options": True})  # so that -1 is a value
def law_amend(
    act: Annotated[str, typer.Option(metavar="TEXT", help="The act, as it is cited: Decreto 9/2027.")],
    article: Annotated[str, typer.Option(metavar="A", help="Its article that sets the figure.")],
    file: Annotated[Path, typer.Option(metavar="ACT.pdf", help="The published act: PDF, PNG or JPEG.")],
    by: ByOption,
    date: Annotated[str | None, typer.Option("--date", metavar="D", help="In force from, YYYY-MM-DD.")] = None,
    until: Annotated[str | None, typer.Option(metavar="D", help="In force until that day, itself excluded.")] = None,
    figure: Annotated[
        str | None, typer.Option(metavar="NAME", help="The figure that it sets (geobill law show).")
    ] = None,
    value: Annotated[str | None, typer.Option(metavar="V", help="Its value, with a decimal point.")] = None,
    brackets_file: Annotated[
        Path | None,
        typer.Option(metavar="TOML", help='Its scale: brackets = [{ up_to_m = "5000", value = "1.00" }, …].'),
    ] = None,
    method: Annotated[
        str | None, typer.Option(metavar="M", help="How the act says that it is applied: graduated, started_months …")
    ] = None,
    index: Annotated[
        str | None, typer.Option(metavar="NAME", help="Instead of a figure: an index, for one month's value.")
    ] = None,
    month: Annotated[
        str | None, typer.Option(metavar="YYYY-MM", help="Month from which the index's value applies.")
    ] = None,
    index_base: Annotated[
        str | None,
        typer.Option(metavar="YYYY-MM", help="Of a price that an index moves: the month since which it runs again."),
    ] = None,
    corrects: Annotated[str, typer.Option(metavar="ID", help="Put this in the place of an entry that was wrong.")] = "",
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Enter an act that changes a figure of the law, with its paper; no issued invoice changes."""
    from geobill.cli.answers import finding_answer
    from geobill.domain.dates import BillingMonth, parse_date
    from geobill.errors import InputError
    from geobill.law.amending import Change, read_value
    from geobill.law.supposed import parse_brackets
    from geobill.pipeline.law import amend_law

    if (figure is None) == (index is None):
        raise InputError("Say what the act changes: --figure NAME, or --index NAME with --month and --value.")
    if (value is None) == (brackets_file is None):
        raise InputError("Say what the act sets: --value V, or for a scale --brackets-file FILE.")
    if figure is not None and (date is None or month is not None):
        raise InputError("A figure is in force from a day: give --date YYYY-MM-DD, and no --month.")
    if index is not None and (month is None or value is None or date or until or method or index_base):
        raise InputError(
            "An index takes --month YYYY-MM and --value V, and none of --date, --until, --method, --index-base."
        )
    brackets = () if brackets_file is None else parse_brackets(_text(brackets_file), brackets_file.name)
    change = Change(
        name=(figure or index or "").strip(),
        article=article.strip(),
        act=act.strip(),
        paper="",
        by=by.strip(),
        in_force_from=None if date is None else parse_date(date, "--date"),
        in_force_until=None if until is None else parse_date(until, "--until"),
        value=None if value is None else read_value(value),
        brackets=brackets,
        method=method,
        index_base=None if index_base is None else BillingMonth.parse(index_base),
        month=None if month is None else BillingMonth.parse(month),
        corrects=corrects.strip(),
    )
    made, _, findings = amend_law(shared.open_given(workspace), change, file, shared.now())
    data = {
        "amendment": made.id,
        "statute": made.statute,
        "name": made.name,
        "act": made.act,
        "article": change.article,
        "in_force_from": made.in_force_from.isoformat(),
        "paper": made.paper,
        "findings": [finding_answer(f) for f in findings],
    }
    said = "".join(f"\n  {f.severity}: {f.message}. {f.fix}" for f in findings)
    shared.answer(data, json, lambda: f"{made.id}: {made.name} by {made.act}, from {data['in_force_from']}.{said}")


@statute_app.command("new")
def statute_new(
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="The law's figures and articles.")],
    like: Annotated[
        str, typer.Option("--like", help="The statute of the same family.", autocompletion=complete.statutes)
    ],
    by: ByOption = "",
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Check a sister law that differs in figures alone, install it in the workspace and bill under it."""
    from geobill.cli.answers import finding_answer
    from geobill.pipeline.statutes import install_statute

    made = install_statute(shared.open_given(workspace), like, file, by.strip(), shared.now())
    figures = made.report.law.figures
    data = {
        "statute": figures.id,
        "title": figures.title,
        "like": like,
        "file": str(made.path),
        "sha256": made.sha256,
        "figures": len(figures.figures),
        "checks": list(made.report.checks),
        "policy": dict(made.policy),
        "findings": [finding_answer(f) for f in made.findings],
    }

    def human() -> str:
        lines = [f"{figures.id}: {figures.title}, installed; the workspace bills under it from now on."]
        lines += [f"  checked: {c}" for c in made.report.checks]
        lines += [f"  fixed by the law: {key} = {value}" for key, value in made.policy]
        return "\n".join([*lines, *(f"  {f.severity}: {f.message}. {f.fix}".rstrip(" .") for f in made.findings)])

    shared.answer(data, json, human)


@statute_app.command("list")
def statute_list(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """List the statutes that the workspace may bill under."""
    from dataclasses import asdict

    from geobill.pipeline.statutes import list_statutes

    found = list_statutes(shared.open_given(workspace))
    data = {"statutes": [asdict(s) for s in found]}
    shared.answer(
        data,
        json,
        lambda: "\n".join(
            f"{'*' if s.in_use else ' '} {s.id}  {s.municipality}, {s.title}{'' if s.shipped else '  (this workspace)'}"
            for s in found
        ),
    )


def assess(
    file: Annotated[Path, typer.Argument(metavar="FILE.json", help="Date, segments, equipment.")],
    statute: Annotated[str, typer.Option(help="The statute.", autocompletion=complete.statutes)],
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> None:
    """Work out a statute's charges from plain figures, without a map or a workspace."""
    from geobill.pipeline import assess as assessing

    named = shared.named_workspace(workspace)
    made = assessing.assess(statute, file, None if named is None else shared.open_given(workspace))
    shared.answer(_assess_answer(made), json, lambda: _assess_lines(made))


def _text(path: Path) -> str:
    from geobill.errors import InputError

    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as fault:
        raise InputError(f"{path} can't be read: {fault}.") from None


def _law_answer(shown: "LawShown") -> dict[str, Any]:
    from geobill.domain.record import to_plain

    figures, checked = shown.law.figures, shown.law.figures.checked
    return {
        "statute": figures.id,
        "title": figures.title,
        "on": shown.on.isoformat(),
        "published_on": figures.published_on.isoformat(),
        "checked_until": None if checked is None else checked.until.isoformat(),
        "checked_by": None if checked is None else checked.by,
        "figures": [_figure_answer(shown.law, f, shown) for f in shown.figures],
        "articles": figures.rules,
        "amendments": [
            {k: v for k, v in to_plain(a).items() if k not in ("statute", "figure")} for a in shown.amendments
        ],
        "confirmations": [{k: v for k, v in to_plain(c).items() if k != "statute"} for c in shown.confirmations],
    }


def _figure_answer(law: "StreetUseLaw", figure: "Figure", shown: "LawShown") -> dict[str, Any]:
    from geobill.domain.money import plain

    index = law.figures.index_of(figure.name, shown.on)
    return {
        "name": figure.name,
        "value": None if figure.value is None else plain(law.figures.value(figure.name, shown.on)),
        "set_to": None if figure.value is None else plain(figure.value),
        "index": None if index is None else index.name,
        "unit": figure.unit,
        "brackets": [
            {"up_to_m": None if b.up_to is None else plain(b.up_to), "value": plain(b.value)} for b in figure.brackets
        ],
        "method": figure.method,
        "articles": list(law.articles(figure.name, shown.on)),
        "act": figure.act,
        "in_force_from": figure.in_force_from.isoformat(),
        "in_force_until": None if figure.in_force_until is None else figure.in_force_until.isoformat(),
        "amendment": figure.amendment or None,
    }


def _law_lines(shown: "LawShown") -> str:
    data = _law_answer(shown)
    lines = [
        f"{data['title']} ({data['statute']}), in force on {data['on']}",
        f"checked up to {data['checked_until']} by {data['checked_by']}",
    ]
    for f in data["figures"]:
        value = f["value"] or ", ".join(
            f"{'above' if b['up_to_m'] is None else 'up to ' + b['up_to_m'] + ' m'}: {b['value']}"
            for b in f["brackets"]
        )
        moved = f" ({f['set_to']} by the index {f['index']})" if f["index"] else ""
        method = f", {f['method']}" if f["method"] else ""
        until = f" until {f['in_force_until']}" if f["in_force_until"] else ""
        lines.append(
            f"  {f['name']} = {value}{moved}  [{f['unit']}{method}]  art. {'; '.join(f['articles'])}, {f['act']}, "
            f"from {f['in_force_from']}{until}"
        )
    lines += [
        f"  {a['id']}: {a['name']} by {a['act']}, from {a['in_force_from']}, entered by {a['by']}"
        for a in data["amendments"]
    ]
    return "\n".join(lines)


def _assess_answer(made: "Assessment") -> dict[str, Any]:
    from geobill.domain.record import to_plain

    return {
        "statute": made.statute,
        "date": made.date.isoformat(),
        **{
            k: to_plain(getattr(made, k))
            for k in ("charges", "total", "deposit", "yearly", "held", "exempt", "deadlines")
        },
        "policy": made.policy.as_text(),
    }


def _assess_lines(made: "Assessment") -> str:
    lines = [f"{made.statute} on {made.date.isoformat()}"]
    for c in made.charges:
        factors = "".join(f" × {f.value}" for f in c.factors)
        lines.append(
            f"  {c.item}: {c.quantity} {c.unit} × {c.rate}{factors} = R$ {c.amount}  (art. {'; '.join(c.articles)})"
        )
    lines += [f"  held: {h.item}: {h.reason}" for h in made.held]
    lines += [f"  exempt: art. {made.exempt}"] if made.exempt else []
    lines.append(f"total R$ {made.total}; deposit {made.deposit or '-'}; year {made.yearly or '-'}")
    return "\n".join([*lines, *(f"{d.name}: {d.date.isoformat()} (art. {d.article})" for d in made.deadlines)])
