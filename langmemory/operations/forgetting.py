"""Forgetting for good: choose what goes, erase it, purge the file, and prove that it is gone."""

from __future__ import annotations

import logging
import re
import unicodedata
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Final, Literal

from langmemory.errors import ClosedStoreError, ConfigError, DatabaseError, ForgettingError
from langmemory.languages import is_unspaced
from langmemory.languages.spelling import name_key
from langmemory.ledger import follow_ups, history, runs, verbatim
from langmemory.ledger.connection import Connection
from langmemory.ledger.forgetting import erase, residue
from langmemory.ledger.forgetting.erasure_scope import ErasureScope
from langmemory.ledger.forgetting.residue import Archived, Residue
from langmemory.ledger.namespaces import find
from langmemory.ledger.part_rows import registered
from langmemory.ledger.scopes import visible_to
from langmemory.ledger.settings import newest_forgetting, note_remaining, remaining
from langmemory.ledger.transfer import forgotten, moving
from langmemory.ledger.usage import UsageCounts
from langmemory.namespaces import check_namespace
from langmemory.operations.core import Core
from langmemory.operations.following import (
    OutdatedPlanError,
    Reinstatement,
    follow_up,
    planned_again,
    reinstate,
)
from langmemory.recall.accesses import ShownLog
from langmemory.search.searching import now_us
from langmemory.types import Forgotten, Namespace
from langmemory.values import from_json, readable_text

logger = logging.getLogger("langmemory.store")

SAMPLES: Final = 5
"""Memories that a preview shows."""
SAMPLE_CHARACTERS: Final = 80

REASON: Final = "forgotten on request"
"""Of the run; it names nobody, since the record stays."""

_INNER: Final = re.compile(r"\w\w")
_ACCENTS: Final = re.compile("[\u0300-\u036f]")
_APOSTROPHES: Final = str.maketrans("’`´", "'''")


