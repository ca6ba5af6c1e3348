"""Names a reflection is not sure of: asked of a model once a batch, or else of a person."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from langmemory import MemoryStore
from langmemory.changes import ChangeSet
from langmemory.config import Config, ModelsConfig
from langmemory.formation import settling
from langmemory.formation.judging import StructuralJudge
from langmemory.graphs.reflection import build_reflection_graph
from tests.believing import believing_graph
from tests.graphs.test_reflection_graph import JOB, LENA, answer, fact, facts, said
from tests.ollama_server import OllamaServer, Reply
from tests.scripted import ScriptedModel
from tests.seeds import seeds

KIEL = fact("Katherine Miller lives in Kiel.", "Katherine Miller", "lives_in", "Kiel")
BONN = fact("Katharine Miller lives in Bonn now.", "Katharine Miller", "lives_in", "Bonn")
BAKERY = fact("Lena works at Sonnenbäckerei.", "Lena", "works_at", "Sonnenbäckerei")
SHOP = fact("Lena likes Sonnenbackers.", "Lena", "shops_at", "Sonnenbackers")
ASKED = RuntimeError("asked once too often")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    """Katherine Miller and the Sonnenbäckerei are known."""
    with MemoryStore(tmp_path / "memory.db") as store:
        said(store, "Katherine Miller lives in Kiel. I work at Sonnenbäckerei.", thread="t0")
        model = ScriptedModel(script=[answer(KIEL, BAKERY)], otherwise=ASKED)
        believing_graph(store, model=model).invoke({**JOB, "thread_id": "t0"})
        said(store, "My friend Katharine Miller lives in Bonn now.", at="2026-07-01")
        yield store


def names(*given: str) -> str:
    verdicts = [{"pair": n, "verdict": v, "reason": "a typo"} for n, v in enumerate(given, 1)]
    return json.dumps({"verdicts": verdicts})


def agreed(*given: str) -> list[str]:
    """A model's verdicts, and that what is the same is so with the names exchanged, too."""
    same = [one for one in given if one == "same"]
    return [names(*given), *([names(*same)] if same else [])]


def reflect(store: MemoryStore, *script: Any, mode: str = "sync", **options: Any) -> ScriptedModel:
    """One more batch, by a model that answers so and nothing more."""
    model = ScriptedModel(script=list(script), otherwise=ASKED)
    graph = believing_graph(store, model=model, **options)
    if mode == "sync":
        graph.invoke(JOB)
    else:
        asyncio.run(graph.ainvoke(JOB))
    return model


def called(store: MemoryStore, name: str) -> str:
    """The name of who is meant by a name."""
    return store.graph(LENA).entity(name, past=True).name


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_all_unclear_names_of_a_batch_are_asked_about_together(
    store: MemoryStore, mode: str
) -> None:
    """Two unclear pairs cost one call besides the one that reads, and one more for what is the same;
    that is linked with the model's reason in the run's note, what is different is left, and no person
    is asked. The calls come before facts are compared, so that what changed gives way in the same run.
    Undoing the run takes the link back."""
    model = reflect(store, answer(BONN, SHOP), *agreed("same", "different"), mode=mode)
    shown = model.prompts[1][-1].text
    assert [shown.count(f"Pair {n} ") for n in (1, 2, 3)] == [1, 1, 0]
    assert "| Katherine Miller lives in Kiel." in shown
    run = store.changes.runs()[0]
    assert (run.note["model_calls"], run.note["names"]) == (3, {"same": 1, "different": 1})
    [link] = run.note["linked"]
    assert link["key"].startswith("person/katharine-miller-")
    assert link["same_as"].startswith("person/katherine-miller-")
    assert link["reason"] == "a model: a typo"
    assert run.note["failures"] == store.changes.reviews(LENA) == []
    assert called(store, "Katharine Miller") == "Katherine Miller"
    assert called(store, "Sonnenbackers") == "Sonnenbackers"
    assert facts(store)["Katherine Miller lives in Kiel."] == "superseded"
    store.changes.undo(run.id)
    assert facts(store)["Katherine Miller lives in Kiel."] == "active"
    assert "Katharine Miller" not in {one.name for one in store.graph(LENA).entities(past=True)}


