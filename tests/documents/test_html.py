"""The HTML says what the PDF says, stands alone, and names its figures."""

import difflib
import itertools
import re
from datetime import date

import lxml.html
import pypdfium2
import pytest

from documents import records
from documents.test_fatura import NASTY
from geobill.documents import words
from geobill.documents.html import figures_in, page, read_page, record_of, text_lines
from geobill.documents.render import render_decree_forms, render_invoice_forms
from geobill.documents.typesetting import typeset_html
from geobill.errors import TemplateError

POINTS_PER_MM = 72 / 25.4
HEAD = '#set document(title: [x], date: datetime(year: 2026, month: 1, day: 1))\n#set text(lang: "pt")\n'


@pytest.fixture(scope="module")
def drawing():
    return records.small_map(height_mm=200)


@pytest.fixture(scope="module")
def invoice(drawing):
    held = records.usual_held()
    return render_invoice_forms(
        records.invoice(held=held, basis=records.basis((records.DECISION,))), drawing, records.FIGURES
    )


@pytest.fixture(scope="module")
def draft(drawing):
    return render_decree_forms(records.draft(), drawing, records.FIGURES)


def letters(text: str) -> str:
    """Text without spaces, hyphens at line ends and places to break long words."""
    return re.sub(r"\s+", "", re.sub("[\u200b\u00ad\x02\ufffe]\\s*", "", text.replace("\u00a0", " ")))


def printed(pdf: bytes) -> str:
    """What a PDF's pages say between their running headers and footers."""
    pages = []
    for number, sheet in enumerate(pypdfium2.PdfDocument(pdf)):
        width, height = sheet.get_size()
        top_mm = 20 if number else 10  # the first page has a letterhead, no running header
        pages.append(
            sheet.get_textpage().get_text_bounded(0, 22 * POINTS_PER_MM, width, height - top_mm * POINTS_PER_MM)
        )
    return letters("\n".join(pages))


def repeated(html: bytes) -> list[str]:
    """What may stand in the PDF once more than in HTML: heads of tables on a new page, watermark, bullets, the map's own figures."""
    heads = [letters(row.text_content()) for row in read_page(html).iterfind(".//thead/tr")]
    return ["MINUTA", "0100200mN", "•", *heads]


@pytest.mark.parametrize("which", ["invoice", "draft"])
def test_same_words_in_both_forms(which, request):
    forms = request.getfixturevalue(which)
    on_paper, on_screen = printed(forms["pdf"]), letters(read_page(forms["html"]).text_content())
    assert len(on_screen) > 8000
    for what, i, j, k, m in difflib.SequenceMatcher(None, on_paper, on_screen, autojunk=False).get_opcodes():
        only_paper, only_screen = on_paper[i:j], on_screen[k:m]
        for known in repeated(forms["html"]):
            only_paper = only_paper.replace(known, "")
        assert what == "equal" or only_paper == "", only_paper
        assert what == "equal" or re.fullmatch(r"(SHA-256doregistro:[0-9a-f]{64})?", only_screen), only_screen


def test_same_words_test_can_fail(draft):
    on_paper = printed(draft["pdf"])
    assert "Art.15." in on_paper
    assert letters(read_page(draft["html"]).text_content().replace("Art. 15.", "")) not in on_paper


@pytest.mark.parametrize("which", ["invoice", "draft"])
def test_the_page_stands_alone(which, request):
    html = request.getfixturevalue(which)["html"].decode()
    root = lxml.html.document_fromstring(html)
    assert root.get("lang") == "pt-BR"
    assert root.findtext("head/title").startswith(("Fatura nº 2026/0042", "Minuta de Decreto"))
    assert not list(root.iter("script", "link", "iframe", "object", "form"))
    assert "default-src 'none'" in html
    addresses = [value for element in root.iter() for name, value in element.attrib.items() if name in {"src", "href"}]
    assert addresses
    assert all(value.startswith("data:image/svg+xml;base64,") for value in addresses)
    assert "url(" not in html
    assert "@import" not in html
    assert "@media print" in html
    (image,) = root.iter("img")
    assert image.get("alt").startswith("Mapa com o norte para cima")
    assert image.get("style") == "width: 174mm"