@dataclass(frozen=True, kw_only=True, slots=True)
class Forgetting:
    """The target of a forgetting."""

    namespace: Namespace
    owner: str | None
    entities: tuple[str, ...]
    keys: tuple[str, ...]
    everything: bool

    @classmethod
    def of(
        cls,
        namespace: Namespace,
        *,
        owner: str | None,
        entity: str | Iterable[str] | None,
        keys: Iterable[str] | None,
        everything: bool,
    ) -> Forgetting:
        """Checked.

        Raises:
            ConfigError: Nothing is named, or something by an empty name; or everything of no
                namespace, or with something else beside it.
        """
        if isinstance(keys, str):
            raise ConfigError(f"keys is the string {keys!r}; pass a list of keys.")
        named = tuple(keys or ())
        entities = (entity,) if isinstance(entity, str) else tuple(entity or ())
        chosen = owner is not None or bool(entities) or bool(named)
        if not chosen and not everything:
            raise ConfigError(
                "forget needs an owner, an entity, keys or everything=True: what is to be forgotten?"
            )
        if everything and chosen:
            raise ConfigError("everything is more than an owner, an entity or keys: pass it alone.")
        if everything and not namespace:
            raise ConfigError(
                "everything needs a namespace; to be rid of all memories close the store and delete "
                "the file."
            )
        for name, given in (("owner", owner), *(("entity", each) for each in entities)):
            if given is not None and not given.strip():
                raise ConfigError(f"{name} is empty; pass whom or what to forget.")
        return cls(
            namespace=namespace, owner=owner, entities=entities, keys=named, everything=everything
        )

    def preview(self, core: Core) -> Forgotten:
        """Return what would go: tried on a copy of the file, so that nobody's write waits for it."""
        with core.engine.copy() as connection, self._moved(core) as archive:
            while archive is not None:
                found = self._concerned(connection, archive, self._scope(connection))
                if not found:
                    break
                core.archive.bring_back(connection, found)
            going = self._scope(connection)
            samples = _samples(connection, going, self.owner)
            beside = self._beside(connection, archive)
            known = residue.said_by_others(connection, going.every, going.past, beside)
            done, _, told = self._erase(connection, going, known, beside)
            return replace(done, samples=samples, notes=done.notes + len(told), dry_run=True)

    def forget(self, core: Core) -> tuple[Forgotten, Residue]:
        """Forget; memories that what goes had superseded hold again. What moved to the archive file and is
        forgotten, or concerned by it, comes back first."""
        engine = core.engine
        follow_up(core)
        with engine.read() as snapshot, self._moved(core) as archive:
            found = self._concerned(snapshot.connection, archive, self._scope(snapshot.connection))
        core.archive.return_all(lambda connection: moving.moved_among(connection, found))
        core.archive.sweep()
        # Much is read for it: nobody's write is to wait.
        with engine.read() as snapshot, self._moved(core) as archive:
            connection = snapshot.connection
            foreseen, seq = self._scope(connection), history.newest(connection)
            away = moving.archived_ids(connection)
            self._check(connection, archive, foreseen)
            beside = self._beside(connection, archive)
            known = residue.said_by_others(connection, foreseen.every, foreseen.past, beside)
            planned = Reinstatement.of(core, connection, foreseen.alive)
        with engine.write() as connection, self._moved(core) as archive:
            if follow_ups.pending(connection):
                raise OutdatedPlanError("Another change is not complete. Forget again.")
            if moving.archived_ids(connection) != away:
                raise OutdatedPlanError("Memories moved meanwhile. Forget again.")
            going, beside = self._scope(connection), self._beside(connection, archive)
            planned.check(connection, going.alive)
            if (going.every, going.past) == (foreseen.every, foreseen.past):
                known.add(residue.said_since(connection, seq))
            else:
                self._check(connection, archive, going)
                known = residue.said_by_others(connection, going.every, going.past, beside)
            with engine.erasing(connection):  # most is gone even if the rest never came
                reinstate(core, connection, planned)  # before: nothing is to name what goes
                done, left, told = self._erase(connection, going, known, beside)
            if told:  # before the rest: whoever is killed here forgets again
                with (
                    core.archive.expected().write() as there,
                    core.archive.expected().erasing(there),
                ):
                    forgotten.blank(there, told)
            note_remaining(connection, "file", done.run_id)
        core.names.forget()
        return replace(done, notes=done.notes + len(told)), left

    @contextmanager
    def _moved(self, core: Core) -> Iterator[Connection | None]:
        """Give the archive file to read, where memories of the memory file are in it.

        Raises:
            DatabaseError: It is not there.
        """
        if not core.archive.count():
            yield None
            return
        with core.archive.expected().read() as there:
            yield there.connection

    def _beside(self, connection: Connection, archive: Connection | None) -> Archived | None:
        return None if archive is None else forgotten.open_archived(connection, archive)

    def _concerned(
        self, connection: Connection, archive: Connection | None, scope: ErasureScope
    ) -> list[int]:
        """Return the moved memories that are to come back first."""
        if archive is None:
            return []
        return forgotten.items_to_bring_back(
            connection, archive, scope, self.namespace,
            owner=self.owner, keys=self.keys, everything=self.everything,
        )  # fmt: skip

    def _check(
        self, connection: Connection, archive: Connection | None, scope: ErasureScope
    ) -> None:
        """Check that nothing that a forgetting concerns is in the archive file.

        Raises:
            OutdatedPlanError: Something is, be it that it moved there meanwhile.
        """
        if self._concerned(connection, archive, scope):
            raise OutdatedPlanError("Memories in the archive file are concerned. Forget again.")

    def purge(
        self,
        core: Core,
        done: Forgotten,
        left: Residue,
        purge: Literal["now", "later"],
    ) -> Forgotten:
        """Clear the file, and its archive file, of what was forgotten, and look whether it is gone.

        Raises:
            ForgettingError: See `MemoryStore.forget`.
        """
        engine = core.engine
        try:
            archive = core.archive.opened()
            if purge == "later":
                for one in (engine, archive):
                    if one is not None:
                        one.erase_keywords()
                        one.empty_wal()
                return replace(done, kept=engine.kept(purged=False))
            with engine.read() as snapshot:
                words = left.needles(snapshot.connection)
            purged, emptied = engine.purge_if_sound()
            if archive is not None:
                written_anew, empty = archive.purge_if_sound()
                purged, emptied = purged and written_anew, emptied and empty
            if emptied and purged:
                with engine.write() as connection:
                    note_remaining(connection, "copies", done.run_id)
            kept = engine.kept(purged=purged)
            looked, places = engine.leftovers(words)
            if places:  # somebody may have said the same anew
                with engine.read() as snapshot:
                    words = residue.unsaid(snapshot.connection, words)
                looked, places = engine.leftovers(words)
            if archive is not None:
                with archive.read() as snapshot:  # others there may have said the same
                    words = residue.unsaid(snapshot.connection, words)
                places = [*places, *archive.leftovers(words)[1]]
        except DatabaseError as error:
            raise ForgettingError(
                f"The memories are gone, but {engine.path} could not be cleared and looked "
                f"through, so it may still hold their bytes ({error}). Forget them again, or open the "
                "file anew."
            ) from error
        if not emptied:
            raise ForgettingError(
                f"The memories are gone, but another process still reads an older state of "
                f"{engine.path}, so its WAL may hold their bytes. Close it, then forget "
                "again, or open the file anew."
            )
        if places:
            raise ForgettingError(
                f"The memories are gone, but words of theirs still stand in {', '.join(places)}. "
                "Run `langmemory doctor`, then forget again."
            )
        return replace(done, words=looked, purged=purged, kept=kept)

    def _scope(self, connection: Connection) -> ErasureScope:
        found = ErasureScope()
        if self.everything:
            found.add_namespace(connection, self.namespace)
        if self.owner is not None:
            found.add_owner(connection, self.namespace, self.owner)
        if self.keys and (namespace := find(connection, self.namespace)) is not None:
            found.add_keys(connection, namespace, self.keys)
        for entity in self.entities:
            norms = list(dict.fromkeys((name_key(entity), entity)))
            found.add_entity(connection, self.namespace, entity, norms, _telling_of)
        found.add_derived(connection)
        return found

    def _erase(
        self,
        connection: Connection,
        going: ErasureScope,
        known: residue.Vocabulary,
        archive: Archived | None,
    ) -> tuple[Forgotten, Residue, list[int]]:
        """Return what went, that by which it would be known, and the rows of the history in the archive file
        that tell of it; ``known`` is what the others say."""
        now, run = now_us(), f"forget/{uuid.uuid4().hex[:16]}"
        texts = going.texts(connection)
        # The last label of a namespace is often the id of a person.
        person = self.namespace[-1] if self.everything else self.owner
        if person is not None:
            texts.append(person)
        namespace = self.namespace or going.common_namespace(connection)
        turns = verbatim.turns_around(connection, sorted(going.alive))
        asides = going.asides(connection, self.namespace, person, everything=self.everything)
        if self.owner is not None:
            runs.forget_who(connection, self.namespace, self.owner)
            for rows in registered().values():
                rows.forget_person(connection, self.namespace, self.owner)
        kept = erase.Kept() if archive is None else forgotten.kept_by(archive)
        dropped = residue.drop(connection, asides)
        done, telling = erase.erase(connection, going, self.namespace, now, run, kept)
        verbatim.refresh_contexts(connection, turns)
        left = Residue(connection, texts, known, archive)
        notes = dropped + residue.scrub(connection, left, telling, asides)
        done = replace(done, notes=notes)
        runs.insert(
            connection, run, kind="forget", namespace=erase.still_there(connection, namespace),
            at_us=now, reason=REASON, note={"memories": done.memories, "history": done.history},
        )  # fmt: skip
        told = [] if archive is None else forgotten.telling(archive, left, telling, going)
        return done, left, told