def test_a_fact_keeps_the_name_it_was_told_by(store: MemoryStore) -> None:
    """A fact whose entity a model links with another names it as it was told, not the other one: by
    neither its name nor its key. So nothing of the other is left in it when that is forgotten."""
    reflect(store, answer(BONN), *agreed("same"))
    [value] = [
        row["value"] for row in store.admin.export() if "Bonn" in str(row.get("value", {}).get("text"))
        and "subject" in row["value"]
    ]  # fmt: skip
    assert (value["subject"], value["object"]) == ("Katharine Miller", "Bonn")


@pytest.mark.parametrize("how", ["unsure", "no model"])
def test_what_no_model_decides_a_person_is_asked(store: MemoryStore, how: str) -> None:
    """An unsure model leaves the same review as none at all, and the facts hold meanwhile."""
    if how == "unsure":
        reflect(store, answer(BONN), names("unsure"))
    else:
        reflect(store, answer(BONN), judge=StructuralJudge())
    [review] = store.changes.reviews(LENA)
    assert (review.about, review.options) == ("entity", ("same", "different"))
    assert called(store, "Katharine Miller") == "Katharine Miller"
    assert facts(store)["Katharine Miller lives in Bonn now."] == "active"
    store.changes.decide(review.id, "same")
    assert called(store, "Katharine Miller") == "Katherine Miller"


@pytest.mark.parametrize("mode", ["sync", "async"])
@pytest.mark.parametrize(
    ("fails", "calls"),
    [([httpx.ConnectError("refused")], 2), (["They sound alike.", "Yes."], 3)],
    ids=["absent", "babbling"],
)
def test_a_model_that_fails_leaves_names_to_a_person(
    store: MemoryStore, mode: str, fails: list[Any], calls: int
) -> None:
    """When the model cannot be asked, or answers nonsense twice, the pair is a review as without
    one, its facts hold meanwhile, and the run says what failed."""
    reflect(store, answer(BONN), *fails, mode=mode)
    run = store.changes.runs()[0]
    [failure] = run.note["failures"]
    assert failure.startswith("names: ScriptedModel ")
    assert "Miller" not in failure
    assert run.note["model_calls"] == calls
    assert [one.about for one in store.changes.reviews(LENA)] == ["entity"]
    assert facts(store)["Katharine Miller lives in Bonn now."] == "active"
    assert facts(store)["Katherine Miller lives in Kiel."] == "active"


