"""How QGIS shows a survey and what was found in it: colours by kind with a line pattern each, forms, value maps.

Permitted is blue, surveyed grey, undeclared vermilion; what was dismissed turns grey wherever it is drawn.
"""

from collections.abc import Iterable, Mapping

from geobill.documents import qml
from geobill.documents.finding_words import KIND_WORDS, STATE_WORDS
from geobill.documents.gpkg_styles import BLACK, BLUE, GREEN, HALO, PURPLE, SEGMENT_GREY, VERMILION
from geobill.documents.qml_forms import Check, Form
from geobill.domain import detection as found

NOTHING = "{2839923C-8B7D-419E-B84B-CA2FE9B80EC7}"  # QGIS' own sign for an empty value in a value map
AMBER, FADED, SURVEYED_MARK = "#b07d00", "#b3b3b3", "#9a9a9a"
UPHOLD, DISMISS, UNDO = "procede", "não procede", "desfazer"
DECISIONS: dict[str, str] = {
    NOTHING: "(nada decidido aqui)",
    UPHOLD: "Procede",
    DISMISS: "Não procede",
    UNDO: "Desfazer a última decisão",
}
# kind: colour, width in mm, dash and space in mm (where it is a line), mark (where it is a point)
LOOKS: dict[str, tuple[str, float, tuple[float, ...], str]] = {
    found.UNDECLARED_SEGMENT: (VERMILION, 1.3, (), "diamond"),
    found.MORE: (PURPLE, 1.3, (3, 1), "star"),
    found.WIDER: (AMBER, 1.4, (1.4, 0.6), "pentagon"),
    found.MOVED: (GREEN, 1.1, (2.4, 0.6, 0.5, 0.6), "triangle"),
    found.MISSING: (BLACK, 1.0, (0.6, 0.9), "cross2"),
    found.UNDECLARED_EQUIPMENT: (VERMILION, 1.3, (), "diamond"),
    found.LARGER: (AMBER, 1.4, (1.4, 0.6), "square"),
}
PERMITTED, SURVEYED = "permitido", "levantado"
ORIGINS: dict[str, str] = {PERMITTED: "Permitido", SURVEYED: "Levantado"}
FINDING_LABELS_FROM, EQUIPMENT_LABELS_FROM = 5000, 1500
FINDING_BOXES: dict[str, tuple[str, ...]] = {
    "Achado": ("achado", "tipo", "artigo", "situacao", "operadora", "servico", "nivel", "extensao_m", "confianca"),
    "Medidas": (
        "desvio_medio_m", "desvio_p95_m", "desvio_max_m", "largura_m", "largura_permitida_m", "volume_m3", "volume_permitido_m3",
    ),
    "Dinheiro": ("preco_mes", "preco_mes_centavos"),
    "De onde vem": ("levantamento", "linha_arquivo", "trecho", "permitido", "inicio_m", "fim_m", "comparado_em"),
    "O que se decidiu": ("processo", "decidido_por", "decidido_em", "versao"),
}  # fmt: skip
CASE_BOXES: dict[str, tuple[str, ...]] = {
    "Achado (só leitura)": ("achado", "tipo", "situacao", "extensao_m", "preco_mes", "processo", "versao"),
    "Sua decisão": ("decisao", "motivo", "responsavel"),
    "De quem é": ("operadora",),
    "Nota": ("nota",),
}
CASE_TYPED = ("decisao", "motivo", "responsavel", "operadora", "nota")
CASE_HIDDEN = ("operadora_lida", "operadora_nome")
NEEDS_REASON = Check(
    "motivo",
    f"coalesce(\"decisao\", '') <> '{DISMISS}' OR length(trim(coalesce(\"motivo\", ''))) > 0",
    "“Não procede” precisa do motivo: a operadora e o juiz vão perguntar.",
)


def finding_line_style(aliases: Mapping[str, str], kinds: Iterable[str], operators: Mapping[str, str]) -> str:
    """Style of findings on the network; the legend has the kinds that there are."""
    present = set(kinds)
    entries = [qml.Entry(KIND_WORDS[kind], finding_line(kind, _faded(kind)), kind) for kind in LOOKS if kind in present]
    labels = qml.Labels('"rotulo"', FINDING_LABELS_FROM, 7.5, "#1a1a1a", along_lines=True)
    return qml.style(qml.categories("tipo", entries), "line", aliases, labels, '"achado"', finding_form(operators))


def finding_mark_style(aliases: Mapping[str, str], kinds: Iterable[str], operators: Mapping[str, str]) -> str:
    """Style of findings on cabinets and poles."""
    present = set(kinds)
    entries = [qml.Entry(KIND_WORDS[kind], finding_mark(kind, _faded(kind)), kind) for kind in LOOKS if kind in present]
    labels = qml.Labels('"rotulo"', FINDING_LABELS_FROM, 7.5, "#1a1a1a")
    return qml.style(qml.categories("tipo", entries), "marker", aliases, labels, '"achado"', finding_form(operators))


