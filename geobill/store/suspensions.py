"""Orders of courts and their end, as recorded; rows are added, never changed."""

from datetime import date

from sqlalchemy import Connection, select
from sqlalchemy.exc import IntegrityError

from geobill.domain.suspension import Lifting, Suspension, SuspensionFile
from geobill.errors import InputError
from geobill.store.known import known_before
from geobill.store.tables import Tables


class SuspensionRegister:
    """Suspensions with their lifting, over one open transaction; ``known_until`` gives what was recorded before that moment."""

    def __init__(self, connection: Connection, tables: Tables, known_until: str | None = None):
        self._c, self._t, self._known = connection, tables, known_until

    def save(self, order: Suspension, now: str) -> None:
        """Record a suspension; an id that is there already is refused."""
        row = {
            "id": order.id,
            "court_case": order.court_case,
            "court": order.court,
            "kind": order.kind,
            "effect": order.effect,
            "articles": "; ".join(order.articles),
            "from_on": order.from_on.isoformat(),
            "until_on": None if order.until_on is None else order.until_on.isoformat(),
            "operator": order.operator,
            "service": order.service,
            "permit": order.permit,
            "area_wkt": order.area_wkt,
            "note": order.note,
            "recorded_at": now,
        }
        try:
            self._c.execute(self._t.suspensions.insert().values(**row))
        except IntegrityError:
            raise InputError(f"The suspension {order.id!r} is recorded already. Choose another id.") from None

    def save_lifting(self, lifting: Lifting, now: str) -> None:
        """Record the end of a suspension, once."""
        row = {
            "suspension": lifting.suspension,
            "lifted_on": lifting.on.isoformat(),
            "done_by": lifting.by,
            "reference": lifting.reference,
            "months_from": lifting.months_from,
            "months_until": lifting.months_until,
            "late_charges": int(lifting.late_charges),
            "note": lifting.note,
            "recorded_at": now,
        }
        try:
            self._c.execute(self._t.suspension_liftings.insert().values(**row))
        except IntegrityError:
            raise InputError(f"The suspension {lifting.suspension!r} is lifted already, and stays so.") from None

    def load_files(self) -> dict[str, SuspensionFile]:
        """Every suspension with its lifting, by id, in the order of recording."""
        o, e = self._t.suspensions.c, self._t.suspension_liftings.c
        liftings = {
            row.suspension: Lifting(
                suspension=row.suspension,
                on=date.fromisoformat(row.lifted_on),
                by=row.done_by,
                reference=row.reference,
                months_from=row.months_from,
                months_until=row.months_until,
                late_charges=bool(row.late_charges),
                note=row.note,
            )
            for row in self._c.execute(known_before(select(self._t.suspension_liftings), e.recorded_at, self._known))
        }
        return {
            row.id: SuspensionFile(
                Suspension(
                    id=row.id,
                    court_case=row.court_case,
                    court=row.court,
                    kind=row.kind,
                    effect=row.effect,
                    articles=tuple(row.articles.split("; ")),
                    from_on=date.fromisoformat(row.from_on),
                    until_on=None if row.until_on is None else date.fromisoformat(row.until_on),
                    operator=row.operator,
                    service=row.service,
                    permit=row.permit,
                    area_wkt=row.area_wkt,
                    note=row.note,
                ),
                liftings.get(row.id),
            )
            for row in self._c.execute(
                known_before(select(self._t.suspensions).order_by(o.fid), o.recorded_at, self._known)
            )
        }
