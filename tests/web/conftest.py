"""A surveyed town behind the review page: made once, copied for each test that may change it."""

import shutil

import pytest
from field_town import field_town
from review_page import app_of, browser


@pytest.fixture(scope="session")
def town_once(tmp_path_factory):
    """A workspace with three findings; nobody changes it."""
    return field_town(tmp_path_factory.mktemp("surveyed"))


@pytest.fixture
def surveyed(town_once, tmp_path):
    """A copy of it, which a test may change."""
    return shutil.copytree(town_once, tmp_path / "town")


@pytest.fixture
def client(surveyed):
    """The reviewer Ana Lima at the page of the surveyed town."""
    return browser(app_of(surveyed))


@pytest.fixture(scope="session")
def reader(town_once):
    """The same, for tests that only look."""
    return browser(app_of(town_once))
