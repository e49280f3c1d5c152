"""What a month demands, by digest; who may check it; when it may be issued under ``second_person``."""

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from geobill.domain.check import CHECKED, DRAFTED, MonthCheck
from geobill.domain.dates import BillingMonth
from geobill.domain.invoice import Bill, SetOff
from geobill.domain.network import Authority
from geobill.domain.record import canonical_json
from geobill.errors import InputError

LONGEST_NAME = 120
MOST_CHANGES = 6
UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)  # printable, and blank


def demand_text(
    bill: Bill,
    authority: Authority,
    templates: Mapping[str, str],
    set_offs: Mapping[str, tuple[SetOff, ...]] | None = None,
    paid_at_once: Mapping[str, str] | None = None,
) -> str:
    """Everything that a month demands, as canonical JSON: its SHA-256 is what a draft and a check stand for.

    Operators with their lines, total, R, held metres and the whole month's price (that of the single yearly payment,
    art. 8), what is set off (art. 14), who paid the month at once and by which note, what is exempt, the basis, who
    issues and how it is paid, and the workspace's own templates by digest. Numbers, dates of issue and of payment aren't
    part of it.
    """
    return canonical_json(
        {
            "month": bill.month,
            "basis": bill.basis,
            "authority": authority,
            "templates": dict(templates),
            "exempt": bill.exempt,
            "operators": [
                {
                    "operator": o.operator,
                    "total": o.total,
                    "lines": o.lines,
                    "reducer": o.reducer,
                    "network_length_m": o.network_length_m,
                    "held": o.held,
                    "whole_month": o.whole_month.total,
                    **_where_any("suspended", o.suspended),
                    **_where_any("set_offs", (set_offs or {}).get(o.operator.id)),
                    **_where_any("paid_at_once", (paid_at_once or {}).get(o.operator.id)),
                }
                for o in bill.operators
            ],
        }
    )


def _where_any(key: str, value: Any) -> dict[str, Any]:
    """Make an entry that drafts of earlier versions don't have: only where it says something."""
    return {key: value} if value else {}


def changes(before: str, after: str) -> tuple[str, ...]:
    """Say what differs between two demands of one month (texts of :func:`demand_text`), in a few words each.

    Examples
    --------
    >>> changes('{"basis":1,"exempt":[],"operators":[]}', '{"basis":2,"exempt":[],"operators":[]}')
    ('policy, edition or decisions',)
    """
    old, new = json.loads(before), json.loads(after)
    was, now = _by_operator(old), _by_operator(new)
    said = []
    for owner in sorted(set(was) | set(now)):
        mine, theirs = was.get(owner), now.get(owner)
        if mine is None or theirs is None:
            word, total = ("new", now[owner]["total"]) if mine is None else ("gone", was[owner]["total"])
            said.append(f"{owner} is {word} (R$ {total})")
        elif mine["total"] != theirs["total"]:
            said.append(f"{owner} was R$ {mine['total']}, is R$ {theirs['total']}")
        elif mine != theirs:
            parts = {"lines": "lines", "held": "held metres", "operator": "name or address"}
            parts |= {
                "suspended": "what a court suspends",
                "set_offs": "what is set off",
                "paid_at_once": "a single payment",
            }
            found = [words for key, words in parts.items() if mine.get(key) != theirs.get(key)]
            said.append(f"{owner}: {', '.join(found) or 'R or the yearly price'}")
    if old["basis"] != new["basis"]:
        said.append("policy, edition or decisions")
    for key, words in (("authority", "issuer or payment instructions"), ("templates", "own templates")):
        if old.get(key) != new.get(key):
            said.append(words)
    if old["exempt"] != new["exempt"]:
        said.append("exempt metres")
    more = len(said) - MOST_CHANGES
    return (*said[:MOST_CHANGES], *([f"and {more} more"] if more > 0 else []))


def _by_operator(demand: Mapping[str, Any]) -> dict[str, Any]:
    return {o["operator"]["id"]: o for o in demand["operators"]}


def read_name(text: str | None, option: str = "--by") -> str:
    """Read a person's name: white space is put in order; "" where none was given.

    Raises
    ------
    InputError
        If it is blank, very long, mixes alphabets (letters that look alike) or holds characters that can't be printed.

    Examples
    --------
    >>> read_name("  Ana   Lima ")
    'Ana Lima'
    """
    if text is None:
        return ""
    name = unicodedata.normalize("NFC", " ".join(text.split()))
    seen = name.isprintable() and not UNSEEN.search(name)
    if not _key(name) or len(name) > LONGEST_NAME or not seen or _mixes_scripts(name):
        raise InputError(
            f"{option} {text[:LONGEST_NAME]!r} is no name of a person: whoever reads the month's record later must know who it "
            f"was. Give a name of at most {LONGEST_NAME} printable characters, in the letters of one alphabet."
        )
    return name


