"""A note in Portuguese: credit, difference, past months, fine, year paid at once; one template that reads well for each."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import groupby

from geobill.documents import memo, words
from geobill.documents.citing import cite
from geobill.documents.comparison import CAUSES
from geobill.documents.forms import Job, make
from geobill.documents.overrides.folder import PACKAGE, Templates
from geobill.documents.policy_words import decision_in_words, policy_lines, policy_value
from geobill.documents.statute_words import StatuteWords, days_in_words
from geobill.documents.suspended import SuspendedPart, suspended_parts
from geobill.documents.typesetting import printable
from geobill.domain.check import Cause
from geobill.domain.dates import BillingMonth
from geobill.domain.invoice import Line, Suspended
from geobill.domain.money import plain, round_money
from geobill.domain.note import CHARGED_SINCE, CREDIT, DIFFERENCE, FINE, RETROACTIVE, SINGLE_PAYMENT, Note, NoteLine
from geobill.domain.ratio import Ratio, fraction
from geobill.errors import BooksDontCloseError
from geobill.law.figures import StatuteFigures

TEMPLATE = "nota.typ.j2"
ZERO = Decimal("0.00")
NOTE_FORMS: tuple[str, ...] = ("pdf", "html")
TITLES: dict[str, str] = {
    CREDIT: "Nota de crédito",
    DIFFERENCE: "Nota de diferença",
    RETROACTIVE: "Cobrança retroativa",
    FINE: "Multa diária",
    SINGLE_PAYMENT: "Cota única",
}
NOTE_CAUSES = CAUSES | {CHARGED_SINCE: "já demandado por outra nota, depois da última correção"}


@dataclass(frozen=True)
class CauseRow:
    """A cause as it is printed: what, which rows, metres (None where it isn't about rows), reais."""

    what: str
    rows: str
    length_m: Decimal | None
    amount: Decimal


@dataclass(frozen=True)
class NoteRow:
    """A month of a note as it is printed."""

    line: NoteLine
    reducer: Decimal | Ratio | None
    causes: tuple[CauseRow, ...]


@dataclass(frozen=True)
class SuspendedMonth:
    """What courts keep from being demanded of a month of a note."""

    month: BillingMonth
    parts: tuple[SuspendedPart, ...]


@dataclass(frozen=True)
class MonthsAlike:
    """Months in a row with the same lines, and what each of them costs; ``day`` is the last of the first month."""

    day: date
    label: str
    count: int
    whole: bool
    now: Decimal
    lines: tuple[Line, ...]


def render_note(note: Note, figures: StatuteFigures, templates: Templates = PACKAGE) -> dict[str, bytes]:
    """Render a note as PDF and HTML, the same words in both.

    Raises
    ------
    BooksDontCloseError, TemplateError
        See :func:`note_job`; and if the template can't be filled or typeset.
    """
    return make(note_job(note, figures), NOTE_FORMS, templates)


def note_job(note: Note, figures: StatuteFigures) -> Job:
    """Check a note and gather what its template prints; its date is the day of issue.

    Articles and figures of law are those of the last month that it is about, and of each month in its table of lines; of
    months that are still to come, those of the day of issue.

    Raises
    ------
    BooksDontCloseError
        If a line's printed figures don't give its amount, or the lines don't add up to the total.
    """
    rounding = policy_value(note.basis, "rounding", "half_up")
    check_note(note, rounding)
    title = TITLES[note.kind]
    last = max((one.month.last_day for one in note.lines), default=note.issued_on)
    statute = StatuteWords(figures, min(last, note.issued_on))  # months paid ahead have no figures yet
    values = {
        "statute": statute,
        "note": note,
        "basis": note.basis,
        "policy": policy_lines(note.basis, statute),
        "decisions": [decision_in_words(decision, statute) for decision in note.basis.decisions],
        "rounding": rounding,
        "reducer_method": statute.scale_method or policy_value(note.basis, "reducer_method", "whole"),
        "title": title,
        "authority": note.authority,
        "operator": note.operator,
        "rows": [NoteRow(one, _reducer(one.reducer), tuple(map(cause_row, one.causes))) for one in note.lines],
        "cited": cite(a for one in note.lines for a in one.articles),
        "defence_days": days_in_words(statute.value("defence_days")) if statute.has("defence_days") else "",
        "amount": abs(note.total),
        "suspended": [
            SuspendedMonth(one.month, suspended_parts(one.suspended, statute)) for one in note.lines if one.suspended
        ],
        "suspended_total": sum((s.total for s in note.suspended), ZERO),
        "by_court": note.reduced_by_court,
        "courts": courts_in_words(note.suspended),
        "held": memo.held_groups(note.held, statute),
        "alike": [
            (months, memo.context(note.basis, months.lines, StatuteWords(figures, min(months.day, note.issued_on))))
            for months in months_alike(note.lines)
        ],
        "digests": _digests(note),
        "digest": note.digest,
    }
    inputs = {
        "title": printable(f"{title} nº {note.number} – {note.operator.name}"),
        "author": printable(note.authority.name),
    }
    return Job(TEMPLATE, values, inputs, note.issued_on, note.digest)


def check_note(note: Note, rounding: str) -> None:
    """Work a note out again from its printed figures.

    Raises
    ------
    BooksDontCloseError
        At the first figure that doesn't follow from the others.
    """
    for one in note.lines:
        what, own = f"{one.month} in note {note.number}", one.rounding(rounding)
        if one.lines:
            memo.check_lines(one.lines, one.now, own, what)
        elif one.rate is not None and one.base is not None and one.days is not None:
            _same(one.now, round_money(fraction(one.rate) * fraction(one.base) * one.days, own), what)
        for apart in one.suspended:
            memo.check_lines(apart.lines, apart.total, own, f"what {apart.court_case} suspends of {what}")
        _same(one.amount, one.now - one.before, f"the difference of {what}")
        if one.causes:
            _same(one.amount, sum((c.amount for c in one.causes), ZERO), f"the causes of {what}")
    _same(note.total, sum((one.amount for one in note.lines), ZERO), f"note {note.number}")


def _same(said: Decimal, found: Decimal, what: str) -> None:
    if said != found:
        raise BooksDontCloseError(
            f"{what} says R$ {plain(said)}, its printed figures give R$ {plain(found)}. A document must let its reader "
            "work out each amount: it wasn't rendered. Nothing was issued; please report this with the workspace."
        )


def courts_in_words(suspended: Iterable[Suspended]) -> str:
    """Name lawsuits and courts, each once: ``no processo nº 1 (Vara A)``, ``nos processos nº 1 (Vara A) e nº 2 (Vara B)``."""
    named = list(dict.fromkeys(f"nº {s.court_case} ({s.court})" for s in suspended))
    *others, last = named or [""]
    return f"nos processos {', '.join(others)} e {last}" if others else f"no processo {last}"


def cause_row(cause: Cause) -> CauseRow:
    """Say a cause in Portuguese.

    Examples
    --------
    >>> cause_row(Cause("width", 1, Decimal("40.00"), Decimal("-6.00"), ("A3",))).rows
    '1 (A3)'
    """
    more = ", …" if cause.segments > len(cause.examples) > 0 else ""
    named = f" ({', '.join(cause.examples)}{more})" if cause.examples else ""
    rows = f"{cause.segments}{named}" if cause.segments else ""
    return CauseRow(NOTE_CAUSES[cause.cause], rows, cause.length_m if cause.segments else None, cause.amount)


def months_alike(lines: Iterable[NoteLine]) -> list[MonthsAlike]:
    """Group months in a row whose lines are the same but for the number of days of a whole month."""
    found = []
    for _, group in groupby((one for one in lines if one.lines), key=_sameness):
        members = list(group)
        first = members[0]
        label = words.month_name(first.month)
        if len(members) > 1:
            label = f"{label} a {words.month_name(members[-1].month)}"
        whole = all(line.days == line.month_days for line in first.lines)
        found.append(MonthsAlike(first.month.last_day, label, len(members), whole, first.now, first.lines))
    return found


def _sameness(one: NoteLine) -> tuple[object, ...]:
    """All that a month's lines say, without the days where the month is whole."""
    return one.now, tuple(
        (
            line.kind,
            line.service,
            line.permit,
            line.zone,
            line.land_value,
            line.length_m,
            line.billed_width_m,
            line.volume_m3,
            line.price_per_m3,
            line.pieces,
            line.price_per_piece,
            str(line.reducer),
            line.multiplier,
            line.amount,
            line.articles,
            line.flags,
            None if line.days == line.month_days else (line.days, line.month_days),
        )
        for line in one.lines
    )


def _reducer(text: str | None) -> Decimal | Ratio | None:
    if text is None:
        return None
    return Ratio.parse(text) if "/" in text else Decimal(text)


def _digests(note: Note) -> list[tuple[str, str]]:
    """Digests with their names; those of a month (``YYYY-MM/role``) name the months that share them."""
    months: dict[tuple[str, str], list[str]] = {}
    for role, digest in note.basis.digests:
        month, stroke, name = role.rpartition("/")
        months.setdefault((memo.DIGESTS.get(name, name), digest), []).extend([month] if stroke else [])
    return [(f"{name}{_said(sorted(of))}", digest) for (name, digest), of in months.items()]


def _said(months: list[str]) -> str:
    if not months:
        return ""
    runs = ", ".join(first if first == last else f"{first} a {last}" for first, last in _runs(months))
    return f" ({runs})"


def _runs(months: list[str]) -> Iterator[tuple[str, str]]:
    """First and last of months that follow one another, as dd/yyyy."""
    run = [BillingMonth.parse(months[0])]
    for text in months[1:]:
        month = BillingMonth.parse(text)
        if run[-1].following() != month:
            yield _short(run[0]), _short(run[-1])
            run = []
        run.append(month)
    yield _short(run[0]), _short(run[-1])


def _short(month: BillingMonth) -> str:
    return f"{month.month:02d}/{month.year}"
