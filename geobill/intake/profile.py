"""Profiles: what the files of one kind of sender look like, and how one of their layers is read by that."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fnmatch import fnmatchcase

from geobill.intake.cabinets import KEYS as CABINET_KEYS
from geobill.intake.cabinets import SIDES
from geobill.intake.columns import matching_columns
from geobill.intake.land_values import KEYS as VALUE_KEYS
from geobill.intake.network import KEYS as NETWORK_KEYS

KEYS: Mapping[str, tuple[str, ...]] = {"network": NETWORK_KEYS, "cabinets": CABINET_KEYS, "land_values": VALUE_KEYS}
# what a profile may say of a layer: how it is imported; that it isn't charged (why); that nobody opens it (why)
NOT_CHARGED, CLOSED = "none", "closed"
KINDS: tuple[str, ...] = (*KEYS, NOT_CHARGED, CLOSED)
ANY = "*"
# where several columns could hold one of these, the first that the profile names is taken: no amount hangs on it
_BY_ORDER = frozenset({"segment", "equipment", "service", "level", "zone"})
SIGNS_NEEDED, CLOSED_SIGNS = 4, 3  # columns that tell one layer's sender; fewer close one that may hold persons' data


@dataclass(frozen=True)
class Width:
    """A default strip width in metres, and the decision it rests on; for one service or level, or any (None)."""

    width_m: Decimal
    decision: str
    service: str | None = None
    level: str | None = None


@dataclass(frozen=True)
class LayerProfile:
    """How the layers of some names are read.

    ``match`` are names, or patterns with ``*`` and ``?``; ``*`` alone takes whichever layer the user means.
    ``columns`` gives for each key the names that its column may have, the likeliest first; ``absent`` the texts that say
    "not informed", by key. ``status_if_known`` takes the status column only where each of its words is known.
    """

    match: tuple[str, ...]
    kind: str
    reason: str = ""
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)
    absent: Mapping[str, frozenset[str]] = field(default_factory=dict)
    statuses: Mapping[str, str] = field(default_factory=dict)
    status_if_known: bool = False
    unit: str = "m"
    units: Mapping[str, str] = field(default_factory=dict)
    width: Width | None = None

    @property
    def is_general(self) -> bool:
        """Whether it takes a layer of any name."""
        return ANY in self.match

    def names(self, layer: str) -> bool:
        """Whether it means a layer, whatever the case; of a layer in a folder or an archive its last name counts too."""
        return self.pattern(layer) is not None

    def pattern(self, layer: str) -> str | None:
        """Return the first of its names or patterns that means a layer."""
        folded = layer.casefold()
        last = folded.replace("\\", "/").rpartition("/")[2]
        return next((m for m in self.match for name in (folded, last) if fnmatchcase(name, m.casefold())), None)


@dataclass(frozen=True)
class Profile:
    """What one kind of sender delivers; ``source`` is what that rests on, ``digest`` the SHA-256 of its text.

    ``signs`` are columns by which the sender is known, where the names of its layers are words that anybody uses.
    """

    name: str
    title: str
    source: str
    layers: tuple[LayerProfile, ...]
    digest: str
    signs: tuple[str, ...] = ()

    @property
    def guards(self) -> bool:
        """Whether it names layers that nobody may open."""
        return any(one.kind == CLOSED for one in self.layers)

    def entry(self, layer: str, kind: str | None = None) -> LayerProfile | None:
        """Return what it says of a layer: the first that names it, of that kind, not charged or closed."""
        for one in self.layers:
            if one.names(layer) and (kind is None or one.kind in (kind, NOT_CHARGED, CLOSED)):
                return one
        return None

    def opens(self, layer: str) -> bool:
        """Whether a layer may be opened to look at it: it is named, and not as closed."""
        entry = self.entry(layer)
        return entry is not None and entry.kind != CLOSED

    def of_kind(self, kind: str) -> tuple[LayerProfile, ...]:
        """Return what it says of layers of one kind."""
        return tuple(one for one in self.layers if one.kind == kind)


@dataclass(frozen=True)
class Proposal:
    """How a layer could be imported: a mapping to be looked at, never applied by itself.

    ``missing`` are keys for which no column was found, ``unclear`` those that several columns could hold. ``reason``
    says why nothing of a layer is charged, where its kind is ``none`` or ``closed``.
    """

    profile: str | None
    kind: str
    mapping: Mapping[str, str]
    constants: Mapping[str, str]
    missing: tuple[str, ...]
    unclear: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    reason: str = ""


# -- which columns


def find_columns(
    columns: Mapping[str, Sequence[str]], names: Sequence[str]
) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """Find the column of each key; no column is given to two keys.

    Returns
    -------
    dict of str to str, dict of str to tuple
        The column of each key that one was found for, and the columns of each that could be any of several.
    """
    found: dict[str, str] = {}
    unclear: dict[str, tuple[str, ...]] = {}
    for key, aliases in columns.items():
        hits = list(dict.fromkeys(c for alias in aliases for c in matching_columns(alias, names)))
        hits = [c for c in hits if c not in found.values()]
        if len(hits) == 1 or (hits and key in _BY_ORDER):
            found[key] = hits[0]
        elif hits:
            unclear[key] = tuple(hits)
    return found, unclear


# -- what could be proposed


def propose(
    layer_name: str,
    columns: Sequence[str],
    profiles: Sequence[Profile],
    shape: str | None = None,
    known: Profile | None = None,
) -> Proposal | None:
    """Propose how a layer could be imported.

    Parameters
    ----------
    layer_name : str
    columns : sequence of str
        Names of its columns, without the geometry.
    profiles : sequence of Profile
        Those that are known; the earlier goes first where two fit alike.
    shape : {"lines", "points", "polygons"} or None
        What its geometries mostly are, where that is known.
    known : Profile or None
        The one by which the whole file was recognised; see `recognise`. One with signs counts only where it is that.

    Returns
    -------
    Proposal or None
        By the profile that names the layer and finds most of its columns; else by a general one's aliases. None where no
        column is known.
    """
    told = [p for p in profiles if not p.signs or p == known]
    named = [(p, e) for p in told if (e := p.entry(layer_name)) is not None and not e.is_general]
    # what isn't charged of a sender known by signs are points, areas and tables: lines of such a name are something else
    named = [(p, e) for p, e in named if not (p.signs and e.kind == NOT_CHARGED and shape == "lines")]
    for profile, entry in named:
        if entry.kind in (NOT_CHARGED, CLOSED):
            return Proposal(profile.name, entry.kind, {}, {}, (), {}, entry.reason)
    general = [(p, e) for p in profiles for e in p.layers if e.is_general and _suits(e.kind, shape)]
    for candidates in (named, general):
        best = max(
            (_proposal(p, e, columns) for p, e in candidates), key=lambda one: len(one.mapping), default=None
        )  # the first of those that find most
        if best is not None and best.mapping:
            return best
    return None


def _suits(kind: str, shape: str | None) -> bool:
    kinds = {"lines": ("network",), "points": ("cabinets",), "polygons": ("land_values", "cabinets")}
    return shape is None or kind in kinds.get(shape, ())


def _proposal(profile: Profile, entry: LayerProfile, columns: Sequence[str]) -> Proposal:
    found, unclear = find_columns(entry.columns, columns)
    if "volume" in found:
        found = {k: v for k, v in found.items() if k not in SIDES}
        unclear = {k: v for k, v in unclear.items() if k not in SIDES}
    missing = tuple(k for k in entry.columns if k not in found and k not in unclear)
    return Proposal(profile.name, entry.kind, found, dict(entry.constants), missing, unclear)


def recognise(
    layer_names: Sequence[str],
    profiles: Sequence[Profile],
    columns: Callable[[str], Sequence[str]] = lambda name: (),
) -> Profile | None:
    """Return the profile whose whitelist a file falls under; None where there is none.

    Only profiles that close layers count. A file is recognised by one layer that is charged, or by two others. Where the
    profile has signs, one name isn't enough (``base`` and ``pip`` are anybody's words): two different ones are, or one
    whose columns are the sender's.

    Parameters
    ----------
    layer_names : sequence of str
        All of the file's.
    profiles : sequence of Profile
    columns : callable
        Gives the names of a layer's columns; asked only where they decide.
    """

    def weight(profile: Profile) -> int:
        named = [(n, e) for n in layer_names if (e := profile.entry(n)) is not None]
        if not profile.signs:
            return len(named) if len(named) > 1 or {e.kind for _, e in named} & set(KEYS) else 0
        enough = len({e.pattern(n) for n, e in named}) > 1 or any(_signed(profile, e, columns(n)) for n, e in named)
        return len(named) if enough else 0

    weights = {p.name: weight(p) for p in profiles if p.guards}
    best = max((p for p in profiles if p.guards), key=lambda p: weights[p.name], default=None)
    return best if best is not None and weights[best.name] else None


def _signed(profile: Profile, entry: LayerProfile, columns: Sequence[str]) -> bool:
    """Whether a layer's columns are the sender's."""
    seen = {c.casefold() for c in columns} & {s.casefold() for s in profile.signs}
    return len(seen) >= (CLOSED_SIGNS if entry.kind == CLOSED else SIGNS_NEEDED)
