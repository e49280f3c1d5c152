"""A billed workspace, made once; tests that change it take a copy."""

import shutil

import pytest
from workspaces import bill, make_workspace


@pytest.fixture(scope="session")
def billed(tmp_path_factory):
    """Workspace of November 2026, billed; not to be changed."""
    root = make_workspace(tmp_path_factory.mktemp("billed"))
    bill(root)
    return root


@pytest.fixture
def workspace(billed, tmp_path):
    """Copy of the billed workspace, to be changed."""
    return shutil.copytree(billed, tmp_path / "ws")
