"""Why metres are held, said in a sentence and in a few words."""

import re
from decimal import Decimal

from geobill.documents import words
from geobill.domain.ratio import Ratio

# {whose}: whose network; {of} and {ends}: where the scale of R ends; {table}: which article it stands in.
HELD: dict[str, str] = {
    "above_100_km": (
        "A extensão {whose} passa {of} e a tabela do coeficiente R{table} {ends}: "
        "a Lei não dá o coeficiente, e a cobrança aguarda decisão."
    ),
    "overlap": (
        "O Mapa de Valores atribui dois valores diferentes ao mesmo lugar: a cobrança aguarda decisão sobre qual "
        "deles se aplica."
    ),
    "no_zone": (
        "O trecho está fora das zonas do Mapa de Valores, além do alcance admitido até a zona mais próxima: falta o "
        "valor T do terreno para o cálculo."
    ),
    "payer_held": (
        "A faixa é paga por outro trecho da entidade, de permissão cuja rede passa {of} e cuja cobrança está retida: "
        "estes metros aguardam a mesma decisão."
    ),
    "limitation": (
        "O mês é anterior ao prazo de prescrição adotado: o valor está calculado, e a cobrança aguarda decisão sobre "
        "quantos anos se contam."
    ),
}
HELD_TITLES: dict[str, str] = {
    "above_100_km": "Rede acima {of}",
    "overlap": "Sobreposição de zonas",
    "no_zone": "Fora das zonas do mapa",
    "payer_held": "Faixa paga por trecho retido",
    "limitation": "Mês anterior ao prazo de prescrição",
}


def held_reason(code: str, reason: str = "", end: str = "", table: str = "") -> str:
    """Say in a sentence why metres are held; an unknown code is explained by the record's own reason.

    ``end`` is where the scale of R ends ("100 km"), ``table`` cites its article (", no art. 7º,").

    Examples
    --------
    >>> held_reason("above_100_km", "permit P-3: the network of 100001 m is above 100 km", "100 km")[:52]
    'A extensão da rede da permissão P-3 passa de 100 km '
    """
    said, whose = HELD.get(code), held_whose(reason)
    if said is None:
        return reason or code
    ends = f"termina em {end}" if end else "termina antes"
    return said.format(whose=f"da rede{whose}" if whose else "total da rede", of=_of(end), ends=ends, table=table)


def held_whose(reason: str) -> str:
    """Say whose rows the record's reason names: a permit's, those without one; empty for the operator's whole network.

    Examples
    --------
    >>> held_whose("permit P-3: the network of …"), held_whose("rows without a permit: the network of …"), held_whose("the network")
    (' da permissão P-3', ' sem permissão', '')
    """
    if reason.startswith("rows without a permit: "):
        return " sem permissão"
    named = re.match(r"permit (.+): the network of ", reason)
    return f" da permissão {named[1]}" if named else ""


def held_title(code: str, end: str = "") -> str:
    """Name a reason for holding metres in a few words; an unknown code stands as it is. ``end`` as in held_reason."""
    title = HELD_TITLES.get(code)
    return title.format(of=_of(end)) if title else code


def amount_if_basis(what: str, end: str = "") -> str:
    """Say how the silence would be filled in the case that an ``AmountIf`` names; ``end`` as in held_reason.

    Examples
    --------
    >>> amount_if_basis("R = 0.60"), amount_if_basis("lower"), amount_if_basis("pela média")
    ('se aplicado o coeficiente 0,60', 'se aplicado o menor valor', 'pela média')
    """
    average = re.search(r"(\d+[.]\d+)/(\d+[.]\d+)", what)
    if average:
        divided = words.number(Ratio(Decimal(average[1]), Decimal(average[2])))
        return f"se aplicado aos metros acima {_of(end)} o coeficiente da última faixa, com R médio de {divided}"
    found = re.search(r"\d+[.,]\d+", what)
    if found:
        return f"se aplicado o coeficiente {found[0].replace('.', ',')}"
    if "without limitation" in what:
        return "se contados também estes meses"
    for english, portuguese in (("lower", "menor"), ("higher", "maior")):
        if english in what:
            return f"se aplicado o {portuguese} valor"
    return what


def _of(end: str) -> str:
    return f"de {end}" if end else "da tabela de R"
