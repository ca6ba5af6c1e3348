"""Consolidation in nights over a real file: by rules, and by scripted models."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest
from langchain_core.messages import BaseMessage
from langchain_ollama import ChatOllama

from langmemory.changes import AddMemory, ChangeSet, Facets, OpenReview
from langmemory.errors import ChangeError
from langmemory.graphs.maintenance import build_maintenance_graph
from langmemory.stores import MemoryStore
from langmemory.types import Namespace
from tests.lifecycle.answers import ILKA, TOLD, answers, said_at, value
from tests.ollama_server import OllamaServer
from tests.scripted import ScriptedModel

from langmemory.chat_models import shown_at_once  # isort: skip
from langmemory.lifecycle.consolidation.deep import LISTED_TOKENS, MOST_LISTED  # isort: skip

NOW = datetime(2026, 6, 1, tzinfo=UTC)
BAD = answers("bad")


def learn(
    store: MemoryStore, text: str, at: datetime, *, role: str = "user", key: str = "",
    claim: tuple[str, str, str] | None = None, privacy: str = "shared", owner: str | None = "ilka",
    namespace: Namespace = ILKA, **more: Any,
) -> str:  # fmt: skip
    """A fact that was told in a conversation of its own; its key."""
    thread = f"t{at:%Y%m%d}-{role}"
    [turn] = store.remember(
        namespace,
        [{"role": role, "content": f"I say: {text}", "at": at, "id": f"{at} {text}"}],
        thread_id=thread,
    )
    key = key or f"fact/{len(list(store.changes.runs(limit=1000)))}"
    told: dict[str, Any] = {"text": text, "language": "en", "said_at": at.isoformat(), **more}
    if claim:
        told |= dict(zip(("subject", "relation", "object"), claim, strict=True))
    facets = Facets.model_validate(
        {"kind": "semantic", "owner": owner, "privacy": privacy, "valid_at": at}
    )
    store.changes.apply(
        ChangeSet(
            namespace=namespace, run_id=f"learn/{key}", kind="reflection", reason="test",
            changes=(AddMemory(key=key, value=told, facets=facets, evidence=(turn,)),),
        )
    )  # fmt: skip
    return key


def learn_ilka(store: MemoryStore) -> None:
    """The memories that `answers` are about, and the core blocks."""
    for one in TOLD["memories"]:
        role = "assistant" if one["said_by"] == "assistant" else "user"
        told = {name: each for name, each in value(one).items() if name == "fact_kind"}
        learn(
            store, one["text"], said_at(one), role=role, key=f"fact/{one['id']}",
            privacy=one["privacy"], **told,
        )  # fmt: skip
    for label, content in TOLD["core"].items():
        block = {"kind": "core", "content": content, "version": 1, "limit": 2000}
        store.put((*ILKA, "core"), label, block, index=False)


def night(store: MemoryStore, model: Any = None, **given: Any) -> dict[str, Any]:
    """The report of a night that consolidates."""
    tasks = given.pop("tasks", ["consolidate"])
    graph = build_maintenance_graph(store, now=lambda: NOW, tasks=tasks, model=model)
    found: dict[str, Any] = graph.invoke(given)
    return {**found["reports"][0], "night": found["night"]}


def known(store: MemoryStore) -> list[dict[str, Any]]:
    """All that the file knows, without the record of what happened."""
    return [row for row in store.admin.export(history=False) if row["type"] != "meta"]


def items(store: MemoryStore, beginning: str) -> list[dict[str, Any]]:
    """The rows of the items whose keys begin so."""
    rows = (row for row in known(store) if row["type"] == "item")
    return [row for row in rows if row["key"].startswith(beginning)]


def answering(*operations: dict[str, Any]) -> Any:
    """An answer that names memories by their text, as ``{"keep": "Piet's birthday is 14 May."}``."""

    def answer(messages: list[BaseMessage]) -> str:
        lines = messages[-1].text.splitlines()
        numbers = {
            text[2:]: head.split()[0]
            for head, text in pairwise(lines)
            if text.startswith("| ") and head.startswith("m")
        }

        def named(given: Any) -> Any:
            if isinstance(given, list):
                return [named(one) for one in given]
            return numbers.get(given, given)

        told = [{name: named(each) for name, each in one.items()} for one in operations]
        return json.dumps({"operations": told})

    return answer


CHOIR = [one["text"] for one in TOLD["memories"] if "choir" in one["text"]]
HABIT = {
    "op": "insight", "text": "Ilka goes to choir practice on Tuesdays.", "sources": CHOIR,
    "kind": "habit", "reason": "three Tuesdays",
}  # fmt: skip


def test_a_habit_stated_in_three_conversations_is_one_memory(store: MemoryStore) -> None:
    """Three statements of one preference become one memory with all their evidence and the count."""
    likes = ("Ilka", "likes", "green tea")
    keys = [
        learn(store, text, datetime(2026, month, 3, tzinfo=UTC), claim=likes, fact_kind="preference")
        for month, text in (
            (1, "Ilka likes green tea."), (2, "Ilka enjoys green tea."), (3, "Ilka likes green tea"),
        )
    ]  # fmt: skip
    report = night(store)
    [kept] = [one for key in keys if (one := store.get(ILKA, key)) and "stated" in one.value]
    assert (kept.value["fact_kind"], kept.value["stated"]) == ("habit", 3)
    assert len(store.changes.evidence(ILKA, kept.key)) == 3
    assert any("stated in 3 conversations" in line for line in report["lines"])


def test_copies_are_merged_by_duplicates_and_not_again_by_consolidation(store: MemoryStore) -> None:
    """Exact paraphrases become one by the task for them; other numbers and owners stay apart."""
    at = [datetime(2026, 1, day, tzinfo=UTC) for day in range(1, 5)]
    learn(store, "Piet's birthday is 14 May.", at[0], fact_kind="fact")
    learn(store, "Piet's birthday is on 14 May.", at[1], fact_kind="fact")
    learn(store, "Piet's birthday is on 15 May.", at[2], fact_kind="fact")
    learn(store, "Piet's birthday is on 14 May.", at[3], fact_kind="fact", owner="piet")
    assert night(store)["lines"] == []
    [line] = night(store, tasks=["duplicates"])["lines"]
    assert line.startswith("merge")
    assert line.startswith("merge")


def test_three_corrections_ask_for_a_rule(store: MemoryStore) -> None:
    """What was corrected three times under one relation is asked about; a person makes it a rule."""
    for month, text in (
        (1, "Answer in French."),
        (2, "Answer in Dutch."),
        (3, "Answer in English."),
    ):
        learn(
            store, text, datetime(2026, month, 1, tzinfo=UTC), corrects=True,
            claim=("Ilka", "wants_answers_in", text.split()[-1]), key=f"fact/{month}",
        )  # fmt: skip
    night(store)
    [review] = store.changes.reviews(ILKA)
    assert review.about == "rule"
    assert "3 corrections" in review.question
    assert "Answer in English." in review.question
    store.changes.decide(review.id, "rule")
    [rule] = items(store, "fact/3")
    assert (rule["kind"], rule["priority"]) == ("procedural", "guardrail")


def suggestion(text: str, turn: str) -> OpenReview:
    """A line for a core block, as reflection suggests it."""
    line = AddMemory(
        key=f"core/human/{text[:4]}", value={"text": text, "block": "human"},
        facets=Facets(owner="ilka", privacy="shared", priority="mandate"), evidence=(turn,),
    )  # fmt: skip
    return OpenReview(
        id=f"core/{text[:4]}", about="core", question=f"Should it say: {text}", memories=(turn,),
        options={"add": (line,), "leave": ()},
    )  # fmt: skip


def test_suggestions_for_one_block_are_one_question(store: MemoryStore) -> None:
    """Several open suggestions for a core block become one question, whose yes adds all lines."""
    [turn] = store.remember(
        ILKA, [{"role": "user", "content": "Two things.", "at": NOW}], thread_id="t"
    )
    changes = (suggestion("Ilka sings.", turn), suggestion("Two cats.", turn))
    store.changes.apply(
        ChangeSet(namespace=ILKA, run_id="r", kind="reflection", reason="t", changes=changes)
    )
    first = night(store)
    [review] = store.changes.reviews(ILKA)
    assert review.options == ("add all", "leave")
    assert night(store)["lines"] == []
    store.lifecycle.undo(first["night"])
    assert len(store.changes.reviews(ILKA)) == 2
    assert night(store)["lines"] == [], "what was taken back is not done again"
    assert len(store.changes.reviews(ILKA)) == 2


def test_a_model_concludes_merges_and_outdates(store: MemoryStore) -> None:
    """Accepted operations are changes with reason and evidence; a conclusion waits for the night's end."""
    learn_ilka(store)
    model = ScriptedModel(
        otherwise=answering(
            HABIT,
            {"op": "supersede", "old": TOLD["memories"][0]["text"],
             "by": TOLD["memories"][8]["text"], "reason": "Ilka moved"},
        )
    )  # fmt: skip
    report = night(store, model, tasks=["consolidate", "graduate"])
    assert report["model_calls"] == len(model.prompts) > 0
    [insight] = items(store, "insight/")
    assert (insight["kind"], insight["status"]) == ("semantic", "active")
    assert insight["value"]["stated"] == 3
    evidence = {one.key for one in store.changes.evidence(ILKA, insight["key"])}
    assert evidence == {"fact/m3", "fact/m5", "fact/m7"}
    history = store.changes.history(ILKA, "fact/m1")
    assert (history[-1].action, history[-1].reason) == ("supersede", "Ilka moved")


