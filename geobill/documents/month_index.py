"""The page of a month: what is charged, held and exempt, where, from what, and links to every document. One HTML file."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

import geopandas as gpd

from geobill.documents import words
from geobill.documents.lines import metres_charged
from geobill.documents.memo import HeldGroup, held_groups
from geobill.documents.month_links import Document, documents_by_owner
from geobill.documents.policy_words import decision_in_words, policy_line, policy_value
from geobill.documents.statute_words import StatuteWords
from geobill.documents.suspended import suspended_parts
from geobill.documents.templating import fill
from geobill.documents.zone_maps import ZoneSum, zone_maps, zone_sums
from geobill.domain.apostila import PriceChange
from geobill.domain.invoice import Bill, Books, Exempt, Held, Invoice, Line, OperatorBill, Suspended
from geobill.domain.network import Authority, Operator
from geobill.domain.ratio import Ratio
from geobill.law.figures import StatuteFigures

ZERO_M, ZERO = Decimal("0.00"), Decimal("0.00")
NO_DECREE = "no_decree"
TOP_ZONES = 10
EXEMPT = "Entidade de direito público do próprio Município: a Lei não se aplica."
ISSUER_FIELDS: dict[str, str] = {"cnpj": "CNPJ", "address": "endereço"}


@dataclass(frozen=True)
class OperatorRow:
    """One operator's month as the page prints it: of the issued invoice where there is one, else of the bill."""

    operator: Operator
    extension_m: Decimal
    reducer: str
    number: str | None
    due_on: date | None
    total: Decimal
    charged_m: Decimal
    volume_m3: Decimal
    doubled_m: Decimal
    shared_m: Decimal
    held_m: Decimal
    no_decree_m: Decimal
    no_decree_amount: Decimal
    exempt: Exempt | None
    documents: tuple[Document, ...]
    is_suspended: bool = False


@dataclass(frozen=True)
class HeldRow:
    """What is held of one operator, for one reason."""

    operator: str
    group: HeldGroup


@dataclass(frozen=True)
class MonthTotals:
    """Sums over the operators, of exact decimals."""

    amount: Decimal
    invoices: int
    charged_m: Decimal
    volume_m3: Decimal
    doubled_m: Decimal
    held_m: Decimal
    exempt_m: Decimal
    no_decree_m: Decimal
    no_decree_amount: Decimal
    equipment: Decimal
    zones: Decimal


def render_month_index(
    bill: Bill,
    invoices: Sequence[Invoice],
    authority: Authority,
    zones: gpd.GeoDataFrame,
    segments: gpd.GeoDataFrame,
    operators: Mapping[str, Operator],
    figures: StatuteFigures,
    *,
    files: Iterable[str] = (),
    owners: Mapping[str, tuple[str, str]] | None = None,
    prefix: str = "",
    changes: Sequence[PriceChange] = (),
    own_templates: Sequence[str] = (),
) -> bytes:
    """Render ``index.html`` of a month: no script, no request, readable on a telephone and on paper.

    Parameters
    ----------
    bill : Bill
        The month as it is priced now.
    invoices : sequence of Invoice
        Those of the month, in order: issued, or drafted where ``prefix`` isn't empty. What they say stands.
    authority : Authority
        Who issues.
    zones : geopandas.GeoDataFrame
        Zones of the edition that the month was priced by; see :func:`geobill.documents.zone_maps.zone_maps`.
    segments : geopandas.GeoDataFrame
        Segments due in the month.
    operators : mapping of id to Operator
        Those of the workspace: who is exempt stands in the bill by id alone.
    figures : StatuteFigures
        The statute by which the month was priced.
    files : iterable of str
        Names of the documents beside the page; only these are linked.
    owners : mapping of str to (operator, of what)
        Whose a file is by its name; see :func:`geobill.documents.month_links.documents_by_owner`.
    prefix : str
        Beginning of a draft's file names; not empty means that the month is a draft, without numbers.
    changes : sequence of PriceChange
        Issued decrees whose price of today isn't the recorded one.
    own_templates : sequence of str
        Templates of the workspace's own that documents were made with.

    Returns
    -------
    bytes
        HTML in UTF-8; the same records always give the same bytes.
    """
    found = month_values(
        bill,
        invoices,
        authority,
        zones,
        segments,
        operators,
        figures,
        files=files,
        owners=owners,
        prefix=prefix,
        changes=changes,
        own_templates=own_templates,
    )
    return fill("index.html.j2", "page", **found).encode()


