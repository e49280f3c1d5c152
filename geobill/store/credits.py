"""Credits from waived revenue (art. 14) and what was used of them. Rows are added, never changed."""

from datetime import date

from sqlalchemy import Connection, func, select
from sqlalchemy.exc import IntegrityError

from geobill.domain.credit import Credit, OpenCredit
from geobill.domain.invoice import SetOff
from geobill.domain.money import from_cents, to_cents
from geobill.errors import InputError
from geobill.store.tables import Tables


class CreditBook:
    """Recorded credits and their uses, over one open transaction."""

    def __init__(self, connection: Connection, tables: Tables):
        self._c, self._t = connection, tables

    def save(self, credit: Credit, now: str) -> None:
        """Record a credit; an id that is there already is refused."""
        row = {
            "id": credit.id,
            "operator": credit.operator,
            "law": credit.law,
            "amount_cents": to_cents(credit.amount),
            "granted_on": credit.on.isoformat(),
            "reference": credit.reference,
            "note": credit.note,
            "recorded_at": now,
        }
        try:
            self._c.execute(self._t.credits.insert().values(**row))
        except IntegrityError:
            raise InputError(
                f"The credit {credit.id!r} is recorded already and stays as it is. Choose another id."
            ) from None

    def load(self, *, used_by: str | None = None) -> list[OpenCredit]:
        """Return credits with what is left of each, oldest first; ``used_by`` (moment in UTC) leaves out later uses."""
        c, u = self._t.credits.c, self._t.credit_uses.c
        used = select(u.credit, func.sum(u.amount_cents).label("cents")).group_by(u.credit)
        if used_by is not None:
            used = used.where(u.recorded_at < used_by)
        spent = {r.credit: r.cents for r in self._c.execute(used)}
        rows = self._c.execute(
            select(c.id, c.operator, c.law, c.amount_cents, c.granted_on, c.reference, c.note).order_by(
                c.granted_on, c.id
            )
        )
        return [
            OpenCredit(
                Credit(
                    r.id,
                    r.operator,
                    r.law,
                    from_cents(r.amount_cents),
                    date.fromisoformat(r.granted_on),
                    r.reference,
                    r.note,
                ),
                from_cents(r.amount_cents - spent.get(r.id, 0)),
            )
            for r in rows
        ]

    def use(self, invoice: str, set_offs: tuple[SetOff, ...], now: str) -> None:
        """Book what an invoice takes of each credit."""
        self._add(invoice, [(s.credit, to_cents(s.amount)) for s in set_offs], now)

    def give_back(self, invoice: str, now: str) -> tuple[SetOff, ...]:
        """Book that a cancelled invoice takes nothing any more; return what each credit has back."""
        c, u = self._t.credits.c, self._t.credit_uses.c
        taken = self._c.execute(
            select(u.credit, c.law, func.sum(u.amount_cents).label("cents"))
            .join(self._t.credits, c.id == u.credit)
            .where(u.invoice == invoice)
            .group_by(u.credit, c.law)
            .order_by(u.credit)
        ).all()
        back = [r for r in taken if r.cents]
        self._add(invoice, [(r.credit, -r.cents) for r in back], now)
        return tuple(SetOff(r.credit, r.law, from_cents(r.cents)) for r in back)

    def _add(self, invoice: str, uses: list[tuple[str, int]], now: str) -> None:
        rows = [{"credit": c, "invoice": invoice, "amount_cents": n, "recorded_at": now} for c, n in uses]
        if rows:
            self._c.execute(self._t.credit_uses.insert(), rows)
