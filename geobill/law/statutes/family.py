"""What a law of Caieiras's family may say in figures: each figure's name, unit, limits, and whether the family needs it."""

from dataclasses import dataclass
from decimal import Decimal

from geobill.errors import LawError
from geobill.law.figures import Figure, StatuteFigures
from geobill.law.late import COUNTED


@dataclass(frozen=True)
class Known:
    """A figure that the family has a place for. ``low`` and ``high`` are included, ``low`` only where ``from_low``."""

    name: str
    unit: str
    what: str
    low: str
    high: str
    required: bool = True
    from_low: bool = True
    whole: bool = False
    scale: bool = False
    methods: tuple[str, ...] = ()

    @property
    def is_money(self) -> bool:
        """Whether it is a price in reais, which an index may adjust."""
        return self.unit.startswith("BRL/")


KNOWN: tuple[Known, ...] = (
    Known("location_index", "1", "L, a share", "0", "1", from_low=False),
    Known("depreciation_index", "1", "D, a share", "0", "1", from_low=False),
    Known(
        "reducer", "1", "R, by extension", "0", "1", from_low=False, scale=True, methods=("whole", "graduated")
    ),
    Known("minimum_width_m", "m", "narrower strips are charged as this wide", "0", "100"),
    Known("price_per_m3", "BRL/m3/month", "of equipment, by volume", "0", "1000000", required=False, from_low=False),
    Known("price_per_piece", "BRL/piece/month", "of equipment, each", "0", "1000000", required=False, from_low=False),
    Known("due_day", "day", "of the month, on which the price is due", "1", "28", whole=True),
    Known("yearly_months", "month", "of a single payment for the year", "1", "12", whole=True),
    Known("deposit_months", "month", "of price that the deposit comes to", "0", "60", whole=True),
    Known("clandestine_multiplier", "1", "how many times the price", "1", "100"),
    Known("register_term_months", "month", "for handing over the register", "0", "600", whole=True),
    Known("unregistered_multiplier", "1", "how many times the price", "1", "100"),
    Known("fine_share", "1", "daily fine, a share of the monthly price", "0", "10", required=False),
    Known("suspension_after_days", "day", "of a lasting infraction", "1", "3650", required=False, whole=True),
    Known("defence_days", "day", "for the defence against a fine", "1", "365", required=False, whole=True),
    Known(
        "no_projects_after_months", "month", "without a register: no new projects", "1", "600", required=False, whole=True
    ),
    Known("expansion_plan_month", "month of the year", "of expansion plans", "1", "12", required=False, whole=True),
    Known("expansion_plan_day", "day", "of that month", "1", "31", required=False, whole=True),
    Known("regulation_days", "day", "for the decree that regulates the law", "1", "3650", required=False, whole=True),
    Known("late_fine_share", "1", "fine for paying late, once", "0", "1", required=False, from_low=False),
    Known(
        "late_interest_per_month", "1/month", "interest for paying late", "0", "1", required=False, from_low=False,
        methods=COUNTED,
    ),
)  # fmt: skip
BY_NAME = {k.name: k for k in KNOWN}
MOST_DECIMALS = 10
EQUIPMENT_PRICES: tuple[str, ...] = ("price_per_m3", "price_per_piece")

RULES: dict[str, str] = {
    "price": "the formula of the monthly price",
    "land_value": "T by the map of values",
    "price_in_decree": "the price stands in the decree",
    "permit": "the permit decree",
    "emoluments": "what a decree costs",
    "nonconformity": "what isn't built as approved",
    "warning": "the warning",
    "appeal": "the appeal",
    "clandestine": "what counts as clandestine",
    "forfeiture": "the loss of clandestine equipment",
    "doubled_since": "since when clandestine equipment is charged",
    "existing": "equipment from before the law",
    "due_since": "since when it is due for that",
    "exemption": "public-law entities of the municipality itself",
    "set_off": "set-off against credits",
    "open_questions": "who decides what the law leaves open",
    "no_decree": "the law reaches what is in use without a decree",
    "permission": "use by permission",
    "approval": "approval of projects",
    "impediment": "what keeps a project from being built as approved",
    "damages": "damage to others",
    "public_price": "the public price",
    "documents": "documents that the applicant brings",
    "more_documents": "documents that may be asked for besides",
    "penalties": "penalties",
    "sanction": "who decides on a penalty",
    "organic_law": "the municipality's organic law on decrees",
}
REQUIRED_RULES: tuple[str, ...] = ("price",)


