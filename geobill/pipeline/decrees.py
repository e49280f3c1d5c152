"""Decrees: drafted at any time, issued once, amended by apostilas; and what a month has to say about them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from sqlalchemy import Connection

from geobill.billing.cases import find_blocks
from geobill.billing.permits import Granting, Missing, find_causes, find_missing_papers, find_obstacles
from geobill.documents.apostila import APOSTILA_FORMS, apostila_job, render_apostila
from geobill.documents.forms import make
from geobill.documents.render import DECREE_FORMS
from geobill.domain.apostila import PriceChange
from geobill.domain.finding import Finding
from geobill.domain.money import plain
from geobill.domain.permit import Decree, PermitFile
from geobill.errors import InputError, LawError, StoreError
from geobill.pipeline.backdating import find_billed_months
from geobill.pipeline.blocks import refusal
from geobill.pipeline.drafting import Drafted, Drafting
from geobill.pipeline.month import Month
from geobill.pipeline.papers import Desk, Paper, slug
from geobill.pipeline.permits import check_subject, held_message
from geobill.pipeline.press import keep_press
from geobill.store.ledger import Ledger
from geobill.store.permits import PermitRegister
from geobill.store.settings import replace_file
from geobill.store.workspace import Workspace

FOLDER = ("documents", "decretos")


@dataclass(frozen=True)
class DecreeDraftMade:
    """A draft that was rendered: what it says, what its decree still lacks, and where it was written in every form."""

    drafted: Drafted
    missing: tuple[Missing, ...]
    files: tuple[Path, ...]

    @property
    def file(self) -> Path:
        """Return the PDF."""
        return self.files[0]


@dataclass(frozen=True)
class DecreeMade:
    """A decree or an apostila that was recorded, and where its document was written."""

    decree: Decree
    file: Path
    change: PriceChange | None = None
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class MonthDecrees:
    """What a month has to say about decrees: drafts and apostilas as papers, changed prices, findings."""

    papers: tuple[Paper, ...]
    changes: tuple[PriceChange, ...]
    findings: tuple[Finding, ...]


def draft_decree(workspace: Workspace, number: str, on: date, out: Path | None) -> DecreeDraftMade:
    """Render the draft of a permit's decree at the price of a day, as PDF, page and Word; records nothing."""
    if out is not None and out.suffix.lower() != ".pdf":
        raise InputError(
            f"--out {out.name}: name the PDF (….pdf); the page and the Word document are written beside it."
        )
    with workspace.database.read() as connection:
        drafting = Drafting(workspace, connection)
        file = drafting.file(number)
        check_subject(drafting, file)
        _check_open(file, on, drafting)
        drafted = drafting.draft(file, on)
        if drafted.is_empty:
            raise InputError(
                f"Nothing is planned and nothing stands under the permit {number} on {on.isoformat()}: there is "
                f"nothing to draft. Import its "
                f"rows with --permit {number} --status planned."
            )
        missing = tuple(find_missing_papers(file, on, drafted.draft.deposit)) if file.decree is None else ()
        made = drafting.render(drafted, DECREE_FORMS)
    pdf = out or workspace.root.joinpath(*FOLDER, f"minuta-{slug(file.permit.operator)}-{slug(number)}.pdf")
    files = [_write(pdf if form == "pdf" else pdf.with_suffix(f".{form}"), made[form]) for form in DECREE_FORMS]
    return DecreeDraftMade(drafted, missing, tuple(files))


def _check_open(file: PermitFile, on: date, drafting: Drafting) -> None:
    if file.removed_on is not None and file.removed_on < on:
        raise InputError(
            f"The permit {file.permit.number} ended with its removal on {file.removed_on.isoformat()}: there is "
            f"nothing to draft."
        )
    if on < drafting.law.figures.published_on:
        raise LawError(
            f"{on.isoformat()} is before the law, in force from {drafting.law.figures.published_on.isoformat()} "
            f"(art. 18)."
        )


