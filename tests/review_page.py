"""The review page of a workspace, and a browser without a window that is logged in to it."""

import re
from datetime import date

import pytest
from starlette.testclient import TestClient

from geobill.web.app import NEEDED, VENDOR, create_app

PORT = 8377
HOME = f"http://127.0.0.1:{PORT}"
NOW = "2026-11-30T14:00:00Z"
REVIEWER = "Ana Lima"


def app_of(workspace, port=PORT, **more):
    """The application of a workspace, on a day of its own."""
    if not all((VENDOR / name).is_file() for name in NEEDED):
        pytest.skip("the page's scripts weren't fetched: make web")
    return create_app(workspace, port=port, today=lambda: date(2026, 11, 30), now=lambda: NOW, **more)


def browser(app, name=REVIEWER, home=HOME):
    """A client that said who it is, and sends along what a browser sends from our own pages."""
    client = TestClient(
        app, base_url=home, headers={"Origin": home, "Sec-Fetch-Site": "same-origin"}, follow_redirects=False
    )
    assert client.post("/entrar", data={"nome": name}).status_code == 303
    said = client.get("/entrar").text
    client.headers["X-Geobill-Token"] = re.search(r'data-token="([0-9a-f]{64})"', said)[1]
    return client
