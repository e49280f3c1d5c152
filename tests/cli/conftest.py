"""A workspace ready to be billed, made once; each test takes a copy."""

import shutil

import pytest
from workspaces import make_workspace


@pytest.fixture(scope="session")
def prepared(tmp_path_factory):
    """Workspace with nothing billed yet; not to be changed. Its files stand in ``files`` beside it."""
    return make_workspace(tmp_path_factory.mktemp("prepared"))


@pytest.fixture
def workspace(prepared, tmp_path):
    """Copy of the prepared workspace, to be changed."""
    return shutil.copytree(prepared, tmp_path / "ws")


@pytest.fixture
def files(prepared):
    """The files that the prepared workspace was made from."""
    return prepared.parent / "files"