def issue_decree(
    workspace: Workspace, number: str, act_number: str, on: date, signatory: str, published_on: date, now: str
) -> DecreeMade:
    """Record the city hall's decree on a permit, at the price of its date; what keeps it from that is listed in one refusal.

    Raises
    ------
    LawError
        Naming every article that isn't satisfied: opinions and authorisation (arts. 2, 3), deposit and emolumentos
        (art. 3), a held price (arts. 6, 15), clandestine rows (art. 10), an exempt operator (art. 13), a date before the
        law (art. 18), and what contradicts the register.
    """
    _check_words({"--number": act_number, "--signatory": signatory})
    with workspace.database.write() as connection:
        drafting = Drafting(workspace, connection)
        file = drafting.file(number)
        drafted, no_price = _price_of(drafting, file, on)
        asked = Granting(
            number=act_number,
            dated=on,
            published_on=published_on,
            operator=drafting.operator(file),
            draft=drafted.draft if drafted else None,
            no_price=no_price,
            clandestine=drafting.clandestine_rows(number, on),
            used_numbers=frozenset(d.number for f in drafting.files.values() for d in f.decrees),
        )
        obstacles = find_obstacles(file, asked, drafting.law.figures.published_on)
        obstacles += find_blocks(drafting.cases.values(), file.permit.operator, on, drafting.law.figures)
        if obstacles or drafted is None:
            raise LawError(refusal(f"The decree of the permit {number} can't be issued", obstacles))
        decree = Decree(act_number, number, on, signatory, published_on, drafted.draft)
        content = drafting.render(drafted, act=decree)["pdf"]
        path = _keep(workspace, connection, drafting.register, decree, drafted, "decreto", content, now)
        planned = drafted.standing != drafted.draft.price
        late = find_billed_months(workspace, connection, file.permit.operator, published_on) if planned else ()
    return DecreeMade(decree, _write_kept(path, content, decree), findings=late)


def amend_decree(
    workspace: Workspace, decree_number: str, act_number: str, on: date, signatory: str, published_on: date, now: str
) -> DecreeMade:
    """Record an apostila to a decree: the price of its day (art. 6 § 1), where that isn't the recorded one."""
    _check_words({"--apostila": act_number, "--signatory": signatory})
    with workspace.database.write() as connection:
        drafting = Drafting(workspace, connection)
        file = _of_decree(drafting.files, decree_number)
        last, used = file.decrees[-1], {d.number for f in drafting.files.values() for d in f.decrees}
        obstacles = []
        if act_number in used:
            fix = f"write it with its decree, for example {decree_number} - apostila 2"
            obstacles.append(Missing("number_used", "3", f"the number {act_number!r} is another act's already ({fix})"))
        if on < last.date:
            message = f"it is of {on.isoformat()}, before {last.number} of {last.date.isoformat()}, which it amends"
            obstacles.append(Missing("before_the_decree", "6 § 1", message))
        if published_on < on:
            message = f"it would be published on {published_on.isoformat()}, before its date {on.isoformat()}"
            obstacles.append(Missing("published_before_dated", "3", message))
        if file.removed_on is not None and file.removed_on < on:
            message = f"the permit ended with the removal on {file.removed_on.isoformat()}"
            obstacles.append(Missing("removed", "3", message))
        if obstacles:
            raise LawError(refusal(f"The decree {decree_number} can't be amended", obstacles))
        drafted = drafting.draft(file, on)
        if drafted.draft.price.total is None:
            raise LawError(held_message(file, drafted.draft.price.network_length_m))
        if drafted.draft.price.total == last.draft.price.total:
            raise InputError(
                f"The price of {on.isoformat()} is the recorded one, R$ {plain(drafted.draft.price.total)} "
                f"({last.number}): there is nothing to "
                "amend (art. 6 § 1). Nothing was changed."
            )
        change = _change(drafting, file, last, drafted)
        decree = Decree(act_number, file.permit.number, on, signatory, published_on, drafted.draft, decree_number)
        content = render_apostila(change, drafting.law.figures, decree, drafting.templates)
        path = _keep(workspace, connection, drafting.register, decree, drafted, "apostila", content, now)
    return DecreeMade(decree, _write_kept(path, content, decree), change)


