"""The sandbox in which templates run: every value comes out as an escaped literal, nothing outside is reachable."""

import re
from functools import lru_cache
from typing import Any
from xml.sax.saxutils import escape

import jinja2
from jinja2 import FileSystemLoader, StrictUndefined, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from geobill.documents import words
from geobill.documents.typesetting import TEMPLATES, printable
from geobill.errors import TemplateError

LONGEST_WORD = 25
BREAK_EVERY = 8
ZERO_WIDTH_SPACE = "\u200b"
FILTERS = {
    function.__name__: function
    for function in (
        words.number,
        words.figure,
        words.factor,
        words.reais,
        words.metres,
        words.percent,
        words.in_words,
        words.count_in_words,
        words.ordinal_in_words,
        words.short_date,
        words.long_date,
        words.month_name,
        words.cnpj,
        words.article,
        words.articles,
        words.flags,
        words.service,
        words.held_title,
    )
}


def breakable(text: str) -> str:
    """Put zero-width spaces into words of more than 25 characters, so that they can't run out of a page or a cell.

    A SHA-256 stays whole: it has a place of its own, and whoever copies it must get it as it is.
    """
    return re.sub(rf"\S{{{LONGEST_WORD + 1},}}", lambda found: _broken(found[0]), text) if not _is_digest(text) else text


def _is_digest(text: str) -> bool:
    return re.fullmatch(r"[0-9a-f]{64}", text) is not None


def typst_literal(value: Any) -> str:
    r"""Turn any value into a Typst string expression that can only be text, whatever it holds.

    The closing semicolon ends the expression, so that what a template writes next to it (a point and a word, a
    bracket) isn't read as a call on it.

    Examples
    --------
    >>> typst_literal('#panic("x")')
    '#"#panic(\\"x\\")";'
    """
    if isinstance(value, Undefined):
        str(value)  # raises, with the name of what is missing
    if value is None:
        raise TemplateError(
            "A template prints a value that is absent (None): a document must not say 'None'. Put the sentence inside "
            "an {% if %} that asks whether the value is there."
        )
    text = breakable(printable(str(value)))
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'#"{escaped}";'


def _xml_text(value: Any) -> str:
    if isinstance(value, Undefined):
        str(value)
    return escape(printable(str(value)), {'"': "&quot;"})


def _broken(word: str) -> str:
    return ZERO_WIDTH_SPACE.join(word[i : i + BREAK_EVERY] for i in range(0, len(word), BREAK_EVERY))


@lru_cache(maxsize=2)
def environment(language: str) -> ImmutableSandboxedEnvironment:
    """Sandboxed environment whose values come out escaped for ``typst`` or ``svg``.

    Templates see the package's template folder and no other file; undefined names are errors; autoescaping is off
    because ``finalize`` escapes every value, macros' and filters' results included.
    """
    finalize = {"typst": typst_literal, "svg": _xml_text}[language]
    made = ImmutableSandboxedEnvironment(
        loader=FileSystemLoader(TEMPLATES),
        undefined=StrictUndefined,
        finalize=finalize,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters.update(FILTERS)
    return made


def fill(template: str, language: str = "typst", **values: Any) -> str:
    """Fill a template of the package with values.

    Raises
    ------
    TemplateError
        If the template is missing, has a fault of its own, uses an undefined name or reaches for what it may not.
    """
    try:
        return environment(language).get_template(template).render(**values)
    except jinja2.TemplateError as error:
        line = f", line {error.lineno}" if isinstance(error, jinja2.TemplateSyntaxError) else ""
        raise TemplateError(
            f"Template {template}{line} can't be filled: {error.message or type(error).__name__}. No document was made. "
            "Correct the name or the expression in the template and render again."
        ) from error