def make_up(core: Core) -> bool:
    """Do to the file, and its archive file, what an earlier forgetting did not come to: it was killed, the
    disk was full, or somebody was reading. Return whether nothing is left but the
    journal, which the caller lets follow."""
    engine, archive = core.engine, core.archive.opened()
    with engine.write() as connection:  # waits for another process, which may be forgetting now
        left, run = remaining(connection), newest_forgetting(connection)
    if left is None:
        return False
    if left == "copies":
        return engine.empty_wal()
    core.archive.sweep()
    emptied = engine.purge() and (archive is None or archive.purge())
    if emptied:
        with engine.write() as connection:
            note_remaining(connection, "copies", run)
    return emptied


def _telling_of(names: Sequence[str], others: Sequence[str]) -> Callable[[str], bool]:
    """Return a function that says whether a text has one of the names as a word, or words, of its
    own: however accents and apostrophes are written, and with the ``s`` of a German
    genitive ("Katrins"), unless that is one of the other names ("Andrea", "Andreas")."""
    forms = {folded for name in names if (folded := _folded(name).strip())}
    taken = set(map(_folded, others))
    forms |= {f"{form}s" for form in forms} - taken

    def tells(text: str) -> bool:
        folded = _folded(residue.remove_escapes(text))
        return any(_stands_in(form, folded) for form in forms)

    return tells


