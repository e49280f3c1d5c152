"""What was issued, made again from its archive alone: the very figures, maps and rows that it was computed from.

The archive takes the place of the workspace under the functions that issue: :class:`KeptMonth` is the month's
:class:`~geobill.pipeline.month.Stored`, :class:`KeptDrafting` the decree's :class:`~geobill.pipeline.drafting.Drafting`.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import geopandas as gpd
import pandas as pd
import shapely

from geobill.billing.month import digest, draft_invoice
from geobill.documents.overrides.folder import PACKAGE, Templates
from geobill.domain.dates import BillingMonth
from geobill.domain.invoice import Basis, Bill, Decision, DecreeDraft, Invoice, OperatorBill, SetOff
from geobill.domain.permit import Decree, PermitFile
from geobill.domain.record import from_plain
from geobill.domain.suspension import SuspensionFile
from geobill.errors import InputError
from geobill.frames import EQUIPMENT, SEGMENTS, ZONES
from geobill.intake.coverage import draw_coverage
from geobill.law.policy import Policy, parse_policy
from geobill.law.reading import parse_statute
from geobill.law.statutes import STATUTES, load_statute
from geobill.law.statutes.street_use import StreetUseLaw
from geobill.pipeline.drafting import Drafted, Drafting
from geobill.pipeline.month import OWN, Month, Stored
from geobill.pricing.cased import CASES
from geobill.pricing.price import PricedMonth
from geobill.store.ledger import Ledger
from geobill.store.settings import Settings

ARCHIVE = "archive"  # the batch of what comes from no batch
Texts = Mapping[str, str]


def priced_again(ledger: Ledger, invoice: Invoice, srid: int, *, located: bool = False) -> PricedMonth:
    """Price an issued invoice again from its archive alone."""
    texts = {role: ledger.load_archived(found) for role, found in invoice.basis.digests}
    return KeptMonth(invoice, texts, Frames(srid)).price(invoice.month, located).priced


class Frames:
    """Archived rows as frames, each text read once: a map edition serves many invoices."""

    def __init__(self, srid: int):
        self._srid = srid
        self._zones: dict[str, gpd.GeoDataFrame] = {}
        self._coverages: dict[tuple[str, str, str], gpd.GeoDataFrame] = {}

    def zones(self, text: str) -> gpd.GeoDataFrame:
        """Return the zones of an archived edition."""
        if text not in self._zones:
            self._zones[text] = stored_frame(text, ZONES, self._srid)
        return self._zones[text]

    def rows(self, texts: Texts) -> tuple[gpd.GeoDataFrame, gpd.GeoDataFrame]:
        """Return archived segments and equipment, with the cases that charge them."""
        charging = json.loads(texts.get("row_cases", "{}"))
        contracts = {"network": SEGMENTS, "equipment": EQUIPMENT}
        found = [_with_cases(stored_frame(texts[r], c, self._srid), charging.get(r)) for r, c in contracts.items()]
        return found[0], found[1]

    def coverage(self, text: str, policy: Policy) -> gpd.GeoDataFrame:
        """Draw the coverage of an archived edition under a policy, as it was drawn for its papers."""
        zones = self.zones(text)
        if not len(zones):
            return zones
        key = (text, policy.on_overlap, policy.as_text()["max_gap_m"])
        if key not in self._coverages:
            self._coverages[key] = draw_coverage(zones, policy.on_overlap, float(policy.max_gap_m))  # type: ignore[arg-type]
        return self._coverages[key]


class KeptMonth(Stored):
    """What one invoice was priced from, out of the archive; it prices that invoice's month and operator.

    The number, the days, who issues and who pays, and the edition's name are the record's own: nothing computes them.
    """

    def __init__(self, invoice: Invoice, texts: Texts, frames: Frames):
        self.terms, self._invoice, self._texts = OWN, invoice, texts
        self.law = kept_law(texts)
        self.decisions = kept_decisions(texts)
        self.operators = {invoice.operator.id: invoice.operator}
        self.files, self.cases = {}, {}
        published = json.loads(texts["permits"]) if "permits" in texts else None
        self.decrees = None if published is None else {n: date.fromisoformat(day) for n, day in published.items()}
        orders = [from_plain(SuspensionFile, s) for s in json.loads(texts.get("suspensions", "[]"))]
        self.suspensions = {order.suspension.id: order for order in orders}
        self.segments, self.equipment = frames.rows(texts)
        self._zones = {ARCHIVE: frames.zones(texts["edition"])}

    def policy(self, month: BillingMonth) -> Policy:
        """Return the archived policy."""
        return kept_policy(self._texts)

    def edition(self, month: BillingMonth) -> tuple[str | None, date | None, str | None]:
        """Name the archived edition as the record does."""
        basis = self._invoice.basis
        return basis.edition, basis.edition_in_force_from, ARCHIVE

    def invoice(self, found: Month, inputs: Mapping[str, str]) -> tuple[Invoice, OperatorBill]:
        """Issue the invoice again from its priced month; ``inputs`` are the digests of what it was computed from, by role."""
        recorded = self._invoice
        mine = next((o for o in found.bill.operators if o.operator.id == recorded.operator.id), None)
        if mine is None:
            raise InputError(f"From its archive nothing is due from {recorded.operator.id} in {recorded.month}.")
        bill: Bill = replace(found.bill, basis=_basis(found.bill.basis, self._texts, inputs))
        set_offs = tuple(from_plain(SetOff, s) for s in json.loads(self._texts.get("set_offs", "[]")))
        made = draft_invoice(
            bill,
            mine,
            self.law,
            recorded.authority,
            recorded.number,
            recorded.issued_on,
            recorded.due_on,
            set_offs,
        )
        return made, mine


class KeptDrafting(Drafting):
    """What one decree was priced from, out of the archive: it drafts that decree again."""

    def __init__(self, decree: Decree, file: PermitFile, texts: Texts, frames: Frames, settings: Settings):
        draft = decree.draft
        self.settings = replace(settings, authority=draft.authority)
        self._month, self._draft_kept, self._texts, self._frames = None, draft, texts, frames
        self.law = kept_law(texts)
        self._decisions = kept_decisions(texts)
        self.operators = {draft.operator.id: draft.operator}
        self.templates = kept_templates(texts)
        self.files, self.cases = {file.permit.number: file}, {}
        self._rows = frames.rows(texts)
        self._zones = {ARCHIVE: frames.zones(texts["edition"])}
        self._cuts, self._editions = {}, {}
        basis = draft.basis
        self._cadastre = _OneEdition(basis.edition, basis.edition_in_force_from)  # type: ignore[assignment]

    def policy_on(self, on: date) -> Policy:
        """Return the archived policy."""
        return kept_policy(self._texts)

    def rows_on(self, on: date) -> tuple[Any, Any]:
        """Return the archived rows, which follow the permits of their day already."""
        return self._rows

    def _inputs(self, segments: Any, equipment: Any, batch: str | None, policy: Policy) -> dict[str, str]:
        return {role: text for role, text in self._texts.items() if role != "permit"}

    def _coverage(self, batch: str | None, policy: Policy) -> gpd.GeoDataFrame:
        return self._frames.coverage(self._texts["edition"], policy)

    def decree_draft(self, drafted: Drafted, inputs: Mapping[str, str]) -> DecreeDraft:
        """Return the draft as it stood in the decree; ``inputs`` as in :meth:`KeptMonth.invoice`, the permit's rows computed."""
        computed = {role: found for role, found in drafted.draft.basis.digests if role == "permit"}
        basis = _basis(drafted.draft.basis, self._texts, {**inputs, **computed})
        made = replace(drafted.draft, basis=basis)
        return replace(made, digest=digest(made))


