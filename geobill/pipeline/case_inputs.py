"""What the months of a case were computed from, as canonical text by role: kept with its note."""

from collections.abc import Iterable

from geobill.domain.case import CaseFile
from geobill.domain.dates import BillingMonth
from geobill.domain.record import canonical_json
from geobill.frames import EQUIPMENT, SEGMENTS, ZONES
from geobill.pipeline.month import Stored, decrees_of
from geobill.pipeline.papers import charging_cases, rows_text


def inputs_of_case(stored: Stored, file: CaseFile, months: Iterable[BillingMonth]) -> dict[str, str]:
    """Gather what a case's months were computed from; an edition or a policy stands at the first month that it serves."""
    owner = file.case.operator
    segments, equipment = (f[f["operator"] == owner] for f in (stored.segments, stored.equipment))
    found = {
        "statute": stored.law.figures.source,
        "decisions": canonical_json(list(stored.decisions.values())),
        "network": rows_text(segments, SEGMENTS),
        "equipment": rows_text(equipment, EQUIPMENT),
        **charging_cases(segments, equipment),
        "case": canonical_json(file),
        **({"permits": canonical_json(decrees_of(stored.files))} if stored.files else {}),
        **({"suspensions": canonical_json(list(stored.suspensions.values()))} if stored.suspensions else {}),
    }
    last: dict[str, object] = {}
    for month in months:
        batch, policy = stored.edition(month)[2], stored.policy(month)
        if last.get("edition") != batch:
            found[f"{month}/edition"] = rows_text(stored.zones(batch), ZONES)
        if last.get("policy") != policy:
            found[f"{month}/policy"] = canonical_json(policy.as_text())
        last = {"edition": batch, "policy": policy}
    return found
