"""Which encoding somebody's text is in: what is declared, held against the letters that are there."""

import codecs
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from geobill.domain.finding import Finding
from geobill.errors import InputError

if TYPE_CHECKING:  # formats import this module
    from geobill.intake.formats import Format

CANDIDATES = ("utf-8", "cp1252", "cp850")
SAMPLES = 3
_LIMIT = 5000  # different texts that are looked at: more say nothing new
_KNOWN = re.compile(
    r"(utf-(8|16|32)(-[bl]e)?|cp\d+|iso8859-\d+|koi8-[rtu]|gb2312|gbk|gb18030|big5|euc_(jp|kr)|shift_jis|mac-\w+|tis-620)"
)
_WIDE = re.compile(r"utf-(16|32).*|cp(932|936|949|950)|gb.*|big5|euc_.*|shift_jis")  # one letter, several bytes
_LETTERS = frozenset("áàâãéêíóôõúüçÁÀÂÃÉÊÍÓÔÕÚÜÇ")
_SIGNS = frozenset("–—“”‘’…•²³½¼¾·€£§®©°ºª\u00a0")
_AFTER_A_LETTER = frozenset("ºª°²³’‘”")
_CLEAR, _CLEAR_WITHOUT = 4, 2  # evidence that outweighs a declaration, and that which decides where there is none


@dataclass(frozen=True)
class Texts:
    """What a file's text is, byte by byte, and what it says of its encoding.

    ``letters`` are different values with a byte beyond ASCII, ``plain`` some without; ``declared`` is Python's name of
    the encoding, None where none is declared, and ``by`` is what declares it.
    """

    letters: tuple[bytes, ...]
    plain: tuple[bytes, ...] = ()
    declared: str | None = None
    by: str = ""


@dataclass(frozen=True)
class EncodingPreview:
    """How a file's text would look in one encoding, and what speaks for or against it."""

    encoding: str
    samples: tuple[str, ...]
    why: str


def named_encoding(text: str) -> str | None:
    """Python's name of an encoding as .cpg files write it ("1252", "ANSI 1252", "88591", "UTF-8"); None if none.

    Latin-1 is read as cp1252, which agrees with it wherever a letter stands and has the dashes and quotes besides.
    """
    text = text.strip().strip("\0\ufeff")
    digits = re.fullmatch(r"(?:ANSI|CP|OEM|WINDOWS)?[ _-]*(\d{3,5})", text, re.IGNORECASE)
    if digits:
        n = digits[1]
        text = "utf-8" if n == "65001" else f"iso8859-{n[4:]}" if n.startswith("8859") and len(n) > 4 else f"cp{n}"
    try:
        name = codecs.lookup(text).name
    except (LookupError, ValueError):
        return None
    if name in ("iso8859-1", "ascii"):
        return "cp1252"
    name = "utf-8" if name == "utf-8-sig" else name
    return name if _KNOWN.fullmatch(name) else None  # Python also knows "hex" and "rot13", which are no text


def chosen_encoding(name: str, format_: "Format", file: str) -> str:
    """Return Python's name of the encoding that a user asks for (``--encoding``).

    Raises
    ------
    InputError
        If there is no such encoding, or the format leaves no choice.
    """
    if not format_.encodes:
        raise InputError(
            f"--encoding {name}: {format_.name} says itself how its text is encoded, so there is nothing to choose for "
            f"{file}. Leave --encoding out; if letters are wrong, they were wrong when the file was written."
        )
    known = named_encoding(name)
    if known is None:
        raise InputError(
            f"--encoding {name!r} is no encoding that geobill knows. Usual ones here: utf-8, cp1252 (Windows, ISO-8859-1), "
            "cp850 (MS-DOS). geobill inspect shows the same text in each."
        )
    return known


def decoded(value: bytes, encoding: str) -> str:
    """Decode a value, leaving out a letter that was cut in half at its end; what can't be read becomes U+FFFD."""
    return codecs.getincrementaldecoder(encoding)("replace").decode(value)


