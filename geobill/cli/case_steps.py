"""What the commands of cases share: a step taken and answered, the days of a fine, what was typed."""

from datetime import date
from pathlib import Path
from typing import Any

from geobill.cli import app as shared
from geobill.errors import InputError


def take(
    kind: str,
    case: str,
    on: str,
    by: str,
    reference: str,
    paper: Path | None,
    workspace: Path | None,
    json: bool,
    *,
    until: str | None = None,
    note: str = "",
    proven: tuple[str, str] | None = None,
) -> None:
    """Record a step and say what came of it; ``proven`` is the day of installation and its proof, recorded before it."""
    from geobill.cli.answers import finding_answer
    from geobill.cli.case_findings import case_named
    from geobill.domain import case as acts
    from geobill.domain.dates import parse_date
    from geobill.pipeline.cases import take_step

    for option, said in (("--by", by), ("--reference", reference)):
        if option == "--by" and not said.strip():
            raise InputError("--by is blank: each step says who did or signed it. Nothing was changed.")
        if not said.isprintable():
            raise InputError(f"{option} {said!r} holds a character that can't be seen. Type it anew.")
    opened = shared.open_given(workspace)
    named = case_named(opened, case.strip())
    first = None
    if proven is not None:
        day, proof = parse_date(proven[0], "--installed-on"), said_words("--proof", proven[1])
        first = acts.CaseAct(named, acts.INSTALLED, day, by.strip(), proof)
    act = acts.CaseAct(
        named,
        getattr(acts, kind),
        parse_date(on, "--on"),
        by.strip(),
        reference.strip(),
        None if until is None else parse_date(until, "--until"),
        note=note,
    )
    taken = take_step(opened, act, shared.now(), paper, first=first)
    data = {
        **case_answer(taken.state),
        "act": act_answer(taken.act),
        "files": [str(f) for f in taken.files],
        "findings": [finding_answer(f) for f in taken.findings],
    }

    def said() -> str:
        term = f", term until {taken.act.until}" if taken.act.until else ""
        lines = [f"{taken.act.kind} on {taken.act.on}{term}: {describe(data)}"]
        lines += [f"  {f['severity']}: {f['message']}; {f['fix']}" for f in data["findings"]]
        return "\n".join([*lines, *(f"  {f}" for f in data["files"])])

    shared.answer(data, json, said)


def charge_days(
    case: str,
    by: str,
    until: str,
    issued_on: str | None,
    due: str | None,
    out: Path | None,
    dry_run: bool,
    workspace: Path | None,
    json: bool,
) -> None:
    """Demand the days of a fine that no note charges yet."""
    from geobill.billing.check import read_name
    from geobill.domain.dates import parse_date
    from geobill.domain.money import plain
    from geobill.pipeline.fines import charge_fine

    made = charge_fine(
        shared.open_given(workspace),
        case.strip(),
        until=parse_date(until, "--until"),
        issued_on=shared.today() if issued_on is None else parse_date(issued_on, "--issued-on"),
        due_on=None if due is None else parse_date(due, "--due"),
        by=read_name(by),
        out=out,
        now=shared.now(),
        dry_run=dry_run,
        say=shared.say,
    )
    note = made.note
    data = {
        "case": made.file.case.id,
        "operator": made.file.case.operator,
        "issued": made.issued,
        "number": note.number if made.issued else None,
        "issued_on": note.issued_on.isoformat(),
        "due_on": note.due_on.isoformat() if note.due_on else None,
        "total": plain(note.total),
        "lines": [
            {
                "month": str(line.month),
                "first_day": str(line.first_day),
                "last_day": str(line.last_day),
                "days": line.days,
                "base": plain(line.base),
                "share": plain(line.rate),
                "amount": plain(line.amount),
            }
            for line in note.lines
        ],
        "held": [
            {"month": str(s.month), "first_day": str(s.first), "last_day": str(s.last), "article": "7"}
            for s in made.held
        ],
        "files": [str(f) for f in made.files],
    }

    def said() -> str:
        what = f"Note {data['number']}" if made.issued else "Nothing issued; the note would be"
        lines = [f"{what}: R$ {data['total']} of {data['operator']} (art. 9 § 2), due on {data['due_on']}"]
        lines += [
            f"  {li['first_day']} to {li['last_day']}: {li['days']} × {li['share']} × R$ {li['base']} = R$ {li['amount']}"
            for li in data["lines"]
        ]
        lines += [
            f"  held {h['first_day']} to {h['last_day']}: the month's price waits for a decision (arts. 7, 15)"
            for h in data["held"]
        ]
        return "\n".join([*lines, *(f"  {f}" for f in data["files"])])

    shared.answer(data, json, said)


