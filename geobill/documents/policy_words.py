"""Each policy key explained to the person who pays: its name, what its value means, which gap of the law it fills."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from geobill.documents.statute_words import StatuteWords
from geobill.documents.words import long_date, ordinal_in_words
from geobill.domain.invoice import Basis, Decision, PolicyUse


@dataclass(frozen=True)
class PolicyText:
    """Name of a key, the gap of the law that it fills, and what each of its values means.

    ``values`` maps values to sentences; ``*`` stands for any other value and may hold ``{value}``. In all texts
    ``{subject:RULE}``, ``{aside:RULE}`` and ``{cite:RULE}`` cite the statute (:class:`StatuteWords`), ``{end}`` is where its
    scale of R ends, ``{due_day}`` its due day, ``{multiplied}`` and ``{multiples}`` name what it charges more than once.
    ``needs`` names the rule without which the statute has no such gap.
    """

    title: str
    gap: str
    values: dict[str, str]
    needs: str = ""


@dataclass(frozen=True)
class PolicyLine:
    """One policy key as a memo prints it."""

    key: str
    value: str
    title: str
    meaning: str
    gap: str
    decision: str


POLICY: dict[str, PolicyText] = {
    "reducer_scope": PolicyText(
        "Alcance do coeficiente R",
        "{subject:reducer} não diz de quem é a extensão que define o coeficiente R.",
        {
            "operator": "A soma da rede da entidade no Município define um só coeficiente R.",
            "permit": "A extensão de cada permissão define o seu próprio coeficiente R.",
        },
    ),
    "reducer_method": PolicyText(
        "Aplicação do coeficiente R",
        "{subject:reducer} não diz se R incide sobre toda a extensão ou faixa a faixa.",
        {
            "whole": "O coeficiente da faixa em que cai a extensão total incide sobre toda a extensão.",
            "graduated": "Cada faixa de extensão recebe o seu coeficiente; aplica-se a média resultante.",
        },
    ),
    "above_100_km": PolicyText(
        "Extensão acima de {end}",
        "A tabela de R, no {cite:reducer}, termina em {end}.",
        {
            "hold": "A cobrança fica retida até decisão{aside:open_questions}.",
            "*": "Aplica-se o coeficiente fixado pela decisão registrada.",
        },
    ),
    "clandestine_counts_in_reducer": PolicyText(
        "Rede clandestina e coeficiente R",
        "A Lei não diz se metros clandestinos podem reduzir o coeficiente R.",
        {
            "false": "Metros clandestinos não contam na extensão que define R.",
            "true": "Metros clandestinos contam na extensão que define R.",
        },
    ),
    "doublings_cumulate": PolicyText(
        "Cobranças {multiplied}",
        "A Lei não diz se os {multiples}{of:clandestine,existing} se acumulam.",
        {"false": "Os {multiples} não se acumulam.", "true": "Os {multiples} se acumulam."},
    ),
    "proration": PolicyText(
        "Primeiro e último mês",
        "A Lei não trata do mês incompleto.",
        {
            "daily": "O valor é proporcional aos dias de uso do mês, contados o primeiro e o último.",
            "full_month": "O mês iniciado é devido por inteiro.",
        },
    ),
    "on_border": PolicyText(
        "Trecho na divisa de zonas",
        "A Lei não diz qual valor T vale sobre a divisa de duas zonas.",
        {
            "lower": "Conta-se uma só vez, pelo menor dos valores.",
            "higher": "Conta-se uma só vez, pelo maior dos valores.",
            "mean": "Conta-se uma só vez, pela média dos valores.",
        },
    ),
    "on_overlap": PolicyText(
        "Sobreposição de zonas",
        "O Mapa de Valores atribui dois valores a um mesmo lugar.",
        {
            "hold": "A cobrança desses metros fica retida até decisão{aside:open_questions}.",
            "lower": "Aplica-se o menor dos valores.",
            "higher": "Aplica-se o maior dos valores.",
        },
    ),
    "max_gap_m": PolicyText(
        "Vias não cobertas pelo mapa",
        "O Mapa de Valores cobre as quadras e deixa vias sem valor.",
        {
            "0": "Metros fora das zonas ficam retidos.",
            "*": "Vale a zona mais próxima, até {value} m de distância; além disso, os metros ficam retidos.",
        },
    ),
    "same_strip": PolicyText(
        "Redes na mesma faixa",
        "A Lei não diz se duas redes da mesma entidade na mesma faixa pagam duas vezes.",
        {
            "each": "Cada rede paga a sua contribuição.",
            "once": "A faixa paga uma só vez, pela maior largura.",
        },
    ),
    "due_month": PolicyText(
        "Mês do vencimento",
        "{subject:due_day} fixa o {due_day} dia e não diz de qual mês.",
        {
            "following": "Vence no {due_day} dia do mês seguinte ao de referência.",
            "same": "Vence no {due_day} dia do próprio mês de referência.",
        },
    ),
    "length_source": PolicyText(
        "Origem da extensão",
        "A Lei não diz se vale a extensão desenhada ou a declarada.",
        {
            "geometry": "Vale a extensão medida no desenho da rede.",
            "declared": "Vale a extensão declarada pela entidade.",
        },
    ),
    "length_precision_m": PolicyText(
        "Precisão da extensão",
        "A Lei não fixa a precisão das medidas.",
        {"*": "Cada extensão medida é arredondada uma única vez, a {value} m."},
    ),
    "rounding": PolicyText(
        "Arredondamento",
        "A Lei não trata das frações de centavo.",
        {
            "half_up": "Cada linha é arredondada uma única vez ao centavo; o meio centavo sobe.",
            "half_even": "Cada linha é arredondada uma única vez ao centavo; o meio centavo vai ao par.",
        },
    ),
    "due_day_rule": PolicyText(
        "Vencimento em dia sem expediente",
        "{subject:due_day} não trata do dia sem expediente bancário.",
        {
            "next_business_day": "O vencimento passa ao primeiro dia útil bancário seguinte.",
            "same_day": "O vencimento permanece no {due_day} dia.",
        },
    ),
    "duplicate_stretch": PolicyText(
        "Trecho repetido na entrega",
        "A Lei não trata do trecho entregue duas vezes no mesmo cadastro.",
        {
            "set_aside": "O trecho repetido da mesma entidade e serviço é cobrado uma só vez.",
            "bill": "Cada registro entregue é cobrado.",
        },
    ),
    "limitation_years": PolicyText(
        "Prescrição",
        "A Lei não fixa prazo para a cobrança de meses passados.",
        {
            "none": "Não se aplica prazo.",
            "*": "Meses anteriores a {value} anos são calculados e não são cobrados; sem decisão que fixe o prazo, ficam retidos.",
        },
    ),
    "ample_defence_days": PolicyText(
        "Prazo da ampla defesa",
        "{subject:forfeiture} assegura ampla defesa e não lhe fixa prazo.",
        {
            "hold": "Sem prazo fixado em decisão, não se cobra {multiplied}.",
            "*": "O prazo da defesa é de {value} dias, contados da notificação.",
        },
        needs="forfeiture",
    ),
    "set_off_share": PolicyText(
        "Compensação com créditos",
        "{subject:set_off} autoriza a utilização parcial dos débitos e não diz em que parte.",
        {
            "hold": "Nada se compensa até decisão{aside:open_questions}.",
            "*": "Compensa-se até a fração {value} de cada débito.",
        },
        needs="set_off",
    ),
    "deposit_follows_price": PolicyText(
        "Caução e mudança de preço",
        "{subject:deposit_months} não diz se a caução acompanha a mudança do valor mensal.",
        {
            "no": "A caução permanece no valor da expedição do decreto.",
            "yes": "A caução é complementada ou devolvida quando muda o valor mensal.",
        },
        needs="deposit_months",
    ),
}


NO_SUCH_RULE = "A Lei não trata deste ponto."
NO_DECISION = "Sem decisão registrada."
METHODS = {"graduated": "faixa a faixa", "whole": "sobre toda a extensão"}


def policy_line(use: PolicyUse, statute: StatuteWords, decisions: Iterable[Decision] = ()) -> PolicyLine:
    """Explain one policy key as it was in force.

    A key or value without words of its own stands as it is: what was in force is never left out of a memo. A value other
    than the default names the decision that it rests on, or says that none is recorded. Where the statute itself answers
    the question, the line says that the key has no effect.
    """
    text = POLICY.get(use.key, PolicyText(use.key, "", {}))
    answered = _answered(use.key, statute)
    if answered is not None:
        title = text.title if "{end}" not in text.title else "Extensão acima da tabela de R"
        return PolicyLine(use.key, use.value, title, answered, "", "")
    meaning = text.values.get(use.value) or text.values.get("*", "")
    resting_on = {use.decision, use.value}
    mine = [d for d in decisions if d.id in resting_on and d.question == use.key]
    # what it answers stands beside it already, but for R above the scale's end
    named = [decision_in_words(d, statute) if use.key == "above_100_km" else f"{_act(d, statute)}." for d in mine]
    unnamed = f"Decisão {use.decision}." if use.decision else NO_DECISION if use.value != use.default else ""
    return PolicyLine(
        use.key,
        use.value,
        _said(text.title, statute),
        _said(meaning, statute).replace("{value}", use.value.replace(".", ",")),
        _said(text.gap, statute) if not text.needs or statute.has(text.needs) else NO_SUCH_RULE,
        "; ".join(named) or unnamed,
    )


def policy_title(key: str, statute: StatuteWords) -> str:
    """Name a policy key; one without words stands as it is."""
    return policy_line(PolicyUse(key, "", ""), statute).title


def _answered(key: str, statute: StatuteWords) -> str | None:
    """Say how a statute answers a question that others leave open; None where it leaves it open too."""
    cited = statute.cite("reducer")
    if key == "reducer_method" and statute.scale_method is not None:
        return f"Sem efeito: o {cited} manda aplicar o coeficiente {METHODS[statute.scale_method]}."
    if key == "above_100_km" and statute.scale and not statute.scale_end:
        return f"Sem efeito: a última faixa da tabela de R, no {cited}, não tem fim."
    return None


def _said(text: str, statute: StatuteWords) -> str:
    """Fill a text with what the statute gives and cites."""

    def cited(found: re.Match[str]) -> str:
        names = found[2].split(",")
        if found[1] == "of":
            said = statute.cite(*names)
            return f" {'dos' if said.startswith('arts') else 'do'} {said}" if said else ""
        how = {"subject": statute.subject, "aside": statute.aside, "cite": statute.cite}[found[1]]
        return how(*names)

    said = re.sub(r"\{(subject|aside|cite|of):([a-z_,]+)\}", cited, text)
    if "{due_day}" in said:
        said = said.replace("{due_day}", ordinal_in_words(int(statute.value("due_day"))))
    said = said.replace("{end}", statute.scale_end).replace("{multiplied}", statute.charged_more)
    return said.replace("{multiples}", "dobros" if statute.doubles else "multiplicadores")


def policy_lines(basis: Basis, statute: StatuteWords) -> tuple[PolicyLine, ...]:
    """Explain the whole policy that a bill was computed under, in its order."""
    return tuple(policy_line(use, statute, basis.decisions) for use in basis.policy)


def _answer_in_words(decision: Decision, statute: StatuteWords) -> str:
    """Say an answer: what the value of a policy key means, R above 100 km as a number, words as they were written."""
    if decision.question not in POLICY:
        return f"“{decision.answer}”"
    if decision.question == "above_100_km":
        return decision.answer.replace(".", ",")
    return policy_line(PolicyUse(decision.question, decision.answer, decision.answer), statute).meaning.rstrip(".")


def decision_in_words(decision: Decision, statute: StatuteWords) -> str:
    """Name a decision of the mayor: number, date, signatory, what it answers, and from when where it says so."""
    answer = _answer_in_words(decision, statute)
    asked = policy_title(decision.question, statute) if decision.question in POLICY else decision.question
    since = f", a partir de {long_date(decision.in_force_from)}" if decision.in_force_from else ""
    return f"{_act(decision, statute)} – {asked}{'' if asked.endswith('?') else ':'} {answer}{since}."


def _act(decision: Decision, statute: StatuteWords) -> str:
    named = f"Decisão nº {decision.number}, de {long_date(decision.date)}, de {decision.signatory}"
    return f"{named}{statute.aside('open_questions')}"


def policy_value(basis: Basis, key: str, default: str) -> str:
    """Value of a policy key in a basis, or the default where the basis doesn't carry the key."""
    return next((use.value for use in basis.policy if use.key == key), default)
