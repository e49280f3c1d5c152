"""What an issued decree would cost now, and why that isn't what it says: the ground of an *apostila* (art. 6 § 1)."""

from dataclasses import dataclass
from decimal import Decimal

from geobill.domain.invoice import DecreeDraft
from geobill.domain.permit import Decree, PermitFile

REDUCER, EDITION, NETWORK, POLICY, FIGURES = "reducer", "edition", "network", "policy", "figures"
CAUSES: tuple[str, ...] = (REDUCER, EDITION, NETWORK, POLICY, FIGURES)


@dataclass(frozen=True)
class Cause:
    """One thing that changed between two prices: a member of ``CAUSES``, what of it, and both values as text.

    ``what`` is ``reducer``, ``edition``, ``length_m``, ``volume_m3``, ``drawing``, a policy key or the name of a figure.
    """

    cause: str
    what: str
    before: str
    now: str


@dataclass(frozen=True)
class PriceChange:
    """An issued decree whose price of today isn't the one that was recorded last.

    ``last`` is where the recorded price stands: the decree, or its last apostila. ``draft`` is the price now; its total
    is None where the law is silent about R.
    """

    file: PermitFile
    last: Decree
    draft: DecreeDraft
    causes: tuple[Cause, ...]

    @property
    def decree(self) -> Decree:
        """Return the decree that is concerned."""
        decree = self.file.decree
        if decree is None:
            raise ValueError(f"permit {self.file.permit.number} has no decree")
        return decree

    @property
    def recorded(self) -> Decimal:
        """Return the monthly price that was recorded last, in reais."""
        total = self.last.draft.price.total
        if total is None:
            raise ValueError(f"{self.last.number} was recorded without a price")
        return total
