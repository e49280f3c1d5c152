"""The register of cases: what is held against operators, each step, the papers that were made. Rows are added, never changed."""

import json
from collections import defaultdict
from dataclasses import dataclass
from datetime import date

from sqlalchemy import Connection, select
from sqlalchemy.exc import IntegrityError

from geobill.domain.case import Case, CaseAct, CaseFile
from geobill.domain.money import from_cents, to_cents
from geobill.domain.record import sha256
from geobill.errors import InputError
from geobill.store.known import known_before
from geobill.store.tables import Tables


@dataclass(frozen=True)
class CaseDocument:
    """A paper that was made for a case: its number in the store, its kind and form, its bytes."""

    fid: int
    kind: str
    file_name: str
    sha256: str
    content: bytes


class CaseRegister:
    """Cases with their acts, over one open transaction; ``known_until`` gives what was recorded before that moment."""

    def __init__(self, connection: Connection, tables: Tables, known_until: str | None = None):
        self._c, self._t, self._known = connection, tables, known_until

    def save_case(self, case: Case, now: str) -> None:
        """Open a case; an id that is there already is refused."""
        row = {
            "id": case.id,
            "kind": case.kind,
            "operator": case.operator,
            "opened_on": case.opened_on.isoformat(),
            "subject": case.subject,
            "permit": case.permit,
            "segments": json.dumps(list(case.segments), ensure_ascii=False),
            "equipment": json.dumps(list(case.equipment), ensure_ascii=False),
            "recorded_at": now,
        }
        try:
            self._c.execute(self._t.cases.insert().values(**row))
        except IntegrityError:
            raise InputError(
                f"The case {case.id!r} is there already, and its papers stay as they are. Choose another id, or see it with "
                f"geobill case show {case.id}."
            ) from None

    def save_act(self, act: CaseAct, now: str) -> None:
        """Add a step of a case."""
        self._c.execute(
            self._t.case_acts.insert().values(
                case_id=act.case,
                kind=act.kind,
                act_on=act.on.isoformat(),
                done_by=act.by,
                reference=act.reference,
                until_on=None if act.until is None else act.until.isoformat(),
                amount_cents=None if act.amount is None else str(to_cents(act.amount)),
                note=act.note,
                paper=act.paper,
                file_name=act.file_name,
                recorded_at=now,
            )
        )

    def save_document(self, case: str, kind: str, file_name: str, content: bytes, now: str) -> None:
        """Keep the bytes of a paper that was made for a case."""
        row = {"case_id": case, "kind": kind, "file_name": file_name, "sha256": sha256(content), "content": content}
        self._c.execute(self._t.case_documents.insert().values(**row, recorded_at=now))

    def load_documents(self, case: str) -> list[CaseDocument]:
        """Papers that were made for a case, in the order of recording."""
        d = self._t.case_documents.c
        rows = self._c.execute(select(self._t.case_documents).where(d.case_id == case).order_by(d.fid))
        return [CaseDocument(row.fid, row.kind, row.file_name, row.sha256, row.content) for row in rows]

    def load_files(self) -> dict[str, CaseFile]:
        """Every case with its acts in the order of recording, by id."""
        acts: dict[str, list[CaseAct]] = defaultdict(list)
        a, c = self._t.case_acts.c, self._t.cases.c
        for row in self._c.execute(known_before(select(self._t.case_acts).order_by(a.fid), a.recorded_at, self._known)):
            acts[row.case_id].append(
                CaseAct(
                    case=row.case_id,
                    kind=row.kind,
                    on=date.fromisoformat(row.act_on),
                    by=row.done_by,
                    reference=row.reference,
                    until=None if row.until_on is None else date.fromisoformat(row.until_on),
                    amount=None if row.amount_cents is None else from_cents(int(row.amount_cents)),
                    note=row.note,
                    paper=row.paper,
                    file_name=row.file_name,
                )
            )
        return {
            row.id: CaseFile(
                Case(
                    id=row.id,
                    kind=row.kind,
                    operator=row.operator,
                    opened_on=date.fromisoformat(row.opened_on),
                    subject=row.subject,
                    permit=row.permit,
                    segments=tuple(json.loads(row.segments)),
                    equipment=tuple(json.loads(row.equipment)),
                ),
                tuple(acts[row.id]),
            )
            for row in self._c.execute(known_before(select(self._t.cases).order_by(c.fid), c.recorded_at, self._known))
        }