def case_answer(state: Any, whole: bool = False, today: date | None = None) -> dict[str, Any]:
    """One case as ``case list`` shows it; ``whole`` adds every step, ``today`` the terms that run on that day or ran out."""
    from dataclasses import asdict

    from geobill.domain.record import to_plain

    file = state.file
    data = {
        **to_plain(file.case),
        "state": file.state,
        "doubled_from": None if state.doubled_from is None else state.doubled_from.isoformat(),
        "doubled_until": None if state.doubled_until is None else state.doubled_until.isoformat(),
        "missing": [asdict(m) for m in state.missing],
    }
    if today is not None:
        data["terms"] = terms_answer(file, today)
    return data | ({"acts": [act_answer(a) for a in file.acts]} if whole else {})


def terms_answer(file: Any, today: date) -> list[dict[str, Any]]:
    """Terms of a case that nothing has answered, each with a warning where it ends soon or has run out."""
    from geobill.billing.terms import open_terms
    from geobill.domain.record import to_plain

    return [{**to_plain(t), "warning": t.warning} for t in open_terms(file, today)]


def term_line(t: dict[str, Any]) -> str:
    """Say a term for a person."""
    left = f"{t['days_left']} day(s) left" if t["days_left"] >= 0 else f"ran out {-t['days_left']} day(s) ago"
    head = "    ! " if t["warning"] else "    "
    return f"{head}term of {t['of']} of {t['since']}: until {t['until']} (art. {t['article']}), {left}"


def act_answer(act: Any) -> dict[str, Any]:
    """One step of a case."""
    from geobill.domain.record import to_plain

    return {k: v for k, v in to_plain(act).items() if k != "case"}


def describe(c: dict[str, Any]) -> str:
    """Say a case for a person."""
    rows = f"{len(c['segments'])} segment(s), {len(c['equipment'])} cabinet(s)"
    lines = [f"{c['id']}  {c['operator']}  {c['kind']}  {c['state']}: {c['subject']} ({rows})"]
    if c["doubled_from"]:
        until = f" until {c['doubled_until']}" if c["doubled_until"] else ""
        lines.append(f"    charged by the case from {c['doubled_from']}{until}")
    lines += map(term_line, c.get("terms", ()))
    lines += [f"    before it is charged (art. {m['article']}): {m['message']}" for m in c["missing"]]
    lines += [f"    finding {f['id']}  {f['kind']}  {f['length_m']} m" for f in c.get("stands_on", ())]
    for act in c.get("acts", ()):
        said = " ".join(
            filter(None, (act["reference"], act["by"], act["note"], act["until"] and f"until {act['until']}"))
        )
        lines.append(f"    {act['on']}  {act['kind']}  {said}".rstrip())
    return "\n".join(lines)


def read_day(text: str | None) -> Any:
    """Return a day that was typed, else today."""
    from geobill.domain.dates import parse_date

    return shared.today() if text is None else parse_date(text, "--on")


def read_outcome(text: str) -> str:
    """Return how a defence or an appeal was decided."""
    from geobill.domain.case import ACCEPTED, REJECTED

    if text.strip() not in (ACCEPTED, REJECTED):
        raise InputError(f"--outcome can't be {text!r}. Allowed: {ACCEPTED}, {REJECTED}.")
    return text.strip()


def said_words(option: str, text: str) -> str:
    """Return words that were typed, none of them blank or unseen."""
    if not text.strip() or not text.isprintable():
        raise InputError(f"{option} {text!r} is blank or holds a character that can't be seen: say it in words.")
    return text.strip()


def read_ids(path: Path) -> list[str]:
    """Read a list of ids, one a line."""
    try:
        return path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as fault:
        raise InputError(f"{path} can't be read as a list of ids, one a line: {fault}. Nothing was changed.") from None
