"""What the city hall entered about a statute: acts that change its figures, and who looked; rows are added, never changed."""

import zlib
from datetime import date

from sqlalchemy import Connection, select

from geobill.domain.amendment import Amendment, Confirmation
from geobill.store.known import known_before
from geobill.store.tables import Tables


class LawBook:
    """Amendments and confirmations over one open transaction; ``known_until`` gives what was recorded before that moment."""

    def __init__(self, connection: Connection, tables: Tables, known_until: str | None = None):
        self._c, self._t, self._known = connection, tables, known_until

    def save_amendment(self, amendment: Amendment, now: str) -> None:
        """Record an act that changes a figure."""
        self._c.execute(
            self._t.law_amendments.insert().values(
                id=amendment.id,
                statute=amendment.statute,
                name=amendment.name,
                figure=amendment.figure,
                act=amendment.act,
                in_force_from=amendment.in_force_from.isoformat(),
                paper=amendment.paper,
                file_name=amendment.file_name,
                done_by=amendment.by,
                recorded_at=now,
            )
        )

    def save_confirmation(self, confirmation: Confirmation) -> None:
        """Record that somebody looked."""
        self._c.execute(
            self._t.law_confirmations.insert().values(
                statute=confirmation.statute,
                until_on=confirmation.until.isoformat(),
                done_by=confirmation.by,
                note=confirmation.note,
                recorded_at=confirmation.at,
            )
        )

    def next_id(self) -> str:
        """Return the id of the next act to be recorded, of whichever statute."""
        taken = self._c.execute(select(self._t.law_amendments.c.id)).scalars().all()
        return f"A{len(taken) + 1}"

    def load_amendments(self, statute: str) -> tuple[Amendment, ...]:
        """Acts that change a statute's figures, in the order of recording."""
        a = self._t.law_amendments.c
        query = known_before(
            select(self._t.law_amendments).where(a.statute == statute).order_by(a.fid), a.recorded_at, self._known
        )
        return tuple(
            Amendment(
                id=row.id,
                statute=row.statute,
                name=row.name,
                figure=row.figure,
                act=row.act,
                in_force_from=date.fromisoformat(row.in_force_from),
                paper=row.paper,
                file_name=row.file_name,
                by=row.done_by,
            )
            for row in self._c.execute(query)
        )

    def load_confirmations(self, statute: str) -> tuple[Confirmation, ...]:
        """Return who looked and up to which day, in the order of recording."""
        c = self._t.law_confirmations.c
        query = known_before(
            select(self._t.law_confirmations).where(c.statute == statute).order_by(c.fid), c.recorded_at, self._known
        )
        return tuple(
            Confirmation(row.statute, date.fromisoformat(row.until_on), row.done_by, row.recorded_at, row.note)
            for row in self._c.execute(query)
        )

    def text_issued_under(self) -> str | None:
        """Return the statute's text that the last issued invoice was computed from; None while none is issued."""
        i, a = self._t.invoice_inputs.c, self._t.archive.c
        query = select(a.content).join(self._t.invoice_inputs, i.sha256 == a.sha256).where(i.role == "statute")
        packed = self._c.execute(query.order_by(i.fid.desc()).limit(1)).scalar()
        return None if packed is None else zlib.decompress(packed).decode()
