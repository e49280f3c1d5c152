"""Imports looked at and taken back: which there are, what rests on one, and undo while nothing does."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from sqlalchemy import Connection

from geobill.domain.batch import IN_FORCE, UNDONE, Batch
from geobill.domain.finding import Finding, ImportReport
from geobill.errors import InputError
from geobill.intake.columns import nearest
from geobill.pipeline.resting import Rests, find_resting
from geobill.store.audit import Audit
from geobill.store.batches import Batches, family, restored_by, still_open
from geobill.store.workspace import Workspace

WORDS = {
    "invoices": "the invoice(s)",
    "notes": "the note(s)",
    "decrees": "the decree(s)",
    "cases": "the case(s)",
    "permits": "acts on the permit(s)",
}
MOST_NAMED = 12


@dataclass(frozen=True)
class BatchListed:
    """A batch in the list; ``still_open`` is how many of its rows wait for a correction, None where they don't."""

    batch: Batch
    still_open: int | None


@dataclass(frozen=True)
class BatchShown:
    """All that is known of a batch: what it said when it came, its amendments, what waits by reason, what rests on it."""

    batch: Batch
    report: ImportReport
    still_open: int | None
    open_by_reason: dict[str, int]
    amendments: tuple[Batch, ...]
    rests: Rests


@dataclass(frozen=True)
class Undone:
    """What an undo did: batches taken back, batches in force again, and what to know.

    ``rows`` and ``length_m`` (decimal text, metres) are those of the batches taken back, in force no more. Where an amendment was
    taken back, ``waits_again`` of its rows are open again in ``amends``, the batch that it amended, which has ``still_open`` now.
    """

    undone: tuple[str, ...]
    restored: tuple[str, ...]
    findings: tuple[Finding, ...]
    rows: int
    length_m: str
    amends: str | None = None
    waits_again: int = 0
    still_open: int | None = None


def list_batches(workspace: Workspace) -> list[BatchListed]:
    """Return every import in the order in which they came."""
    with workspace.database.read() as connection:
        known = Batches(connection, workspace.database.tables).load()
    return [BatchListed(one, still_open(known, one)) for one in known.values()]


def show_batch(workspace: Workspace, batch: str) -> BatchShown:
    """Return all that is known of a batch; an unknown one is refused."""
    with workspace.database.read() as connection:
        batches = Batches(connection, workspace.database.tables)
        known = batches.load()
        one = find_batch(known, batch)
        waiting = still_open(known, one)
        counts: dict[str, int] = {}
        for code in batches.load_open(batch)["reason_code"] if waiting else ():
            counts[code] = counts.get(code, 0) + 1
        mine = family(known, batch)
        rests = find_resting(workspace, connection, [one])
        return BatchShown(
            one, batches.load_report(batch), waiting, dict(sorted(counts.items())), tuple(mine[1:]), rests
        )


def undo_batch(workspace: Workspace, batch: str, *, by: str, reason: str, now: str) -> Undone:
    """Take an import back, with its amendments; what it had replaced is in force again. One transaction, once.

    Parameters
    ----------
    workspace : Workspace
    batch : str
    by, reason : str
        Who takes it back, and why: both are kept.
    now : str
        The moment in UTC, ISO text with Z.

    Raises
    ------
    InputError
        If there is no such batch, it isn't in force, something issued, granted or decided rests on its rows, or what would come
        back was imported again meanwhile.
    """
    reason = " ".join(reason.split())
    if not by or not reason:
        raise InputError(
            "Who takes an import back and why is kept for whoever asks later: give --by NAME and --reason TEXT. Nothing was changed."
        )
    with workspace.database.write() as connection:
        batches = Batches(connection, workspace.database.tables)
        known = batches.load()
        one = find_batch(known, batch)
        _check_in_force(one)
        _check_free(known, one, _editions(workspace, connection))
        months = _check_nothing_rests(workspace, connection, known, one)
        undone, restored = batches.undo(one, by, reason, now)
        left = batches.load()
    findings = []
    if months:
        message = f"{', '.join(months)} was drafted or checked with these rows: those steps don't stand for the figures of now."
        findings.append(Finding("draft_superseded", "warning", message, "Draft the month again before it is issued."))
    if one.kind == "land_values" and not any(b.kind == one.kind and b.state == IN_FORCE for b in left.values()):
        message = "No edition of the Mapa de Valores is in force any more: no month can be priced."
        findings.append(Finding("no_edition_left", "warning", message, "Import one: geobill import land-values FILE …"))
    gone = [known[b] for b in undone]
    rows, metres = sum(b.accepted for b in gone), sum((Decimal(b.length_m) for b in gone), Decimal(0))
    said = Undone(tuple(undone), tuple(restored), tuple(findings), rows, f"{metres:f}")
    if one.amends is None:
        return said
    return replace(said, amends=one.amends, waits_again=one.accepted, still_open=still_open(left, left[one.amends]))