def same_person(one: str, other: str) -> bool:
    """Whether two names are one person's: capitals, white space, accents, hyphens and points don't count.

    Examples
    --------
    >>> same_person("José  Lima", "JOSE LIMA."), same_person("Ana Lima", "Bia Reis")
    (True, False)
    """
    return _key(one) == _key(other)


def _key(name: str) -> str:
    """Letters and digits alone, without capitals and accents."""
    return "".join(
        c for c in unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold()) if c.isalnum()
    )


def _mixes_scripts(name: str) -> bool:
    """Whether letters of another alphabet stand among Latin ones: a Cyrillic A can't be told from a Latin one."""
    letters = [c for c in unicodedata.normalize("NFKC", name) if c.isalpha()]
    latin = [c for c in letters if "LATIN" in unicodedata.name(c, "") or c in "ªº"]
    return bool(latin) and len(latin) < len(letters)


def latest(checks: Iterable[MonthCheck], role: str, digest: str | None = None) -> MonthCheck | None:
    """Return the last step of a role, of any figures or of exactly these."""
    return next((c for c in reversed(list(checks)) if c.role == role and digest in (None, c.digest)), None)


def standing_check(checks: Sequence[MonthCheck], digest: str, *, second_person: bool) -> MonthCheck | None:
    """Return the last check of exactly these figures; with ``second_person`` only one by another than the drafter.

    The drafter is who made the last draft of these figures before the check.
    """
    for place in range(len(checks) - 1, -1, -1):
        check = checks[place]
        if check.role != CHECKED or check.digest != digest:
            continue
        draft = latest(checks[:place], DRAFTED, digest)
        if not second_person or (draft and draft.by and not same_person(draft.by, check.by)):
            return check
    return None


def check_may_be_checked(
    month: BillingMonth,
    checks: Sequence[MonthCheck],
    digest: str,
    by: str,
    changed: Sequence[str],
    *,
    second_person: bool,
) -> None:
    """Refuse a check where there is no draft of exactly these figures, or by whom there may be none.

    ``changed`` says what differs from the last draft; see :func:`changes`.
    """
    draft = latest(checks, DRAFTED)
    if draft is None:
        raise InputError(
            f"There is no draft of {month} to check: a check stands for figures that somebody laid on the table. "
            f"First: geobill bill --month {month} --draft --by NAME."
        )
    if draft.digest != digest:
        raise InputError(_changed(month, draft, changed))
    if second_person and not draft.by:
        raise InputError(
            f"The draft of {month} of {draft.at} doesn't say who made it, and the settings ask for a second person "
            f"([billing] second_person): draft again with --by NAME, then another person checks."
        )
    if second_person and same_person(draft.by, by):
        raise InputError(
            f"{by} made the draft of {month} ({draft.at}): the settings ask for a second person ([billing] second_person), "
            f"so that two pairs of eyes see every demand. Another person runs geobill bill check --month {month} --by NAME."
        )


def check_may_be_issued(
    month: BillingMonth, checks: Sequence[MonthCheck], digest: str, changed: Sequence[str]
) -> MonthCheck:
    """Return the other person's check of exactly these figures, or refuse to issue, saying who must do what."""
    standing = standing_check(checks, digest, second_person=True)
    if standing is not None:
        return standing
    draft, why = latest(checks, DRAFTED), "The settings ask for a second person ([billing] second_person = true)"
    if draft is None:
        raise InputError(
            f"{why}, and nobody has drafted {month}: nothing was issued. One person runs geobill bill --month {month} --draft "
            f"--by NAME, another geobill bill check --month {month} --by NAME; then bill issues."
        )
    if draft.digest != digest:
        raise InputError(f"{why}. {_changed(month, draft, changed)} Nothing was issued.")
    whose = f"the draft of {month} by {draft.by}" if draft.by else f"the draft of {month}, whose maker isn't named,"
    again = "" if draft.by else "Draft again with --by NAME. "
    raise InputError(
        f"{why}, and nobody else has checked {whose} of {draft.at}: nothing was issued. {again}"
        f"A person other than {draft.by or 'the drafter'} runs geobill bill check --month {month} --by NAME; then bill issues."
    )


def _changed(month: BillingMonth, draft: MonthCheck, changed: Sequence[str]) -> str:
    whose = f" by {draft.by}" if draft.by else ""
    return (
        f"{month} has changed since the draft of {draft.at}{whose}: {'; '.join(changed)}. "
        f"What was read is no longer what would be demanded: draft again (geobill bill --month {month} --draft), then check."
    )
