"""What a decree's text says of its permit: the papers in place of the blanks, what stands apart from what is planned."""

from dataclasses import dataclass
from datetime import date
from typing import Any

from geobill.documents import memo
from geobill.domain import permit as acts
from geobill.domain.invoice import DecreeDraft, WholeMonth
from geobill.domain.permit import Act, Decree, PermitFile


@dataclass(frozen=True)
class Granting:
    """A registered permit's file, the price of what stands already, and the decree itself once it is issued."""

    file: PermitFile
    standing: WholeMonth
    act: Decree | None = None


@dataclass(frozen=True)
class Papers:
    """Papers of a permit as the text names them; None or empty where a blank is left to be filled in."""

    number: str
    process: str
    project: str
    works: Act | None
    legal: Act | None
    mayor: Act | None
    deposits: tuple[Act, ...]
    fees: tuple[Act, ...]


NO_PAPERS = Papers("", "", "", None, None, None, (), ())


def decree_title(draft: DecreeDraft, granting: Granting | None) -> str:
    """Title of the file: a draft until the city hall gives its number."""
    if granting is not None and granting.act is not None:
        return f"Decreto nº {granting.act.number} – {draft.operator.name}"
    return f"Minuta de Decreto de Permissão de Uso – {draft.operator.name}"


def granting_context(draft: DecreeDraft, granting: Granting | None) -> dict[str, Any]:
    """Values of the template that depend on the permit; without one, the blanks of a bare draft.

    ``extents`` is what stands, ``planned`` what is to come; where the price is held there are no lines to tell them
    apart by, and all stands under ``extents``.
    """
    price, service = draft.price, draft.operator.service
    if granting is None:
        return {"papers": NO_PAPERS, "act": None, "planned": (), "extents": memo.extents(price, service)}
    extents: tuple[str, ...] = memo.extents(price, service)
    planned: tuple[str, ...] = ()
    if price.total is not None:
        whole = memo.extent_sums(price.lines, service)
        standing = memo.extent_sums(granting.standing.lines, service)
        to_come = {name: _less(extent, standing.get(name, memo.NOTHING)) for name, extent in whole.items()}
        extents, planned = memo.say_extents(standing), memo.say_extents(to_come)
    return {
        "papers": papers_of(granting.file, granting.act.date if granting.act else None),
        "act": granting.act,
        "planned": planned,
        "extents": extents,
    }


def _less(whole: memo.Extent, part: memo.Extent) -> memo.Extent:
    return whole[0] - part[0], whole[1] - part[1], whole[2] - part[2]


def papers_of(file: PermitFile, by: date | None) -> Papers:
    """Papers that were on file, up to the decree's date if there is one; a deposit that was given back isn't one."""

    def of(kind: str) -> tuple[Act, ...]:
        return tuple(a for a in file.acts_of(kind) if by is None or a.on <= by)

    def first(kind: str) -> Act | None:
        return next(iter(of(kind)), None)

    permit = file.permit
    return Papers(
        number=permit.number,
        process=permit.process,
        project=permit.project,
        works=first(acts.WORKS_OPINION),
        legal=first(acts.LEGAL_OPINION),
        mayor=first(acts.AUTHORISATION),
        deposits=() if of(acts.DEPOSIT_RELEASED) else of(acts.DEPOSIT_PAID),
        fees=of(acts.FEE_PAID),
    )
