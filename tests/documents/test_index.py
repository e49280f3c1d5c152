"""The page of a month: its figures are the ledger's, it stands alone, and it reads on a telephone, a screen and paper."""

import itertools
import re
import shutil
from decimal import Decimal
from urllib.parse import unquote

import geopandas as gpd
import lxml.html
import pypdfium2
import pytest
from chromium import measure, needs_chromium, printed
from permit_town import add_permit, grant, import_line, make_town, request, second_permit
from pipeline.checks import load_invoices, query
from workspaces import (
    MONTH,
    add_operator,
    bill,
    done,
    import_network,
    import_zones,
    make_workspace,
    write_network,
    write_zones,
)

import geobill
from documents import records
from documents.reading import squeeze, text_of
from geobill.documents.month_index import render_month_index
from geobill.documents.templating import environment
from geobill.documents.zone_maps import classes, zone_maps, zone_sums
from geobill.domain.network import Authority, Operator

HOSTILE = "Rede \"<script>alert(1)</script>' & Cia\u202e S.A."


@pytest.fixture(scope="session")
def prepared(tmp_path_factory):
    """Workspace with nothing billed yet; not to be changed."""
    return make_workspace(tmp_path_factory.mktemp("prepared"))


@pytest.fixture
def workspace(prepared, tmp_path):
    """Copy of the prepared workspace, to be changed."""
    return shutil.copytree(prepared, tmp_path / "ws")


@pytest.fixture(scope="session")
def billed(prepared, tmp_path_factory):
    """Workspace whose month is billed; not to be changed."""
    root = shutil.copytree(prepared, tmp_path_factory.mktemp("billed") / "ws")
    bill(root)
    return root


def path_of(workspace, name="index.html"):
    return workspace / "documents" / MONTH / name


def page_of(workspace, name="index.html"):
    return parse(path_of(workspace, name).read_bytes())


def parse(content):
    return lxml.html.document_fromstring(content.decode())


def text(element):
    return squeeze(element.text_content())


def figures(page, path):
    return [Decimal(data.get("value")) for data in page.xpath(path)]


def printed_number(cell):
    """Read a printed figure back: points, comma, R$ and m taken away."""
    return Decimal(re.sub(r"[^\d,-]", "", text(cell)).replace(",", "."))


def columns(page, table, *numbers):
    """Cells of a table's body by column number, read back from their print."""
    rows = page.xpath(f"//table[@id='{table}']/tbody/tr")
    return [tuple(printed_number(row[n]) for n in numbers) for row in rows]


# -- figures


def test_totals_are_the_ledgers(billed):
    page = page_of(billed)
    cents = dict(query(billed, "SELECT operator, total_cents FROM invoices WHERE month = ?", MONTH))
    shown = {
        row.get("data-operator"): figures(row, ".//data[@class='total']") for row in page.xpath("//tr[@data-operator]")
    }
    assert {owner: [Decimal(c) / 100] for owner, c in cents.items()} == {o: t for o, t in shown.items() if t}
    total = Decimal(sum(cents.values())) / 100
    assert figures(page, "//data[@id='total-reais']") == [total]
    printed_total = page.xpath("//table[@id='tabela-entidades']/tfoot/tr/td[last()]")[0]
    assert printed_number(printed_total) == total


def test_figures_are_printed_as_they_are(billed):
    """What a person reads is what the machine's attribute says, wherever both stand."""
    said = [(Decimal(d.get("value")), printed_number(d)) for d in page_of(billed).xpath("//data")]
    assert len(said) > 20
    assert [pair for pair in said if pair[0] != pair[1]] == []


