"""What an operator reads about rows that were set aside: why, what to do, and how to answer; in Portuguese."""

from collections.abc import Mapping

LONG_TEXT = "(texto longo demais para a planilha: fica como veio)"
LONG_GEOMETRY = "(geometria longa demais para a planilha: fica como veio; corrija-a no GeoPackage)"
_VALUES = ("land_value", "land_value_left", "land_value_right")
# code → why, what to do, and the keys whose columns are to be corrected
_REASONS: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "width_missing": ("Falta a largura da faixa.", "Informe a largura em metros, maior que zero", ("width",)),
    "width_not_positive": (
        "A largura da faixa é zero ou negativa.",
        "Informe a largura em metros, maior que zero",
        ("width",),
    ),
    "no_geometry": (
        "A linha não tem desenho (geometria), e por isso não tem lugar nem extensão.",
        "Desenhe-a no GeoPackage, ou escreva-a em WKT na coluna geobill_wkt",
        (),
    ),
    "zero_length": (
        "O trecho desenhado tem extensão zero.",
        "Desenhe o trecho inteiro, ou diga que ele não existe",
        (),
    ),
    "duplicate": (
        "O mesmo trecho já está em outra linha da entrega (mesma entidade e mesmo serviço).",
        "Se é outro cabo, informe o serviço ou a posição que o distingue; se é o mesmo, apague esta linha",
        ("service", "level"),
    ),
    "wrong_geometry_type": (
        "O tipo do desenho não serve: a rede se desenha em linhas.",
        "Desenhe a linha no lugar do ponto ou do polígono",
        (),
    ),
    "outside_municipality": (
        "O desenho está fora do município, ou tem um vértice muito longe dele.",
        "Corrija as coordenadas, ou confira o sistema de coordenadas do arquivo",
        (),
    ),
    "value_missing": (
        "Falta o valor do metro quadrado.",
        "Informe o valor em reais por metro quadrado",
        _VALUES,
    ),
    "value_not_positive": (
        "O valor do metro quadrado é zero ou negativo.",
        "Informe o valor em reais por metro quadrado, maior que zero",
        _VALUES,
    ),
    "volume_missing": (
        "Falta o volume do equipamento, ou uma de suas medidas.",
        "Informe o volume em metros cúbicos, ou comprimento, largura e altura em metros",
        ("volume", "length", "breadth", "height"),
    ),
    "volume_not_positive": (
        "O volume do equipamento, ou uma de suas medidas, é zero ou negativo.",
        "Informe medidas maiores que zero",
        ("volume", "length", "breadth", "height"),
    ),
    "date_unreadable": (
        "Uma data não pode ser lida, ou a retirada vem antes da instalação.",
        "Escreva a data como 31/12/2026 ou 2026-12-31",
        ("installed_on", "removed_on"),
    ),
    "number_unreadable": (
        "Um número não pode ser lido, ou é grande demais.",
        "Escreva só o número, com vírgula ou ponto decimal, sem unidade e sem separador de milhar",
        ("width", "declared_length", "volume", "length", "breadth", "height", *_VALUES),
    ),
    "unknown_operator": (
        "A linha não diz de quem é, ou nomeia quem não está cadastrado.",
        "Escreva o código da operadora como está no cadastro da prefeitura",
        ("operator",),
    ),
    "invalid_geometry": (
        "O desenho tem defeito: uma coordenada que não é número, ou uma forma que não se fecha.",
        "Desenhe-a de novo no GeoPackage, ou escreva-a em WKT na coluna geobill_wkt",
        (),
    ),
}
# of a value map, where it is otherwise: nobody answers there, the map itself is put right
_OF_A_MAP: Mapping[str, tuple[str, str]] = {
    "no_geometry": (
        "A zona não tem desenho (geometria), e por isso não cobre chão nenhum.",
        "Desenhe-a no mapa de valores",
    ),
    "wrong_geometry_type": (
        "O tipo do desenho não serve: o mapa tem zonas (polígonos), faces (linhas) ou pontos, um só tipo por importação.",
        "Redesenhe-a no mapa de valores, ou importe-a à parte",
    ),
    "invalid_geometry": (
        "O desenho tem defeito: uma coordenada que não é número, ou uma forma que não se fecha.",
        "Redesenhe-a no mapa de valores",
    ),
}
TITLES: Mapping[str, str] = {
    "geobill_batch": "Lote",
    "geobill_layer": "Camada do arquivo",
    "geobill_row": "Linha na camada",
    "geobill_id": "Identificador",
    "geobill_reason_code": "Código do motivo",
    "geobill_reason": "Detalhe, como o programa o registrou (em inglês)",
    "geobill_motivo": "Motivo",
    "geobill_o_que_fazer": "O que fazer",
}
README: tuple[str, ...] = (
    "Estas {rows} linhas do arquivo {file} não puderam ser usadas no cálculo do preço público. Lote {batch}; operadora: {operator}.",
    "",
    "Como responder",
    "1. Na folha «Linhas», cada linha diz o motivo (geobill_motivo) e o que fazer (geobill_o_que_fazer).",
    "2. Corrija no próprio lugar: as colunas amarelas são as do arquivo original. As que começam com geobill_ (exceto geobill_wkt) "
    "são da prefeitura e não se mudam: é por elas que a resposta encontra a linha.",
    "3. O desenho está em geobill_wkt, em metros, no sistema {crs} (WKT, por exemplo LINESTRING (x y, x y)). Deixe como está para "
    "manter o desenho; para desenhar num mapa, use o GeoPackage que acompanha esta planilha e abre no QGIS.",
    "4. Linhas que ficarem sem correção podem ser apagadas: continuam pendentes na prefeitura. Não acrescente linhas novas: elas "
    "vêm em entrega à parte.",
    "5. Ao ordenar, ordene a folha inteira: cada resposta tem de ficar com a sua linha. Não mude os títulos das colunas.",
    "6. Devolva o arquivo em .xlsx: é a resposta ao lote {batch}, e vale a planilha mais recente dele. A prefeitura confere tudo de "
    "novo; o que ainda tiver defeito volta com o novo motivo.",
    "",
    "Números: com vírgula ou ponto decimal, sem unidade. Datas: 31/12/2026 ou 2026-12-31. Célula vazia quer dizer «não informado».",
    "As colunas ocultas geobill_reason_code e geobill_reason trazem o detalhe técnico, em inglês, como o programa o registrou.",
)
README_OF_A_MAP: tuple[str, ...] = (
    "Estas {rows} linhas do mapa de valores {file} não puderam ser usadas: onde elas estariam, o mapa não tem valor. Lote {batch}.",
    "",
    "O que fazer",
    "1. Na folha «Linhas», cada linha diz o motivo (geobill_motivo) e o que fazer (geobill_o_que_fazer).",
    "2. Esta planilha só mostra as linhas; não se responde nela. Corrija no próprio mapa de valores e importe-o de novo com "
    "--replace.",
    "3. O desenho de cada linha está em geobill_wkt, em metros, no sistema {crs}, e no GeoPackage que acompanha esta planilha e abre "
    "no QGIS.",
    "",
    "As colunas ocultas geobill_reason_code e geobill_reason trazem o detalhe técnico, em inglês, como o programa o registrou.",
)


def reason_words(code: str, keys: Mapping[str, str], reason: str = "", *, of_a_map: bool = False) -> tuple[str, str]:
    """Say in Portuguese why a row was set aside and what to do; ``keys`` names the file's columns (key to column).

    ``reason`` is what was recorded: where it names the columns that failed (``LARGURA (width): …``), only these are named.

    Examples
    --------
    >>> reason_words("width_missing", {"width": "LARGURA"})
    ('Falta a largura da faixa.', 'Informe a largura em metros, maior que zero (coluna LARGURA).')
    """
    why, what, concerned = _REASONS[code]
    if of_a_map and code in _OF_A_MAP:
        why, what = _OF_A_MAP[code]
    failed = [key for key in concerned if f" ({key}): " in reason]
    columns = [keys[key] for key in failed or concerned if key in keys]
    where = f" (coluna{'s' * (len(columns) > 1)} {', '.join(columns)})" if columns else ""
    return why, f"{what}{where}."
