"""A file looked at before anything is taken from it; with a workspace, against its place and its profiles."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from geobill.domain.network import Authority, Municipality
from geobill.intake.crs import CAIEIRAS
from geobill.intake.inspect import Drawing, examine
from geobill.intake.profile import Profile
from geobill.intake.profile_file import built_in_profiles


@dataclass(frozen=True)
class Look:
    """What was found in a file, and where and for whom it was looked for; ``authority`` is None without a workspace."""

    report: dict[str, Any]
    drawings: tuple[Drawing, ...]
    municipality: Municipality
    authority: Authority | None


def inspect(file: Path, workspace: Path | None, layers: Sequence[str] = (), encoding: str | None = None) -> Look:
    """Look at a file; see `geobill.intake.inspect.examine`.

    Parameters
    ----------
    file : Path
    workspace : Path or None
        Folder of the workspace whose municipality and profiles are meant; none is needed.
    layers : sequence of str
        Names of layers; none for all.
    encoding : str or None
        Encoding of the text, where the user knows better than the file.
    """
    municipality, profiles, authority = _place(workspace)
    found = examine(file, municipality, profiles, layers, encoding)
    return Look(found.report, found.drawings, municipality, authority)


def _place(workspace: Path | None) -> tuple[Municipality, tuple[Profile, ...], Authority | None]:
    if workspace is None:
        return CAIEIRAS, built_in_profiles(), None
    # the store's libraries take a third of the time that a person waits; without a workspace they aren't needed
    from geobill.pipeline.place import place_at
    from geobill.pipeline.profiles import known_profiles
    from geobill.store.settings import FILE_NAME, read_settings

    settings = read_settings(workspace / FILE_NAME)
    return place_at(workspace, settings), known_profiles(workspace), settings.authority
