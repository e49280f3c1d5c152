"""geobill: from a utility's map files to what a Brazilian city hall may charge for its streets."""

__version__ = "0.1.0"