def test_a_model_sees_no_keys_and_no_private_memory_beside_shared_ones(store: MemoryStore) -> None:
    """Memories are numbered, quoted and of one circle: what is private is shown by itself."""
    learn_ilka(store)
    model = ScriptedModel(otherwise='{"operations": []}')
    night(store, model)
    shown = [messages[-1].text for messages in model.prompts]
    assert not any("fact/" in one or "ilka" in one for one in shown)
    assert not any("sertraline" in one and "choir" in one for one in shown)
    assert any("said_by person" in one for one in shown)


@pytest.mark.parametrize("window", [1_000, 1_500, None])
def test_a_listing_fits_into_the_window_of_the_model(
    store: MemoryStore, window: int | None
) -> None:
    """A model with a small window is shown fewer memories at once, one of unknown window the usual number;
    all of them are shown."""
    learn_ilka(store)
    model = ScriptedModel(
        otherwise='{"operations": []}', profile=window and {"max_input_tokens": window}
    )
    night(store, model)
    sizes = [messages[-1].text.count("said_by") for messages in model.prompts]
    most = shown_at_once(model, MOST_LISTED, LISTED_TOKENS)
    assert most == {1_000: 3, 1_500: 5, None: MOST_LISTED}[window]
    assert 2 <= max(sizes) <= most
    assert (max(sizes) > 5) == (window is None)


