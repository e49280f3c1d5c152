"""The archived inputs of what was issued: each against its digest, and row by row against the imported files."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import geopandas as gpd
from sqlalchemy import Connection

from geobill.domain.invoice import Basis
from geobill.domain.record import canonical_json, sha256
from geobill.frames import ZONES
from geobill.pipeline.differing import limited, record_differences, statute_differences
from geobill.pipeline.law import load_law
from geobill.pipeline.papers import rows_text
from geobill.pipeline.press import KIND as PRESS
from geobill.pipeline.press import load_presses
from geobill.pipeline.replay import Frames
from geobill.pipeline.tracing import TABLES, Tracing
from geobill.store.audit import Audit
from geobill.store.networks import Cadastre
from geobill.store.registers import Registers
from geobill.store.workspace import Workspace

SHORT = 12  # digits of a digest that a message shows


@dataclass(frozen=True)
class Difference:
    """One thing that isn't as it was issued: a code and a sentence that names it."""

    code: str
    message: str


@dataclass(frozen=True)
class Inputs:
    """What something was computed from, as the archive has it now: text by role, digests by role, and what differs."""

    texts: dict[str, str]
    named: dict[str, str]
    differences: tuple[Difference, ...]


class Look:
    """What every check of a run shares, over one open transaction."""

    def __init__(self, workspace: Workspace, connection: Connection):
        tables = workspace.database.tables
        self.workspace, self.connection, self.settings = workspace, connection, workspace.settings
        self.audit = Audit(connection, tables)
        self.tracing = Tracing(self.audit)
        self.frames = Frames(workspace.database.srid)
        self.cadastre = Cadastre(connection, tables, workspace.database.srid)
        self._editions: dict[str, str] = {}
        self._coverages: dict[tuple[str, str, str], gpd.GeoDataFrame] = {}

    @cached_property
    def presses(self) -> dict[str, dict[str, str]]:
        """Which program printed each number's papers, where it was kept."""
        return load_presses(self.audit)

    @cached_property
    def cancelled(self) -> set[str]:
        """Numbers of cancelled invoices."""
        return self.audit.cancelled()

    @cached_property
    def statute(self) -> str:
        """The statute as the workspace has it today, to name a figure that was altered in the archive."""
        return load_law(self.workspace, self.connection).figures.source

    @cached_property
    def decisions(self) -> str:
        """Every recorded decision, as canonical text."""
        return canonical_json(
            list(Registers(self.connection, self.workspace.database.tables).load_decisions().values())
        )

    @cached_property
    def _referenced(self) -> set[str]:
        found = {row.sha256 for table in ("invoice_inputs", "note_inputs") for row in self.audit.rows(table)}
        for table in ("invoices", "decrees", "notes"):
            for row in self.audit.rows(table):
                found |= _digests_in(row.record)
        return found

    def edition_text(self, batch: str) -> str:
        """Zones of a batch as they would be archived."""
        if batch not in self._editions:
            self._editions[batch] = rows_text(self.cadastre.load_zones(batch), ZONES)
        return self._editions[batch]

    def coverage(self, batch: str, on_overlap: str, max_gap_m: str) -> gpd.GeoDataFrame:
        """Return the coverage that the store drew of a batch."""
        key = (batch, on_overlap, max_gap_m)
        if key not in self._coverages:
            self._coverages[key] = self.cadastre.load_coverage(*key)
        return self._coverages[key]

    def orphan(self, kind: str) -> tuple[str, bytes] | None:
        """Return what the archive keeps of a kind that nothing refers to, where it is one alone: an altered one, by its looks."""
        found = [(d, c) for d, c in self.audit.archive_rows(kind) if d not in self._referenced]
        return found[0] if kind != PRESS and len(found) == 1 else None


def _digests_in(record: str) -> set[str]:
    """Digests that a record names, as far as it can be read."""
    try:
        raw = json.loads(record)
        basis = raw.get("basis") or raw["draft"]["basis"]
        return {digest for _, digest in basis["digests"]}
    except (ValueError, KeyError, TypeError, AttributeError):
        return set()