@pytest.mark.parametrize("which", ["invoice", "draft"])
def test_every_table_scrolls_and_its_figures_stand_right(which, request):
    body = read_page(request.getfixturevalue(which)["html"])
    tables = list(body.iter("table"))
    assert len(tables) >= 4
    for table in tables:
        assert "scroll" in table.getparent().classes
        columns = len(table.getparent().get("data-columns").split(";"))
        for row in table.iter("tr"):
            assert sum(int(cell.get("colspan", "1")) for cell in row) == columns
    amounts = [td for td in body.iter("td") if re.fullmatch(r"[\d.]+,\d\d", td.text_content())]
    assert len(amounts) > 15
    assert all("right" in td.classes for td in amounts)


def test_headings_begin_at_one(draft):
    headings = [int(h.tag[1]) for h in read_page(draft["html"]).iter("h1", "h2", "h3", "h4", "h5")]
    assert headings[0] == 1
    assert headings.count(1) == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(headings))


def test_figures_are_named(draft):
    html = draft["html"]
    price = records.draft().price
    found = {figure.key: figure for figure in figures_in(read_page(html))}
    assert found["price.total|reais#1"].text == words.reais(price.total)
    assert found["price.total|in_words#1"].text == words.in_words(price.total)
    assert found["price.total|reais#1"].name == "valor mensal, 1ª ocorrência"
    assert found["draft.deposit|reais#1"].text == words.reais(records.draft().deposit)
    assert found["extent|figures#1"].text == words.metres(price.network_length_m)
    assert len(found) == len(figures_in(read_page(html)))
    for number, line in enumerate(price.lines, start=1):
        assert found[f"line.amount|number#{number}"].text == words.number(line.amount)
    assert record_of(html) == records.draft().digest


def test_every_amount_and_length_is_a_figure(draft):
    """An amount outside of a figure could be changed in Word without anybody noticing."""
    body = read_page(draft["html"])
    for span in list(body.iter("span")):
        if span.get("data-figure"):
            span.drop_tree()
    for legend in [element for element in body.iter("div") if "legend" in element.classes]:
        legend.drop_tree()
    left = " ".join(body.text_content().replace("\u00a0", " ").split())
    assert re.findall(r"R\$ [\d.,]+", left) == []
    assert set(re.findall(r"\d[\d.,]* m\b", left)) <= {
        "0,50 m",
        "20 m",
        "0,01 m",
    }  # the law's width, the policy's words


def test_same_bytes_again(drawing, invoice, draft):
    held = records.usual_held()
    again = render_invoice_forms(
        records.invoice(held=held, basis=records.basis((records.DECISION,))), drawing, records.FIGURES
    )
    assert again == invoice
    assert render_decree_forms(records.draft(), drawing, records.FIGURES) == draft


@pytest.mark.parametrize("name", NASTY)
def test_names_come_out_literally(drawing, name):
    forms = render_invoice_forms(
        records.invoice(operator=records.operator(name=name, address=name)), drawing, records.FIGURES
    )
    body = read_page(forms["html"])
    assert body.text_content().count(name) >= 3
    assert not list(body.iter("script"))


@pytest.mark.parametrize(
    "code",
    ["#stack[oi]", "#circle[oi]", "#place(top)[oi]", "#grid(columns: 2)[a][b]", "#polygon((0pt, 0pt), (1pt, 1pt))"],
)
def test_what_the_export_would_leave_out_is_refused(code):
    with pytest.raises(TemplateError, match="without losing something"):
        typeset_html(HEAD + code, {}, date(2026, 1, 1), "x")


@pytest.mark.parametrize(
    "code",
    [
        '#html.elem("script", "alert(1)")',
        '#html.elem("img", attrs: (src: "https://example.org/a.png", alt: ""))',
        '#html.elem("p", attrs: (onclick: "alert(1)"))[a]',
        '#html.elem("p", attrs: (style: "background: url(//example.org)"))[a]',
        '#html.elem("iframe", attrs: (src: "a.html"))',
        '#link("javascript:alert(1)")[a]',
        '#html.elem("meta", attrs: (http-equiv: "refresh", content: "0; url=https://example.org"))',
    ],
)
def test_what_a_document_must_not_hold_is_refused(code):
    raw = typeset_html(HEAD + code, {}, date(2026, 1, 1), "x")
    with pytest.raises(TemplateError, match="stand alone"):
        page(raw, "0" * 64, "x")


def test_lines_of_text_for_comparing(draft):
    lines = text_lines(draft["html"])
    assert "Art. 15. Este Decreto entra em vigor na data de sua publicação." in lines
    assert any(line.startswith("1 | Centro | ") for line in lines)
