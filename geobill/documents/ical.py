r"""Deadlines as an iCalendar text (RFC 5545) that a calendar program subscribes to or imports.

Equal deadlines give equal bytes: the stamp is an argument, and each entry's UID follows from what the deadline is, not
from its day, so that importing the file again moves entries instead of doubling them.
"""

from collections.abc import Iterable
from datetime import timedelta

from geobill.documents import words
from geobill.domain.deadline import Deadline
from geobill.domain.record import sha256

LONGEST_LINE = 75  # octets without the line end (RFC 5545, 3.1)
END = "\r\n"


def render_ical(deadlines: Iterable[Deadline], title: str, stamp: str) -> bytes:
    """Write deadlines as whole-day entries, UTF-8 with CRLF.

    Parameters
    ----------
    deadlines : iterable of Deadline
        In the order in which they are to stand.
    title : str
        Name of the calendar; two towns' entries differ by it.
    stamp : str
        Moment at which the calendar is made, UTC as ISO text with Z; each entry's DTSTAMP.
    """
    moment = stamp.replace("-", "").replace(":", "")
    lines = [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//geobill//Prazos da lei//PT-BR",
        "CALSCALE:GREGORIAN",
        "METHOD:PUBLISH",
        f"X-WR-CALNAME:{escaped(title)}",
    ]
    for deadline in deadlines:
        lines += _entry(deadline, moment, sha256(f"{title}/{deadline.key}")[:32])
    lines.append("END:VCALENDAR")
    return (END.join(folded(line) for line in lines) + END).encode()


def _entry(deadline: Deadline, moment: str, uid: str) -> list[str]:
    said = [deadline.whom, cited(deadline.article), deadline.reference]
    return [
        "BEGIN:VEVENT",
        f"UID:{uid}@geobill",
        f"DTSTAMP:{moment}",
        f"DTSTART;VALUE=DATE:{deadline.on:%Y%m%d}",
        f"DTEND;VALUE=DATE:{deadline.on + timedelta(days=1):%Y%m%d}",
        f"SUMMARY:{escaped(deadline.summary)}",
        f"DESCRIPTION:{escaped(chr(10).join(s for s in said if s))}",
        f"CATEGORIES:{escaped(deadline.code)}",
        "TRANSP:TRANSPARENT",
        "END:VEVENT",
    ]


def cited(article: str) -> str:
    """Cite a deadline's articles; a term that no article sets stays blank.

    Examples
    --------
    >>> cited("9 § 3"), cited("10 § 3; 12 § 2"), cited("")
    ('art. 9º, § 3º', 'art. 10, § 3º; art. 12, § 2º', '')
    """
    return words.articles(article.split("; ")) if article else ""


def escaped(text: str) -> str:
    r"""Write a text value: backslash, semicolon, comma and line end are escaped (RFC 5545, 3.3.11).

    Examples
    --------
    >>> escaped("a, b; c\\d\ne")
    'a\\, b\\; c\\\\d\\ne'
    """
    for sign in ("\\", ";", ","):
        text = text.replace(sign, "\\" + sign)
    plain = text.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\\n")
    return "".join(c if c == "\t" or (ord(c) >= ord(" ") and c != "\x7f") else " " for c in plain)


def folded(line: str) -> str:
    r"""Fold a content line so that none is longer than 75 octets, never inside of a character (RFC 5545, 3.1).

    Examples
    --------
    >>> [len(part.encode()) for part in folded("é" * 60).split(END)]
    [74, 47]
    """
    parts, room, now = [""], LONGEST_LINE, 0
    for char in line:
        octets = len(char.encode())
        if now + octets > room:
            parts.append("")
            room, now = LONGEST_LINE - 1, 0  # the space that begins a continuation counts
        parts[-1] += char
        now += octets
    return (END + " ").join(parts)
