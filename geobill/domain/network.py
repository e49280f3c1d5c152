"""Who owns what in the street."""

from dataclasses import dataclass
from typing import Literal

from geobill.domain.record import added

Status = Literal[
    "permitted", "existing", "planned", "clandestine", "unregistered", "clandestine_unregistered", "suspected"
]
STATUSES: tuple[str, ...] = (
    "permitted",
    "existing",  # before the law, its register handed over (art. 12)
    "planned",  # not in the street yet: counts from the decree that grants it (arts. 2, 3)
    "clandestine",  # confirmed, can't be removed: double (art. 10 § 2)
    "unregistered",  # before the law, its register not handed over in time: double (art. 12 § 3)
    "clandestine_unregistered",  # both; policy doublings_cumulate
    "suspected",  # found, not judged: charged nothing until its case is decided (art. 10 § 1)
)
PLANNED, SUSPECTED = "planned", "suspected"
NOT_YET: frozenset[str] = frozenset({PLANNED, SUSPECTED})  # stored, and due on no day as they are
DOUBLED: frozenset[str] = frozenset({"clandestine", "unregistered", "clandestine_unregistered"})
LAWFUL: frozenset[str] = frozenset({"permitted", "existing"})  # may stand in the street
KINDS: tuple[str, ...] = ("private", "public", "municipal")


@dataclass(frozen=True)
class Operator:
    """Who owns the equipment and pays for it.

    ``kind`` is ``municipal`` only for a public-law entity of this very municipality (Lei 3.057/2001, art. 13);
    a company that the city owns is ``private``.
    """

    id: str
    name: str
    kind: str = "private"
    cnpj: str = ""
    service: str = ""
    address: str = ""
    email: str = ""
    representative: str = ""


@dataclass(frozen=True)
class Authority:
    """The city hall that issues: how it signs, and where it is."""

    municipality: str
    state: str
    name: str
    cnpj: str = ""
    address: str = ""
    secretariat: str = ""
    legal_office: str = ""
    mayor: str = ""
    payment_instructions: str = ""
    mayor_title: str = added("Prefeito Municipal")


@dataclass(frozen=True)
class Municipality:
    """Where a municipality lies and in which system it measures.

    ``bbox`` is (min_lon, min_lat, max_lon, max_lat) in degrees of EPSG:4674; ``crs`` is the workspace's projected
    system, ``EPSG:n``; ``margin_m`` is how far outside the box something may lie and still be taken. ``boundary_wkb`` is
    the municipality's own outline in ``crs``, as well-known binary; where there is one, it counts instead of the box.
    """

    name: str
    bbox: tuple[float, float, float, float]
    crs: str
    margin_m: float = 500.0
    boundary_wkb: bytes | None = None

    @property
    def srid(self) -> int:
        """EPSG code of the measuring system."""
        return int(self.crs.split(":")[1])