def list_decrees(workspace: Workspace) -> list[tuple[PermitFile, Decree]]:
    """Every decree and apostila with its permit, by date."""
    with workspace.database.read() as connection:
        files = PermitRegister(connection, workspace.database.tables).load_files()
    found = [(file, decree) for file in files.values() for decree in file.decrees]
    return sorted(found, key=lambda pair: (pair[1].date, pair[1].number))


# -- the month


def month_decrees(desk: Desk) -> MonthDecrees:
    """Drafts of what has no decree yet, and an apostila for each decree whose price changed, as papers of a month."""
    drafting = Drafting(desk.workspace, desk.connection, desk.month)
    changes = month_changes(drafting, desk.month)
    papers = [
        Paper("apostila", desk.file_name("apostila", slug(c.decree.number), form), content)
        for c in changes
        if c.draft.price.total is not None
        for form, content in make(apostila_job(c, drafting.law.figures), APOSTILA_FORMS, desk.templates).items()
    ]
    return MonthDecrees(
        papers=(*_month_drafts(desk, drafting), *papers), changes=changes, findings=change_findings(changes)
    )


def _month_drafts(desk: Desk, drafting: Drafting) -> list[Paper]:
    """One draft for an operator's rows without a registered permit, one for each permit that isn't granted yet."""
    on, papers, names = desk.month.bill.month.last_day, [], set()
    exempt = {e.operator for e in desk.month.bill.exempt}
    open_files = [f for f in drafting.files.values() if f.decree is None and _is_open(f, on)]
    owners = {o.operator.id for o in desk.month.bill.operators} | {f.permit.operator for f in open_files}
    for owner in sorted(owners - exempt):
        operator = drafting.operators[owner]
        if drafting.law.exemption(operator.kind):
            continue
        drafts = [drafting.draft(f, on) for f in open_files if f.permit.operator == owner]
        rest = drafting.draft_rest(operator, on)
        if not drafting.files or not rest.is_empty:
            drafts.insert(0, rest)
        for drafted in drafts:
            if drafted.file is not None and drafted.is_empty:
                continue
            name = slug(owner) if drafted.file is None else f"{slug(owner)}-{slug(drafted.file.permit.number)}"
            while name in names:  # alfa with permit 1 beside an operator alfa-1
                name += "-permissao"
            names.add(name)
            papers += [
                Paper("minuta", desk.file_name("minuta", name, form), content)
                for form, content in drafting.render(drafted, DECREE_FORMS).items()
            ]
    return papers


def _is_open(file: PermitFile, on: date) -> bool:
    return file.removed_on is None or file.removed_on >= on


def month_changes(drafting: Drafting, month: Month) -> tuple[PriceChange, ...]:
    """Issued decrees whose price on the month's last day isn't the one that was recorded last.

    A decree of after that day, or one that was amended after it, is left for its own month; one whose equipment was
    removed by then costs nothing any more and is left alone.
    """
    on = month.bill.month.last_day
    found = []
    for file in drafting.files.values():
        if file.decree is None or file.decrees[-1].date > on or (file.removed_on is not None and file.removed_on <= on):
            continue
        last, drafted = file.decrees[-1], drafting.draft(file, on)
        if drafted.draft.price.total != last.draft.price.total:
            found.append(_change(drafting, file, last, drafted))
    return tuple(found)


def price_changes(workspace: Workspace, month: Month) -> tuple[PriceChange, ...]:
    """Issued decrees whose price changed by the end of a priced month; changes nothing."""
    with workspace.database.read() as connection:
        return month_changes(Drafting(workspace, connection, month), month)


