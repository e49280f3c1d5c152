"""A billed workspace, made once; tests that change it take a copy."""

import shutil

import pytest
from field_town import field_town
from permit_town import grant, make_town, request
from workspaces import bill, done, make_workspace


@pytest.fixture(scope="session")
def billed(tmp_path_factory):
    """Workspace of November 2026, billed; not to be changed."""
    root = make_workspace(tmp_path_factory.mktemp("billed"))
    bill(root)
    return root


@pytest.fixture(scope="session")
def granted(tmp_path_factory):
    """Workspace with a permit that is granted and a month that is drafted; not to be changed."""
    root = make_town(tmp_path_factory.mktemp("granted"))
    request(root)
    grant(root)
    done("bill", "--month", "2026-11", "--draft", "--by", "Ana", workspace=root)
    return root


@pytest.fixture(scope="session")
def surveyed(tmp_path_factory):
    """Workspace with a survey, its findings and a decision; not to be changed."""
    root = field_town(tmp_path_factory.mktemp("surveyed"))
    done("finding", "uphold", "V00001-00001", "--by", "Ana", workspace=root)
    return root


@pytest.fixture
def workspace(billed, tmp_path):
    """Copy of the billed workspace, to be changed."""
    return shutil.copytree(billed, tmp_path / "ws")
