"""What of the queue is shown: the filters as they stand in an address, read and written."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import date, timedelta
from decimal import Decimal
from urllib.parse import urlencode

from geobill.documents.finding_words import KIND_WORDS, STATE_WORDS
from geobill.domain.detection import SUSPECTED
from geobill.store.finding_queue import Query
from geobill.web.refusals import PageError

ALL, NOBODY = "todos", "?"  # every state; findings whose owner nobody knows
ORDER_WORDS: dict[str, tuple[str, str]] = {  # as in the address → as in the query, as a person reads it
    "valor": ("amount", "maior valor"),
    "metros": ("length", "mais metros"),
    "idade": ("age", "mais antigos"),
    "confianca": ("confidence", "maior confiança"),
    "numero": ("id", "número"),
}
LONGEST_AGE = 36_500


@dataclass(frozen=True)
class Filters:
    """The filters of the queue as text, by the names that they have in the address; blank takes everything.

    ``idade`` is the least age in days, ``desde`` and ``ate`` are days of the comparison.
    """

    operadora: str = ""
    tipo: str = ""
    estado: str = SUSPECTED
    metros: str = ""
    reais: str = ""
    idade: str = ""
    desde: str = ""
    ate: str = ""
    levantamento: str = ""
    processo: str = ""
    ordem: str = "valor"

    @classmethod
    def read(cls, given: Mapping[str, str]) -> "Filters":
        """Take the filters from an address or a form; what isn't one of them is left alone."""
        return cls(**{f.name: given[f.name].strip() for f in fields(cls) if f.name in given})

    def address(self, **more: str | int | None) -> str:
        """Write the filters that aren't as they come, and something beside them, as the query of an address."""
        said = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}
        return urlencode({**said, **{k: v for k, v in more.items() if v not in (None, "")}})

    def at(self, path: str, **more: str | int | None) -> str:
        """Write an address of this site with the filters in it."""
        said = self.address(**more)
        return f"{path}?{said}" if said else path

    def query(self, today: date) -> Query:
        """Return what the store is asked.

        Raises
        ------
        PageError
            If a value can't be one of its filter.
        """
        _one_of(self.tipo, ("", *KIND_WORDS), "tipo")
        _one_of(self.estado, (ALL, *STATE_WORDS), "estado")
        _one_of(self.ordem, tuple(ORDER_WORDS), "ordem")
        until = _day(self.ate, "até o dia")
        if self.idade:
            if not re.fullmatch(r"\d{1,5}", self.idade, re.ASCII) or int(self.idade) > LONGEST_AGE:
                raise _unfit("idade mínima", self.idade, "dias inteiros, por exemplo 30")
            oldest = (today - timedelta(days=int(self.idade))).isoformat()
            until = min(until or oldest, oldest)
        return Query(
            survey=self.levantamento or None,
            operator={"": None, NOBODY: ""}.get(self.operadora, self.operadora),
            kinds=(self.tipo,) if self.tipo else (),
            states=() if self.estado == ALL else (self.estado,),
            min_length_m=_decimal(self.metros, "metros"),
            min_amount=_decimal(self.reais, "reais por mês"),
            since=_day(self.desde, "desde o dia"),
            until=until,
            case=self.processo or None,
            order=ORDER_WORDS[self.ordem][0],
        )

    def without(self) -> "Filters":
        """Return the filters as they come, in the same order."""
        return replace(Filters(), ordem=self.ordem)


def _one_of(value: str, allowed: tuple[str, ...], what: str) -> None:
    if value not in allowed:
        raise _unfit(what, value, "um dos valores da lista")


def _decimal(text: str, what: str) -> Decimal | None:
    """Read a number with a decimal comma (or a point before one or two digits, as browsers' own fields write it)."""
    if not text:
        return None
    plain = text.replace(" ", "").replace("\u00a0", "")
    if re.fullmatch(r"\d{1,3}(\.\d{3})+(,\d{1,3})?|\d{1,12}(,\d{1,3})?", plain, re.ASCII):
        return Decimal(plain.replace(".", "").replace(",", "."))
    if re.fullmatch(r"\d{1,12}\.\d{1,2}", plain, re.ASCII):
        return Decimal(plain)
    raise _unfit(what, text, "um número, por exemplo 150 ou 1.250,50")


def _day(text: str, what: str) -> str | None:
    if not text:
        return None
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise _unfit(what, text, "um dia, por exemplo 2026-11-30") from None


def _unfit(what: str, value: str, wanted: str) -> PageError:
    return PageError(
        f"O filtro “{what}” não pode ser “{value[:80]}”.",
        "A fila não mudou.",
        f"Ele pede {wanted}.",
    )
