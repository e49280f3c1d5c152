"""A page of docs/ whose commands run: in an empty folder, every answer as the page shows it."""

import os
import re
import shlex
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from workspaces import geobill  # noqa: E402

BLOCK = re.compile(r"(?<=```console\n).*?(?=```)", re.DOTALL)
# What a clerk fills in after init; without it each invoice says that its issuer is incomplete.
AUTHORITY = {
    'cnpj = ""': 'cnpj = "46.523.064/0001-78"',
    'address = ""': 'address = "Avenida Professor Carvalho Pinto, 207"',
}


class Session:
    """A shell that knows geobill and export, in a folder with the sample files beside it."""

    def __init__(self, folder):
        self.env = {}
        for name in ("data", "docs"):
            (folder / name).symlink_to(ROOT / name)

    def run(self, command):
        """Run a command; return what a person sees of it, without the progress."""
        words = shlex.split(command)
        if words[0] == "export":
            self.env.update([words[1].split("=", 1)])
            return ""
        assert words[0] == "geobill", f"only geobill runs here, not {words[0]}"
        answer = geobill(*words[1:], env=self.env)
        assert (answer.code == 0) == ("geobill: " not in answer.err), answer
        assert "a fault of the program" not in answer.err, answer.err
        if words[1] == "init":
            settings = Path(words[2], "geobill.toml")
            text = settings.read_text(encoding="utf-8")
            for blank, filled in AUTHORITY.items():
                assert text.count(blank) == 1
                text = text.replace(blank, filled)
            settings.write_text(text, encoding="utf-8")
        said = [line for line in answer.err.splitlines() if not line.startswith("· ")]
        return "".join(f"{line.rstrip()}\n" for line in (*answer.out.splitlines(), *said))

    def again(self, block):
        """Return a block with the answers that its commands give now."""
        commands = [line for line in block.splitlines() if line.startswith("$ ")]
        return "".join(f"{line}\n{self.run(line[2:])}" for line in commands)


def blocks_of(page, folder):
    """Each block of a page as it stands there, and as it comes out now, run in an empty folder."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        session = Session(folder)
        return [(block, session.again(block)) for block in BLOCK.findall(page.read_text(encoding="utf-8"))]
    finally:
        os.chdir(before)


def write_again(page):
    """Write the answers into a page again, where a wording changed."""
    with tempfile.TemporaryDirectory() as made:
        os.chdir(made)
        shell = Session(Path(made))
        page.write_text(
            BLOCK.sub(lambda found: shell.again(found[0]), page.read_text(encoding="utf-8")), encoding="utf-8"
        )