def finding_form(operators: Mapping[str, str]) -> Form:
    """Form of a finding: read-only, since a finding is a record."""
    choices = {"tipo": KIND_WORDS, "situacao": STATE_WORDS, "operadora": operators}
    return Form(choices=choices, groups=FINDING_BOXES, hidden=("rotulo",))


def case_style(aliases: Mapping[str, str], operators: Mapping[str, str]) -> str:
    """Style of the decisions: a pin on each finding, by what was typed, else by what was decided before."""
    pin = 'case when coalesce("decisao", \'\') <> \'\' then "decisao" else "situacao" end'
    looks = (
        (found.SUSPECTED, STATE_WORDS[found.SUSPECTED], "circle", "#ffffff", VERMILION, 2.6),
        (found.UPHELD, STATE_WORDS[found.UPHELD], "circle", VERMILION, "#ffffff", 2.6),
        (found.DISMISSED, STATE_WORDS[found.DISMISSED], "circle", FADED, "#ffffff", 2.6),
        (found.IN_CASE, STATE_WORDS[found.IN_CASE], "square", BLUE, "#ffffff", 2.6),
        (UPHOLD, "Digitado aqui: procede", "star", VERMILION, BLACK, 5.4),
        (DISMISS, "Digitado aqui: não procede", "cross_fill", FADED, BLACK, 5.0),
        (UNDO, "Digitado aqui: desfazer", "triangle", "#ffffff", BLACK, 5.0),
    )
    entries = [
        qml.Entry(label, qml.mark(shape, colour, edge, f"{size:g} * {qml.SHRINK}"), value)
        for value, label, shape, colour, edge, size in looks
    ]
    choices = {
        "tipo": KIND_WORDS,
        "situacao": STATE_WORDS,
        "decisao": DECISIONS,
        "operadora": {NOTHING: "(não se sabe)", **operators},
    }
    form = Form(CASE_TYPED, choices, ("motivo", "nota"), CASE_HIDDEN, CASE_BOXES, (NEEDS_REASON,))
    return qml.style(qml.categories(pin, entries), "marker", aliases, None, '"achado"', form)


def survey_style(aliases: Mapping[str, str], operators: Mapping[str, str]) -> str:
    """Style of what was surveyed: grey, narrow enough that permitted blue is seen below it."""
    symbol = qml.line(qml.stroke(SEGMENT_GREY, 0.45, scaled=True))
    form = Form(choices={"operadora": operators})
    return qml.style(qml.single(symbol), "line", aliases, None, '"trecho"', form)


def permitted_style(aliases: Mapping[str, str], operators: Mapping[str, str]) -> str:
    """Style of what permits and registers allow: blue."""
    symbol = qml.line(qml.stroke(BLUE, 1.2, scaled=True))
    form = Form(choices={"operadora": operators})
    return qml.style(qml.single(symbol), "line", aliases, None, '"trecho"', form)


def equipment_style(aliases: Mapping[str, str], operators: Mapping[str, str]) -> str:
    """Style of cabinets and poles: permitted ones blue squares, surveyed ones grey rings."""
    entries = [
        qml.Entry("Equipamento permitido", qml.mark("square", BLUE, "#ffffff", "2.8"), PERMITTED),
        qml.Entry("Equipamento levantado", qml.mark("circle", "#ffffff00", SURVEYED_MARK, "4.2"), SURVEYED),
    ]
    form = Form(choices={"operadora": operators, "origem": ORIGINS})
    labels = qml.Labels('"equipamento"', EQUIPMENT_LABELS_FROM, 7, BLUE)
    return qml.style(qml.categories("origem", entries), "marker", aliases, labels, '"equipamento"', form)


def finding_mark(kind: str, tint: str = "") -> qml.Symbol:
    """Return the mark of a finding that is a point."""
    colour, _, _, shape = LOOKS[kind]
    return qml.mark(shape, colour, "#ffffff" if shape != "cross2" else colour, f"6.4 * {qml.SHRINK}", tint)


def finding_line(kind: str, tint: str = "") -> qml.Symbol:
    """Return the line of a finding, on a white edge."""
    colour, width, dashes, _ = LOOKS[kind]
    return qml.line(qml.stroke(HALO, width + 0.9), qml.stroke(colour, width, dashes, tint=tint))


def _faded(kind: str) -> str:
    return f"if(\"situacao\" = '{found.DISMISSED}', '{FADED}', '{LOOKS[kind][0]}')"