def _stands_in(name: str, text: str) -> bool:
    start = text.find(name)
    while start >= 0:
        if not _within_word(text, start) and not _within_word(text, start + len(name)):
            return True
        start = text.find(name, start + 1)
    return False


def _within_word(text: str, at: int) -> bool:
    """Return whether the characters before and at a place are of one word. Where words are not
    spaced nobody can tell, and they count as two."""
    around = text[at - 1 : at + 1] if at else ""
    return len(around) == 2 and _INNER.fullmatch(around) is not None and not is_unspaced(around)


def _folded(text: str) -> str:
    """Return a text as names are looked for in it."""
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text.translate(_APOSTROPHES))
        text = unicodedata.normalize("NFC", _ACCENTS.sub("", text))
    return text.casefold()


def _samples(connection: Connection, going: ErasureScope, owner: str | None) -> tuple[str, ...]:
    """How the first of them begin; of an owner, who may be asking, none that is private to others
    and goes because it was made of the owner's words."""
    seen = visible_to(owner)
    rows = connection.execute(
        "SELECT i.value FROM carray(?) c CROSS JOIN item i ON i.id = c.value "
        f"WHERE {seen.sql} ORDER BY i.id LIMIT ?",
        (connection.array(going.alive), *seen.bindings, SAMPLES),
    )
    samples = []
    for (value,) in rows:
        text = " ".join(readable_text(from_json(value)).split())
        cut = text[:SAMPLE_CHARACTERS]
        samples.append(cut if cut == text else f"{cut} …")
    return tuple(samples)


def forget_for_good(
    core: Core,
    namespace: Namespace,
    *,
    owner: str | None = None,
    entity: str | Iterable[str] | None = None,
    keys: Iterable[str] | None = None,
    everything: bool = False,
    dry_run: bool,
    purge: Literal["now", "later"] = "now",
) -> Forgotten:
    """Forget, and let everything beside the memories follow; see `MemoryStore.forget`."""
    namespace = check_namespace(namespace, may_be_empty=keys is None)
    forgetting = Forgetting.of(
        namespace, owner=owner, entity=entity, keys=keys, everything=everything
    )
    if purge not in ("now", "later"):
        raise ConfigError(f"purge is {purge!r}; pass 'now' or 'later'.")
    if dry_run:
        return forgetting.preview(core)
    core.write_pending()  # what parts keep in memory would else be written after it
    try:
        done, left = planned_again(lambda: forgetting.forget(core))
        cleared = forgetting.purge(core, done, left, purge)
    finally:  # the memories are gone, even where the file could not be purged
        core.already_shown = ShownLog()
        core.counts = UsageCounts()
        behind = core.journal.rebuild()
    if behind is None:
        raise ForgettingError(
            f"The memories are gone, but {core.engine.path} could not be read after it, to see "
            "whether a journal still tells of them. Open the file anew: its journal follows then."
        )
    if behind:
        raise ForgettingError(
            f"The memories are gone, but the journal in {', '.join(map(str, behind))} could not "
            "be written to and still tells of them. Once it can, run `langmemory journal "
            "--rebuild --path` with that folder."
        )
    if cleared.purged:
        with suppress(DatabaseError):  # else whoever opens the file looks after it once more
            _note_forgotten(core, cleared.run_id)
    return cleared


def _note_forgotten(core: Core, run: str | None) -> None:
    with core.engine.write() as connection:
        note_remaining(connection, None, run)


def complete_forgetting(core: Core) -> None:
    """Complete a forgetting that was interrupted, in the background after the file was opened."""
    try:
        with core.engine.read() as snapshot:
            run = newest_forgetting(snapshot.connection)
        if make_up(core) and core.journal.rebuild() == []:
            _note_forgotten(core, run)
    except (DatabaseError, ClosedStoreError) as error:  # the next one to open it tries again
        why = type(error.__cause__ or error).__name__
        logger.warning("forgetting_incomplete path=%s error=%s", core.path, why)