def test_rows_say_what_the_invoices_say(billed):
    page = page_of(billed)
    for invoice in load_invoices(billed):
        row = page.xpath(f"//tr[@data-operator='{invoice.operator.id}']")[0]
        said = text(row)
        assert f"nº {invoice.number}" in said
        assert f"vence {invoice.due_on:%d/%m/%Y}" in said
        network = [line for line in invoice.lines if line.kind == "network"]
        bare = [line for line in invoice.lines if "no_decree" in line.flags]
        assert figures(row, "./td[1]/data") == [invoice.network_length_m]
        assert figures(row, "./td[4]//data") == [sum(line.length_m for line in network)]
        assert figures(row, "./td[6]//data") == [
            sum((line.length_m for line in bare if line.kind == "network"), Decimal("0.00")),
            sum(line.amount for line in bare),
        ]
        doubled = sum((line.length_m for line in network if line.multiplier > 1), Decimal(0))
        assert text(row[5]) == (f"{doubled:.2f} m".replace(".", ",") if doubled else "–")
        assert f"CNPJ {invoice.operator.cnpj}" in said


def test_sums_close_on_the_page_as_in_the_report(billed):
    page = page_of(billed)
    report = done("price", "--month", MONTH, workspace=billed)
    books = report["conservation"]["metres"]
    shown = figures(page, "//tr[@id='contas-metros']/td/data")
    assert shown == [Decimal(books[k]) for k in ("stored", "priced", "held", "exempt", "suspended", "not_due")]
    stored, *parts, _ = shown
    assert stored == sum(parts)
    by_operator = columns(page, "tabela-contas", 1, 2, 3, 4, 5)
    assert [sum(c) for c in zip(*by_operator, strict=True)] == shown[:5]
    counts = [printed_number(td) for td in page.xpath("//tr[@id='contas-feicoes']/td")]
    assert counts[0] == sum(counts[1:5]) == Decimal(report["conservation"]["features"]["stored"])
    held = figures(page, "//table[@id='tabela-retidos']//data[@class='held']")
    assert sum(held) == sum(Decimal(h["length_m"]) for h in report["held"]) == shown[2]


def test_zones_add_up_to_the_invoices(billed):
    page = page_of(billed)
    lines = [line for invoice in load_invoices(billed) for line in invoice.lines]
    sums = zone_sums(lines)
    by_hand = {}
    for line in (line for line in lines if line.kind == "network"):
        metres, reais = by_hand.get((line.zone, line.land_value), (0, 0))
        by_hand[line.zone, line.land_value] = (metres + line.length_m, reais + line.amount)
    assert {s.key: (s.length_m, s.amount) for s in sums} == by_hand
    rows = list(page.xpath("//section[@aria-labelledby='zonas']/table[1]/tbody/tr"))
    assert [(text(r[0]), *(printed_number(c) for c in r[1:])) for r in rows] == [
        (s.zone, s.land_value, s.length_m, s.amount) for s in sums
    ]
    equipment = sum(line.amount for line in lines if line.kind == "equipment")
    assert equipment > 0
    assert figures(page, "//data[@id='total-zonas']")[0] + equipment == figures(page, "//data[@id='total-reais']")[0]


def test_zones_that_share_name_and_value_are_one_and_others_are_not(billed, tmp_path):
    invoice = next(i for i in load_invoices(billed) if i.operator.id == "alfa")
    line = next(line for line in invoice.lines if line.kind == "network")
    lines = [
        line.__class__(**{**line.__dict__, "zone": z, "land_value": Decimal(v)})
        for z, v in (("A", 1), ("A", 2), ("A", 1))
    ]
    assert [(s.zone, s.land_value, s.length_m) for s in sorted(zone_sums(lines), key=lambda s: s.land_value)] == [
        ("A", 1, 2 * line.length_m), ("A", 2, line.length_m),
    ]  # fmt: skip
    squares = gpd.read_file(
        write_zones(
            tmp_path / "z.geojson",
            *((z, v, 100 * n, 0, 100 * n + 90, 90) for n, (z, v) in enumerate((("A", "1"), ("A", "2"), ("A", "1")))),
        )
    )
    zones = squares.rename(columns={"zona": "zone", "valor": "land_value"})
    none = gpd.GeoDataFrame({"segment": [], "operator": []}, geometry=[], crs=zones.crs)
    drawing = zone_maps(zones, none, zone_sums(lines))
    assert [path.count("M") for _, path in drawing.shapes] == [2, 1]
    assert [len(c.shapes) for m in drawing.maps for c in m.classes] == [1, 1, 1, 1]
    assert drawing.unplaced == ()
    gone = zone_maps(zones.iloc[1:2], none, zone_sums(lines))
    assert [s.land_value for s in gone.unplaced] == [1]
    assert zone_maps(zones.iloc[:0], none, ()) is None