def test_a_private_source_makes_a_private_conclusion(store: MemoryStore) -> None:
    """What follows from private memories is private to the same owner, in facets and in the value."""
    for day, text in enumerate(
        ("Ilka takes sertraline.", "Ilka takes sertraline in the morning."), 1
    ):
        learn(store, text, datetime(2026, 1, day, tzinfo=UTC), privacy="private")
    told = {
        "op": "insight", "text": "Ilka takes sertraline every morning.", "kind": "insight",
        "sources": ["m1", "m2"], "reason": "both",
    }  # fmt: skip
    night(store, ScriptedModel(otherwise=json.dumps({"operations": [told]})))
    [insight] = items(store, "insight/")
    assert (insight["privacy"], insight["owner"]) == ("private", "ilka")
    assert (insight["value"]["privacy"], insight["value"]["owner"]) == ("private", "ilka")


def test_core_blocks_are_only_proposed(store: MemoryStore) -> None:
    """A model changes no core block: a person is asked, and a newer proposal takes an older one's place."""
    learn_ilka(store)
    task = TOLD["core"]["task"]
    texts = (f"{task} Ilka plans to travel on 12 June.", f"{task} Ilka travels on 12 June.")
    plan = TOLD["memories"][10]["text"]
    for day, text in enumerate(texts, 1):
        core = {"op": "core", "block": "task", "text": text, "sources": [plan], "reason": "known"}
        night(store, ScriptedModel(otherwise=answering(core)))
        at = datetime(2026, 3, day, tzinfo=UTC)
        learn(store, f"{plan} Truly.", at, fact_kind="plan")
    item = store.get((*ILKA, "core"), "task")
    assert item is not None
    assert item.value["content"] == task
    [review] = store.changes.reviews(ILKA)
    assert texts[1] in review.question
    store.changes.decide(review.id, "write")
    item = store.get((*ILKA, "core"), "task")
    assert item is not None
    assert (item.value["content"], item.value["version"]) == (texts[1], 2)


def proposing(text: str) -> ScriptedModel:
    """A model that proposes a text for the block ``task``."""
    plan = TOLD["memories"][10]["text"]
    core = {"op": "core", "block": "task", "text": text, "sources": [plan], "reason": "known"}
    return ScriptedModel(otherwise=answering(core))


def test_a_block_is_proposed_for_again_after_a_proposal_was_taken_back(store: MemoryStore) -> None:
    """What was taken back with its night is not proposed again; another text for the same block is."""
    learn_ilka(store)
    task = TOLD["core"]["task"]
    rejected, other = f"{task} Ilka plans to travel on 12 June.", f"{task} Ilka travels on 12 June."
    store.lifecycle.undo(night(store, proposing(rejected))["night"])
    assert store.changes.reviews(ILKA) == []
    for day, text, questions in ((1, rejected, 0), (2, other, 1), (3, rejected, 1)):
        at = datetime(2026, 3, day, tzinfo=UTC)
        learn(store, f"{TOLD['memories'][10]['text']} Truly.", at, fact_kind="plan")
        night(store, proposing(text))
        asked = store.changes.reviews(ILKA)
        assert [other in one.question for one in asked] == [True] * questions


