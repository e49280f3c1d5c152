from datetime import date

import jinja2
import pytest

from geobill.documents import typesetting
from geobill.documents.render import DOCUMENTS
from geobill.documents.templating import environment, fill, typst_literal
from geobill.documents.typesetting import TEMPLATES, has_glyph, typeset
from geobill.errors import TemplateError


def test_every_document_has_its_template():
    assert len({document.name for document in DOCUMENTS}) == len(DOCUMENTS)
    for document in DOCUMENTS:
        assert callable(document.render)
        assert document.template is None or (TEMPLATES / document.template).is_file()


@pytest.mark.parametrize(
    "source",
    [
        "{{ ''.__class__ }}",
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ [].append(1) }}",
        "{{ f.__globals__ }}",
        "{{ '{0.__class__}'.format(1) }}",
        "{{ name|attr('__class__') }}",
    ],
)
def test_the_sandbox_refuses_to_walk_out(source):
    with pytest.raises(jinja2.exceptions.SecurityError):
        environment("typst").from_string(source).render(name="x", f=test_every_document_has_its_template)


def test_templates_see_only_the_packages_folder():
    for path in ("../render.py", "/etc/passwd", "nowhere.typ.j2"):
        with pytest.raises(TemplateError, match="can't be filled"):
            fill(path)
    source = '#set document(title: [x], date: datetime(year: 2026, month: 1, day: 1))\n#read("/../../../etc/passwd")'
    with pytest.raises(TemplateError, match="can't be turned into a PDF"):
        typeset(source, {}, date(2026, 1, 1), "x")


@pytest.mark.parametrize(
    "code",
    [
        '#import "@preview/cetz:0.3.1"',
        '#import "@local/house:1.0.0": *',
        '#import ("@pre" + "view/cetz:0.3.1")',
        '#include "@preview/cetz:0.3.1"',
        '#eval("import \\"@preview/cetz:0.3.1\\"", mode: "code")',
        '#dictionary(std).at("ev" + "al")("1")',
        '#plugin("x.wasm")',
        '#"a";#import "@preview/cetz:0.3.1"',
    ],
)
def test_no_package_and_no_network(code, monkeypatch):
    def reached(*_):
        raise AssertionError("Typst was asked: it would look for the package on the network")

    monkeypatch.setattr(typesetting, "_compile", reached)
    with pytest.raises(TemplateError, match="without a network"):
        typeset(f"#set document(title: [x])\n{code}", {}, date(2026, 1, 1), "x")


def test_data_may_speak_of_imports():
    source = (
        '#set document(title: [x], date: datetime(year: 2026, month: 1, day: 1))\n#set text(lang: "pt")\n'
        + typst_literal('#import "@preview/cetz:0.3.1" \\')
        + typst_literal('include eval std "')
    )
    assert typeset(source, {}, date(2026, 1, 1), "x").startswith(b"%PDF")


def test_undefined_and_absent_values_are_errors():
    with pytest.raises(jinja2.UndefinedError):
        environment("typst").from_string("{{ nothing }}").render()
    with pytest.raises(TemplateError, match="absent"):
        environment("typst").from_string("{{ none }}").render()


def test_what_filters_and_macros_give_is_escaped_too():
    source = "{% macro m(x) %}#panic(){{ x }}{% endmacro %}{{ m('a') }}{{ ['#a', '#b']|join('#') }}{{ '#x'|safe }}"
    text = environment("typst").from_string(source).render()
    assert text == '#"#panic()#\\"a\\";";#"#a##b";#"#x";'


def test_a_literal_ends_where_it_ends():
    source = (
        '#set document(title: [x], date: datetime(year: 2026, month: 1, day: 1))\n#set text(lang: "pt")\n'
        + typst_literal("a")
        + ".len()"
        + typst_literal('"b\\')
        + "[c](d) "
    )
    assert typeset(source, {}, date(2026, 1, 1), "x").startswith(b"%PDF")


def test_missing_alternative_text_is_refused():
    source = (
        '#set document(title: [x], date: datetime(year: 2026, month: 1, day: 1))\n#set text(lang: "pt")\n'
        "#image(bytes(\"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>\"), format: \"svg\")"
    )
    with pytest.raises(TemplateError, match="alt"):
        typeset(source, {}, date(2026, 1, 1), "x")


def test_all_of_latin_1_has_a_glyph():
    assert all(has_glyph(chr(code)) for code in (*range(0x20, 0x7F), *range(0xA0, 0x100)) if code != 0xAD)
    assert not has_glyph("🙂")
