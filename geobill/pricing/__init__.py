"""Segments over zones: cut into pieces, pieces into charges. Reads and writes nothing."""