def _change(drafting: Drafting, file: PermitFile, last: Decree, drafted: Drafted) -> PriceChange:
    return PriceChange(file, last, drafted.draft, find_causes(last.draft, drafted.draft, drafting.law))


def change_findings(changes: tuple[PriceChange, ...]) -> tuple[Finding, ...]:
    """Say of each changed price what the clerk should do."""
    found = []
    for change in changes:
        number, total = change.decree.number, change.draft.price.total
        if total is None:
            message = (
                f"the price of {number} (permit {change.file.permit.number}) is held: art. 7 gives no R for "
                f"{plain(change.draft.price.network_length_m)} m; recorded R$ {plain(change.recorded)}"
            )
            fix = "it waits for a decision (art. 15): geobill decision add, then geobill policy set above_100_km ID"
            found.append(Finding("decree_price_held", "warning", message, fix))
            continue
        why = ", ".join(f"{c.what} {c.before} to {c.now}" for c in change.causes)
        prices = f"is R$ {plain(total)}, recorded R$ {plain(change.recorded)}"
        message = f"the price of {number} (permit {change.file.permit.number}) {prices} ({why})"
        fix = f"have the apostila signed and published, then geobill decree amend --number {number!r} --apostila N … (art. 6 § 1)"
        found.append(Finding("decree_price_changed", "warning", message, fix))
    return tuple(found)


# -- recording


def _price_of(drafting: Drafting, file: PermitFile, on: date) -> tuple[Drafted | None, Missing | None]:
    """Price a permit where it can be priced; else say what stands against it, unless that is said elsewhere."""
    law = drafting.law
    if on < law.figures.published_on or law.exemption(drafting.operator(file).kind):
        return None, None
    if not drafting.has_edition(on):
        message = f"no edition of the Mapa de Valores is in force on {on.isoformat()}, so there is no price to grant at"
        return None, Missing("no_edition", "6 § 1, 7", message)
    return drafting.draft(file, on), None


def _check_words(given: Mapping[str, str]) -> None:
    for option, words in given.items():
        if not words.isprintable():
            raise InputError(
                f"{option} {words!r} holds a character that can't be seen: two acts would look like one. Type it anew."
            )
        if not words.strip():
            raise InputError(
                f"{option} is blank: an act of the city hall has its own number and its signatory; type them."
            )


def _of_decree(files: Mapping[str, PermitFile], number: str) -> PermitFile:
    for file in files.values():
        if file.decree is not None and file.decree.number == number:
            return file
    known = ", ".join(f.decree.number for f in files.values() if f.decree) or "none yet"
    raise InputError(f"There is no decree {number!r} in this workspace (issued: {known}). Nothing was changed.")


def _keep(
    workspace: Workspace,
    connection: Connection,
    register: PermitRegister,
    decree: Decree,
    drafted: Drafted,
    kind: str,
    content: bytes,
    now: str,
) -> Path:
    """Book an act with what it was computed from and its document; return where the document goes."""
    ledger = Ledger(connection, workspace.database.tables)
    for role, said in drafted.inputs.items():
        ledger.archive(role, said)
    name = f"{kind}-{slug(decree.number)}.pdf"
    register.save_decree(decree, now)
    keep_press(ledger, decree.number)
    register.save_document(decree.number, kind, name, content)
    return workspace.root.joinpath(*FOLDER, name)


def _write_kept(path: Path, content: bytes, decree: Decree) -> Path:
    try:
        return _write(path, content)
    except StoreError as fault:
        raise StoreError(
            f"{fault} {decree.number} is recorded and its document is kept in the store all the same."
        ) from None


def _write(path: Path, content: bytes) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise StoreError(f"The folder {path.parent} can't be made: {fault.strerror}.") from None
    replace_file(path, content)
    return path
