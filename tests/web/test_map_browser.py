"""The map in a real Chromium: it draws what it should in its colours, says nothing on the console, asks nobody else."""

import io
import socket
import threading
from datetime import date
from urllib.parse import urlsplit

import pytest
import uvicorn
from browser import ARGUMENTS, NOTICED, at_rest, needs_browser, until
from chromium import CHROMIUM
from field_town import NOW, field_town
from PIL import Image

from geobill.pipeline import review
from geobill.store.finding_queue import Query
from geobill.store.workspace import open_workspace
from geobill.web.app import create_app

pytestmark = needs_browser
sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright drives Chromium")
PERMITTED, FINDING, CHOSEN, DRAWN = (0, 114, 178), (213, 94, 0), (240, 228, 66), (106, 44, 145)


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    return field_town(tmp_path_factory.mktemp("map"))


@pytest.fixture(scope="module")
def page(town):
    """A page that is logged in, with what it said and asked; the server runs beside."""
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    app = create_app(town, port=port, today=lambda: date(2026, 11, 30), now=lambda: NOW)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    home = f"http://127.0.0.1:{port}"
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        page = browser.new_page(viewport={"width": 1366, "height": 768}, reduced_motion="reduce")
        page.home, page.said, page.asked = home, [], []
        page.on(
            "console",
            lambda message: page.said.append(f"{message.type}: {message.text}") if message.type in NOTICED else None,
        )
        page.on("pageerror", lambda error: page.said.append(f"error: {error}"))
        page.on(
            "response",
            lambda answer: page.said.append(f"{answer.status} {answer.url}") if answer.status >= 400 else None,
        )
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto(f"{home}/entrar")
        page.fill("input[name=nome]", "Ana Lima")
        page.press("input[name=nome]", "Enter")
        page.wait_for_url("**/achados")
        yield page
        browser.close()
    server.should_exit = True
    thread.join(10)


def coloured(page, colour, where="#mapa"):
    """How many pixels of a part of the page are of a colour, near enough."""
    picture = Image.open(io.BytesIO(page.locator(where).screenshot())).convert("RGB")
    return sum(
        count
        for count, pixel in picture.getcolors(1 << 24)
        if max(abs(a - b) for a, b in zip(pixel, colour, strict=True)) < 12
    )


def assert_whole(page):
    """What is open lies wholly on the map: beside the legend, and off each edge."""
    picture = Image.open(io.BytesIO(page.locator("#mapa").screenshot())).convert("RGB")
    legend = page.locator("#mapa .legenda").evaluate("e => e.offsetLeft + e.offsetWidth")
    across = [
        x for x in range(picture.width) for y in range(0, picture.height, 2) if picture.getpixel((x, y)) == CHOSEN
    ]
    assert legend < min(across) < max(across) < picture.width - 20


def test_map_draws_and_the_list_and_it_tell_each_other(page):
    at_rest(page)
    assert coloured(page, PERMITTED) > 200
    assert coloured(page, FINDING) > 300
    assert coloured(page, CHOSEN) == 0
    page.click("#linha-V00001-00002 a")
    page.wait_for_selector("#painel [data-achado='V00001-00002']")
    at_rest(page)
    assert coloured(page, CHOSEN) > 1000
    assert_whole(page)
    before = coloured(page, PERMITTED)
    page.keyboard.press("2")
    at_rest(page)
    assert coloured(page, PERMITTED) < before / 3  # the legend's sample is left
    page.keyboard.press("2")
    page.click("[data-mapa=tudo]")
    at_rest(page)
    page.keyboard.press("Escape")
    page.focus("#mapa canvas")
    at_rest(page)
    box = page.locator("#mapa").bounding_box()
    picture = Image.open(io.BytesIO(page.locator("#mapa").screenshot())).convert("RGB")
    pixels = [
        (x, y)
        for x in range(260, picture.width, 2)
        for y in range(picture.height)
        if picture.getpixel((x, y)) == FINDING
    ]
    x, y = max(pixels)  # of the stretch in the east
    page.mouse.click(box["x"] + x - 3, box["y"] + y)
    page.wait_for_selector("#painel [data-achado='V00001-00001']")


def test_metres_are_measured_and_an_area_is_decided_by_keyboard_alone(page, town):
    page.goto(f"{page.home}/achados")
    at_rest(page)
    page.focus("#mapa canvas")
    for _ in range(3):  # the whole town within a hand of the cross-hair
        page.keyboard.press("-")
        at_rest(page)
    page.keyboard.press("d")
    for moves in (["ArrowUp", "ArrowLeft"], ["ArrowRight"] * 2, ["ArrowDown"] * 2, ["ArrowLeft"] * 2):
        for key in moves:
            page.keyboard.press(key)
            at_rest(page)
        page.keyboard.press(" ")
    assert coloured(page, DRAWN) > 100
    until(lambda: "m · último trecho" in page.inner_text("#mapa .mensagem"))
    page.keyboard.press("Enter")
    page.wait_for_selector("#area-motivo")
    counted = int(page.inner_text("#mapa-area .totals strong >> nth=0"))
    assert counted >= 1
    page.keyboard.type("conferido em campo")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("#mapa-area .area-done")
    rows = review.list_findings(open_workspace(town), Query(states=("upheld",))).rows
    assert len(rows) == counted
    until(lambda: page.locator("#fila li").count() == 3 - counted)
    at_rest(page)


def test_map_prints_as_a_picture(page):
    page.goto(f"{page.home}/achados/V00001-00002")
    at_rest(page)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert coloured(page, CHOSEN, "#mapa .impresso") > 300
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert not page.is_visible("#mapa .impresso")


def test_nothing_was_said_and_nobody_else_was_asked(page):
    assert page.said == []
    others = {urlsplit(url).netloc for url in page.asked if not url.startswith(("data:", "blob:"))}
    assert others == {urlsplit(page.home).netloc}