def settle(format_: "Format", path: Path, asked: str | None) -> tuple[str, tuple[Finding, ...]]:
    """Find a file's encoding; the one that a user asks for goes before all else, and is said."""
    found, findings = format_.encoding(path)
    if asked is None:
        return found, findings
    chosen = chosen_encoding(asked, format_, path.name)
    if chosen == found:
        return chosen, findings
    message = f"{path.name} was read as {chosen} because --encoding says so; by itself it would have been {found}."
    fix = "Compare accented names with the sender's."
    kept = tuple(f for f in findings if f.code not in ("encoding_doubtful", "encoding_assumed"))
    return chosen, (*kept, Finding("encoding_overridden", "warning", message, fix))


def read_again(text: str, encoding: str) -> str:
    """Read text in an encoding that was taken for Latin-1, byte for byte."""
    return decoded(text.encode("latin-1"), encoding)


def is_utf8(value: bytes) -> bool:
    """Whether a value is UTF-8, but for a letter that was cut in half at its end."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(value)
    except UnicodeDecodeError:
        return False
    return True


def decide(texts: Texts, file: str) -> tuple[str, tuple[Finding, ...]]:
    """Decide on an encoding: what is declared, unless the text shows clearly that it is wrong.

    Where nothing is declared: UTF-8 if the text is that, else the one of cp1252 and cp850 that gives words.

    Parameters
    ----------
    texts : Texts
    file : str
        Name of the file whose text it is, for the findings.
    """
    letters, declared = texts.letters[:_LIMIT], texts.declared
    if not letters:
        return declared or "utf-8", ()
    bad = sum(not is_utf8(v) for v in letters)
    if declared is None:
        return _undeclared(letters, bad, file)
    if declared == "utf-8":
        if not bad:
            return "utf-8", ()
        message = f"{texts.by} says UTF-8, but the text of {file} isn't all UTF-8"
        if _mostly_utf8(letters):
            return "utf-8", (_doubtful(f"{message}: {bad} of {len(letters)} texts with accents can't be read whole."),)
        page = _page(letters)
        return page, (_doubtful(f"{message}: it was read as {page} ({_example(letters, page)})."),)
    if _WIDE.fullmatch(declared):
        if not bad and not _decodes(letters, declared):
            return "utf-8", (
                _doubtful(f"{texts.by} says {declared}, but the text of {file} is UTF-8 and was read so."),
            )
        return declared, ()
    if not bad:
        message = f"{texts.by} says {declared}, but every text of {file} with accents is UTF-8 and was read so"
        return "utf-8", (_doubtful(f"{message}: {_example(letters, 'utf-8')}, not {_example(letters, declared)}."),)
    return _among_pages(letters, declared, texts.by, file)


def _undeclared(letters: Sequence[bytes], bad: int, file: str) -> tuple[str, tuple[Finding, ...]]:
    if not bad:
        return "utf-8", ()
    if _mostly_utf8(letters):
        message = f"The text of {file} is UTF-8, but {bad} of {len(letters)} texts with accents can't be read whole."
        return "utf-8", (_doubtful(message),)
    page = _page(letters)
    name = {"cp1252": "Windows-1252", "cp850": "MS-DOS 850 (cp850)"}[page]
    message = (
        f"{file} doesn't say how its text is encoded and it isn't UTF-8: read as {name} ({_example(letters, page)})."
    )
    fix = "Compare accented names with the sender's; if they are wrong, give the right one with --encoding."
    return page, (Finding("encoding_assumed", "note", message, fix),)


def _page(letters: Sequence[bytes]) -> str:
    for_1252, for_850 = evidence(letters, "cp1252", "cp850")
    return "cp850" if for_850 >= _CLEAR_WITHOUT and for_850 > 4 * for_1252 else "cp1252"


def _among_pages(letters: Sequence[bytes], declared: str, by: str, file: str) -> tuple[str, tuple[Finding, ...]]:
    """Keep a declared page of 256 signs unless another one gives words where it gives none."""
    for other in ("cp1252", "cp850"):
        against, in_favour = evidence(letters, declared, other) if other != declared else (0, 0)
        if in_favour <= 4 * against or not in_favour:
            continue
        said, shown = f"{by} says {declared}", f"{_example(letters, other)} and not {_example(letters, declared)}"
        if in_favour >= _CLEAR:
            return other, (_doubtful(f"{said}, but the letters of {file} are those of {other}, so it reads {shown}."),)
        message = f"{said}, and {file} was read so; a few letters would be right in {other} ({shown})."
        return declared, (_doubtful(message),)
    return declared, ()


def _doubtful(message: str) -> Finding:
    fix = "Compare accented names with the sender's; correct or remove the .cpg, or give the right one with --encoding."
    return Finding("encoding_doubtful", "warning", message, fix)


def evidence(letters: Sequence[bytes], one: str, other: str) -> tuple[int, int]:
    """Weigh two encodings by the words in which only one of them puts a letter or a sign where it can stand.

    Box-drawing, controls, a capital inside a small word count double; a letter that Portuguese lacks counts once.
    """
    words = {w for value in letters for w in re.split(rb"[\s;,|\0\"'()/]+", value) if not w.isascii()}
    for_one = for_other = 0
    for word in words:
        a, b = _misfit(word, one), _misfit(word, other)
        for_one += max(0, b - a)
        for_other += max(0, a - b)
    return for_one, for_other


def _misfit(word: bytes, encoding: str) -> int:
    text = f" {word.decode(encoding, 'replace')} "
    return max((_odd(*text[i - 1 : i + 2]) for i in range(1, len(text) - 1) if not text[i].isascii()), default=0)


def _odd(before: str, sign: str, after: str) -> int:
    """How odd a sign is in its place: 0 as in any Portuguese text, 1 unusual, 2 impossible."""
    if sign in _SIGNS:
        inside = before.isalpha() and after.isalpha()
        return 2 if inside and sign not in "’‘" else int(before.isalpha() and sign not in _AFTER_A_LETTER)
    if not sign.isalpha():
        return 2
    if sign.isupper() and before.islower():
        return 2
    if sign.islower() and before.isupper() and after.isupper():
        return 2
    clash = sign.isupper() and before.isupper() and after.islower()
    return int(clash or sign not in _LETTERS or before.isdigit() or after.isdigit())


def _mostly_utf8(letters: Iterable[bytes]) -> bool:
    """Whether more letters beyond ASCII read well than not."""
    high = bad = 0
    for value in letters:
        high += sum(b > 127 for b in value)
        bad += decoded(value, "utf-8").count("\ufffd")
    return high > 3 * bad


def _decodes(letters: Iterable[bytes], encoding: str) -> bool:
    try:
        for value in letters:
            codecs.getincrementaldecoder(encoding)().decode(value)
    except UnicodeDecodeError:
        return False
    return True


def _example(letters: Sequence[bytes], encoding: str) -> str:
    """One value, the word with the accent in it, as it reads in an encoding."""
    word = next((w for w in letters[0].split() if not w.isascii()), letters[0])
    return repr(decoded(word, encoding)[:30])


def preview(format_: "Format", path: Path) -> list[EncodingPreview]:
    """Show the same values of a file in each encoding that could be meant; the chosen one comes first.

    Returns
    -------
    list of EncodingPreview
        Three values each, those with letters beyond ASCII before others; empty where the format leaves no choice.
    """
    texts = format_.texts(path)
    if texts is None:
        return []
    chosen, findings = decide(texts, path.name)
    names = dict.fromkeys([chosen, *([texts.declared] if texts.declared else []), *CANDIDATES])
    values = [*texts.letters[:SAMPLES], *texts.plain][:SAMPLES]
    bad = sum(not is_utf8(v) for v in texts.letters[:_LIMIT])
    out = []
    for name in names:
        why = [findings[0].message if findings else "chosen"] if name == chosen else []
        if name == texts.declared:
            why.append(f"{texts.by} says so")
        if name == "utf-8" and texts.letters:
            why.append(
                f"{bad} of {len(texts.letters[:_LIMIT])} texts with accents aren't UTF-8" if bad else "all UTF-8"
            )
        if name in ("cp1252", "cp850") and name != chosen and texts.letters:
            for_it, for_chosen = evidence(texts.letters[:_LIMIT], name, chosen)
            why.append(f"letters in their place: {for_it} for it, {for_chosen} for {chosen}")
        if not texts.letters:
            why.append("no text has a letter beyond ASCII, so all read alike")
        out.append(EncodingPreview(name, tuple(decoded(v, name).strip() for v in values), "; ".join(why)))
    return out
