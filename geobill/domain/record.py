"""Records as canonical JSON and back: the form that is digested, archived and read again years later."""

import dataclasses
import hashlib
import json
import types
import typing
from datetime import date
from decimal import Decimal
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from geobill.domain.dates import BillingMonth
from geobill.domain.money import plain
from geobill.domain.ratio import Ratio

T = TypeVar("T")


def added(default: Any) -> Any:
    """Make a field that records of earlier versions don't have: left out of the canonical text while it says nothing.

    So an invoice that was issued before the field existed still has the digest that is printed on it.
    """
    return dataclasses.field(default=default, metadata={"added": True})


def to_plain(value: Any) -> Any:
    """Turn a record into dicts, lists and text.

    Decimals become plain digits, ratios two of them with a stroke, dates ISO text, months YYYY-MM.

    Examples
    --------
    >>> to_plain((Decimal("1E+2"), date(2026, 11, 30), BillingMonth(2026, 11)))
    ['100', '2026-11-30', '2026-11']
    """
    if isinstance(value, (BillingMonth, Ratio)):
        return str(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_plain(getattr(value, f.name)) for f in dataclasses.fields(value) if _says(value, f)}
    if isinstance(value, Decimal):
        return plain(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, dict):
        return {str(k): to_plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_plain(v) for v in value]
    return value


def _says(record: Any, field: "dataclasses.Field[Any]") -> bool:
    """Whether a field stands in the canonical text; an added one only where it differs from its default."""
    return "added" not in field.metadata or getattr(record, field.name) != field.default


def canonical_json(value: Any) -> str:
    """One text for one record: keys sorted, no white space, UTF-8 characters as they are."""
    return json.dumps(to_plain(value), sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def sha256(text: str | bytes) -> str:
    """SHA-256 in lower-case hex of bytes, or of text in UTF-8."""
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def from_plain(kind: type[T], value: Any) -> T:
    """Rebuild a record of a known class from what :func:`to_plain` made of it."""
    return typing.cast(T, _rebuild(kind, value))


def _meant(kinds: tuple[Any, ...], value: Any) -> Any:
    """Return the member of a union that a plain value was made of: a Ratio is the one with a stroke in it."""
    if Ratio in kinds and isinstance(value, str) and "/" in value:
        return Ratio
    return next(k for k in kinds if k not in (type(None), Ratio))


def _rebuild(kind: Any, value: Any) -> Any:
    if get_origin(kind) in (types.UnionType, typing.Union):
        return None if value is None else _rebuild(_meant(get_args(kind), value), value)
    if get_origin(kind) is tuple:
        inner = get_args(kind)
        if len(inner) == 2 and inner[1] is Ellipsis:
            return tuple(_rebuild(inner[0], v) for v in value)
        return tuple(_rebuild(k, v) for k, v in zip(inner, value, strict=True))
    if kind is BillingMonth:
        return BillingMonth.parse(value)
    if kind is Ratio:
        return Ratio.parse(value)
    if dataclasses.is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{name: _rebuild(hints[name], v) for name, v in value.items()})  # type: ignore[operator]
    if kind is Decimal:
        return Decimal(value)
    if kind is date:
        return date.fromisoformat(value)
    return value
