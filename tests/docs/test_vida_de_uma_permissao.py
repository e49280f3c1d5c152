"""docs/vida-de-uma-permissao.md runs: every command in an empty folder, every answer as the page shows it.

``python tests/docs/test_vida_de_uma_permissao.py`` writes the answers into the page again, where a wording changed.
"""

import os
import re
import shlex
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests"))

from workspaces import geobill  # noqa: E402

PAGE = ROOT / "docs" / "vida-de-uma-permissao.md"
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


@pytest.fixture(scope="module")
def blocks(tmp_path_factory):
    """Each block of the page as it stands there, and as it comes out now."""
    folder, before = tmp_path_factory.mktemp("vida"), Path.cwd()
    os.chdir(folder)
    try:
        session = Session(folder)
        return [(block, session.again(block)) for block in BLOCK.findall(PAGE.read_text(encoding="utf-8"))]
    finally:
        os.chdir(before)


def test_every_answer_is_the_one_that_the_page_shows(blocks):
    assert len(blocks) >= 12
    for shown, now in blocks:
        assert shown == now


def test_the_page_shows_each_step_of_a_permits_life(blocks):
    text = "".join(shown for shown, _ in blocks)
    for step in (
        "permit add", "--status planned", "decree draft", "can't be issued", "permit approve", "deposit demand", "deposit record",
        "fee record", "decree issue", "bill --month", "reducer 1.00 to 0.90", "decree amend", "permit remove", "deposit release",
        "not due 4058.32",
    ):  # fmt: skip
        assert step in text, step
    prose = PAGE.read_text(encoding="utf-8")
    for figure in ("3 × R$ 18.595,10 = R$ 55.785,30", "5.616,21 m", "4.058,32 m"):
        assert figure in prose
        plain = re.findall(r"[\d.,]+\d", figure)[-1].replace(".", "").replace(",", ".")
        assert plain in text, figure


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        os.chdir(made)
        shell = Session(Path(made))
        PAGE.write_text(
            BLOCK.sub(lambda found: shell.again(found[0]), PAGE.read_text(encoding="utf-8")), encoding="utf-8"
        )
