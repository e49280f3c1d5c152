"""The command formats: what can be read, what of it, and what is refused with the way out."""

from typing import Any

from geobill.cli import app as shared
from geobill.cli.app import JsonOption, WorkspaceOption


def formats(workspace: WorkspaceOption = None, json: JsonOption = False) -> None:
    """List the formats of files: what is read of each, and how to make a readable file of the others."""
    from geobill.intake.archive import LIMITS, SUFFIXES
    from geobill.intake.formats import FORMATS
    from geobill.intake.formats.refused import REFUSED

    packed = (
        f"unpacked and read, {LIMITS.depth} deep at most; every dataset in it, of any format above; up to {LIMITS.members} files "
        f"and {LIMITS.size >> 30} GiB unpacked; not with a password"
    )
    data = {
        "formats": [
            {"name": f.name, "suffixes": list(f.suffixes), "reads": f.reads, "leaves_out": f.leaves_out}
            for f in FORMATS
        ],
        "archives": {"suffixes": list(SUFFIXES), "reads": packed},
        "refused": [{"name": r.name, "suffixes": list(r.suffixes), "way_out": r.way_out} for r in REFUSED],
    }
    shared.answer(data, json, lambda: _list(data))


def _list(data: dict[str, Any]) -> str:
    lines = ["Read:"]
    for one in data["formats"]:
        lines.append(f"  {one['name']} ({' '.join(one['suffixes'])}): {one['reads']}")
        if one["leaves_out"]:
            lines.append(f"    not read: {one['leaves_out']}")
    lines.append(f"  archive ({' '.join(data['archives']['suffixes'])}): {data['archives']['reads']}")
    lines.append("Refused, with the way to a file that is read:")
    lines += [f"  {one['name']} ({' '.join(one['suffixes'])}): {one['way_out']}." for one in data["refused"]]
    return "\n".join(lines)