def test_planning_again_asks_about_nothing_twice(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When memory changes while a batch is planned, what was decided of its names still counts."""
    [key] = [item.key for item in store.search(LENA, filter={"object": "Kiel"})]
    plan, meddled = settling.make_change_set, []

    def plan_while_others_write(*parts: Any, **options: Any) -> ChangeSet:
        made = plan(*parts, **options)
        if not meddled:
            meddled.append(store.put(LENA, key, {**store.get(LENA, key).value, "note": 1}))  # type: ignore[union-attr]
        return made

    monkeypatch.setattr(settling, "make_change_set", plan_while_others_write)
    reflect(store, answer(BONN), *agreed("same"))
    assert meddled
    assert store.changes.runs()[0].note["model_calls"] == 3
    assert called(store, "Katharine Miller") == "Katherine Miller"


def test_what_a_person_was_asked_no_model_decides(store: MemoryStore) -> None:
    """A question that a person answered, or is to answer, is not put to a model when it comes up
    again; private memories of one of the two are told to no model."""
    nickname = fact("Lena is called Kathy.", "Lena", "nickname", "Kathy")
    nickname["claims"][0]["object_is_entity"] = False
    kathy = fact("Kathy sings.", "Kathy", "lives_in", "Ulm")
    secret = fact("Kathy fears spiders.", "Kathy", "fears", "spiders", privacy="private")
    reflect(store, answer(kathy))
    for thread in ("t2", "t3", "t4"):
        said(store, f"{thread}: I am called Kathy.", thread=thread, owner="lena")
    read = {**JOB, "thread_id": "t2"}
    model = ScriptedModel(script=[answer(secret)], otherwise=ASKED)
    believing_graph(store, model=model).invoke(read)

    model = ScriptedModel(script=[answer(nickname), names("unsure")], otherwise=ASKED)
    believing_graph(store, model=model).invoke({**JOB, "thread_id": "t3"})
    assert "| Kathy sings." in model.prompts[1][-1].text
    assert "spiders" not in model.prompts[1][-1].text
    [review] = store.changes.reviews(LENA)
    store.changes.decide(review.id, "different")

    model = ScriptedModel(script=[answer(nickname)], otherwise=ASKED)
    believing_graph(store, model=model).invoke({**JOB, "thread_id": "t4"})
    assert store.changes.runs()[0].note["failures"] == store.changes.reviews(LENA) == []
    assert called(store, "Kathy") == "Kathy"


def test_what_the_model_said_is_forgotten_with_them(store: MemoryStore) -> None:
    """Forgetting somebody takes the reason of their link out of the file, too."""
    reflect(store, answer(BONN), *agreed("same"))
    assert "typo" in str(store.changes.runs()[0].note)
    store.forget(LENA, entity="Katharine Miller")
    assert "typo" not in str([run.note for run in store.changes.runs()])
    assert "typo" not in "".join(map(str, store.admin.export()))


REPLIES: dict[str, tuple[list[str | Reply], str]] = {
    "same": (agreed("same"), "Katherine Miller"),
    "same, then not": ([names("same"), names("different")], "Katharine Miller"),
    "thinking": ([Reply(content=names("same"), thinking="One letter.")] * 2, "Katherine Miller"),
    "broken once": (['{"verdicts": [', *agreed("same")], "Katherine Miller"),
    "different": ([names("different")], "Katharine Miller"),
    "broken": (["Who knows?", "Who knows?"], "Katharine Miller"),
    "HTTP 500": ([Reply(fault="http_500")], "Katharine Miller"),
    "too slow": ([Reply(content=names("same"), delay_seconds=5)], "Katharine Miller"),
}


@pytest.mark.parametrize(
    ("mode", "how"),
    seeds([("sync", how) for how in REPLIES] + [("async", how) for how in REPLIES], first=9),
)
def test_the_fast_model_of_the_configuration_is_asked(
    store: MemoryStore, mode: str, how: str
) -> None:
    """With nothing but ``models.fast`` configured rules read, and the model is asked about names
    alone, held to a schema; whatever it does, the batch is read and written."""
    replies, meant = REPLIES[how]
    with OllamaServer() as server:
        server.script(*replies)
        models = ModelsConfig(
            fast="ollama:qwen3:4b",
            ollama_url=server.url,
            chat_timeout_seconds=1 if how == "too slow" else 30,
        )
        graph = build_reflection_graph(store, config=Config(models=models))
        done = graph.invoke(JOB) if mode == "sync" else asyncio.run(graph.ainvoke(JOB))
        chats = server.chats()
    assert len(chats) == len(replies) == done["model_calls"]
    assert all("verdicts" in json.dumps(chat["format"]) for chat in chats)
    assert called(store, "Katharine Miller") == meant
    failed = how in ("broken", "HTTP 500", "too slow")
    assert [one.partition(":")[0] for one in done["failures"]] == ["names"] * failed
    asks = failed or how == "same, then not"
    assert ("entity" in {one.about for one in store.changes.reviews(LENA)}) == asks
    assert store.admin.unread_threads() == []


SISTER = fact("Anna is Lena's sister.", "Anna", "sister_of", "Lena")
IN_BONN = fact("Anna lives in Bonn.", "Anna", "lives_in", "Bonn")
COLLEAGUE = fact("Anna is Lena's colleague.", "Anna", "colleague_of", "Lena")
IN_ROME = fact("Anna lives in Rome.", "Anna", "lives_in", "Rome")


@pytest.fixture
def sister(tmp_path: Path) -> Iterator[MemoryStore]:
    """Lena's sister Anna is known, and what is unread speaks of a colleague Anna."""
    with MemoryStore(tmp_path / "annas.db") as store:
        said(store, "My sister Anna lives in Bonn.", thread="t0")
        model = ScriptedModel(script=[answer(SISTER, IN_BONN)], otherwise=ASKED)
        believing_graph(store, model=model).invoke({**JOB, "thread_id": "t0"})
        said(store, "My colleague Anna lives in Rome.", at="2026-07-01")
        yield store


@pytest.mark.parametrize(
    ("verdict", "of_bonn", "people"), [("same", "superseded", 1), ("different", "active", 2)]
)
def test_a_model_decides_whether_a_name_is_shared(
    sister: MemoryStore, verdict: str, of_bonn: str, people: int
) -> None:
    """A sister and a colleague of one name are one pair of the batch's one question about names:
    one person who moved, or two, and no person is asked."""
    model = reflect(sister, answer(COLLEAGUE, IN_ROME), *agreed(verdict))
    assert len(model.prompts) == 1 + len(agreed(verdict))
    assert "| Anna is Lena's sister." in model.prompts[1][-1].text
    assert "| Anna is Lena's colleague." in model.prompts[1][-1].text
    assert facts(sister)["Anna lives in Bonn."] == of_bonn
    assert facts(sister)["Anna lives in Rome."] == "active"
    assert [one.name for one in sister.graph(LENA).entities()].count("Anna") == people
    assert sister.changes.reviews(LENA) == []


def test_a_shared_name_is_one_question_that_names_both(sister: MemoryStore) -> None:
    """Where no model is sure, both facts hold, and one review shows who the two are; its answer
    makes them one, and undoing that makes them two with the question open."""
    reflect(sister, answer(COLLEAGUE, IN_ROME), names("unsure"))
    [review] = sister.changes.reviews(LENA)
    assert review.question == (
        "Are these one person: Anna, Lena's sibling, and Anna, Lena's colleague?"
    )
    texts = [sister.get(LENA, key).value["text"] for key in review.memories]
    assert texts == ["Anna is Lena's colleague.", "Anna is Lena's sister."]
    assert {facts(sister)[f"Anna lives in {city}."] for city in ("Bonn", "Rome")} == {"active"}
    done = sister.changes.decide(review.id, "same")
    [anna] = [one for one in sister.graph(LENA).entities() if one.name == "Anna"]
    assert {edge.relation for edge in sister.graph(LENA).edges(anna.key)} >= {
        "sibling_of", "colleague_of",
    }  # fmt: skip
    sister.changes.undo(done.run_id)
    assert [one.name for one in sister.graph(LENA).entities()].count("Anna") == 2
    assert [one.id for one in sister.changes.reviews(LENA)] == [review.id]
    sister.changes.decide(review.id, "different")
    assert [one.name for one in sister.graph(LENA).entities()].count("Anna") == 2


def test_a_question_tells_nobody_what_is_private(tmp_path: Path) -> None:
    """Who two of one name are is asked only of those who may read what says so."""
    with MemoryStore(tmp_path / "memory.db") as store:
        said(store, "Anna lives in Bonn. She is my sister.", owner="lena")
        reflect(store, answer(IN_BONN, {**SISTER, "privacy": "private"}))
        said(store, "My colleague Anna lives in Rome.", at="2026-07-01", owner="lena")
        reflect(store, answer(COLLEAGUE, IN_ROME), names("unsure"))
        assert facts(store)["Anna lives in Bonn."] == "active"
        assert [one.about for one in store.for_viewer("lena").changes.reviews(LENA)] == ["entity"]
        assert store.for_viewer("ben").changes.reviews(LENA) == []