@pytest.mark.parametrize(
    "values", [["0.01"], ["5", "5", "5"], [str(n * 1.37) for n in range(1, 200)], ["99999.99", "100000.01", "3"], []]
)
def test_every_value_is_in_one_class(values):
    ranges, values = classes(map(Decimal, values)), [Decimal(v) for v in values]
    assert len(ranges) <= 5
    for value in values:
        assert sum(low < value <= high for low, high in ranges) == 1
    assert all(a[1] == b[0] for a, b in itertools.pairwise(ranges))


# -- what is held, exempt, decided, different


def long_network(workspace, tmp_path):
    zone = ("Todo", "4", -7000, 0, 5000, 2000)
    import_zones(workspace, write_zones(tmp_path / "todo.geojson", zone), "2002", "2002-01-01")
    add_operator(workspace, "longa", "Longa Energia S.A.")
    rows = [(f"L{n}", 0.5, [(-6000, 1000 + 10 * n), (4000, 1000 + 10 * n)]) for n in range(11)]
    import_network(workspace, write_network(tmp_path / "longa.geojson", *rows), "longa")


def test_above_100_km_is_held_with_what_a_decision_would_give_then_decided(workspace, tmp_path):
    long_network(workspace, tmp_path)
    bill(workspace)
    page = page_of(workspace)
    row = page.xpath("//tr[@data-operator='longa']")[0]
    assert text(row[2]) == "retido"
    assert text(row[3]) == "nada devido"
    held = next(text(r) for r in page.xpath("//table[@id='tabela-retidos']/tbody/tr") if "Longa" in text(r))
    assert "Rede acima de 100 km" in held
    assert "art. 7º" in held
    assert "110.000,00 m" in held
    assert "R$ 1.980,00" in held  # 110,000 m × 0.50 m × R$ 4 × 0.03 × 0.50 × 0.60
    assert "0,60; não se cobra" in held
    assert "vale o padrão em todos" in text(page.get_element_by_id("parametros").getparent())
    done("policy", "set", "above_100_km", "D1", workspace=workspace)
    bill(workspace)
    page = page_of(workspace)
    assert text(page.xpath("//tr[@data-operator='longa']/td[2]")[0]) == "0,60"
    settled = text(page.get_element_by_id("parametros").getparent())
    assert "Extensão acima de 100 km" in settled
    assert "Decisão nº 12, de 15 de janeiro de 2026, de Prefeita (art. 15)" in settled


def test_who_is_exempt_is_named_with_the_article(billed):
    page = page_of(billed)
    row = page.xpath("//tr[@data-operator='daec']")[0]
    assert text(row[0]) == "Departamento de Águas CNPJ 11.222.333/0001-81"
    assert "isenta, art. 13" in text(row)
    assert "Departamento de Águas: 80,00 m isentos (art. 13)" in text(page.get_element_by_id("retido").getparent())


def test_what_differs_from_an_issued_invoice_is_said_and_the_invoice_stands(workspace, tmp_path):
    bill(workspace)
    first = path_of(workspace).read_bytes()
    bill(workspace, issued_on="2026-12-10")
    assert path_of(workspace).read_bytes() == first
    assert b"pelos dados de agora" not in first
    import_network(workspace, write_network(tmp_path / "mais.geojson", ("B9", 0.5, [(110, 70), (190, 70)])), "beta")
    now = bill(workspace)
    page = page_of(workspace)
    beta = next(i for i in load_invoices(workspace) if i.operator.id == "beta")
    assert figures(page, "//tr[@data-operator='beta']//data[@class='total']") == [beta.total]
    notice = text(page.get_element_by_id("avisos").getparent())
    issued = f"{beta.total}".replace(".", ",")
    assert f"A fatura nº {beta.number}, de Beta Gás S.A., foi emitida por R$ {issued}; pelos dados" in notice
    owed = next(o["total"] for o in now["operators"] if o["operator"] == "beta")
    assert f"o mês custaria R$ {owed}" in notice.replace(",", ".")