def month_values(
    bill: Bill,
    invoices: Sequence[Invoice],
    authority: Authority,
    zones: gpd.GeoDataFrame,
    segments: gpd.GeoDataFrame,
    operators: Mapping[str, Operator],
    figures: StatuteFigures,
    *,
    files: Iterable[str] = (),
    owners: Mapping[str, tuple[str, str]] | None = None,
    prefix: str = "",
    changes: Sequence[PriceChange] = (),
    own_templates: Sequence[str] = (),
) -> dict[str, Any]:
    """Gather what the page of a month shows, by name; see :func:`render_month_index`."""
    issued = {i.operator.id: i for i in invoices}
    now = {o.operator.id: o for o in bill.operators}
    known = sorted({*issued, *now})
    exempt = [e.operator for e in bill.exempt]
    documents = documents_by_owner(files, owners or {}, prefix)
    others = [
        Document(f"{_name(owner, operators)}: {d.title}" if owner else d.title, d.links)
        for owner, mine in documents.items()
        if owner not in {*known, *exempt}
        for d in mine
    ]
    rows = [_row(issued.get(o), now.get(o), documents.get(o, ())) for o in known]
    rows += [_exempt_row(e, operators, documents.get(e.operator, ())) for e in bill.exempt]
    lines = [line for o in known for line in _lines(issued.get(o), now.get(o))]
    sums = zone_sums(lines)
    held_keys = {(h.operator, h.segment) for h in bill.held}
    drawing = zone_maps(zones, segments, sums, held_keys, exempt)
    basis, statute = bill.basis, StatuteWords.of_month(figures, bill.month)
    reach = statute.articles("exemption")
    days = sorted({i.issued_on for i in invoices}), sorted({i.due_on for i in invoices})
    return {
        "month": bill.month,
        "authority": authority,
        "basis": basis,
        "statute": statute,
        "issued_on": days[0],
        "due_on": days[1],
        "is_draft": bool(prefix),
        "clandestine_counts": policy_value(basis, "clandestine_counts_in_reducer", "false") == "true",
        "rows": rows,
        "totals": _totals(rows, lines, sums, len(invoices)),
        "held": _held_rows(bill.held, operators, statute),
        "suspended": [
            (_name(owner, operators), part)
            for owner in known
            for part in suspended_parts(_suspended(issued.get(owner), now.get(owner)), statute)
        ],
        "exempt": [(row, EXEMPT if row.exempt.article in reach else row.exempt.reason) for row in rows if row.exempt],
        "drawing": drawing,
        "edge": ".06" if drawing and len(drawing.shapes) > 500 else ".14",
        "top": sums[:TOP_ZONES],
        "rest": _rest(sums[TOP_ZONES:]),
        "sums": sums,
        "features": bill.features,
        "metres": bill.metres,
        "books": _books(bill, operators),
        "policy": [policy_line(use, statute, basis.decisions) for use in basis.policy if use.value != use.default],
        "decisions": [decision_in_words(decision, statute) for decision in basis.decisions],
        "notices": _notices(bill, invoices, now, authority, changes, own_templates, statute),
        "others": others,
    }


def _row(invoice: Invoice | None, mine: OperatorBill | None, documents: tuple[Document, ...]) -> OperatorRow:
    record = invoice or mine
    assert record is not None
    lines = record.lines
    bare = [line for line in lines if NO_DECREE in line.flags]
    charged = _metres(lines)
    agree = mine is not None and mine.lines == lines
    return OperatorRow(
        operator=record.operator,
        extension_m=record.network_length_m,
        reducer=_reducer(record.reducer, record.held, lines),
        number=invoice.number if invoice else None,
        due_on=invoice.due_on if invoice else None,
        total=record.total,
        charged_m=charged,
        volume_m3=sum((line.volume_m3 for line in lines if line.volume_m3 is not None), Decimal(0)),
        doubled_m=metres_charged(lines, doubled=True),
        shared_m=_shared(mine, charged) if mine is not None and agree else ZERO_M,
        held_m=sum((h.length_m for h in record.held), ZERO_M),
        no_decree_m=_metres(bare),
        no_decree_amount=_amount(bare),
        exempt=None,
        documents=documents,
        is_suspended=bool(record.suspended),
    )


def _shared(mine: OperatorBill, charged: Decimal) -> Decimal:
    """Metres that another line of the same strip pays for: what is neither on a line nor with a court's order."""
    apart = sum((s.length_m - s.again_m for s in mine.suspended), ZERO_M)
    return mine.metres.priced + mine.metres.suspended - charged - apart


def _exempt_row(exempt: Exempt, operators: Mapping[str, Operator], documents: tuple[Document, ...]) -> OperatorRow:
    return OperatorRow(
        operator=operators.get(exempt.operator, Operator(exempt.operator, exempt.operator)),
        extension_m=exempt.length_m,
        reducer="",
        number=None,
        due_on=None,
        total=ZERO,
        charged_m=ZERO_M,
        volume_m3=Decimal(0),
        doubled_m=ZERO_M,
        shared_m=ZERO_M,
        held_m=ZERO_M,
        no_decree_m=ZERO_M,
        no_decree_amount=ZERO,
        exempt=exempt,
        documents=documents,
    )


def _reducer(reducer: Decimal | Ratio | None, held: Sequence[Held], lines: Sequence[Line]) -> str:
    """R as it is printed; in words where there is none for the whole operator."""
    if reducer is not None:
        return words.figure(reducer)
    if any(h.segment is None for h in held):
        return "retido"
    return "por permissão" if any(line.reducer is not None for line in lines) else "–"


