"""A reviewer's day in a real Chromium, before the program as it is started by a person: from the queue to the double line.

The tests are one day, in this order: what one of them decides the next ones find decided.
"""

import io
import re
from datetime import date, timedelta
from types import SimpleNamespace

import pytest
from browser import CANVAS, NARROW, Reviewer, at_rest, chromium, needs_browser, plain, served, until
from documents.reading import text_of
from field_town import town
from PIL import Image
from pipeline.test_cases import decide_term
from workspaces import (
    confirm_law,
    done,
    import_cabinets,
    import_network,
    maps,
    place,
    write_cabinets,
    write_geojson,
    write_network,
)

from geobill.domain.dates import BillingMonth

pytestmark = needs_browser
BETA = "Beta <b>Redes</b> & Cia."
ALFA_PAST_THE_END, ALFA_ASIDE, BETA_LONG, NOBODYS, WIDER = (f"V00001-{n:05d}" for n in (1, 2, 3, 4, 9))
BETA_SHORT = [f"V00001-{n:05d}" for n in (5, 6, 7, 8)]
SCRIPT = '<script>document.title="ran"</script><img src=x onerror="document.title=\'ran\'">'
FINDING = (213, 94, 0)


def walked_town(folder):
    """A town whose streets were walked: what `geobill detect` makes of it is nine findings of stretches and one of a cabinet."""
    root = town(folder)
    confirm_law(root)
    decide_term(root, "15")
    more = (("S2", 0.5, ((0, 80), (200, 80))), ("S3", 0.5, ((300, 80), (420, 80))))
    import_network(root, write_network(folder / "mais.geojson", *more), "alfa")
    import_network(root, write_network(folder / "beta.geojson", ("B1", 0.5, ((0, 60), (100, 60)))), "beta")
    import_cabinets(root, write_cabinets(folder / "armarios.geojson", ("M1", "1", (500, 9))), "alfa")

    def line(id_, *xy, owner="alfa", width=0.5):
        return {"id": id_, "dono": owner, "largura": width}, "LineString", place(*xy)

    seen = [
        line("A", (1300, 5.3), (600, 5.6), (0, 5.2)),
        line("B", (100, 22), (200, 20), (300, 22)),
        line("C", (400, 40), (550, 44), (700, 40), owner="beta"),
        line("D", (800, 60), (860, 61), owner=None),
        line("E", (0, 80.4), (200, 80.3), width=0.9),
        line("G", (0, 60.4), (100, 60.2), owner="beta"),
        *(line(f"P{n}", (1600 + n * 40, 30), (1620 + n * 40, 30), owner="beta") for n in range(4)),
        ({"id": "K1", "dono": "alfa", "volume": 2.5}, "Point", place((50, 9))[0]),
        ({"id": "K2", "dono": "alfa", "volume": 1}, "Point", place((500, 9))[0]),
    ]
    columns = maps("segment=id", "equipment=id", "operator=dono", "width=largura", "volume=volume")
    file = write_geojson(folder / "campo.geojson", seen)
    found = done("detect", "--survey", file, "--tolerance", "3", *columns, "--by", "Rui Prado", workspace=root)
    kinds = {f["kind"] for f in found["findings"]}
    assert kinds == {"undeclared_segment", "undeclared_equipment", "wider_than_permitted", "missing_in_survey"}
    return root


@pytest.fixture(scope="module")
def day(tmp_path_factory):
    """The town, the server that runs beside, and two reviewers, each with a browser profile of their own."""
    root = walked_town(tmp_path_factory.mktemp("day"))
    with served(root) as home, chromium() as running:
        bia, caio = Reviewer(running, home, "Bia Reis").enter(), Reviewer(running, home, "Caio Prado", NARROW).enter()
        yield SimpleNamespace(root=root, bia=bia, caio=caio)


@pytest.fixture(scope="module")
def bia(day):
    return day.bia


@pytest.fixture(scope="module")
def caio(day):
    return day.caio


def queue(reviewer):
    """The ids in the list, in its order."""
    return [
        row.removeprefix("linha-") for row in reviewer.page.eval_on_selector_all("#fila li", "l => l.map(e => e.id)")
    ]


def totals(reviewer):
    return plain(reviewer.page.inner_text("#totais")).strip()


