"""What every test may use."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# how fast an example is drawn or run says what else the machine does; speed is measured by `make bench`
settings.register_profile("geobill", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("geobill")


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder with acceptance cases and real data beside the project; tests that need it skip where it is missing."""
    folder = Path(__file__).parents[2] / "shared"
    if not folder.is_dir():
        pytest.skip(f"{folder} isn't here: the acceptance cases and real data live outside of the project")
    return folder


# run by the python of Debian's QGIS, not imported by ours
collect_ignore = ["documents/qgis_look.py", "documents/qgis_project_look.py"]
