"""Debian's Chromium, headless: a page's own measurements at a width, and the page as it is printed."""

import html
import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="Chromium isn't installed (debian-packages.txt)")
QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--virtual-time-budget=5000",
)  # fmt: skip
# The page in a frame of a given width: a headless window has a least width of its own, and the page's policy forbids
# scripts inside of it, not around it.
FRAME = """<!DOCTYPE html><body style="margin:0"><iframe style="border:0;width:%dpx;height:900px" srcdoc="%s"></iframe>
<script>addEventListener("load", () => {
const inside = document.querySelector("iframe").contentDocument, wide = inside.documentElement.clientWidth;
const out = [...inside.querySelectorAll("body *")].filter(e => !e.closest("svg, .hidden, .skip, thead")
  && e.getBoundingClientRect().right > wide + 1).slice(0, 5).map(e => e.outerHTML.slice(0, 120));
const said = {width: wide, scroll: inside.documentElement.scrollWidth, beyond: out};
document.documentElement.setAttribute("data-measured", JSON.stringify(said));
});</script>"""


def run(*words):
    """Run Chromium with a profile of its own; return what it wrote on standard output."""
    with tempfile.TemporaryDirectory() as profile:
        done = subprocess.run(
            [CHROMIUM, *QUIET, f"--user-data-dir={profile}", *words], capture_output=True, timeout=120, check=False
        )
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    return done.stdout.decode()


def measure(page: Path, width: int):
    """How wide a page is in a frame of a width, and which of its elements stick out."""
    with tempfile.TemporaryDirectory() as folder:
        frame = Path(folder, "frame.html")
        frame.write_text(FRAME % (width, html.escape(page.read_text(encoding="utf-8"))), encoding="utf-8")
        dom = run(f"--window-size={width + 100},1000", "--dump-dom", frame.as_uri())
    return json.loads(html.unescape(re.search(r'<html[^>]* data-measured="([^"]*)"', dom)[1]))


def printed(page: Path, out: Path) -> bytes:
    """Print a page to PDF as the browser's print dialogue would."""
    run("--no-pdf-header-footer", f"--print-to-pdf={out}", page.as_uri())
    return out.read_bytes()
