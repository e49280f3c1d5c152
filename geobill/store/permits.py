"""The register of permits: requests, what was done about them, decrees and their documents. Acts are added, never changed."""

import json
from collections import defaultdict
from dataclasses import dataclass
from datetime import date

from sqlalchemy import Connection, select
from sqlalchemy.exc import IntegrityError

from geobill.domain.money import from_cents, to_cents
from geobill.domain.permit import Act, Decree, Permit, PermitFile
from geobill.domain.record import canonical_json, from_plain, sha256
from geobill.errors import InputError
from geobill.store.known import known_before
from geobill.store.tables import Tables


@dataclass(frozen=True)
class DecreeDocument:
    """A document of a decree or an apostila as it was recorded: the very bytes."""

    decree: str
    kind: str
    file_name: str
    sha256: str
    content: bytes


class PermitRegister:
    """Permits with their papers, over one open transaction; ``known_until`` gives what was recorded before that moment."""

    def __init__(self, connection: Connection, tables: Tables, known_until: str | None = None):
        self._c, self._t, self._known = connection, tables, known_until

    def save_permit(self, permit: Permit, now: str) -> None:
        """Add a permit; a number that is there already is refused."""
        row = {
            "number": permit.number,
            "operator": permit.operator,
            "process": permit.process,
            "service": permit.service,
            "project": permit.project,
            "requested_on": _iso(permit.requested_on),
            "recorded_at": now,
        }
        try:
            self._c.execute(self._t.permits.insert().values(**row))
        except IntegrityError:
            raise InputError(
                f"The permit {permit.number!r} is registered already, and its papers stay as they are. Choose another number, "
                f"or see it with geobill permit show --number {permit.number!r}."
            ) from None

    def save_act(self, act: Act, now: str) -> None:
        """Add what was done about a permit."""
        self._c.execute(
            self._t.permit_acts.insert().values(
                permit=act.permit,
                kind=act.kind,
                act_on=act.on.isoformat(),
                done_by=act.by,
                reference=act.reference,
                amount_cents=None if act.amount is None else str(to_cents(act.amount)),
                note=act.note,
                recorded_at=now,
            )
        )

    def save_decree(self, decree: Decree, now: str) -> None:
        """Record a decree, or an apostila to one, with the price that it grants."""
        price = decree.draft.price.total
        assert price is not None, "a decree names its price (art. 6 § 1)"
        record = canonical_json(decree)
        self._c.execute(
            self._t.decrees.insert().values(
                number=decree.number,
                permit=decree.permit,
                amends=decree.amends,
                date=decree.date.isoformat(),
                signatory=decree.signatory,
                published_on=decree.published_on.isoformat(),
                total_cents=to_cents(price),
                digest=sha256(record),
                record=record,
                recorded_at=now,
            )
        )

    def save_document(self, decree: str, kind: str, file_name: str, content: bytes) -> None:
        """Keep the bytes of a decree's document."""
        self._c.execute(
            self._t.decree_documents.insert().values(
                decree=decree, kind=kind, file_name=file_name, sha256=sha256(content), content=content
            )
        )

    def load_documents(self, decree: str) -> list[DecreeDocument]:
        """Documents of a decree or an apostila."""
        d = self._t.decree_documents.c
        query = select(d.decree, d.kind, d.file_name, d.sha256, d.content).where(d.decree == decree).order_by(d.kind)
        return [DecreeDocument(**row._mapping) for row in self._c.execute(query)]

    def load_files(self) -> dict[str, PermitFile]:
        """Every permit with its acts and decrees in the order of recording, by number."""
        acts: dict[str, list[Act]] = defaultdict(list)
        a = self._t.permit_acts.c
        for row in self._c.execute(
            known_before(select(self._t.permit_acts).order_by(a.fid), a.recorded_at, self._known)
        ):
            acts[row.permit].append(
                Act(
                    permit=row.permit,
                    kind=row.kind,
                    on=date.fromisoformat(row.act_on),
                    by=row.done_by,
                    reference=row.reference,
                    amount=None if row.amount_cents is None else from_cents(int(row.amount_cents)),
                    note=row.note,
                )
            )
        decrees: dict[str, list[Decree]] = defaultdict(list)
        d = self._t.decrees.c
        for record in self._c.execute(
            known_before(select(d.record).order_by(d.fid), d.recorded_at, self._known)
        ).scalars():
            decree = from_plain(Decree, json.loads(record))
            decrees[decree.permit].append(decree)
        p = self._t.permits.c
        return {
            row.number: PermitFile(
                Permit(
                    number=row.number,
                    operator=row.operator,
                    process=row.process,
                    service=row.service,
                    project=row.project,
                    requested_on=None if row.requested_on is None else date.fromisoformat(row.requested_on),
                ),
                tuple(acts[row.number]),
                tuple(decrees[row.number]),
            )
            for row in self._c.execute(
                known_before(select(self._t.permits).order_by(p.number), p.recorded_at, self._known)
            )
        }


def _iso(day: date | None) -> str | None:
    return None if day is None else day.isoformat()