def figure_faults(figure: Figure) -> list[str]:
    """Say why the family can't take a figure as it stands; nothing where it can."""
    known = BY_NAME.get(figure.name)
    where = f"{figure.name} (art. {figure.article})"
    if known is None:
        return [
            f"{figure.name!r} (art. {figure.article}): the family has no place for a figure of this name, and one that no price or "
            f"deadline obeys would be a figure only on paper. Known: {', '.join(BY_NAME)}. What isn't among them needs a module of "
            "its own in geobill/law/statutes."
        ]
    faults = []
    if figure.unit != known.unit:
        hint = ", and an [[index]] for what moves it" if known.is_money else ""
        faults.append(f"{where} has the unit {figure.unit!r}; the family takes it in {known.unit!r}: convert it{hint}.")
    if known.scale != bool(figure.brackets):
        faults.append(f"{where} must be {'a scale of brackets' if known.scale else 'one value, not a scale'}.")
    faults += [
        f"{where} is {number:f}: {known.what} must be {_limits(known)}."
        for number in _numbers(figure)
        if not _fits(known, number)
    ]
    edges = [b.up_to for b in figure.brackets if b.up_to is not None]
    faults += [
        f"{where} has {_decimals(number)} decimals: no law writes more than {MOST_DECIMALS}, and amounts are worked out exactly."
        for number in (*_numbers(figure), *edges)
        if _decimals(number) > MOST_DECIMALS
    ]
    if figure.method is not None and figure.method not in known.methods:
        allowed = f"one of {', '.join(known.methods)}" if known.methods else "left out"
        faults.append(f"{where} has the method {figure.method!r}: it must be {allowed}.")
    if figure.name == "late_interest_per_month" and figure.method is None:
        faults.append(f"{where} doesn't say which months bear interest: method = one of {', '.join(COUNTED)}.")
    if any(e <= 0 for e in edges):
        faults.append(f"{where} has a bracket that ends at 0 m or below.")
    return faults


def check_figure(figure: Figure) -> None:
    """Refuse a figure that the family can't take.

    Raises
    ------
    LawError
        With every reason.
    """
    faults = figure_faults(figure)
    if faults:
        raise LawError(" ".join(faults))


def price_basis_faults(figures: StatuteFigures) -> list[str]:
    """Say on which days equipment would be charged both by volume and by the piece."""
    found = []
    for one in (f for f in figures.figures if f.name == EQUIPMENT_PRICES[0]):
        for other in (f for f in figures.figures if f.name == EQUIPMENT_PRICES[1]):
            day = max(one.in_force_from, other.in_force_from)
            if one.in_force(day) and other.in_force(day):
                found.append(
                    f"On {day.isoformat()} equipment is charged both by volume (art. {one.article}) and by the piece (art. "
                    f"{other.article}): the family takes one of the two; which cabinets pay which needs a module of its own."
                )
    return found


def _numbers(figure: Figure) -> list[Decimal]:
    return [b.value for b in figure.brackets] if figure.value is None else [figure.value]


def _fits(known: Known, number: Decimal) -> bool:
    low, high = Decimal(known.low), Decimal(known.high)
    inside = (low <= number if known.from_low else low < number) and number <= high
    return inside and (not known.whole or number == number.to_integral_value())


def _decimals(number: Decimal) -> int:
    exponent = number.as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def _limits(known: Known) -> str:
    kind = "a whole number " if known.whole else ""
    return f"{kind}{'from' if known.from_low else 'above'} {known.low} up to {known.high}"
