"""``geobill serve`` as a process: it says where it is, answers there, ends at Ctrl-C; a taken port is refused."""

import json
import shutil
import signal
import socket
import sys
import urllib.request

import pytest
from workspaces import done, geobill, process

from geobill.web.app import NEEDED, VENDOR

pytestmark = pytest.mark.skipif(
    not all((VENDOR / name).is_file() for name in NEEDED), reason="the page's scripts weren't fetched: make web"
)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    folder = tmp_path_factory.mktemp("serve") / "town"
    done("init", folder)
    return folder


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT to send to one process")
def test_it_says_its_address_serves_there_and_ends_at_ctrl_c(workspace):
    with process("-w", workspace, "serve", "--port", "0", "--json") as running:
        try:
            said = ""
            while "}" not in said:
                said += running.stdout.readline()
            url = json.loads(said)["url"]
            with urllib.request.urlopen(f"{url}/entrar", timeout=20) as page:
                assert "Quem revisa?" in page.read().decode()
            with socket.socket() as other:  # of the loopback alone: no other address of this machine answers
                other.settimeout(2)
                assert other.connect_ex((outer_address(), int(url.rpartition(":")[2]))) != 0
        finally:
            running.send_signal(signal.SIGINT)
        assert running.wait(20) == 0
        assert "Traceback" not in running.stderr.read()


def outer_address():
    """An address of this machine that isn't the loopback's; where it has none, one that answers nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        try:
            asked.connect(("192.0.2.1", 9))
        except OSError:
            pytest.skip("this machine has no address but the loopback's")
        return asked.getsockname()[0]


def test_a_port_in_use_is_refused(workspace):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        answer = geobill("serve", "--port", port, workspace=workspace)
    assert answer.code == 1
    assert f"Port {port} of 127.0.0.1 can't be used" in answer.err
    assert "geobill serve --port" in answer.err


def test_a_background_that_is_not_there_is_refused(workspace, tmp_path):
    answer = geobill("serve", "--background", tmp_path / "nada.pmtiles", workspace=workspace)
    assert answer.code == 1
    assert "nada.pmtiles is not there" in answer.err


def test_no_workspace_is_refused_before_anything_listens(tmp_path):
    answer = geobill("serve", workspace=tmp_path)
    assert answer.code == 1
    assert "geobill.toml" in answer.err


def test_scripts_that_were_not_built_are_asked_for(workspace, tmp_path, monkeypatch):
    shutil.copytree(VENDOR, tmp_path / "vendor")
    (tmp_path / "vendor" / "htmx.min.js").unlink()
    monkeypatch.setattr("geobill.web.app.VENDOR", tmp_path / "vendor")
    answer = geobill("serve", "--port", "0", workspace=workspace)
    assert answer.code == 1
    assert "htmx.min.js" in answer.err
    assert "make web" in answer.err
