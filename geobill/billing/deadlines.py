"""The days that the law sets, worked out from its figures and from what was issued and recorded; nothing is decided here."""

from collections.abc import Callable, Iterable, Mapping
from datetime import date, timedelta
from decimal import Decimal

from geobill.billing.past import Limitation
from geobill.domain import case as acts
from geobill.domain.case import CaseAct, CaseFile
from geobill.domain.dates import BillingMonth, months_after
from geobill.domain.deadline import Deadline
from geobill.domain.invoice import Invoice
from geobill.domain.network import Operator
from geobill.domain.note import Note
from geobill.domain.suspension import SuspensionFile
from geobill.law.figures import StatuteFigures

CITY_HALL, EVERYBODY = "Município", "todas as entidades"
MONTHS_OF_A_YEAR = 12
ENDS: tuple[str, ...] = (
    acts.DISMISSED,
    acts.REGULARISED,
    acts.REMOVED,
    acts.CURED,
    acts.REGISTER_DELIVERED,
    acts.FORFEITED,
)
ACT_WORDS: dict[str, str] = {
    acts.NOTIFIED: "termina o prazo da notificação",
    acts.WARNED: "termina o prazo da advertência",
    acts.DEFENCE_DECIDED: "termina o prazo de recurso ao Prefeito",
    acts.FINED: "termina o prazo de defesa contra a multa",
}
TERMS: tuple[tuple[str, str, bool, str, str], ...] = (
    ("regulation", "regulation_days", False, CITY_HALL, "Prazo de {} dias para o decreto que regulamenta a Lei"),
    (
        "register",
        "register_term_months",
        True,
        EVERYBODY,
        "Prazo de {} meses para entregar o cadastro do que já estava implantado; depois dele, cobrança em dobro",
    ),
    (
        "no_projects",
        "no_projects_after_months",
        True,
        EVERYBODY,
        "{} meses da publicação: quem não entregou o cadastro perde o direito à aprovação de outros projetos",
    ),
)
Say = Callable[[Decimal], str]
Naming = Callable[[BillingMonth], str]


def terms_since_publication(figures: StatuteFigures) -> list[Deadline]:
    """Terms that ran from the law's publication: regulation (art. 17), register and projects (art. 12 §§ 1, 4)."""
    found = []
    for code, name, in_months, whom, said in TERMS:
        since = figures.published_on
        if figures.has(name, since):
            figure = figures.figure(name, since)
            length = int(figure.value or 0)
            on = months_after(since, length) if in_months else since + timedelta(days=length)
            found.append(Deadline(on, code, figure.article, "", whom, said.format(length), "", code))
    return found


def expansion_plans(figures: StatuteFigures, operators: Iterable[Operator], first: date, last: date) -> list[Deadline]:
    """Find the day of each year by which each operator sends its plans (art. 11)."""
    found = []
    for year in range(max(first.year, figures.published_on.year), last.year + 1):
        asked_on = max(date(year, 1, 1), figures.published_on)
        if not figures.has("expansion_plan_day", asked_on):
            continue
        month, day = (figures.figure(name, asked_on) for name in ("expansion_plan_month", "expansion_plan_day"))
        on = date(year, int(month.value or 0), int(day.value or 0))
        if on < figures.published_on:
            continue
        found += [
            Deadline(
                on,
                "expansion_plans",
                day.article,
                o.id,
                o.name,
                f"Plano de expansão de {year}: {o.name}",
                "",
                f"expansion_plans/{o.id}/{year}",
            )
            for o in operators
        ]
    return found


def month_dues(dues: Mapping[BillingMonth, date], article: str, name: Naming) -> list[Deadline]:
    """Say on which day each month's price falls due (art. 8), as the policy and the banking calendar give it."""
    return [
        Deadline(
            on,
            "month_due",
            article,
            "",
            EVERYBODY,
            f"Vencimento da cobrança de {name(month)}",
            "",
            f"month_due/{month}",
        )
        for month, on in dues.items()
    ]


def invoice_dues(invoices: Iterable[Invoice], article: str, name: Naming, reais: Say) -> list[Deadline]:
    """Due days of invoices that stand, with what is to be paid."""
    return [
        Deadline(
            i.due_on,
            "invoice_due",
            article,
            i.operator.id,
            i.operator.name,
            f"Vence a fatura nº {i.number} ({name(i.month)}), {reais(i.payable)}: {i.operator.name}",
            i.number,
            f"invoice_due/{i.number}",
        )
        for i in invoices
        if i.payable > 0
    ]


def note_dues(notes: Iterable[Note], words: Mapping[str, str], reais: Say) -> list[Deadline]:
    """Due days of notes on which something is to be paid; ``words`` names their kinds."""
    return [
        Deadline(
            n.due_on,
            "note_due",
            "8",
            n.operator.id,
            n.operator.name,
            f"Vence a {words.get(n.kind, 'nota')} nº {n.number}, {reais(n.total)}: {n.operator.name}",
            n.number,
            f"note_due/{n.number}",
        )
        for n in notes
        if n.due_on is not None and n.total > 0
    ]