def tab_to(reviewer, selector, most=60):
    """Press Tab until something has the focus; each thing on the way there shows that it has it."""
    passed = []
    for _ in range(most):
        reviewer.press("Tab")
        name, ring, there = reviewer.page.evaluate(
            """s => { const e = document.activeElement, look = getComputedStyle(e);
            return [e.outerHTML.slice(0, 90), look.outlineStyle === 'none' ? 0 : parseFloat(look.outlineWidth), e.matches(s)]; }""",
            selector,
        )
        passed.append(name)
        assert ring >= 2 or name.startswith("<body"), f"nothing shows that this has the focus: {name}"
        if there:
            return
    raise AssertionError(f"{most} times Tab don't lead to {selector}: {passed}")


def eastmost(reviewer):
    """The box on the screen of the findings that lie farthest to the east on the map, with some room around."""
    box = reviewer.page.locator("#mapa").bounding_box()
    picture = Image.open(io.BytesIO(reviewer.page.locator("#mapa").screenshot())).convert("RGB")
    wide = range(260, picture.width)  # beside the legend
    there = [(x, y) for x in wide for y in range(picture.height) if picture.getpixel((x, y)) == FINDING]
    most = max(x for x, _ in there)
    cluster = [(x, y) for x, y in there if x > most - 100]
    left, top = (min(c) - 15 for c in zip(*cluster, strict=True))
    right, bottom = (max(c) + 15 for c in zip(*cluster, strict=True))
    return box["x"] + left, box["y"] + top, box["x"] + right, box["y"] + bottom


def test_the_name_is_asked_once(bia):
    assert bia.page.locator(".who").inner_text().endswith("Bia Reis")
    assert queue(bia)[:2] == [BETA_LONG, ALFA_PAST_THE_END]
    bia.page.reload()
    assert bia.page.url.endswith("/achados")
    at_rest(bia.page)


def test_the_queue_is_filtered_by_keyboard_alone(bia):
    assert totals(bia).startswith("11 achados")
    tab_to(bia, "#filtros [name=operadora]")
    bia.page.keyboard.type("Beta")
    until(lambda: len(queue(bia)) == 5)
    assert totals(bia) == "5 achados · 380,11 m · R$ 570,17/mês"
    tab_to(bia, "#filtros [name=tipo]")
    bia.page.keyboard.type("Rede não d")
    tab_to(bia, "#filtros .more summary")
    bia.press("Enter")
    tab_to(bia, "#filtros [name=metros]")
    bia.page.keyboard.type("21")
    bia.press("Enter")
    until(lambda: queue(bia) == [BETA_LONG])
    assert totals(bia).startswith("1 achado · 300,11 m")
    assert BETA in bia.page.text_content("#fila")
    assert "operadora=beta" in bia.page.url
    tab_to(bia, "#filtros a")  # “Limpar”
    bia.press("Enter")
    bia.page.wait_for_url("**/achados")
    assert len(queue(bia)) == 11


def test_a_finding_is_opened_and_shows_what_it_is_worth(bia):
    tab_to(bia, "#fila li a")
    bia.press("Enter")
    sheet = bia.opened(BETA_LONG)
    told = plain(sheet.inner_text())
    assert BETA in told
    # 300.11 m × 0.50 × R$ 200 × 3 % × 50 % = 450.165, × 2 = 900.33; for the past five years of sixty months
    assert "Preço por mês R$ 450,17 Em dobro R$ 900,33 Atrasados, se confirmado R$ 54.019,80" in told, told
    assert sheet.locator(".profile svg").bounding_box()["height"] > 80
    assert "Nada a menos de 30 m em toda a extensão." in told
    bia.press("j")
    told = plain(bia.opened(ALFA_PAST_THE_END).inner_text())
    assert re.search(
        r"Ao longo de 300,00 m, o afastamento é de \S+ m em média e de \S+ m no .* além da tolerância de 3 m",
        told,
    ), told
    bia.press("k")
    bia.opened(BETA_LONG)
    assert bia.page.locator("#fila [aria-current]").count() == 1


