"""The page of a month, made from the same desk as its papers, after them: it links what was really made."""

from collections.abc import Iterable, Sequence

from geobill.documents.month_index import render_month_index
from geobill.domain.apostila import PriceChange
from geobill.domain.invoice import Invoice
from geobill.pipeline.papers import Desk, slug, stem
from geobill.pricing.in_force import due_rows
from geobill.store.registers import Registers

FILE_NAME = "index.html"


def month_page(
    desk: Desk, invoices: Sequence[Invoice], beside: Iterable[str], changes: Sequence[PriceChange] = ()
) -> list[tuple[str, bytes]]:
    """Render the page of a month, or of a draft of one; none for a month in which nobody has anything.

    Parameters
    ----------
    desk : Desk
    invoices : sequence of Invoice
        The month's, issued or drafted, in order.
    beside : iterable of str
        Names of the files that are written into the same folder.
    changes : sequence of PriceChange
        Issued decrees whose price changed.

    Returns
    -------
    list of (str, bytes)
        File name and content, once or not at all.
    """
    found = desk.month
    if not (invoices or found.bill.operators or found.bill.exempt):
        return []
    operators = Registers(desk.connection, desk.workspace.database.tables).load_operators()
    page = render_month_index(
        found.bill,
        invoices,
        desk.settings.authority,
        found.zones,
        due_rows(found.segments, found.bill.month, found.policy),
        operators,
        found.law.figures,
        files=beside,
        owners=_owners(desk, invoices, operators),
        prefix=desk.prefix,
        changes=changes,
        own_templates=tuple(desk.templates.files),
    )
    return [(f"{desk.prefix}{FILE_NAME}", page)]


def _owners(desk: Desk, invoices: Sequence[Invoice], operators: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Whose a document is, and of what, by the part of its file's name between kind and form."""
    owners = {}
    for file in desk.month.files.values():
        permit, mine = file.permit.number, slug(file.permit.operator)
        owners[f"{mine}-{slug(permit)}"] = (file.permit.operator, f"permissão {permit}")
        if file.decree is not None:
            owners[slug(file.decree.number)] = (file.permit.operator, f"decreto nº {file.decree.number}")
    owners |= {stem(i): (i.operator.id, "") for i in invoices}
    return owners | {slug(o): (o, "") for o in operators}