def test_no_page_where_nobody_has_anything(tmp_path):
    done("init", tmp_path / "ws")
    bill(tmp_path / "ws")
    assert not path_of(tmp_path / "ws").exists()


def test_a_draft_has_a_page_that_says_so_and_no_number(workspace):
    done("bill", "--month", MONTH, "--draft", workspace=workspace)
    [file] = (workspace / "documents").rglob("rascunho-*index.html")
    page = parse(file.read_bytes())
    assert "RASCUNHO – nada foi emitido" in text(page.body)
    assert not re.search(r"nº \d{4}/\d{6}", text(page.body))
    assert figures(page, "//data[@id='total-reais']")[0] > 0
    links = relative_links(page)
    assert links
    assert all((file.parent / unquote(link)).is_file() for link in links)


# -- the page stands alone


def relative_links(page):
    return [a.get("href") for a in page.xpath("//a[@href]") if not a.get("href").startswith("#")]


def test_links_lead_to_every_document_beside_the_page_and_to_nothing_else(billed):
    links = [unquote(link) for link in relative_links(page_of(billed))]
    folder = path_of(billed).parent
    assert sorted(links) == sorted(p.name for p in folder.iterdir() if p.name != "index.html")
    assert len(links) == len(set(links))
    documents = [text(d) for d in page_of(billed).xpath("//tr[@data-operator='alfa']//span[@class='links']")]
    assert [d.split(":")[0] for d in documents] == ["Fatura", "Anexo", "Minuta de decreto"]
    for kind, form in (("Fatura", "PDF"), ("Anexo", "CSV"), ("Minuta de decreto", "PDF")):
        assert any(d.startswith(f"{kind}: {form}") for d in documents)


def test_only_files_that_are_there_are_linked_and_each_to_its_owner(billed):
    made = result_of(billed)
    assert relative_links(parse(made())) == []
    names = [
        "minuta-beta.pdf",
        "outro arquivo.pdf",
        "minuta-beta-alfa.pdf",
        "fatura-2026-000001-alfa.pdf",
        "minuta-beta-p1.pdf",
    ]
    owners = {"beta": ("beta", ""), "2026-000001-alfa": ("alfa", ""), "beta-p1": ("beta", "permissão P1")}
    page = parse(made(files=names, owners=owners))
    links = page.xpath("//tr[@data-operator='beta']//a")
    assert [a.get("href") for a in links] == ["minuta-beta.pdf", "minuta-beta-p1.pdf"]
    assert "Minuta de decreto, permissão P1: PDF" in text(page.xpath("//tr[@data-operator='beta']")[0])
    assert page.xpath("//tr[@data-operator='alfa']//a/@href") == ["fatura-2026-000001-alfa.pdf"]
    assert page.xpath("//li//a[text()='abrir' or text()='PDF']/@href") == [
        "minuta-beta-alfa.pdf",
        "outro%20arquivo.pdf",
    ]


def test_a_changed_decree_and_a_planned_permit_are_on_the_page(tmp_path):
    town = make_town(tmp_path / "town")
    request(town)
    grant(town)
    second_permit(town)
    add_permit(town, "P3", "beta")
    import_line(town, "b1", 50, 200, "--permit", "P3", "--status", "planned", operator="beta")
    bill(town, month="2026-12", issued_on="2027-01-04")
    page = parse((town / "documents/2026-12/index.html").read_bytes())
    notices = text(page.get_element_by_id("avisos").getparent())
    assert "O preço do decreto nº 8.001/2026 (permissão P1) é hoje R$ 333,00; o registrado é R$ 345,00." in notices
    assert "art. 6º, § 1º" in notices
    assert "Apostila, decreto nº 8.001/2026: PDF" in text(page.xpath("//tr[@data-operator='alfa']")[0])
    everything = text(page.body)
    assert "Beta Gás S.A.: Minuta de decreto, permissão P3: PDF" in everything
    assert all((town / "documents/2026-12" / unquote(link)).is_file() for link in relative_links(page))
    assert not re.search(r"\b(?:the|price|permit|held)\b", everything)