def test_keys_go_on_in_the_queue_that_is_shown(bia):
    bia.page.select_option("#filtros [name=operadora]", "beta")
    until(lambda: len(queue(bia)) == 5)
    bia.page.locator("#painel h2").focus()
    bia.press("j")  # it was opened before the filter was chosen
    until(lambda: bia.page.get_attribute("#painel article", "data-achado") in BETA_SHORT)
    assert "operadora=beta" in bia.page.url
    bia.press("Escape")
    bia.page.select_option("#filtros [name=operadora]", "?")
    until(lambda: queue(bia) == [NOBODYS])
    bia.page.locator("#painel a").focus()
    bia.press("j")  # the empty panel was sent without a filter
    bia.opened(NOBODYS)
    assert "/achados?operadora=%3F" in bia.page.url
    bia.page.select_option("#filtros [name=operadora]", "")
    until(lambda: len(queue(bia)) == 11)
    sent = bia.page.eval_on_selector_all("#painel [name=fila]", "l => l.map(e => e.value)")
    assert sent
    assert set(sent) == {""}
    bia.to(f"/achados?achado={BETA_LONG}")
    bia.opened(BETA_LONG)


def test_keys_decide_and_undo(bia):
    bia.page.keyboard.down("p")
    bia.notice(f"{BETA_LONG}: procede")
    bia.opened(ALFA_PAST_THE_END)  # the next one
    bia.page.keyboard.down("p")  # held down, it repeats itself: that is no decision on the next one
    bia.page.keyboard.up("p")
    assert totals(bia).startswith("10 achados")
    bia.press("z")
    bia.opened(BETA_LONG, 2)
    bia.notice(f"{BETA_LONG}: decisão desfeita")
    assert totals(bia).startswith("11 achados")


def test_what_is_typed_is_text_and_nothing_of_it_runs(bia):
    bia.press("n")
    assert bia.page.evaluate("document.activeElement.id") == "motivo"
    bia.page.keyboard.type(SCRIPT)
    bia.press("Control+Enter")
    bia.notice(f"{BETA_LONG}: não procede")
    bia.press("z")
    assert SCRIPT in bia.opened(BETA_LONG, 4).inner_text()
    bia.press("t")
    bia.page.keyboard.type(f"Visto no local {SCRIPT}")
    bia.press("Control+Enter")
    assert f"Visto no local {SCRIPT}" in bia.opened(BETA_LONG, 5).inner_text()
    bia.to("/registro")
    assert bia.page.inner_text("main").count(SCRIPT) == 2
    assert bia.page.title() != "ran"


def test_a_photo_comes_back_as_it_went(bia):
    bia.to(f"/achados?achado={BETA_LONG}")
    drawn = io.BytesIO()
    Image.new("RGB", (320, 240), (90, 120, 60)).save(drawn, "PNG")
    photo = {"name": f"../../{SCRIPT}.png", "mimeType": "image/png", "buffer": drawn.getvalue()}
    bia.page.click("text=Juntar foto")
    bia.page.set_input_files("#foto", files=[photo])
    bia.page.fill("#legenda", "Poste <i>da esquina</i>")
    bia.press("Enter")
    bia.opened(BETA_LONG, 6)
    shown = bia.page.locator(".photos img")
    shown.scroll_into_view_if_needed()
    until(lambda: shown.evaluate("e => e.naturalWidth") == 320)
    assert "Poste <i>da esquina</i>" in bia.page.inner_text(".photos")
    assert bia.context.request.get(bia.home + shown.get_attribute("src")).body() == drawn.getvalue()


def test_of_two_who_decide_at_once_the_second_is_told(bia, caio):
    caio.to(f"/achados?achado={BETA_LONG}")
    caio.opened(BETA_LONG, 6)
    bia.press("p")
    bia.notice(f"{BETA_LONG}: procede")
    caio.press("n")
    caio.page.keyboard.type("É da iluminação pública")
    caio.press("Control+Enter")
    told = caio.notice("Bia Reis")
    assert re.search(r"Bia Reis decidiu isto às \d\d:\d\d: procede\. Nada foi sobrescrito\.", told)
    sheet = caio.opened(BETA_LONG, 7)  # as it is now, to be decided anew
    assert "É da iluminação pública" not in sheet.inner_text()
    caio.press("n")
    caio.page.keyboard.type("É da iluminação pública")
    caio.press("Control+Enter")
    caio.notice(f"{BETA_LONG}: não procede")
    caio.press("z")
    history = plain(caio.opened(BETA_LONG, 9).inner_text())
    assert re.search(r"Procede por Bia Reis .*Não procede por Caio Prado É da iluminação pública", history)


