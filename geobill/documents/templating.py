"""The sandbox in which templates run: every value comes out as an escaped literal, nothing outside is reachable."""

import html
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from typing import Any
from xml.sax.saxutils import escape

import jinja2
from jinja2 import FunctionLoader, StrictUndefined, Undefined, meta
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream
from jinja2.sandbox import ImmutableSandboxedEnvironment

from geobill.documents import held_words, words
from geobill.documents.figures import FIGURE_FILTERS, Figure, Sentence, figure_filter, figures, named, split_sentence
from geobill.documents.typesetting import TEMPLATES, printable, without_controls
from geobill.errors import TemplateError

LONGEST_WORD = 25
BREAK_EVERY = 8
ZERO_WIDTH_SPACE = "\u200b"
FILTERS: dict[str, Callable[..., Any]] = {
    **{function.__name__: figure_filter(function) for function in FIGURE_FILTERS},
    **{
        function.__name__: function
        for function in (
            words.article,
            words.article_number,
            words.articles,
            words.flags,
            held_words.held_title,
            words.service,
            words.with_article,
        )
    },
    "figures": figures,
}


def breakable(text: str) -> str:
    """Put zero-width spaces into words of more than 25 characters, so that they can't run out of a page or a cell.

    A SHA-256 stays whole: it has a place of its own, and whoever copies it must get it as it is.
    """
    return (
        re.sub(rf"\S{{{LONGEST_WORD + 1},}}", lambda found: _broken(found[0]), text) if not _is_digest(text) else text
    )


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
    return f"#{_quoted(breakable(printable(_text(value))))};"


def typst_figure(value: Any) -> str:
    r"""Turn a value into Typst for a form that shows which text is a figure (HTML); other text is a plain literal.

    Examples
    --------
    >>> typst_figure(Figure("0,90", "reducer|number"))
    '#fig("reducer|number", "0,90");'
    """
    if isinstance(value, Sentence):
        return "".join(
            typst_figure(Figure(part, value.expression) if is_figure else part)
            for part, is_figure in split_sentence(value)
        )
    if isinstance(value, Figure):
        return f"#fig({_quoted(value.expression)}, {_quoted(printable(value))});"
    return f"#{_quoted(printable(_text(value)))};"


def _text(value: Any) -> str:
    if isinstance(value, Undefined):
        str(value)  # raises, with the name of what is missing
    if value is None:
        raise TemplateError(
            "A template prints a value that is absent (None): a document must not say 'None'. Put the sentence inside "
            "an {% if %} that asks whether the value is there."
        )
    return str(value)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _xml_text(value: Any) -> str:
    if isinstance(value, Undefined):
        str(value)
    return escape(printable(str(value)), {'"': "&quot;"})


def page_text(value: Any) -> str:
    r"""Turn a value into text of an HTML page written by hand: it can be neither a tag nor the end of an attribute.

    Control and direction characters become spaces, as on paper; every other character stands, a browser has glyphs.

    Examples
    --------
    >>> page_text('<b title="x">'), page_text("A\u202eB")
    ('&lt;b title=&quot;x&quot;&gt;', 'A B')
    """
    return html.escape(without_controls(_text(value)))


def _broken(word: str) -> str:
    return ZERO_WIDTH_SPACE.join(word[i : i + BREAK_EVERY] for i in range(0, len(word), BREAK_EVERY))


class NameFigures(Extension):
    """Puts ``named`` around every printed expression, so that a figure in a document knows where it came from."""

    def filter_stream(self, stream: TokenStream) -> Iterable[Token]:
        """Turn ``{{ x|f }}`` into ``{{ (x|f)|named("x|f") }}``."""
        told: list[str] = []
        for token in stream:
            line = token.lineno
            if token.type == "variable_begin":
                told = []
                yield from (token, Token(line, "lparen", "("))
            elif token.type == "variable_end":
                expression = Token(line, "string", "".join(told))
                for kind, value in (("rparen", ")"), ("pipe", "|"), ("name", "named"), ("lparen", "(")):
                    yield Token(line, kind, value)
                yield from (expression, Token(line, "rparen", ")"), token)
            else:
                told.append(str(token.value))
                yield token


# How a value is printed in each language: what is set on paper, what shows its figures, a drawing, and code alone (no
# data at all: what remains is what the template itself wrote).
FINALIZE: dict[str, Callable[[Any], str]] = {
    "typst": typst_literal,
    "html": typst_figure,
    "svg": _xml_text,
    "page": page_text,
    "code": lambda value: '#"";',
}


def make_environment(language: str, load: Callable[[str], str | None]) -> ImmutableSandboxedEnvironment:
    """Sandboxed environment whose values come out escaped for a language of ``FINALIZE``.

    Templates see what ``load`` gives and no file; undefined names are errors; autoescaping is off because ``finalize``
    escapes every value, macros' and filters' results included.
    """

    def load_named(name: str) -> tuple[str, str, Callable[[], bool]] | None:
        source = load(name)
        return None if source is None else (source, name, lambda: True)

    made = ImmutableSandboxedEnvironment(
        loader=FunctionLoader(load_named),
        undefined=StrictUndefined,
        finalize=FINALIZE[language],
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        extensions=[NameFigures] if language == "html" else [],
    )
    made.filters.update(FILTERS, named=named)
    return made


@cache
def package_source(name: str) -> str | None:
    """Text of a template of the package; None where there is none of that name."""
    path = TEMPLATES / name
    return path.read_text(encoding="utf-8") if _is_plain_name(name) and path.is_file() else None


def _is_plain_name(name: str) -> bool:
    """Say whether a name is a template's file name without a folder: nothing above or beside the folder can be named."""
    return re.fullmatch(r"[\w-]+\.(?:typ|svg|html)\.j2", name) is not None


@lru_cache(maxsize=len(FINALIZE))
def environment(language: str) -> ImmutableSandboxedEnvironment:
    """Environment of the package's own templates."""
    return make_environment(language, package_source)


def referenced(source: str) -> set[str | None]:
    """Names of the templates that one extends or includes; None among them where it works one out while it runs."""
    return set(meta.find_referenced_templates(environment("typst").parse(source)))


def fill(template: str, language: str = "typst", **values: Any) -> str:
    """Fill a template of the package with values.

    Raises
    ------
    TemplateError
        If the template is missing, has a fault of its own, uses an undefined name or reaches for what it may not.
    """
    return fill_in(environment(language), template, values)


def fill_in(made: jinja2.Environment, template: str, values: Mapping[str, Any]) -> str:
    """Fill a template of an environment; see :func:`fill`."""
    try:
        return made.get_template(template).render(**values)
    except jinja2.TemplateError as error:
        at = place_of(error, template)
        raise TemplateError(
            f"Template {at} can't be filled: {_reason(error)}. No document was made. "
            "Correct the name or the expression in the template and render again."
        ) from error


def _reason(error: jinja2.TemplateError) -> str:
    if isinstance(error, jinja2.TemplateNotFound):
        return f"there is no template {error.name!r} within its reach"
    return (error.message or type(error).__name__).rstrip(".")


def place_of(error: BaseException, template: str) -> str:
    """Template and line where filling stopped, the innermost of the templates that were under way."""
    if isinstance(error, jinja2.TemplateSyntaxError):
        return f"{error.name or template}, line {error.lineno}"
    place, trace = template, error.__traceback__
    while trace is not None:
        if "__jinja_template__" in trace.tb_frame.f_globals or trace.tb_frame.f_code.co_filename.endswith(".j2"):
            place = f"{trace.tb_frame.f_code.co_filename}, line {trace.tb_lineno}"
        trace = trace.tb_next
    return place
