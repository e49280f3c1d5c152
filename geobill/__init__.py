"""geobill: from a utility's map files to what a Brazilian city hall may charge for its streets."""

from typing import Any

__version__ = "0.1.0"
__all__ = ["price", "split"]


def __getattr__(name: str) -> Any:
    # loaded when asked for: the command line imports this package and must answer --help at once
    if name in __all__:
        from geobill.pipeline import api

        return getattr(api, name)
    raise AttributeError(f"module 'geobill' has no attribute {name!r}")