def test_an_area_is_dismissed_at_once_but_for_what_changed_meanwhile(day, bia, caio):
    bia.to("/achados?operadora=beta&estado=suspected")
    bia.page.click("[data-mapa=tudo]")
    at_rest(bia.page)
    bia.page.click("[data-mapa=area]")
    left, top, right, bottom = eastmost(bia)
    for corner in ((left, top), (right, top), (right, bottom), (left, bottom)):
        bia.page.mouse.click(*corner)
    bia.press("Enter")
    bia.page.wait_for_selector("#area-motivo")
    counted = plain(bia.page.inner_text("#mapa-area"))
    assert "4 achados a decidir · 80,00 m · R$ 120,00/mês" in counted
    caio.to(f"/achados?achado={BETA_SHORT[1]}")
    caio.opened(BETA_SHORT[1])
    caio.press("p")
    caio.notice(f"{BETA_SHORT[1]}: procede")
    bia.page.keyboard.type("Ramais de ligação, não são da rede")
    bia.page.click("#mapa-area .dismiss")
    bia.page.wait_for_selector("#mapa-area .area-done")
    told = plain(bia.page.inner_text("#mapa-area"))
    assert "3 achados decididos: não procede." in told
    assert re.search(rf"{BETA_SHORT[1]}: procede, por Caio Prado às \d\d:\d\d", told)
    listed = done("finding", "list", "--operator", "beta", workspace=day.root)["findings"]
    assert {f["id"]: f["state"] for f in listed if f["id"] in BETA_SHORT} == {
        id_: "upheld" if id_ == BETA_SHORT[1] else "dismissed" for id_ in BETA_SHORT
    }


def test_an_area_is_drawn_by_keyboard_alone(bia):
    bia.to(f"/achados?operadora=%3F&achado={NOBODYS}")
    bia.opened(NOBODYS)
    at_rest(bia.page)
    tab_to(bia, CANVAS)
    bia.press("-", "-")
    at_rest(bia.page)
    bia.press("d")
    for moves in (["ArrowUp", "ArrowLeft"], ["ArrowRight"] * 2, ["ArrowDown"] * 2, ["ArrowLeft"] * 2):
        for key in moves:
            bia.press(key)
            at_rest(bia.page)
        bia.press(" ")
    bia.press("Enter")
    bia.page.wait_for_selector("#area-motivo")
    assert plain(bia.page.inner_text("#mapa-area .totals")).startswith("1 achado a decidir · 60,01 m")
    bia.press("Escape")
    assert not bia.page.is_visible("#mapa-area")
    assert bia.page.evaluate("document.activeElement.matches('canvas')")
    tab_to(bia, "#operadora")
    bia.page.keyboard.type("Alfa")
    tab_to(bia, "[action$='/operadora'] button")
    bia.press("Enter")
    assert "Alfa Telecomunicações" in bia.opened(NOBODYS, 1).inner_text()
    # 60.01 m × 0.50 × R$ 200 × 3 % × 50 %: whose it is decides what it is worth
    assert "R$ 90,02" in plain(bia.page.text_content(f"#linha-{NOBODYS}"))


