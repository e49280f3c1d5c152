"""The family of Caieiras's Lei 3.057/2001: a monthly price for the use of streets, article by article.

``Vm = (a × b × T) × L × D × R`` by stretch (art. 7); cabinets by volume (art. 7 § 2) or by the piece; double for
clandestine equipment that can't be removed (art. 10 § 2) and for networks whose register wasn't handed over (art. 12
§ 3). Every figure and every article that is cited stands in a statute's ``.toml``; the articles named in this module
are Caieiras's, to read the code by.
"""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cached_property

from geobill.domain.dates import BillingMonth, months_after
from geobill.domain.network import DOUBLED
from geobill.domain.ratio import Ratio
from geobill.errors import LawError
from geobill.law.charge import Asked, Silence
from geobill.law.figures import StatuteFigures
from geobill.law.late import LateCharge, late_charge
from geobill.law.statutes.formula import ONE, billed_width, product, reducer_by


@dataclass(frozen=True)
class StreetUseLaw:
    """The law with its dated figures; each question takes the day whose figures apply."""

    figures: StatuteFigures

    def articles(self, name: str, on: date) -> tuple[str, ...]:
        """Return the articles of a figure in force on a day, or of a rule of ``[articles]``; none where the law has none.

        See :meth:`geobill.law.figures.StatuteFigures.articles`.
        """
        return self.figures.articles(name, on)

    def day_for(self, month: BillingMonth) -> date:
        """Return the day whose figures a month takes: its first, or the law's publication in the month in which it came."""
        published = self.figures.published_on
        return published if month.first_day < published <= month.last_day else month.first_day

    def article(self, name: str, on: date) -> str:
        """Return the first of :meth:`articles`, or the price's own article where the law names none for it."""
        return (self.articles(name, on) or self.articles("price", on) or self.articles("location_index", on))[0]

    def exemption(self, operator_kind: str) -> str | None:
        """Return the article that frees an operator: art. 13, public-law entities of this municipality only."""
        return self.figures.rules.get("exemption") if operator_kind == "municipal" else None

    def method(self, on: date) -> str | None:
        """Return how the law itself says that R is applied, ``whole`` or ``graduated``; None where the policy says."""
        return self.figures.figure("reducer", on).method

    def reducer(
        self, extension_m: Decimal, on: date, *, method: str = "whole", above: Decimal | None = None
    ) -> Decimal | Ratio | Silence:
        """R for an extension, or the silence of art. 7 above its last bracket.

        Parameters
        ----------
        extension_m : Decimal
            Metres of the operator's, or the permit's, network (policy ``reducer_scope``).
        on : date
            Day whose figures apply.
        method : {"whole", "graduated"}
            The policy ``reducer_method``: one R for the whole extension, or the average of the brackets it passes.
        above : Decimal, optional
            R above the last bracket by a decision (art. 15): of the whole extension, or of the metres above.

        Raises
        ------
        LawError
            Where the law itself says how R is applied, and the policy says otherwise.
        """
        scale = self.figures.figure("reducer", on)
        if scale.method not in (None, method):
            raise LawError(
                f"Art. {scale.article} of {self.figures.title} itself says how R is applied ({scale.method}); the policy can't say "
                f"{method}. Write it as the law has it: geobill policy set reducer_method {scale.method}."
            )
        last = scale.brackets[-1]
        found = reducer_by(extension_m, scale.brackets, method, above)
        if found is not None:
            return found
        assert last.up_to is not None  # a bracket without an end answers for every extension
        decided = "".join(f" under art. {a}" for a in self.articles("open_questions", on))
        return Silence(
            "above_100_km",
            self.articles("reducer", on)[-1],
            f"the network of {extension_m} m is above {last.up_to / 1000:f} km, where art. {scale.article} gives no reducer; "
            f"held until a decision{decided} says which applies",
            reducer_by(extension_m, scale.brackets, method, last.value),
        )

    def counts_in_reducer(self, status: str, clandestine_counts: bool) -> bool:
        """Whether a segment's metres set R: undeclared ones only if the policy says so (arts. 7, 10, 12)."""
        return status not in DOUBLED or clandestine_counts

    def network(
        self,
        length_m: Decimal,
        width_m: Decimal,
        land_value: Decimal,
        reducer: Decimal | Ratio,
        status: str,
        on: date,
        *,
        cumulate: bool = False,
    ) -> Asked:
        """Price of metres of network for a whole month (art. 7 caput and § 1; doubled by arts. 10 § 2 and 12 § 3).

        Parameters
        ----------
        length_m : Decimal
            Metres, already rounded to the workspace's ``length_precision_m``.
        width_m : Decimal
            Width of the strip in metres, as declared; charged at 0.50 m at least.
        land_value : Decimal
            T in reais a square metre, by the Mapa de Valores.
        reducer : Decimal or Ratio
            R.
        status : str
            One of ``domain.network.STATUSES``.
        on : date
            Day whose figures apply: the first of the month.
        cumulate : bool
            The policy ``doublings_cumulate``.
        """
        rates = self._rates(on)
        width = billed_width(width_m, rates.minimum_width_m)
        multiplier, articles = self._status(status, on, cumulate)
        factors = (length_m, width, land_value, rates.location_index, rates.depreciation_index, multiplier)
        exact = product(*factors) if isinstance(reducer, Ratio) else product(*factors, reducer)
        return Asked(
            location_index=rates.location_index,
            depreciation_index=rates.depreciation_index,
            reducer=reducer,
            price_per_m3=None,
            multiplier=multiplier,
            exact=exact,
            articles=_cited(rates.articles, articles),
        )

    def billed_width(self, width_m: Decimal, on: date) -> Decimal:
        """Width that is charged for on a day, with two decimals at least; see :func:`billed_width`."""
        width = billed_width(width_m, self.figures.value("minimum_width_m", on))
        short = width.as_tuple().exponent
        return width.quantize(Decimal("0.01")) if isinstance(short, int) and short > -2 else width

    def per_piece(self, on: date) -> bool:
        """Whether cabinets are charged by the piece; else by volume."""
        return self.figures.has("price_per_piece", on)

    def equipment(
        self, volume_m3: Decimal | None, status: str, on: date, *, cumulate: bool = False, pieces: int = 1
    ) -> Asked:
        """Price of cabinets and containers for a whole month: no T, L, D or R.

        Parameters
        ----------
        volume_m3 : Decimal or None
            Cubic metres of all of them (art. 7 § 2); not looked at where the law charges by the piece.
        status : str
            One of ``domain.network.STATUSES``.
        on : date
            Day whose figures apply.
        cumulate : bool
            The policy ``doublings_cumulate``.
        pieces : int
            How many they are, where the law charges by the piece.

        Raises
        ------
        LawError
            Where the law charges by volume and there is none: such a row should have been set aside at import.
        """
        multiplier, articles = self._status(status, on, cumulate)
        by_piece = self.per_piece(on)
        name = "price_per_piece" if by_piece else "price_per_m3"
        price = self.figures.value(name, on)
        if not by_piece and volume_m3 is None:
            raise LawError(f"Equipment is charged by volume (art. {self.article(name, on)}), and no volume was given.")
        quantity = Decimal(pieces) if by_piece or volume_m3 is None else volume_m3
        return Asked(
            location_index=None,
            depreciation_index=None,
            reducer=None,
            price_per_m3=None if by_piece else price,
            multiplier=multiplier,
            exact=product(quantity, price, multiplier),
            articles=_cited(self.articles(name, on), articles),
            price_per_piece=price if by_piece else None,
        )

    def late_charge(self, amount: Decimal, due_on: date, paid_on: date) -> LateCharge | None:
        """Fine and interest of an amount paid late, by the figures of the day on which it was due.

        None where the law has neither, as Caieiras's: nothing is charged then. Whoever charges it enters the act first
        (``geobill law amend``, figures ``late_fine_share`` and ``late_interest_per_month``).

        Parameters
        ----------
        amount : Decimal
            What was due, in reais.
        due_on, paid_on : date
            Last day for paying it, and the day on which it was paid.
        """
        named = [n for n in ("late_fine_share", "late_interest_per_month") if self.figures.has(n, due_on)]
        if not named:
            return None
        share, interest = (
            self.figures.value(n, due_on) if n in named else Decimal(0)
            for n in ("late_fine_share", "late_interest_per_month")
        )
        counted = self.figures.figure(named[-1], due_on).method
        articles = _cited(*(self.articles(n, due_on) for n in named))
        return late_charge(amount, due_on, paid_on, share, interest, counted or "daily", articles)

    def multiplier(self, status: str, on: date, *, cumulate: bool = False) -> Decimal:
        """How many times the price a status pays: once, double, or double upon double where both may be applied."""
        return self._status(status, on, cumulate)[0]

    def _status(self, status: str, on: date, cumulate: bool) -> tuple[Decimal, tuple[str, ...]]:
        """Multiplier and articles of a status; the law doesn't say that two doublings make four (arts. 10, 12)."""
        doublings: list[str] = []
        if status in ("clandestine", "clandestine_unregistered"):
            doublings.append("clandestine_multiplier")
        if status in ("unregistered", "clandestine_unregistered") and self._register_overdue(on):
            doublings.append("unregistered_multiplier")
        multiplier = ONE
        for name in doublings:
            factor = self.figures.value(name, on)
            multiplier = multiplier * factor if cumulate else max(multiplier, factor)
        before_the_law = self.articles("existing", on) if status in ("existing", "unregistered") else ()
        return multiplier, _cited(before_the_law, *(self.articles(name, on) for name in doublings))

    def _rates(self, on: date) -> "_Rates":
        known = self._memory.get(on)
        if known is None:
            value, names = self.figures.value, ("price", "location_index", "depreciation_index", "minimum_width_m")
            articles = _cited(*(self.articles(name, on) for name in names))
            known = _Rates(
                value("location_index", on), value("depreciation_index", on), value("minimum_width_m", on), articles
            )
            self._memory[on] = known
        return known

    @cached_property
    def _memory(self) -> "dict[date, _Rates]":
        return {}

    def _register_overdue(self, on: date) -> bool:
        """Whether the six months for handing over the register are over on a day (art. 12 §§ 1, 3)."""
        term = int(self.figures.value("register_term_months", on))
        return on > months_after(self.figures.published_on, term)


@dataclass(frozen=True)
class _Rates:
    """What every stretch of a day is priced by, and the articles of it."""

    location_index: Decimal
    depreciation_index: Decimal
    minimum_width_m: Decimal
    articles: tuple[str, ...]


def _cited(*articles: tuple[str, ...]) -> tuple[str, ...]:
    """Articles one after the other, each once."""
    return tuple(dict.fromkeys(a for some in articles for a in some))