def read_inputs(
    look: Look, basis: Basis, listed: Mapping[str, str] | None, at: str, operator: str, *, one_edition: bool = True
) -> Inputs:
    """Read what a record was computed from and say what isn't as it was.

    Parameters
    ----------
    look : Look
    basis : Basis
        Of the record: its digests say what each input must be.
    listed : mapping of role to digest, or None
        As the table of inputs has them; None where a record has no such table.
    at : str
        Moment of issue (UTC, ISO text with Z), to prefer the batch that was in force.
    operator : str
        Whose rows the network and the equipment are.
    one_edition : bool
        Whether the basis names the only edition of the Mapa de Valores; else an edition's rows may be of any batch.
    """
    named, texts, found = dict(basis.digests), {}, []
    for role in dict.fromkeys([*named, *(listed or {})]):
        digest = named.get(role) or (listed or {})[role]
        if listed is not None and listed.get(role) != named.get(role):
            said = f"{role}: the table of inputs lists {_short(listed.get(role))}, the record names {_short(named.get(role))}"
            found.append(Difference("input_unlisted", said))
        text, wrong = _read_one(look, role, digest, (listed or {}).get(role))
        found += wrong
        if text is not None:
            texts[role] = text
            found += _compare(look, role, text, basis, at, operator, altered=bool(wrong), one_edition=one_edition)
    return Inputs(texts, named, tuple(found))


def _read_one(look: Look, role: str, digest: str, listed: str | None) -> tuple[str | None, list[Difference]]:
    """Text of an input, or what takes its place, and what is wrong with it."""
    kind = role.rpartition("/")[2]
    kept = look.audit.archived(digest)
    if kept is None:
        said = f"{role}: the archive has nothing under {_short(digest)}, which it was computed from"
        instead = look.audit.archived(listed) if listed is not None and listed != digest else None
        content = instead.content if instead is not None else None
        if content is None and (orphan := look.orphan(kind)) is not None:
            said += f"; it keeps a {kind} under {_short(orphan[0])} that nothing refers to"
            content = orphan[1]
        return _decoded(content), [Difference("input_missing", said)]
    if kept.content is None:
        return None, [Difference("input_altered", f"{role}: what is archived under {_short(digest)} can't be unpacked")]
    if sha256(kept.content) != digest:
        own = _short(sha256(kept.content))
        said = f"{role}: the archived text isn't the one that was computed from (SHA-256 {own}, not {_short(digest)})"
        return _decoded(kept.content), [Difference("input_altered", said)]
    return _decoded(kept.content), []


def _decoded(content: bytes | None) -> str | None:
    return None if content is None else content.decode("utf-8", errors="replace")


def _compare(
    look: Look, role: str, text: str, basis: Basis, at: str, operator: str, *, altered: bool, one_edition: bool
) -> list[Difference]:
    """Name what differs inside of an input; rows of the cadastre are compared even where the digest is right."""
    kind = role.rpartition("/")[2]
    try:
        if kind in TABLES:
            among = None
            if kind == "edition" and one_edition:
                since = basis.edition_in_force_from
                among = look.tracing.edition_batches(basis.edition, since.isoformat() if since else None)
            said = look.tracing.differences(kind, text, at, among)
            if altered and kind != "edition":
                said = (*said, *look.tracing.missing(kind, text, at, operator))
        elif not altered:
            said = ()
        elif kind == "statute":
            said = statute_differences(text, look.statute)
        elif kind == "policy":
            recorded = {use.key: use.value for use in basis.policy}
            said = tuple(
                f"{key} is {value!r} in the archive, {recorded.get(key)!r} in the record"
                for key, value in json.loads(text).items()
                if recorded.get(key) != value
            )
        elif kind == "decisions":
            said = record_differences(text, look.decisions)
        else:
            said = ()
    except Exception as fault:  # an altered text may fail anywhere, and that too is said
        return [Difference("input_altered", f"{role}: it can't be read ({type(fault).__name__}: {fault})")]
    code = "input_altered" if altered else "cadastre_differs"
    return [Difference(code, f"{role}: {one}") for one in limited(said)]


def _short(digest: str | None) -> str:
    return "nothing" if digest is None else f"{digest[:SHORT]}…"
