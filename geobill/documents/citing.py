"""Articles of law as Brazilian papers cite them, put together from their short forms."""

import re
from collections.abc import Iterable

from geobill.documents.words import NBSP, ordinal

SHORT = re.compile(
    r"(?P<number>\d+)º?(?P<letter>-[A-Z])?"
    r"(?:[\s,]*(?:§+|par(?:\.|ágrafo)?)\s*(?P<paragraph>\d+|único)º?)?"
    r"(?:[\s,]+(?P<item>[IVXLC]+|[a-z]))?"
)
OTHER_ACT = re.compile(r"(?P<article>.+?) (?P<act>\(.+\))")
RUN = 3  # so many articles in a row are written from the first to the last


def cite(texts: Iterable[str]) -> str:
    """Cite articles with their paragraphs, each article once, in ascending order; empty for none.

    One of another act (``1 (Decreto 9/2027)``) is cited after them, with its act.

    Examples
    --------
    >>> cite(("3 § 1", "3 § 2")).replace(NBSP, " "), cite(("6", "7", "8")).replace(NBSP, " ")
    ('art. 3º, §§ 1º e 2º', 'arts. 6º a 8º')
    >>> cite(("12", "12 § 1", "12 § 3")).replace(NBSP, " "), cite(("16", "12 § 2")).replace(NBSP, " ")
    ('art. 12, caput e §§ 1º e 3º', 'arts. 12, § 2º, e 16')
    >>> cite(("8 par. único", "8")).replace(NBSP, " "), cite(("2", "17")).replace(NBSP, " ")
    ('art. 8º, caput e parágrafo único', 'arts. 2º e 17')
    >>> cite(("7 § 2", "1 (Decreto 9/2027)")).replace(NBSP, " ")
    'art. 7º, § 2º, e art. 1º (Decreto 9/2027)'
    """
    found: dict[tuple[int, str], list[str]] = {}
    others: list[str] = []
    for text in dict.fromkeys(t.strip() for t in texts):
        short, elsewhere = SHORT.fullmatch(text), OTHER_ACT.fullmatch(text)
        if elsewhere is not None:
            others.append(f"{cite([elsewhere['article']])} {elsewhere['act']}")
        elif short is None:
            others.append(f"art.{NBSP}{text}")
        else:
            place = (int(short["number"]), short["letter"] or "")
            found.setdefault(place, []).append(_part(short))
    articles = [(place, _article(place, parts)) for place, parts in sorted(found.items())]
    own = f"{'arts' if len(articles) > 1 else 'art'}.{NBSP}{_listed(_with_runs(articles))}" if articles else ""
    return _listed([*([own] if own else []), *others]) if own or others else ""


def _part(short: re.Match[str]) -> str:
    paragraph, item = short["paragraph"], short["item"]
    said = "" if paragraph is None else "único" if paragraph == "único" else ordinal(paragraph)
    return f"{said}|{item}" if item else said


def _article(place: tuple[int, str], parts: list[str]) -> str:
    """Say an article with what is cited of it: nothing where the whole of it is."""
    number = ordinal(str(place[0])) + place[1]
    whole = "" in parts
    items = [p.lstrip("|") for p in parts if p.startswith("|")]
    sole = [f"parágrafo único{_item(p)}" for p in parts if p.partition("|")[0] == "único"]
    plain = sorted((p for p in parts if p and p[0].isdigit()), key=lambda p: int(re.match(r"\d+", p)[0]))  # type: ignore[index]
    listed = [f"{p.partition('|')[0]}{_item(p)}" for p in plain]
    paragraphs = [f"{'§§' if len(listed) > 1 else '§'}{NBSP}{_and(listed)}"] if listed else []
    said = [*items, *paragraphs, *sole]
    if not said:
        return number
    return f"{number}, {_and(['caput', *said] if whole else said)}"


def _item(part: str) -> str:
    item = part.partition("|")[2]
    return f", {item}" if item else ""


def _with_runs(articles: list[tuple[tuple[int, str], str]]) -> list[str]:
    """Whole articles that follow each other, at least three, as "6º a 8º"."""
    said: list[str] = []
    at = 0
    while at < len(articles):
        end = at
        while end + 1 < len(articles) and _follows(articles[end], articles[end + 1]):
            end += 1
        if end - at + 1 >= RUN:
            said.append(f"{articles[at][1]} a {articles[end][1]}")
        else:
            said += [text for _, text in articles[at : end + 1]]
        at = end + 1
    return said


def _follows(one: tuple[tuple[int, str], str], other: tuple[tuple[int, str], str]) -> bool:
    whole = "," not in one[1] and "," not in other[1]
    return whole and not one[0][1] and not other[0][1] and other[0][0] == one[0][0] + 1


def _listed(said: list[str]) -> str:
    """Join articles; one with paragraphs ends with a comma before the next."""
    *head, last = said
    if not head:
        return last
    before_last = "," if "," in head[-1] else ""
    return f"{', '.join(head)}{before_last} e {last}"


def _and(parts: list[str]) -> str:
    *head, last = parts
    return f"{', '.join(head)} e {last}" if head else last