def result_of(workspace, name=None):
    """Render the page from a month of the Python door and the workspace's invoices."""
    squares = [(n, v, 100 * i, 0, 100 * i + 90, 90) for i, (n, v) in enumerate((("Centro", "10.50"), ("Serra", "3")))]
    file = workspace.parent / "zonas.geojson"
    zones = gpd.read_file(write_zones(file, *squares)).rename(columns={"zona": "zone", "valor": "land_value"})
    lines = gpd.read_file(write_network(workspace.parent / "rede.geojson", ("S1", 0.5, [(10, 10), (180, 10)])))
    segments = lines.rename(columns={"id": "segment", "largura": "width_m"})[["segment", "width_m", "geometry"]].assign(
        operator="beta"
    )
    month = geobill.price(segments, None, zones, month=MONTH)
    invoices = load_invoices(workspace) if name is None else []

    def made(**more):
        known = {"beta": Operator("beta", name or "Beta")}
        authority = Authority("Caieiras", "SP", name or "Prefeitura", name or "", "Rua 1", name or "")
        operators = {o.operator.id: o for o in month.bill.operators}
        renamed = tuple(o.__class__(**{**o.__dict__, "operator": known["beta"]}) for o in operators.values())
        told = month.bill.__class__(**{**month.bill.__dict__, "operators": renamed})
        return render_month_index(told, invoices, authority, zones, segments, known, records.FIGURES, **more)

    return made


def test_hostile_names_stay_text(billed):
    content = result_of(billed, HOSTILE)(files=['x"><script>.pdf'])
    page = parse(content)
    assert not page.xpath("//script")
    assert not [e for e in page.iter() if any(a.startswith("on") for a in e.attrib)]
    assert text(page.xpath("//tr[@data-operator='beta']/th/strong")[0]) == squeeze(HOSTILE.replace("\u202e", " "))
    assert "\u202e" not in content.decode()
    assert relative_links(page) == ["x%22%3E%3Cscript%3E.pdf"]


def test_no_address_of_the_network_no_script_nothing_fetched(billed):
    content = path_of(billed).read_text(encoding="utf-8")
    assert not re.search(r"https?:|//\w+\.|@import|url\(", content)
    page = page_of(billed)
    assert not page.xpath("//script | //iframe | //img | //object | //embed | //form | //link[@rel='stylesheet']")
    policy = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")[0]
    assert "default-src 'none'" in policy


