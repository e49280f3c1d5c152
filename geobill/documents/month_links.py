"""Documents of a month as links: what each file beside the page is, and whose."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import quote

DOCUMENT_KINDS: dict[str, str] = {
    "fatura": "Fatura",
    "anexo": "Anexo",
    "minuta": "Minuta de decreto",
    "apostila": "Apostila",
    "conferencia": "Conferência com o mês anterior",
}
FORMS: dict[str, str] = {"pdf": "PDF", "html": "página", "docx": "Word", "csv": "CSV", "gpkg": "GeoPackage"}


@dataclass(frozen=True)
class Link:
    """A file beside the page: its address relative to the page, and its form for a person."""

    href: str
    form: str


@dataclass(frozen=True)
class Document:
    """One document in all the forms in which it was written."""

    title: str
    links: tuple[Link, ...]


def documents_by_owner(
    names: Iterable[str], owners: Mapping[str, tuple[str, str]], prefix: str = ""
) -> dict[str, tuple[Document, ...]]:
    """Sort a month's files by operator, "" for what is nobody's own; each document once, with its forms.

    Parameters
    ----------
    names : iterable of str
        File names: ``fatura-2026-000001-alfa.pdf`` is the form ``pdf`` of the kind ``fatura``.
    owners : mapping of str to (operator, of what)
        For the part of a name between kind and form: whose it is, and a word on what it is about ("" for none).
    prefix : str
        Beginning of a draft's file names.

    Examples
    --------
    >>> found = documents_by_owner(["minuta-a-7.docx", "minuta-a-7.pdf", "x.txt"], {"a-7": ("a", "permissão 7")})
    >>> [(d.title, [link.form for link in d.links]) for d in found["a"]], found[""][0].title
    ([('Minuta de decreto, permissão 7', ['PDF', 'Word'])], 'x.txt')
    """
    kinds, forms = list(DOCUMENT_KINDS), list(FORMS)
    found: dict[tuple[str, int, str], list[tuple[int, Link]]] = {}
    for name in sorted(set(names)):
        kind, _, rest = name.removeprefix(prefix).partition("-")
        stem, _, form = rest.rpartition(".")
        if kind not in DOCUMENT_KINDS or form not in FORMS:
            found[("", len(kinds), name)] = [(0, Link(quote(name), "abrir"))]
            continue
        owner, about = owners.get(stem, ("", "" if kind == "conferencia" else stem))
        title = f"{DOCUMENT_KINDS[kind]}, {about}" if about else DOCUMENT_KINDS[kind]
        found.setdefault((owner, kinds.index(kind), title), []).append(
            (forms.index(form), Link(quote(name), FORMS[form]))
        )
    by_owner: dict[str, list[Document]] = {}
    for (owner, _, title), links in sorted(found.items(), key=lambda pair: pair[0]):
        by_owner.setdefault(owner, []).append(Document(title, tuple(link for _, link in sorted(links, key=_by_form))))
    return {owner: tuple(documents) for owner, documents in by_owner.items()}


def _by_form(pair: tuple[int, Link]) -> int:
    return pair[0]
