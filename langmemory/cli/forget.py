"""`langmemory forget`: take a person, a thing or single memories out of the file for good."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from langmemory.cli.target import (
    DEFAULT_NAMESPACE,
    JsonOption,
    Target,
)
from langmemory.cli.terminal import json_text, plain, printable, say
from langmemory.errors import ConfigError
from langmemory.pluralize import count_noun, memories

if TYPE_CHECKING:
    from langmemory.types import Forgotten


def forget(
    target: Target,
    *,
    owner: str | None = None,
    entity: list[str] | None = None,
    key: list[str] | None = None,
    everything: bool = False,
    later: bool = False,
    dry_run: bool = False,
    yes: bool = False,
    as_json: JsonOption = False,
) -> None:
    """Forget for good: show what would go, ask, remove it, prove it.

    Without --namespace, --owner and --entity mean the whole file, --key the namespace memories/me.

    Args:
        owner (NAME): Everything this person owns.
        entity (NAME): Everything that speaks of this person or thing, by name; may be repeated.
        key: The memory of this key; may be repeated.
        everything: All of --namespace, whoever owns it.
        later (--purge-later): Leave writing the file anew to whoever opens it next.
        dry_run: Only show what would go; ask and change nothing.
        yes (--yes, -y): Do it without asking.
    """
    if owner is None and not (entity or key or everything):
        raise ConfigError(
            "forget needs to know what: --owner NAME, --entity NAME, --key KEY, or --everything"
        )
    if as_json and not (yes or dry_run):
        raise ConfigError("--json does not ask: add --yes to forget.")
    where = target.namespace(DEFAULT_NAMESPACE if key else "")
    with target.open() as store:
        found = store.forget(
            where, owner=owner, entity=entity, keys=key, everything=everything, dry_run=True
        )
        nothing = not (found.memories or found.history or found.entities or found.notes)
        if nothing and target.labels:
            target.note_unknown(store, where)
        if not as_json:
            say(printable("\n".join(_preview(found))))
        if as_json and nothing:
            say(json_text({**plain(found), "memories": 0}))
            return
        if nothing:
            hint = target.elsewhere(store) if key else ""
            if owner is not None and not (entity or key):
                hint = f" Imported talk has no owner: --entity {owner!r} finds what they said."
            say(f"Nothing was changed.{hint}")
            return
        if dry_run:
            if as_json:
                say(json_text({**plain(found), "memories": found.memories}))
            return
        if not yes and not typer.confirm("Forget this for good? It cannot be undone"):
            say("Nothing was changed.")
            return
        done = store.forget(
            where, owner=owner, entity=entity, keys=key, everything=everything,
            purge="later" if later else "now",
        )  # fmt: skip
    if as_json:
        say(json_text({**plain(done), "memories": done.memories}))
        return
    if later:
        say(
            f"Forgotten ({done.run_id}): {_counted(done)}. The memory is cleared of it when it is opened next"
        )
    else:
        say(
            f"Forgotten ({done.run_id}): {_counted(done)}. The memory was cleared of it; of "
            f"{count_noun(done.words, 'word')} that stood only there, 0 were found in it"
        )
    if done.kept:
        say(printable("\n  ".join(("The server may still hold its bytes in", *done.kept))))


def _preview(found: Forgotten) -> list[str]:
    lines = [f"This would go: {_counted(found)}"]
    lines.extend(f"  {sample}" for sample in found.samples)
    if found.memories > len(found.samples):
        lines.append(f"  … and {found.memories - len(found.samples):,} more")
    if found.facts_kept:
        stay = "stays" if found.facts_kept == 1 else "stay"
        lines.append(f"{count_noun(found.facts_kept, 'fact')} {stay}, because others said so too")
    return lines


def _counted(found: Forgotten) -> str:
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in found.kinds.items())
    parts = [memories(found.memories) + (f" ({kinds})" if kinds else "")]
    for count, one, several in (
        (found.history, "record of a change", "records of changes"),
        (found.edges, "connection", "connections"),
        (found.entities, "person or thing", "people and things"),
        (found.reviews, "open question", "open questions"),
        (found.notes, "note of a run or job", "notes of runs and jobs"),
    ):
        if count:
            parts.append(count_noun(count, one, several))
    return ", ".join(parts)