def case_terms(files: Iterable[CaseFile], operators: Mapping[str, Operator], figures: StatuteFigures) -> list[Deadline]:
    """Terms of cases that nothing has ended: what a step set, the defence against a fine, the infraction's thirty days."""
    found = []
    for file in files:
        if file.acts_of(*ENDS):
            continue
        name = operators[file.case.operator].name if file.case.operator in operators else file.case.operator
        for place, act in enumerate(file.acts, 1):
            found += _terms_of(file, act, place, name, figures)
    return found


def _terms_of(file: CaseFile, act: CaseAct, place: int, name: str, figures: StatuteFigures) -> list[Deadline]:
    case, found = file.case, []

    def term(on: date, code: str, article: str, said: str) -> Deadline:
        summary = f"Processo {case.id}: {said} ({name})"
        return Deadline(on, code, article, case.operator, name, summary, case.id, f"{code}/{case.id}/{place}")

    if act.kind == acts.FINED and act.until is None and figures.has("defence_days", max(act.on, figures.published_on)):
        days = figures.figure("defence_days", max(act.on, figures.published_on))
        on = act.on + timedelta(days=int(days.value or 0))
        found.append(term(on, "fine_defence", days.article, ACT_WORDS[acts.FINED]))
    elif act.until is not None:
        code, article = ("fine_defence", "9 § 4") if act.kind == acts.FINED else ("case_term", acts.KINDS[case.kind])
        found.append(term(act.until, code, article, ACT_WORDS.get(act.kind, "termina o prazo")))
    penalised = case.kind in (acts.INFRACTION, acts.NONCONFORMITY)
    lasts = act.kind == acts.NOTIFIED and penalised and not file.acts_of(acts.PROJECTS_SUSPENDED)
    if lasts and act.until is not None and figures.has("suspension_after_days", max(act.until, figures.published_on)):
        days = figures.figure("suspension_after_days", max(act.until, figures.published_on))
        # the infraction lasts from the day after the term; "período superior a trinta dias"
        on = act.until + timedelta(days=int(days.value or 0) + 1)
        said = f"a infração passa de {int(days.value or 0)} dias e a aprovação de novos projetos pode ser suspensa"
        found.append(term(on, "projects_may_be_suspended", days.article, said))
    return found


def suspension_ends(files: Iterable[SuspensionFile], operators: Mapping[str, Operator]) -> list[Deadline]:
    """Last day of each court's order that has one and wasn't lifted."""
    found = []
    for file in files:
        order = file.suspension
        if order.until_on is None or file.lifting is not None:
            continue
        named = operators.get(order.operator or "")
        whom = named.name if named else order.service or EVERYBODY
        summary = f"Último dia da suspensão {order.id} (processo {order.court_case}, {order.court})"
        articles = "; ".join(order.articles)
        key = f"suspension_ends/{order.id}"
        found.append(
            Deadline(order.until_on, "suspension_ends", articles, order.operator or "", whom, summary, order.id, key)
        )
    return found


def law_checked(until: date, title: str) -> Deadline:
    """Last day up to which somebody looked whether the figures still stand: months after it aren't priced."""
    summary = f"Último dia até o qual os valores da {title} foram conferidos: confira se houve alteração e confirme"
    return Deadline(until, "law_checked", "", "", CITY_HALL, summary, "", "law_checked")


def limitation(
    reach: Limitation, due_on: Callable[[BillingMonth], date], first: date, published_on: date, name: Naming
) -> list[Deadline]:
    """Last day on which the oldest month that may still be demanded isn't too old; past months are demanded by their age.

    The law has no limitation: the years are those of a decision, else the policy's (arts. 10 § 3, 12 § 2, 15). Where all
    months count, or the oldest is the law's own first, there is nothing to say.
    """
    if reach.years is None:
        return []
    back = months_after(first, -reach.years * MONTHS_OF_A_YEAR)
    month = BillingMonth.of(back)
    while reach.reaches(due_on(month), first):
        month = month.preceding()
    while not reach.reaches(due_on(month), first):
        month = month.following()
    if month.last_day < published_on:
        return []
    on = months_after(due_on(month), reach.years * MONTHS_OF_A_YEAR)
    fate = "não são mais cobrados" if reach.decision else "ficam retidos até decisão"
    summary = f"Último dia para cobrar {name(month)} em atraso: meses vencidos há mais de {reach.years} anos {fate}"
    return [Deadline(on, "limitation", "10 § 3; 12 § 2", "", CITY_HALL, summary, "", f"limitation/{month}")]


def between(deadlines: Iterable[Deadline], first: date, last: date) -> tuple[Deadline, ...]:
    """Those of a span of days, both included, by day, then by what they are and whom they concern."""
    return tuple(sorted((d for d in deadlines if first <= d.on <= last), key=lambda d: (d.on, d.code, d.whom, d.key)))
