"""Notes computed again: their sums from their own figures, their months from their archived inputs."""

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from decimal import Decimal

from geobill.domain.case import CaseFile
from geobill.domain.dates import BillingMonth
from geobill.domain.invoice import Invoice, Line
from geobill.domain.money import plain, round_money
from geobill.domain.note import CREDIT, DIFFERENCE, FINE, RETROACTIVE, SINGLE_PAYMENT, Note, NoteLine
from geobill.domain.ratio import fraction
from geobill.domain.record import canonical_json, from_plain
from geobill.law.policy import Policy
from geobill.pipeline.differing import record_differences
from geobill.pipeline.past import Past
from geobill.pipeline.replay import Frames, KeptMonth, Texts, kept_policy
from geobill.pipeline.verify_inputs import Difference

ZERO = Decimal("0.00")
BEFORE = "what was demanded before is taken from the record; the invoices and notes that it names are checked each for itself"
CASE_ROLES = ("statute", "decisions", "network", "equipment", "row_cases", "permits", "suspensions")


def note_differences(note: Note, texts: Texts, frames: Frames) -> tuple[tuple[Difference, ...], tuple[str, ...]]:
    """Compute a note again; return what differs, and what can't be computed from what is archived with it."""
    found = [*_sums(note), *_months(note, texts, frames)]
    taken = note.kind in (CREDIT, DIFFERENCE, RETROACTIVE) and any(line.before for line in note.lines)
    return tuple(Difference("record_differs", said) for said in found), (BEFORE,) if taken else ()


def _sums(note: Note) -> Iterator[str]:
    """Whether lines add up, and each is worked out from its own factors (art. 9 § 2 for a fine)."""
    usual = next((use.value for use in note.basis.policy if use.key == "rounding"), "half_up")
    total = sum((line.amount for line in note.lines), ZERO)
    if total != note.total:
        yield f"total: recorded {plain(note.total)}, its lines add up to {plain(total)}"
    for line in note.lines:
        amount, rounding = line.now - line.before, line.rounding(usual)
        if line.amount not in (amount, max(amount, ZERO) if note.kind == RETROACTIVE else amount):
            less = f"{plain(line.now)} less {plain(line.before)} is {plain(amount)}"
            yield f"{line.month}, amount: recorded {plain(line.amount)}, {less}"
        now = line.now if note.kind != FINE else _fine(line, rounding)
        if note.kind != FINE and line.lines:
            now = sum((own.amount for own in line.lines), ZERO)
        if now != line.now:
            yield f"{line.month}, now: recorded {plain(line.now)}, computed {plain(now)}"
        for place, own in enumerate(line.lines, 1):
            computed = round_money(own.exact, rounding)
            if computed != own.amount:
                yield f"{line.month}, line {place}: recorded {plain(own.amount)}, its factors give {plain(computed)}"


def _fine(line: NoteLine, rounding: str) -> Decimal:
    if line.rate is None or line.base is None or line.days is None:
        return ZERO
    return round_money(fraction(line.rate) * fraction(line.base) * line.days, rounding)


def _months(note: Note, texts: Texts, frames: Frames) -> Iterator[str]:
    """Price each month again by the archived inputs and compare it with the note's line."""
    if note.kind == RETROACTIVE:
        yield from _past_months(note, texts, frames)
    elif note.kind == FINE:
        kept = KeptCase(note, texts, frames)
        for line in note.lines:
            base = _whole(kept, line.month, note.operator.id)
            yield from _same(line, "base", line.base, base)
    elif note.kind == SINGLE_PAYMENT:
        month = BillingMonth.of(note.issued_on)
        kept_month = KeptMonth(as_invoice(note, month), texts, frames)
        mine = kept_month.price(month).bill.operators
        for line in note.lines:
            yield from _same(line, "now", line.now, mine[0].whole_month.total if mine else ZERO)
            yield from _lines(line, mine[0].whole_month.lines if mine else ())
    else:
        for line in note.lines:
            own = {r.partition("/")[2]: text for r, text in texts.items() if r.startswith(f"{line.month}/")}
            bill = KeptMonth(as_invoice(note, line.month), own, frames).price(line.month).bill
            mine = bill.operators
            yield from _same(line, "now", line.now, mine[0].total if mine else ZERO)
            yield from _lines(line, mine[0].lines if mine else ())
            yield from _listed(line, "suspended", line.suspended, mine[0].suspended if mine else ())


