"""Set-off (art. 14): which part of an invoice is paid with the operator's credits from waived revenue."""

from collections.abc import Iterable
from decimal import ROUND_DOWN, Decimal

from geobill.domain.credit import OpenCredit
from geobill.domain.invoice import SetOff
from geobill.domain.money import CENT


def set_off(total: Decimal, share: Decimal | None, credits: Iterable[OpenCredit]) -> tuple[SetOff, ...]:
    """Take an operator's credits, oldest first, up to a share of an invoice's total.

    Art. 14 allows a "utilização parcial" of the debt and doesn't say which part: that is the policy ``set_off_share``.

    Parameters
    ----------
    total : Decimal
        The invoice's total, in reais.
    share : Decimal or None
        Share of the total that may be set off; None while nobody has decided it: then nothing is.
    credits : iterable of OpenCredit
        In the order in which they are used; what is left of them stays for the next invoice.

    Returns
    -------
    tuple of SetOff
        To the cent; the share is rounded down, so that never more than it is set off.

    Examples
    --------
    >>> set_off(Decimal("100.01"), Decimal("0.50"), ())
    ()
    """
    if share is None:
        return ()
    room = (total * share).quantize(CENT, rounding=ROUND_DOWN)
    taken = []
    for one in credits:
        part = min(room, one.left)
        if part > 0:
            taken.append(SetOff(one.credit.id, one.credit.law, part))
            room -= part
    return tuple(taken)
