"""What a file's findings mean, in Portuguese: for the analyst who reads them and the operator who must answer."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FILE = Path(__file__).with_name("findings.toml")


@dataclass(frozen=True)
class Words:
    """A finding in Portuguese: what it is, why it matters, what to do, what to ask of the sender (blank: nothing)."""

    title: str
    why: str
    fix: str
    question: str = ""


@cache
def finding_words() -> Mapping[str, Words]:
    """Words for each code of a finding, from ``findings.toml``."""
    return {code: Words(**said) for code, said in tomllib.loads(_FILE.read_text(encoding="utf-8")).items()}


def words_of(code: str, message: str, fix: str) -> Words:
    """Words for a finding; one whose code isn't known is told in its own words."""
    return finding_words().get(code) or Words(code, message, fix)


SEVERITIES: dict[str, str] = {"error": "Erro", "warning": "Aviso", "note": "Nota"}
KEYS: dict[str, str] = {
    "segment": "identificador do trecho",
    "equipment": "identificador do equipamento",
    "width": "largura da faixa",
    "operator": "operadora",
    "installed_on": "instalado em",
    "removed_on": "retirado em",
    "status": "situação",
    "service": "serviço",
    "level": "nível ou tensão",
    "permit": "permissão",
    "declared_length": "comprimento declarado",
    "volume": "volume",
    "length": "comprimento do armário",
    "breadth": "largura do armário",
    "height": "altura do armário",
    "zone": "zona do Mapa de Valores",
    "land_value": "valor do terreno",
    "land_value_left": "valor do lado esquerdo",
    "land_value_right": "valor do lado direito",
    "values_zone": "zona, na tabela de valores",
    "year": "ano",
}
TYPES: dict[str, str] = {
    "text": "texto",
    "integer": "número inteiro",
    "real": "número com decimais",
    "boolean": "sim ou não",
    "date": "data",
    "datetime": "data e hora",
    "time": "hora",
}
GEOMETRY: dict[str, tuple[str, str]] = {
    "Point": ("ponto", "pontos"),
    "MultiPoint": ("grupo de pontos", "grupos de pontos"),
    "LineString": ("linha", "linhas"),
    "LinearRing": ("linha fechada", "linhas fechadas"),
    "MultiLineString": ("linha de várias partes", "linhas de várias partes"),
    "Polygon": ("polígono", "polígonos"),
    "MultiPolygon": ("polígono de várias partes", "polígonos de várias partes"),
    "GeometryCollection": ("coleção", "coleções"),
}
IMPORTS: dict[str, str] = {
    "network": "rede",
    "cabinets": "armários e contêineres",
    "land_values": "Mapa de Valores",
    "none": "nada: esta camada não se cobra",
    "closed": "nada: esta camada não se abre",
}
_TURNED: tuple[tuple[str, str], ...] = (
    ("with x and y swapped and the minus signs", "trocando x por y e repondo os sinais de menos"),
    ("with x and y swapped", "trocando x por y"),
    ("if one unit of the drawing is mm", "se a unidade do desenho for o milímetro"),
    ("if one unit of the drawing is cm", "se a unidade do desenho for o centímetro"),
    ("if one unit of the drawing is km", "se a unidade do desenho for o quilômetro"),
    ("if one unit of the drawing is ft", "se a unidade do desenho for o pé"),
    ("if one unit of the drawing is in", "se a unidade do desenho for a polegada"),
    ("with the minus signs", "repondo os sinais de menos"),
    ("with the false northing", "repondo os 10.000 km do falso norte"),
)


def turned_words(turned: str | None) -> str:
    """Say what must be done to coordinates before they lie inside; blank where nothing.

    Examples
    --------
    >>> turned_words("with x and y swapped"), turned_words(None)
    ('trocando x por y', '')
    """
    if not turned:
        return ""
    return next((words for begin, words in _TURNED if turned.startswith(begin)), turned)