def _past_months(note: Note, texts: Texts, frames: Frames) -> Iterator[str]:
    kept = KeptCase(note, texts, frames)
    case, past = kept.case.case, Past(kept, note.operator.id)
    for line in note.lines:
        lines, _, _ = past.lines(line.month, frozenset(case.segments), frozenset(case.equipment))
        yield from _same(line, "now", line.now, sum((own.amount for own in lines), ZERO))
        yield from _lines(line, lines)


def _whole(kept: "KeptCase", month: BillingMonth, operator: str) -> Decimal | None:
    mine = [o for o in kept.price(month, operator=operator).bill.operators if o.operator.id == operator]
    return mine[0].whole_month.total if mine else ZERO


def _same(line: NoteLine, what: str, recorded: Decimal | None, computed: Decimal | None) -> Iterator[str]:
    if recorded != computed:
        said = ["nothing" if d is None else plain(d) for d in (recorded, computed)]
        yield f"{line.month}, {what}: recorded {said[0]}, computed {said[1]}"


def _lines(line: NoteLine, computed: Iterable[Line]) -> Iterator[str]:
    yield from _listed(line, "lines", line.lines, computed)


def _listed(line: NoteLine, what: str, recorded: Iterable[object], computed: Iterable[object]) -> Iterator[str]:
    one, other = (canonical_json({what: list(found)}) for found in (recorded, computed))
    if one != other:
        yield from (f"{line.month}, {said}" for said in record_differences(one, other))


class KeptCase(KeptMonth):
    """What a case's months were priced from: one network, and the edition and the policy of each month."""

    def __init__(self, note: Note, texts: Texts, frames: Frames):
        first = note.lines[0].month
        shared = {role: texts[role] for role in CASE_ROLES if role in texts}
        own = {role: _at(texts, role, first) for role in ("edition", "policy")}
        super().__init__(as_invoice(note, first), {**shared, **own}, frames)
        self.case = from_plain(CaseFile, json.loads(texts["case"]))
        self._all, self._frames = texts, frames
        self._names = {line.month: line.edition for line in note.lines}

    def policy(self, month: BillingMonth) -> Policy:
        """Return the archived policy of a month."""
        return kept_policy({"policy": _at(self._all, "policy", month)})

    def edition(self, month: BillingMonth) -> tuple[str | None, date | None, str | None]:
        """Name a month's archived edition; its batch is the text itself."""
        text = _at(self._all, "edition", month)
        self._zones[text] = self._frames.zones(text)
        return self._names.get(month), None, text


def _at(texts: Texts, role: str, month: BillingMonth) -> str:
    """Return what served a month: what stands at it, or at the last month before it."""
    months = sorted(r.partition("/")[0] for r in texts if r.endswith(f"/{role}"))
    served: Sequence[str] = [m for m in months if m <= str(month)]
    return texts[f"{served[-1]}/{role}"] if served else texts[role]


def as_invoice(note: Note, month: BillingMonth) -> Invoice:
    """Return a month of a note in the form of an invoice, to be priced by what is archived."""
    return Invoice(
        number=note.number,
        month=month,
        issued_on=note.issued_on,
        due_on=note.due_on or note.issued_on,
        authority=note.authority,
        operator=note.operator,
        basis=note.basis,
        lines=(),
        total=ZERO,
        reducer=None,
        network_length_m=ZERO,
        held=(),
        yearly=None,
        yearly_monthly=None,
    )
