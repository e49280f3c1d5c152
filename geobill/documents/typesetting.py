"""Typst: from source text to a PDF that is archivable (PDF/A-2a) and accessible (PDF/UA-1), the same bytes each time.

Only the fonts that come inside the ``typst`` package are used, so a document looks the same on every machine. A
character for which none of them has a glyph would stop a PDF/A; it is printed as ``MISSING_GLYPH`` instead, so that
a name with an emoji in it can't keep an invoice from being issued and the gap is seen on the paper.
"""

import re
import unicodedata
from datetime import UTC, date, datetime
from functools import lru_cache
from pathlib import Path
from threading import Lock

import typst

from geobill.documents.packing import packed
from geobill.errors import TemplateError

TEMPLATES = Path(__file__).parent / "templates"
PDF_STANDARDS = ["a-2a", "ua-1"]
MISSING_GLYPH = "□"
LAST_LATIN_1 = "\u00ff"
# Controls, format characters (direction marks, joiners), line and paragraph separators, halves of surrogate pairs.
UNPRINTABLE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# What typst_literal writes around a value: data may say anything, so it is left out of the search.
_STRING = r'"(?:[^"\\]|\\.)*"'
LITERAL = re.compile(rf"#{_STRING};|#fig\({_STRING}, {_STRING}\);")
FROM_OUTSIDE = re.compile(r"\b(?:import|include|eval|std|plugin)\b|@(?:preview|local)\b")
_PROBE = (
    '#set document(title: [a], date: datetime(year: 2000, month: 1, day: 1))\n#set text(lang: "pt", font: "Libertinus Serif")\n'
    "#sys.inputs.text #strong(sys.inputs.text) #emph(sys.inputs.text)"
)
YOUNG_EXPORT = "html export is under active development"
_lock = Lock()


def printable(text: str) -> str:
    r"""Make a text printable as a single run of characters that all have a glyph.

    Accents are composed, each control or direction character becomes a space, and each character without a glyph
    becomes ``MISSING_GLYPH`` (or ``?``, if even that had none).

    Examples
    --------
    >>> printable("A\u202eB\tC"), printable("Água 🙂")
    ('A B C', 'Água □')
    """
    return "".join(char if char <= LAST_LATIN_1 or has_glyph(char) else _missing() for char in without_controls(text))


def without_controls(text: str) -> str:
    """Compose accents and make a space of each control or direction character."""
    composed = unicodedata.normalize("NFC", text)
    return "".join(" " if unicodedata.category(char) in UNPRINTABLE else char for char in composed)


@lru_cache(maxsize=10_000)
def has_glyph(char: str) -> bool:
    """Whether a character can stand in a document; Typst itself is asked, about a millisecond for each new one."""
    try:
        _compile(_PROBE, {"text": f"a{char}"}, None)
    except typst.TypstError:
        return False
    return True


def typeset(source: str, inputs: dict[str, str], dated: date, what: str) -> bytes:
    """Compile Typst source to PDF/A-2a with PDF/UA-1.

    Parameters
    ----------
    source : str
        Typst source in which all data stands as string literals.
    inputs : dict
        What the source reads as ``sys.inputs``: the drawing, titles, anything that isn't text to be printed as it is.
    dated : date
        Date of the document, from its record: it is written into the PDF in place of the time of day.
    what : str
        Template's name, for the message.

    Raises
    ------
    TemplateError
        If the source imports or evaluates, or Typst refuses, with its own message and place.
    """
    refuse_code_from_outside(source, what)
    moment = datetime(dated.year, dated.month, dated.day, tzinfo=UTC)
    try:
        pdf = _compile(source, {**inputs, "date": dated.isoformat(), "target": "pdf"}, moment)
    except typst.TypstError as error:
        raise _refused(error, what, "a PDF/A-2a with PDF/UA-1") from error

    return packed(pdf)


def typeset_html(source: str, inputs: dict[str, str], dated: date, what: str) -> str:
    """Compile Typst source to HTML as Typst writes it, refusing to lose a word.

    The export is young: what it can't show it leaves out with a warning. Any such warning is a refusal here.

    Raises
    ------
    TemplateError
        If the source imports or evaluates, Typst refuses, or an element was left out.
    """
    refuse_code_from_outside(source, what)
    try:
        with _lock:
            html, warnings = _compiler().compile_with_warnings(
                source.encode(), format="html", sys_inputs={**inputs, "date": dated.isoformat(), "target": "html"}
            )
    except typst.TypstError as error:
        raise _refused(error, what, "HTML") from error
    lost = [w for w in warnings if not w.message.startswith(YOUNG_EXPORT)]
    if lost:
        raise TemplateError(
            f"{what} can't be turned into HTML without losing something: {lost[0].message}. No document was made. Use "
            f"what _base.typ.j2 offers for both forms, or ask `web` and write another form for HTML.\n{lost[0].diagnostic}"
        )
    return html.decode()


def typeset_picture(source: str, inputs: dict[str, str], dated: date, what: str, ppi: float) -> bytes:
    """Compile Typst source of one page to a PNG."""
    refuse_code_from_outside(source, what)
    try:
        with _lock:
            return _compiler().compile(
                source.encode(),
                format="png",
                ppi=ppi,
                sys_inputs={**inputs, "date": dated.isoformat(), "target": "pdf"},
            )
    except typst.TypstError as error:
        raise _refused(error, what, "a picture") from error


def _refused(error: typst.TypstError, what: str, form: str) -> TemplateError:
    place = getattr(error, "diagnostic", "") or str(error)
    return TemplateError(
        f"{what} can't be turned into {form}, so no document was made. Typst says: {error}. "
        f"Correct the template at the place shown and render again; the records are untouched.\n{place}"
    )


def refuse_code_from_outside(source: str, what: str) -> None:
    """Refuse a template that imports or evaluates: Typst would fetch ``@preview`` packages from the network."""
    found = FROM_OUTSIDE.search(LITERAL.sub("", source))
    if found:
        raise TemplateError(
            f"{what} uses {found[0]!r}: a template may not load packages or files, nor evaluate text, since a document "
            "must come out the same without a network. No document was made. Write what you need into the template "
            "itself; other templates come in through Jinja's {% include %}."
        )


@lru_cache(maxsize=1)
def _compiler() -> typst.Compiler:
    """One warm compiler: bundled fonts only, and no file but the package's templates within reach."""
    fonts = typst.Fonts(include_system_fonts=False, include_embedded_fonts=True)
    return typst.Compiler(root=TEMPLATES, font_paths=fonts, ignore_system_fonts=True)


def _compile(source: str, inputs: dict[str, str], moment: datetime | None) -> bytes:
    with _lock:
        return _compiler().compile(
            source.encode(), format="pdf", sys_inputs=inputs, pdf_standards=PDF_STANDARDS, timestamp=moment
        )


@lru_cache(maxsize=1)
def _missing() -> str:
    return MISSING_GLYPH if has_glyph(MISSING_GLYPH) else "?"