def test_an_accepted_proposal_writes_over_no_edit(store: MemoryStore) -> None:
    """A block that a person edited since a text was proposed for it stays; the next night withdraws it."""
    learn_ilka(store)
    place, text = (*ILKA, "core"), f"{TOLD['core']['task']} Ilka plans to travel on 12 June."
    night(store, proposing(text))
    [review] = store.changes.reviews(ILKA)
    block = store.get(place, "task")
    assert block is not None
    edited = {**block.value, "content": "Ask Ilka about Ghent.", "version": 2}
    store.put(place, "task", edited, index=False)
    with pytest.raises(ChangeError, match="'task' changed"):
        store.changes.decide(review.id, "write")
    kept = store.get(place, "task")
    assert kept is not None
    assert kept.value == edited
    learn(store, "Ilka plans to take the train.", NOW, fact_kind="plan")
    night(store, ScriptedModel(otherwise=answering()))
    assert store.changes.reviews(ILKA) == []


def test_a_new_block_that_a_person_wrote_meanwhile_stays(store: MemoryStore) -> None:
    """The same of a block that there was not when its text was proposed."""
    learn_ilka(store)
    place = (*ILKA, "core")
    store.delete(place, "task")
    night(store, proposing("Ilka travels to Ghent on 12 June."))
    [review] = store.changes.reviews(ILKA)
    store.put(place, "task", {"kind": "core", "content": "Ask.", "version": 1}, index=False)
    with pytest.raises(ChangeError, match="'task' changed"):
        store.changes.decide(review.id, "write")


@pytest.mark.parametrize(
    "name", ["empty", "prose", "think-only", "merge-all", "delete-all", "cut-off"]
)
def test_a_bad_answer_changes_nothing_and_is_reported(store: MemoryStore, name: str) -> None:
    """Whatever a model answers in place of operations, memory stays as it was and the report says why."""
    learn_ilka(store)
    night(store)
    before = known(store)
    learn(store, "Ilka went to choir practice on Tuesday 2 April.", NOW, fact_kind="event")
    learnt = known(store)
    report = night(store, ScriptedModel(otherwise=BAD[name]))
    assert known(store) == learnt != before
    assert report["refused"]
    assert report["error"] is None


def test_an_unreachable_model_is_an_error_and_is_asked_again(store: MemoryStore) -> None:
    """No answer is not the answer "nothing": the report has an error, and the next night asks."""
    learn_ilka(store)
    night(store)
    learn(store, "Ilka went to choir practice on Tuesday 2 April.", NOW, fact_kind="event")
    before = known(store)
    report = night(store, ScriptedModel(otherwise=ConnectionError("refused")))
    assert "could not be asked" in report["error"]
    assert report["refused"] == []
    assert known(store) == before
    again = ScriptedModel(otherwise='{"operations": []}')
    night(store, again)
    assert again.prompts


def test_a_server_that_answers_half_json_changes_nothing(store: MemoryStore) -> None:
    """Over a real client: broken JSON is refused, a broken connection is an error, and both change
    nothing."""
    learn_ilka(store)
    night(store)
    learn(store, "Ilka went to choir practice on Tuesday 2 April.", NOW, fact_kind="event")
    before = known(store)
    with OllamaServer() as ollama:
        model = ChatOllama(model="any", base_url=ollama.url)
        ollama.always('{"operations": [{"op": "merge", "keep": "m1", "oth')
        report = night(store, model)
        assert ollama.chats()
    assert report["refused"]
    assert report["error"] is None
    assert known(store) == before
    learn(store, "Ilka went to choir practice on Tuesday 9 April.", NOW, fact_kind="event")
    before = known(store)
    assert night(store, model)["error"]
    assert known(store) == before


def test_a_second_night_asks_nobody(store: MemoryStore) -> None:
    """On an unchanged store the next consolidation plans nothing and asks no model."""
    learn_ilka(store)
    night(store, ScriptedModel(otherwise=answering(HABIT)))
    model = ScriptedModel()
    report = night(store, model)
    assert model.prompts == []
    assert (report["lines"], report["model_calls"]) == ([], 0)


def test_a_dry_run_asks_and_changes_nothing(store: MemoryStore) -> None:
    """A dry run shows what a model's answer would change, and the next night is none the wiser."""
    learn_ilka(store)
    before = known(store)
    report = night(store, ScriptedModel(otherwise=answering(HABIT)), dry_run=True)
    assert any(HABIT["text"] in line for line in report["lines"])  # type: ignore[operator]
    assert known(store) == before
    model = ScriptedModel(otherwise='{"operations": []}')
    night(store, model)
    assert model.prompts