def _lines(invoice: Invoice | None, mine: OperatorBill | None) -> tuple[Line, ...]:
    return invoice.lines if invoice else mine.lines if mine else ()


def _suspended(invoice: Invoice | None, mine: OperatorBill | None) -> tuple[Suspended, ...]:
    return invoice.suspended if invoice else mine.suspended if mine else ()


def _metres(lines: Iterable[Line]) -> Decimal:
    return sum((line.length_m for line in lines if line.length_m is not None), ZERO_M)


def _amount(lines: Iterable[Line]) -> Decimal:
    return sum((line.amount for line in lines), ZERO)


def _totals(rows: Sequence[OperatorRow], lines: Sequence[Line], sums: Sequence[ZoneSum], invoices: int) -> MonthTotals:
    return MonthTotals(
        amount=sum((r.total for r in rows), ZERO),
        invoices=invoices,
        charged_m=sum((r.charged_m for r in rows), ZERO_M),
        volume_m3=sum((r.volume_m3 for r in rows), Decimal(0)),
        doubled_m=sum((r.doubled_m for r in rows), ZERO_M),
        held_m=sum((r.held_m for r in rows), ZERO_M),
        exempt_m=sum((r.exempt.length_m for r in rows if r.exempt), ZERO_M),
        no_decree_m=sum((r.no_decree_m for r in rows), ZERO_M),
        no_decree_amount=sum((r.no_decree_amount for r in rows), ZERO),
        equipment=_amount(line for line in lines if line.kind == "equipment"),
        zones=sum((s.amount for s in sums), ZERO),
    )


def _rest(sums: Sequence[ZoneSum]) -> tuple[int, Decimal, Decimal]:
    """Zones that the short table leaves out: how many, their metres and reais."""
    return len(sums), sum((s.length_m for s in sums), ZERO_M), sum((s.amount for s in sums), ZERO)


def _held_rows(held: Iterable[Held], operators: Mapping[str, Operator], statute: StatuteWords) -> list[HeldRow]:
    by_operator: dict[str, list[Held]] = defaultdict(list)
    for item in held:
        by_operator[item.operator].append(item)
    return [
        HeldRow(_name(owner, operators), group)
        for owner, items in by_operator.items()
        for group in held_groups(items, statute)
    ]


def _books(bill: Bill, operators: Mapping[str, Operator]) -> list[tuple[str, Books]]:
    """Metres of each operator, priced or exempt, as the sums that must close."""
    return [
        *((o.operator.name, o.metres) for o in bill.operators),
        *(
            (_name(e.operator, operators), Books(e.length_m, ZERO_M, ZERO_M, e.length_m, ZERO_M, ZERO_M))
            for e in bill.exempt
        ),
    ]


def _name(owner: str, operators: Mapping[str, Operator]) -> str:
    return operators[owner].name if owner in operators else owner


def _notices(
    bill: Bill,
    invoices: Sequence[Invoice],
    now: Mapping[str, OperatorBill],
    authority: Authority,
    changes: Sequence[PriceChange],
    own_templates: Sequence[str],
    statute: StatuteWords,
) -> list[str]:
    """Say what a person should know of the month as it stands, whichever run renders the page."""
    said = []
    for invoice in invoices:
        mine = now.get(invoice.operator.id)
        if mine is None or mine.lines != invoice.lines:
            would_be = words.reais(mine.total if mine else ZERO)
            said.append(
                f"A fatura nº {invoice.number}, de {invoice.operator.name}, foi emitida por {words.reais(invoice.total)}; "
                f"pelos dados de agora, o mês custaria {would_be}. Fatura emitida não muda: a correção se faz por nota de "
                "crédito ou de diferença. As contas e os metros retidos desta página são os de agora."
            )
    for change in changes:
        recorded, price = words.reais(change.recorded), change.draft.price.total
        whose = f"O preço do decreto nº {change.decree.number} (permissão {change.file.permit.number})"
        if price is None:
            said.append(
                f"{whose}, registrado em {recorded}, está retido: a tabela de R{statute.aside('reducer')} termina antes da sua rede."
            )
        else:
            said.append(
                f"{whose} é hoje {words.reais(price)}; o registrado é {recorded}. A apostila deste mês aguarda assinatura e "
                f"publicação{statute.aside('price_in_decree')}."
            )
    early = sorted({i.issued_on for i in invoices if i.issued_on < bill.month.last_day})
    if early:
        said.append(
            f"Contas feitas em {words.long_date(early[0])}, antes do fim do mês, por todos os seus dias: o que mudar até lá "
            "pede correção."
        )
    blank = [name for field, name in ISSUER_FIELDS.items() if not getattr(authority, field).strip()]
    if blank:
        said.append(f"Falta o {' e o '.join(blank)} do Município nas faturas: preencha [authority] em geobill.toml.")
    if own_templates:
        said.append(f"Documentos feitos com modelos próprios do Município: {', '.join(own_templates)}.")
    return said