def test_headings_language_landmarks_and_references(billed):
    page = page_of(billed)
    assert page.get("lang") == "pt-BR"
    assert text(page.find(".//title")) == "Caieiras, novembro de 2026 – uso das vias públicas"
    levels = [int(h.tag[1]) for h in page.iter("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b <= a + 1 for a, b in itertools.pairwise(levels))
    ids = page.xpath("//@id")
    assert len(ids) == len(set(ids))
    refs = [r for value in page.xpath("//@aria-labelledby") for r in value.split()]
    refs += [h[1:] for h in page.xpath("//@href") if h.startswith("#")]
    assert set(refs) <= set(ids)
    assert page.body[0].get("class") == "skip"
    assert page.body[0].get("href") == "#conteudo"
    for drawing in page.xpath("//svg[@role='img']"):
        assert len(text(drawing.find("desc"))) > 60
        assert text(drawing.find("title"))
    assert all(th.get("scope") for th in page.iter("th"))


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scale", ["metros", "reais"])
def test_colours_are_ordered_by_lightness_alone(billed, scale):
    """They read on a grey print and to an eye that doesn't tell colours apart: each class is clearly darker."""
    found = dict(re.findall(rf"\.{scale}(\d) {{ fill: (#[0-9a-f]{{6}});", path_of(billed).read_text(encoding="utf-8")))
    shades = [luminance(found[str(n)]) for n in range(1, 6)]
    contrast = [(a + 0.05) / (b + 0.05) for a, b in itertools.pairwise(shades)]
    assert min(contrast) > 1.2
    assert (shades[0] + 0.05) / (shades[-1] + 0.05) > 4


def test_the_template_knows_no_filter_that_prints_markup():
    assert "safe" not in re.findall(
        r"\|\s*(\w+)", environment("page").loader.get_source(environment("page"), "index.html.j2")[0]
    )


# -- looked at


@needs_chromium
@pytest.mark.parametrize("width", [390, 1440])
def test_the_page_never_scrolls_sideways(billed, width):
    said = measure(path_of(billed), width)
    assert said["width"] == width
    assert said["beyond"] == []
    assert said["scroll"] <= width


@needs_chromium
def test_the_measurement_sees_what_it_is_for(tmp_path):
    page = tmp_path / "wide.html"
    page.write_text('<body><p style="width:600px">largo</p>', encoding="utf-8")
    said = measure(page, 390)
    assert said["scroll"] > 390
    assert "largo" in said["beyond"][0]


@needs_chromium
def test_on_paper_every_zone_is_there(tmp_path):
    """The table that a click opens on the screen is open on paper; the sheets are A4."""
    page, file = many_zones(), tmp_path / "index.html"
    file.write_bytes(page)
    assert len(parse(page).xpath("//details//tbody/tr")) == 40
    pdf = printed(file, tmp_path / "index.pdf")
    said = text_of(pdf)
    assert all(f"Q{n:03d}" in said for n in range(40))
    assert "Ir para o conteúdo" not in said
    width, height = pypdfium2.PdfDocument(pdf)[0].get_size()
    assert (round(width / 72 * 25.4), round(height / 72 * 25.4)) == (210, 297)


def many_zones():
    from pricing.shapes import ORIGIN
    from shapely import LineString, box

    x, y = ORIGIN
    squares = [box(x + 20 * n, y, x + 20 * n + 20, y + 20) for n in range(40)]
    zones = gpd.GeoDataFrame(
        {"zone": [f"Q{n:03d}" for n in range(40)], "land_value": [f"{100 + n}.00" for n in range(40)]},
        geometry=squares,
        crs=31983,
    )
    line = LineString([(x + 1, y + 10), (x + 799, y + 10)])
    segments = gpd.GeoDataFrame(
        {"segment": ["S"], "operator": ["beta"], "width_m": ["0.50"]}, geometry=[line], crs=31983
    )
    month = geobill.price(segments, None, zones, month=MONTH)
    return render_month_index(
        month.bill, (), Authority("Caieiras", "SP", "Prefeitura"), zones, segments, {}, records.FIGURES
    )


@pytest.mark.parametrize(("layer", "column"), [("zonas_bairro", "ZONA"), ("zonas_quadra", "QUADRA")])
def test_the_real_month_is_a_small_page(shared, tmp_path, layer, column):
    zones = gpd.read_file(shared / "data/caieiras/mapa_de_valores.gpkg", layer=layer)
    zones = zones[zones["VALOR_M2"] > 0].rename(columns={column: "zone"})
    zones["land_value"] = [f"{v:.2f}" for v in zones["VALOR_M2"]]
    network = gpd.read_file(shared / "data/caieiras/rede_levantada_2024.gpkg", layer="SSDMT")
    segments = network.assign(segment=network["COD_ID"], operator="mt", width_m="0.50")
    month = geobill.price(segments, None, zones, month=MONTH, policy={"max_gap_m": "20"})
    content = render_month_index(
        month.bill, (), Authority("Caieiras", "SP", "Prefeitura"), zones, segments, {}, records.FIGURES
    )
    assert len(content) < 2_000_000
    page = parse(content)
    total = sum(o.total for o in month.bill.operators)
    assert figures(page, "//data[@id='total-reais']") == [total]
    assert sum(r[-1] for r in columns(page, "tabela-zonas", 3)) in (0, total)