def test_a_case_goes_step_by_step_to_the_double_line(day, bia, tmp_path):
    bia.to(f"/achados?operadora=alfa&tipo=undeclared_segment&achado={ALFA_PAST_THE_END}")
    for finding in (ALFA_PAST_THE_END, ALFA_ASIDE):  # each decision shows the next one
        bia.opened(finding)
        bia.press("p")
        bia.notice(f"{finding}: procede")
    bia.to(f"/achados?estado=upheld&achado={ALFA_ASIDE}")
    bia.opened(ALFA_ASIDE)
    bia.press("a")
    bia.page.wait_for_url("**/processos/abrir?*")
    bia.page.get_by_label(ALFA_PAST_THE_END).check()
    bia.page.click("text=Juntar ao processo")
    bia.page.wait_for_url("**achado=*&achado=*")
    bia.page.fill("#numero", "7/2026")
    bia.page.fill("#objeto", "Cabo aéreo na Rua das Amoreiras")
    bia.page.click("text=Abrir o processo contra Alfa")
    bia.page.wait_for_url("**/processos/7/2026")
    today = date.today()
    take(bia, "notified", referencia="Notificação 1")
    take(bia, "defence_lodged")
    take(bia, "defence_decided", resultado="rejected")
    for step in ("technical_opinion", "legal_opinion", "impossibility_report"):
        take(bia, step)
    installed = today.replace(day=1) - timedelta(days=40)
    take(bia, "doubled", instalado=installed.isoformat(), prova="Nota fiscal 33")
    case = plain(bia.page.inner_text("main"))
    assert "×2 Cobrado em dobro" in case
    with bia.page.expect_download() as fetched:
        bia.page.click("#papeis ~ ul li:has-text('Notificação') a:has-text('PDF')")
    assert re.fullmatch(r"7-2026-[a-z0-9-]*notificacao[a-z0-9-]*\.pdf", fetched.value.suggested_filename)
    fetched.value.save_as(tmp_path / "n.pdf")
    paper = plain(text_of((tmp_path / "n.pdf").read_bytes()))
    assert "7/2026" in paper
    assert "15 dias" in paper
    # 500.04 m × 0.50 × R$ 200 × 3 % × 50 % × 2, in the month that is billed next
    charge = plain(bia.page.inner_text(".charge"))
    assert re.search(r"em dobro 7/2026 .* R\$ 1\.500,12", charge)
    month = BillingMonth.of(today)
    bia.to(f"/meses/{month}")
    double = plain(bia.page.inner_text("#tabela-dobro"))
    assert re.search(r"Alfa Telecomunicações S\.A\. 7/2026 .*500,04 m .*R\$ 1\.500,12", double)
    # its rows are on record now, and still it isn't held against itself
    told = plain(bia.context.request.get(f"{bia.home}/achados/{ALFA_ASIDE}").text())
    assert "o afastamento é de 16,00 m em média e de 17,00 m no máximo" in told
    # what is missing is named as it is on record, not by a row of the survey that hasn't it
    listed = bia.context.request.get(f"{bia.home}/achados?tipo=missing_in_survey&estado=todos").text()
    missing = re.findall(r'id="linha-([\w-]+)"', listed)
    told = plain(bia.context.request.get(f"{bia.home}/achados/{missing[0]}").text())
    assert "campo.geojson, que não tem o trecho permitido S3 <" in told
    assert "campo.geojson, linha" not in told


def take(reviewer, step, **fields):
    """Take a step of the case by its form."""
    page = reviewer.page
    form = page.locator(f"details.step:has(input[value={step}])")
    form.locator("summary").click()
    given = {"por": "Rui Prado", **fields}  # the day that stands there is today
    for name, value in given.items():
        field = form.locator(f"[name={name}]")
        field.select_option(value) if name == "resultado" else field.fill(value)
    with page.expect_navigation():
        form.locator("button.primary").click()
    assert page.locator(".problem").count() == 0, page.inner_text("main")


CONTROLS = {
    "button",
    "link",
    "textbox",
    "combobox",
    "checkbox",
    "searchbox",
    "spinbutton",
    "img",
    "image",
    "Date",
    "region",
    "dialog",
}


@pytest.mark.parametrize("path", ["/achados?estado=todos&achado=" + ALFA_ASIDE, "/processos/7/2026", "/registro"])
def test_pages_have_one_heading_landmarks_and_a_name_for_each_control(bia, path):
    page = bia.to(path)
    page.wait_for_load_state("load")
    assert page.evaluate("document.documentElement.lang") == "pt-BR"
    assert page.locator("h1").count() == 1
    tree = bia.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    parts = [(n["role"]["value"], n.get("name", {}).get("value", "")) for n in tree if not n["ignored"]]
    roles = {role for role, _ in parts}
    assert {"banner", "navigation", "main", "heading"} <= roles
    assert [role for role, name in parts if role in CONTROLS and not name.strip()] == []


def test_a_page_of_its_own_has_the_same_keys(bia):
    page = bia.to(f"/achados/{WIDER}")
    bia.press("Escape", "?")
    page.wait_for_selector("#ajuda[open]")
    bia.press("Escape")
    bia.press("j")
    page.wait_for_selector(f"#painel article:not([data-achado='{WIDER}'])")


def test_nothing_was_said_nobody_else_was_asked_and_only_the_second_decision_was_refused(bia, caio):
    assert bia.said == caio.said == []
    assert bia.elsewhere() == caio.elsewhere() == set()
    assert bia.refused == []
    assert caio.refused == [(409, f"/achados/{BETA_LONG}/decidir")]
