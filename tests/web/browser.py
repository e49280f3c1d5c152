"""A real Chromium before a real server: what its pages say and ask is written down, and nothing of it may be left unsaid."""

import contextlib
import json
import re
import signal
import time
from urllib.parse import urlsplit

import pytest
from chromium import CHROMIUM, needs_chromium
from workspaces import process

from geobill.web.app import NEEDED, VENDOR

needs_browser = [
    needs_chromium,
    pytest.mark.skipif(
        not all((VENDOR / name).is_file() for name in NEEDED), reason="the page's scripts weren't fetched: make web"
    ),
]
# without --disable-gpu: then the compositor would read each frame back, and its driver says so on the console
ARGUMENTS = (
    "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
NOTICED = ("error", "warning", "assert")  # of what a console says
WIDE, NARROW = (1366, 768), (390, 844)
CANVAS = "#mapa canvas"


@contextlib.contextmanager
def served(workspace):
    """Run ``geobill serve`` as a process of its own on a free port; end it by Ctrl-C. It must say nothing but its address."""
    with process("-w", workspace, "serve", "--port", "0", "--json") as running:
        try:
            said = ""
            while "}" not in said:
                said += running.stdout.readline()
                assert running.poll() is None, running.stderr.read()
            yield json.loads(said)["url"]
        finally:
            running.send_signal(signal.SIGINT)
        told = running.stderr.read()
        assert running.wait(20) == 0, told
        assert "Traceback" not in told, told


@contextlib.contextmanager
def chromium():
    """Run Debian's Chromium without a window."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright drives Chromium")
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        yield running
        running.close()


class Reviewer:
    """Somebody at a browser of their own: ``said`` is what the console said, ``asked`` each address, ``refused`` each no."""

    def __init__(self, running, home, name, size=WIDE):
        self.home, self.name = home, name
        self.said, self.asked, self.refused = [], [], []
        self.context = running.new_context(
            viewport={"width": size[0], "height": size[1]},
            reduced_motion="reduce",
            locale="pt-BR",
            accept_downloads=True,
        )
        self.context.on("request", lambda request: self.asked.append(request.url))
        self.context.on("response", self._answered)
        self.context.on("requestfailed", self._failed)
        self.context.on("console", lambda message: self._heard(message.type, message.text, message.location))
        self.context.on("weberror", lambda error: self.said.append(f"error: {error.error}"))
        self.page = self.context.new_page()

    def enter(self):
        """Say one's name, as the first thing."""
        self.page.goto(f"{self.home}/")
        self.page.wait_for_url("**/entrar?para=*")
        self.page.wait_for_selector("#nome:focus")
        self.page.keyboard.type(self.name)
        self.page.keyboard.press("Enter")
        self.page.wait_for_url("**/achados")
        return self

    def to(self, path):
        """Go to a path."""
        self.page.goto(self.home + path)
        return self.page

    def press(self, *keys):
        """Press keys, one after the other."""
        for key in keys:
            self.page.keyboard.press(key)

    def opened(self, finding, version=None):
        """Wait until a finding is open in the panel, at a version of it where one is given, with its price."""
        at = "" if version is None else f'[data-versao="{version}"]'
        self.page.wait_for_selector(f'#painel article[data-achado="{finding}"]{at}')
        self.page.wait_for_selector("#valor")
        return self.page.locator("#painel article")

    def notice(self, words):
        """Wait for a message with some words, and return all of it."""
        told = self.page.locator("#aviso", has_text=words)
        told.wait_for()
        return plain(told.inner_text())

    def elsewhere(self):
        """Return which other servers were asked."""
        others = {urlsplit(url).netloc for url in self.asked if not url.startswith(("data:", "blob:"))}
        return others - {urlsplit(self.home).netloc}

    def _answered(self, answer):
        if answer.status >= 400:
            self.refused.append((answer.status, urlsplit(answer.url).path))

    def _failed(self, request):
        # a tile or a price that isn't needed any more, since the page went on, is dropped by the browser itself
        if request.failure != "net::ERR_ABORTED":
            self.said.append(f"failed: {request.url} {request.failure}")

    def _heard(self, kind, text, location):
        # Chromium itself reports each refusal, once: what was refused is in `refused`
        if kind in NOTICED and not (
            kind == "error" and re.fullmatch(r"Failed to load resource: .* status of 4\d\d \(.*\)", text)
        ):
            self.said.append(f"{kind}: {text} ({location.get('url')})")


def at_rest(page):
    """Wait until the map has drawn what it should."""
    page.wait_for_timeout(100)
    page.wait_for_selector("html[data-mapa=pronto]", timeout=60_000)


def plain(text):
    """Text with single plain spaces."""
    return re.sub(r"\s+", " ", text)


def until(happens, seconds=20):
    """Wait for something of the page; its policy forbids that Playwright evaluates text in it."""
    end = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < end
        time.sleep(0.05)
