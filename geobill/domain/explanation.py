"""Why an amount is what it is: from the amount to its factors, articles, policy, decisions, pieces and rows of files."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction

from geobill.domain.dates import BillingMonth
from geobill.domain.invoice import Decision, Line, PolicyUse, SetOff, Suspended
from geobill.domain.money import plain
from geobill.domain.network import Authority, Operator
from geobill.domain.note import NoteLine

MOST_DECIMALS = 12


@dataclass(frozen=True)
class Origin:
    """A row of a file as it was delivered: name, layer, row from 1, SHA-256 of the file, when it was imported.

    ``replaced`` is whether another import has taken the batch's place since; ``differs`` names the columns in which the
    stored row isn't any more what was computed from. Where the row was corrected, ``batch`` and ``file`` are the correction's,
    ``amends`` and ``amended_file`` the batch and the file in which ``row`` stands.
    """

    batch: str
    file: str
    layer: str
    row: int
    sha256: str
    imported_at: str
    replaced: bool
    differs: tuple[str, ...] = ()
    amends: str | None = None
    amended_file: str | None = None


@dataclass(frozen=True)
class Piece:
    """A part of a line: a stretch of a segment in one zone, or a cabinet.

    ``length_m`` or ``volume_m3`` is its quantity; both None where a law charges by the piece. ``share`` is its exact part
    of the line's exact product, a decimal or a fraction ``n/d``. ``origin`` is None where its row can't be traced;
    ``untraced`` says why.
    """

    name: str
    zone: str | None
    length_m: Decimal | None
    volume_m3: Decimal | None
    share: str
    origin: Origin | None
    untraced: str = ""


@dataclass(frozen=True)
class Factor:
    """One number of the multiplication: its name, its value as it is printed, and the articles that ask for it."""

    name: str
    value: str
    articles: tuple[str, ...]


@dataclass(frozen=True)
class Article:
    """An article that is cited, and its text where the program has it; blank where it hasn't."""

    article: str
    text: str


@dataclass(frozen=True)
class Edition:
    """The edition of the Mapa de Valores: name, first day, and the file that brought it (None where it can't be traced).

    ``rows`` are the rows of that file that gave T to the line; empty for a whole invoice.
    """

    name: str | None
    in_force_from: date | None
    origin: Origin | None
    rows: tuple[int, ...] = ()


@dataclass(frozen=True)
class ExplainedLine:
    """A line worked out: factors whose product is ``exact`` (a decimal or a fraction), rounded once to the amount."""

    number: int
    line: Line
    factors: tuple[Factor, ...]
    exact: str
    articles: tuple[Article, ...]
    policy: tuple[PolicyUse, ...]
    pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class Explanation:
    """An invoice or a note explained: as a whole by its lines, or one line (``asked``) by its pieces.

    ``kind`` is ``invoice`` or a kind of note. ``lines`` are the invoice's, ``months`` the note's, ``detail`` the line that was
    asked for. ``cause`` says why a note was issued. ``digest`` is the record's, ``inputs`` the digests of what it was
    computed from, by role.
    """

    number: str
    kind: str
    operator: Operator
    authority: Authority
    month: BillingMonth | None
    issued_on: date
    due_on: date | None
    statute: str
    statute_title: str
    total: Decimal
    lines: tuple[Line, ...]
    months: tuple[NoteLine, ...]
    asked: int | None
    detail: ExplainedLine | None
    edition: Edition | None
    decisions: tuple[Decision, ...]
    policy: tuple[PolicyUse, ...]
    suspended: tuple[Suspended, ...]
    set_offs: tuple[SetOff, ...]
    cause: str
    digest: str
    inputs: tuple[tuple[str, str], ...]


def exact_text(exact: Fraction) -> str:
    """Write an exact amount as a decimal, or as a fraction where its decimals don't end.

    Examples
    --------
    >>> exact_text(Fraction(345, 4)), exact_text(Fraction(1, 3)), exact_text(Fraction(2))
    ('86.25', '1/3', '2.00')
    """
    for decimals in range(2, MOST_DECIMALS + 1):
        scaled = exact * 10**decimals
        if scaled.denominator == 1:
            return plain(Decimal(int(scaled)).scaleb(-decimals))
    return f"{exact.numerator}/{exact.denominator}"
