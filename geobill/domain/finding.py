"""What a check found in somebody's file: values, never exceptions, collected and shown together."""

from dataclasses import dataclass, field
from typing import Any, Literal

from geobill.domain.record import added

REASON_CODES: tuple[str, ...] = (
    "width_missing",
    "width_not_positive",
    "no_geometry",
    "zero_length",
    "duplicate",
    "wrong_geometry_type",
    "outside_municipality",
    "value_missing",
    "value_not_positive",
    "volume_missing",
    "volume_not_positive",
    "date_unreadable",
    "number_unreadable",
    "unknown_operator",
    "invalid_geometry",
)


@dataclass(frozen=True)
class SetAside:
    """A row that can't be used, with its place in its layer (first row is 1), its id and why."""

    row: int
    id: str
    reason_code: str
    reason: str
    layer: str | None = added(None)


@dataclass(frozen=True)
class Finding:
    """Something a person should know about a file: code, rows, why it matters (message) and what to do (fix)."""

    code: str
    severity: Literal["error", "warning", "note"]
    message: str
    fix: str = ""
    layer: str | None = None
    rows: tuple[int, ...] = ()


@dataclass(frozen=True)
class CrsUse:
    """Which coordinate operation carried a file into the workspace's system.

    ``accuracy_m`` is None where no datum shift was needed.
    """

    source: str
    target: str
    operation: str | None
    accuracy_m: float | None


@dataclass(frozen=True)
class LayerRead:
    """What one layer of an import came to; ``first_row`` is the number of its first row in the batch.

    ``length_m`` is exact decimal text, of what was accepted.
    """

    name: str
    first_row: int
    read: int
    accepted: int
    length_m: str
    crs: CrsUse


@dataclass(frozen=True)
class ImportReport:
    """What one import read, took and set aside: ``read = accepted + len(set_aside)``.

    ``length_m`` is exact decimal text; ``bounds`` (minx, miny, maxx, maxy) are in the workspace's system, both of
    what was accepted. ``quarantine`` are the files that the rows set aside were written to, known once the import is kept.
    """

    batch: str | None
    sha256: str
    read: int
    accepted: int
    set_aside: tuple[SetAside, ...]
    length_m: str
    bounds: tuple[float, float, float, float] | None
    crs: CrsUse
    findings: tuple[Finding, ...] = ()
    extra: dict[str, Any] = field(default_factory=dict)
    layers: tuple[LayerRead, ...] = added(())
    quarantine: tuple[str, ...] = added(())