def find_batch(known: Mapping[str, Batch], batch: str) -> Batch:
    """Return a batch by its id; an unknown one is refused."""
    if batch not in known:
        raise InputError(
            f"There is no batch {batch!r}.{nearest(batch, known)} geobill batch list names them. Nothing was changed."
        )
    return known[batch]


def _check_in_force(one: Batch) -> None:
    ended = one.ended
    if ended is None:
        return
    if ended.kind == UNDONE:
        with_ = f" with {ended.other}" if ended.other else ""
        raise InputError(
            f"{one.id} was undone already{with_}, on {ended.at[:10]} by {ended.by} ({ended.note}). Nothing was changed."
        )
    raise InputError(
        f"{one.id} isn't in force: {ended.other} took its place on {ended.at[:10]}. Nothing was changed. To bring it back, undo that "
        f"one: geobill batch undo {ended.other}."
    )


def _editions(workspace: Workspace, connection: Connection) -> dict[str, tuple[str, str]]:
    """Name and first day of the edition that each batch of a value map brought."""
    rows = Audit(connection, workspace.database.tables).rows("editions")
    return {row.batch: (row.name, row.in_force_from) for row in rows}


def _check_free(known: Mapping[str, Batch], one: Batch, editions: Mapping[str, tuple[str, str]]) -> None:
    """Refuse where what would come back is in force already, from another import of the same file, or as another edition."""
    going = {b.id for b in family(dict(known), one.id)}
    back = [known[b] for b in restored_by(dict(known), one.id)]
    for other in known.values():
        if other.state != IN_FORCE or other.id in going:
            continue
        rival = next((b for b in back if _rivals(editions.get(b.id), editions.get(other.id))), None)
        if rival is not None:
            raise InputError(
                f"{one.id} had replaced {rival.id}, whose edition would come back beside that of {other.id}, of the same name or "
                f"the same first day: two maps can't be in force at once. Nothing was changed. Undo {other.id} first."
            )
        like = next((b for b in back if _same(b, other)), None)
        if like is not None:
            raise InputError(
                f"{one.id} had replaced {like.id}, which would come back, and {other.id} has brought the same file since: its metres "
                f"would be charged twice. Nothing was changed. Undo {other.id} first."
            )


def _same(one: Batch, other: Batch) -> bool:
    return (one.kind, one.layer, one.operator, one.sha256) == (other.kind, other.layer, other.operator, other.sha256)


def _rivals(one: tuple[str, str] | None, other: tuple[str, str] | None) -> bool:
    return one is not None and other is not None and (one[0] == other[0] or one[1] == other[1])


def _check_nothing_rests(
    workspace: Workspace, connection: Connection, known: Mapping[str, Batch], one: Batch
) -> tuple[str, ...]:
    """Refuse where anything was issued, granted or decided on the rows; return months that were drafted with them."""
    rests = find_resting(workspace, connection, [b for b in family(dict(known), one.id) if b.state == IN_FORCE])
    if rests.holds:
        said = "; ".join(f"{WORDS[what]} {_listed(numbers)}" for what, numbers in rests.holds.items())
        raise InputError(
            f"{one.id} can't be undone: {said} rest(s) on its rows, and what was issued or decided keeps what it rests on. Nothing "
            "was changed. Import the right file with --replace, and geobill correct works out what the months differ by."
        )
    return rests.months


def _listed(numbers: tuple[str, ...]) -> str:
    more = f" and {len(numbers) - MOST_NAMED} more" if len(numbers) > MOST_NAMED else ""
    return ", ".join(numbers[:MOST_NAMED]) + more
