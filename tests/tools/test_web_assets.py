"""Third-party scripts of the page: which versions is locked by digest and by nothing of this machine; what is copied is named."""

import importlib.util
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def web_assets():
    spec = importlib.util.spec_from_file_location("web_assets", ROOT / "tools" / "web_assets.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_lock_file_names_digests_and_no_registry():
    text = (ROOT / "frontend" / "package-lock.json").read_text(encoding="utf-8")
    packages = {name: p for name, p in json.loads(text)["packages"].items() if name}
    assert {"node_modules/htmx.org", "node_modules/maplibre-gl", "node_modules/pmtiles"} <= set(packages)
    assert [name for name, p in packages.items() if not p.get("integrity", "").startswith("sha512-")] == []
    assert "://" not in "".join(line for line in text.splitlines() if '"url"' not in line)  # funding links aside
    assert '"resolved"' not in text


def test_what_the_page_needs_is_copied_and_nothing_else(tmp_path, web_assets):
    for name in web_assets.COPIED:
        file = tmp_path / "modules" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    (tmp_path / "vendor").mkdir()
    (tmp_path / "vendor" / "old.js").write_text("of an earlier version")
    copied = web_assets.copy_assets(tmp_path / "modules", tmp_path / "vendor")
    assert sorted(p.name for p in (tmp_path / "vendor").iterdir()) == copied == sorted(web_assets.COPIED.values())
    assert (tmp_path / "vendor" / "htmx.min.js").read_text() == "htmx.org/dist/htmx.min.js"


def test_a_file_that_a_new_version_lacks_is_named_and_nothing_is_lost(tmp_path, web_assets):
    (tmp_path / "vendor").mkdir()
    (tmp_path / "vendor" / "htmx.min.js").write_text("kept")
    with pytest.raises(SystemExit, match=r"lacks htmx\.org/dist/htmx\.min\.js"):
        web_assets.copy_assets(tmp_path / "modules", tmp_path / "vendor")
    assert (tmp_path / "vendor" / "htmx.min.js").read_text() == "kept"


def test_the_page_asks_for_no_script_that_is_not_copied(web_assets):
    from geobill.web.app import NEEDED

    assert set(NEEDED) <= set(web_assets.COPIED.values())
