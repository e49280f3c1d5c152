"""Checks on files that are about to be committed: ``check_files.py size|addresses FILE …``; ends with 1 where one is off."""

import pathlib
import re
import sys

BIGGEST = 1_000_000  # bytes; samples and figures stay well below
# pieces, so that this file doesn't name what it looks for
REGISTRIES = tuple(
    ".".join(parts) for parts in (("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("npmjs", "com"))
)
ADDRESS = re.compile("|".join(map(re.escape, REGISTRIES)))
LOCKED_ADDRESS = re.compile(r"://|file:/|^\s*--(?:find-links|index|extra-index|trusted)", re.MULTILINE)
MACHINE = re.compile(r"(?<![\w.])/(?:home|root|Users)/[\w.-]+/")


def check_size(path: pathlib.Path) -> str | None:
    """Say that a file is too big for the repository."""
    size = path.stat().st_size
    if size > BIGGEST:
        return f"{path}: {size / 1e6:.1f} MB. Large data live outside of the repository; make what a test needs in the test."
    return None


def check_addresses(path: pathlib.Path) -> str | None:
    """Say that a file names a package registry or a folder of one machine."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.name == "requirements.lock" and (found := LOCKED_ADDRESS.search(text)):
        return f"{path}: {found[0].strip()!r}. The lock holds versions and hashes, no address: make lock writes it so."
    if found := ADDRESS.search(text):
        return f"{path}: names the package registry {found[0]}. Each machine has its own; name the package instead."
    if found := MACHINE.search(text):
        return f"{path}: {found[0]} is a folder of one machine. Write a path from the repository's root."
    return None


CHECKS = {"size": check_size, "addresses": check_addresses}


def main(words: list[str]) -> int:
    """Run one check over files; return the exit code."""
    if not words or words[0] not in CHECKS:
        sys.exit(__doc__)
    said = [
        message
        for name in words[1:]
        if pathlib.Path(name).is_file() and (message := CHECKS[words[0]](pathlib.Path(name)))
    ]
    print("\n".join(said), end="\n" * bool(said))
    return int(bool(said))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