class _OneEdition:
    """The archived edition in the cadastre's place."""

    def __init__(self, name: str | None, since: date | None):
        self._found = [] if name is None or since is None else [(name, since, ARCHIVE)]

    def find_editions(self) -> list[tuple[str, date, str]]:
        return self._found


def _basis(computed: Basis, texts: Texts, inputs: Mapping[str, str]) -> Basis:
    """Basis with the policy keys that were archived, and no younger ones, and the digests of the inputs."""
    kept = json.loads(texts["policy"])
    policy = tuple(use for use in computed.policy if use.key in kept)
    return replace(computed, policy=policy, digests=tuple(sorted(inputs.items())))


def kept_law(texts: Texts) -> StreetUseLaw:
    """Return the archived statute.

    While a statute's text held figures alone (schema versions 1 and 2) the program itself knew the articles that set
    none: those of the same statute as the package has it.
    """
    figures = parse_statute(texts["statute"])
    if not figures.rules and figures.id in STATUTES:
        figures = replace(figures, rules=load_statute(figures.id).figures.rules)
    return StreetUseLaw(figures)


def statute_of_note(texts: Texts) -> StreetUseLaw:
    """Return the statute that was archived with a note; that of its last month where each has its own."""
    role = max(role for role in texts if role.rpartition("/")[2] == "statute")
    return kept_law({"statute": texts[role]})


def kept_policy(texts: Texts) -> Policy:
    """Return an archived policy; keys that are younger take their defaults, which change nothing that was issued."""
    return parse_policy(json.loads(texts["policy"]))


def kept_decisions(texts: Texts) -> dict[str, Decision]:
    """Return archived decisions by id."""
    return {d.id: d for d in (from_plain(Decision, raw) for raw in json.loads(texts["decisions"]))}


def kept_templates(texts: Texts) -> Templates:
    """Return the workspace's templates that something was printed with; the package's where there were none."""
    if "templates" not in texts:
        return PACKAGE
    return Templates({name: text.encode() for name, text in json.loads(texts["templates"]).items()})


def _with_cases(frame: gpd.GeoDataFrame, charging: Mapping[str, Sequence[str]] | None) -> gpd.GeoDataFrame:
    """Rows with the cases that charge them, by their places; see :func:`geobill.pipeline.papers.charging_cases`."""
    if not charging:
        return frame
    cases = [tuple(charging.get(str(place), ())) for place in range(len(frame))]
    return frame.assign(**{CASES: pd.Series(cases, index=frame.index, dtype=object)})


def stored_frame(text: str, columns: Iterable[str], srid: int) -> gpd.GeoDataFrame:
    """Frame of archived rows; see :func:`geobill.pipeline.papers.inputs_of`."""
    rows, names = json.loads(text), [c for c in columns if c != "geometry"]
    data = {name: [row[n] for row in rows] for n, name in enumerate(names)}
    shapes = shapely.from_wkb([bytes.fromhex(row[-1]) for row in rows])
    frame = gpd.GeoDataFrame(data, geometry=list(shapes), crs=srid)
    return frame.astype({n: object for n in names if n != "source_row"})
