"""Debian's QGIS, run on a script of these tests by the python3 that it belongs to."""

import json
import os
import subprocess
from functools import cache
from pathlib import Path

import pytest

PYTHON = Path("/usr/bin/python3")


def run_qgis(script, *args, home):
    """What a script says as JSON on its last line; the test skips where QGIS isn't installed."""
    if not has_qgis():
        pytest.skip("QGIS isn't installed (Debian: python3-qgis)")
    Path(home).chmod(0o700)
    command = [PYTHON, Path(__file__).with_name(script), *map(str, args)]
    made = subprocess.run(command, capture_output=True, text=True, env=_environment(home), check=False)
    assert made.returncode == 0, made.stderr
    return json.loads(made.stdout.splitlines()[-1])


@cache
def has_qgis():
    command = [PYTHON, "-c", "import qgis.core"]
    return (
        PYTHON.is_file()
        and not subprocess.run(command, capture_output=True, env=_environment("/"), check=False).returncode
    )


def _environment(home):
    env = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "HOME": str(home), "XDG_RUNTIME_DIR": str(home)}
    return {k: v for k, v in env.items() if not k.startswith(("PYTHON", "VIRTUAL_ENV", "GDAL", "PROJ"))}
