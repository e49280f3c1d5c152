"""Each policy key explained to the person who pays: its name, what its value means, which gap of the law it fills."""

from collections.abc import Iterable
from dataclasses import dataclass

from geobill.documents.words import long_date
from geobill.domain.invoice import Basis, Decision, PolicyUse


@dataclass(frozen=True)
class PolicyText:
    """Name of a key, the gap of the law that it fills, and what each of its values means.

    ``values`` maps values to sentences; ``*`` stands for any other value and may hold ``{value}``.
    """

    title: str
    gap: str
    values: dict[str, str]


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
        "O art. 7º não diz de quem é a extensão que define o coeficiente R.",
        {
            "operator": "A soma da rede da entidade no Município define um só coeficiente R.",
            "permit": "A extensão de cada permissão define o seu próprio coeficiente R.",
        },
    ),
    "reducer_method": PolicyText(
        "Aplicação do coeficiente R",
        "O art. 7º não diz se R incide sobre toda a extensão ou faixa a faixa.",
        {
            "whole": "O coeficiente da faixa em que cai a extensão total incide sobre toda a extensão.",
            "graduated": "Cada faixa de extensão recebe o seu coeficiente; aplica-se a média resultante.",
        },
    ),
    "above_100_km": PolicyText(
        "Extensão acima de 100 km",
        "A tabela de R, no art. 7º, termina em 100 km.",
        {
            "hold": "A cobrança fica retida até decisão (art. 15).",
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
        "Cobranças em dobro",
        "A Lei não diz se os dobros dos arts. 10 e 12 se acumulam.",
        {"false": "Os dobros não se acumulam.", "true": "Os dobros se acumulam."},
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
            "hold": "A cobrança desses metros fica retida até decisão (art. 15).",
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
        "O art. 8º fixa o décimo quinto dia e não diz de qual mês.",
        {
            "following": "Vence no décimo quinto dia do mês seguinte ao de referência.",
            "same": "Vence no décimo quinto dia do próprio mês de referência.",
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
        "O art. 8º não trata do dia sem expediente bancário.",
        {
            "next_business_day": "O vencimento passa ao primeiro dia útil bancário seguinte.",
            "same_day": "O vencimento permanece no décimo quinto dia.",
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
            "*": "Meses anteriores a {value} anos são calculados e ficam retidos até decisão.",
        },
    ),
    "ample_defence_days": PolicyText(
        "Prazo da ampla defesa",
        "O art. 10, § 1º, assegura ampla defesa e não lhe fixa prazo.",
        {
            "hold": "Sem prazo fixado em decisão, não se cobra em dobro.",
            "*": "O prazo da defesa é de {value} dias, contados da notificação.",
        },
    ),
    "set_off_share": PolicyText(
        "Compensação com créditos",
        "O art. 14 autoriza a utilização parcial dos débitos e não diz em que parte.",
        {
            "hold": "Nada se compensa até decisão (art. 15).",
            "*": "Compensa-se até a fração {value} de cada débito.",
        },
    ),
    "deposit_follows_price": PolicyText(
        "Caução e mudança de preço",
        "O art. 3º, § 2º, não diz se a caução acompanha a mudança do valor mensal.",
        {
            "no": "A caução permanece no valor da expedição do decreto.",
            "yes": "A caução é complementada ou devolvida quando muda o valor mensal.",
        },
    ),
}


def policy_line(use: PolicyUse, decisions: Iterable[Decision] = ()) -> PolicyLine:
    """Explain one policy key as it was in force.

    A key or value without words of its own stands as it is: what was in force is never left out of a memo.
    """
    text = POLICY.get(use.key, PolicyText(use.key, "", {}))
    meaning = text.values.get(use.value) or text.values.get("*", "")
    shown = use.value.replace(".", ",")
    resting_on = {use.decision, use.value}
    named = [decision_in_words(d) for d in decisions if d.id in resting_on]
    decision = "; ".join(named) or (f"Decisão {use.decision}." if use.decision else "")
    return PolicyLine(use.key, use.value, text.title, meaning.replace("{value}", shown), text.gap, decision)


def policy_lines(basis: Basis) -> tuple[PolicyLine, ...]:
    """Explain the whole policy that a bill was computed under, in its order."""
    return tuple(policy_line(use, basis.decisions) for use in basis.policy)


def decision_in_words(decision: Decision) -> str:
    """Name a decision of the mayor (art. 15): number, date, signatory, and what it answers."""
    answer = decision.answer.replace(".", ",")
    asked = POLICY[decision.question].title if decision.question in POLICY else decision.question
    return (
        f"Decisão nº {decision.number}, de {long_date(decision.date)}, de {decision.signatory} (art. 15) – "
        f"{asked}: {answer}."
    )


def policy_value(basis: Basis, key: str, default: str) -> str:
    """Value of a policy key in a basis, or the default where the basis doesn't carry the key."""
    return next((use.value for use in basis.policy if use.key == key), default)
