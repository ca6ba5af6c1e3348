"""doctor: every line true, every failure with its cure."""

from __future__ import annotations

import json
import os
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from langmemory import MemoryStore, build_reflection_graph
from langmemory.engines.sqlite import Engine
from langmemory.formation.extraction.small import PROMPTS
from langmemory.ledger.settings import note_remaining
from tests.cli.conftest import copied
from tests.cli.place import SAMPLE, Configure, Run
from tests.ollama_server import OllamaServer
from tests.scripted import ScriptedModel

pytestmark = pytest.mark.sqlite("reports on a file; test_doctor_server.py on a server")


def checks(run: Run) -> dict[str, tuple[str, str]]:
    """State and advice by what was checked."""
    found = json.loads(run("doctor", "--json").stdout)
    return {check["what"]: (check["state"], check["advice"]) for check in found}


def test_all_is_well_on_a_healthy_file(filled: Run) -> None:
    """On a healthy file, without Ollama, nothing fails and the exit code is 0."""
    result = filled("doctor")
    assert result.exit_code == 0
    assert "fail" not in result.stdout
    for what in ("Python", "SQLite", "FTS5", "sqlite-vec", "memory file", "embedder", "Ollama"):
        assert what in result.stdout


@pytest.mark.parametrize("version", ["3.42.0", "3.51.2", "3.52.0"])
def test_a_sqlite_that_loses_rows_fails(
    run: Run, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    """An SQLite older than is required is a failure with its cure: those from 3.51 on leave out
    results of some filters."""
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: version)
    assert checks(run)["SQLite"] == ("fail", "pip install -U 'apsw>=3.53'")
    assert run("doctor").exit_code == 1


def test_a_package_of_the_same_name_fails(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index has another `langmemory`, whose files lie where ours do: its version, its place and the way
    out are told."""
    other = tmp_path / "langmemory-9.9.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: langmemory\nVersion: 9.9\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    state, advice = checks(run)["package"]
    assert state == "fail"
    assert advice.startswith("pip uninstall langmemory, then install this one again")
    assert f"langmemory 9.9 of somebody else, in {tmp_path}" in run("doctor", "--json").stdout


def test_an_interrupted_forgetting_is_told_and_then_finished(filled: Run) -> None:
    """A file whose last forgetting was killed says so once: to open it, as the doctor does, is what
    finishes it."""
    with closing(Engine("memory.db")) as engine, engine.write() as connection:
        note_remaining(connection, "file")
    assert checks(filled)["forgetting"][0] == "warn"
    assert "forgetting" not in checks(filled)


def test_a_missing_file_is_a_warning_and_is_not_created(run: Run) -> None:
    """Before the first import the file is not there, which is no failure."""
    assert checks(run)["memory file"][0] == "warn"
    assert not Path("memory.db").exists()


def test_a_file_that_is_no_database_fails(run: Run) -> None:
    """A file of another kind is named, left as it is, and the exit code is 1."""
    Path("memory.db").write_text("Dear diary" * 1000)
    assert checks(run)["memory file"][0] == "fail"
    assert run("doctor").exit_code == 1
    assert Path("memory.db").read_text().startswith("Dear diary")


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM vector WHERE id = (SELECT min(id) FROM vector)",
        "DELETE FROM keyword WHERE rowid = (SELECT min(id) FROM item)",
        "DELETE FROM item WHERE id = (SELECT min(id) FROM item)",
    ],
)
def test_rows_that_do_not_agree_are_found(filled: Run, damage: str) -> None:
    """A lost vector, a lost keyword row or an orphan is a failure that names the cure."""
    connection = apsw.Connection("memory.db")
    connection.execute(damage)
    connection.close()
    state, advice = checks(filled)["consistency"]
    assert state == "fail"
    assert "langmemory export" in advice


def test_another_model_in_the_file_is_a_failure_with_its_cure(
    filled: Run, configure: Configure
) -> None:
    """The configured embedder must be the file's; the cure is reembed."""
    configure(embedding="mock")
    state, advice = checks(filled)["embedder"]
    assert state == "fail"
    assert "langmemory reembed" in advice


def test_a_configured_model_must_be_in_ollama(
    run: Run, ollama: OllamaServer, configure: Configure
) -> None:
    """A configured model that Ollama lacks is a failure with the command that pulls it, for every
    use of the model, and also when two keys name the same model."""
    configure(
        fast="ollama:llama-test",
        expand="ollama:llama-test",
        deep="ollama:big-one:70b",
        rerank="ollama:big-one:70b",
    )
    found = checks(run)
    for key in ("fast", "expand"):
        assert found[f"models.{key}"] == ("ok", "")
    for key in ("deep", "rerank"):
        assert found[f"models.{key}"] == ("fail", "ollama pull big-one:70b")


def test_a_chat_model_that_cannot_be_made_is_a_failure(run: Run, configure: Configure) -> None:
    """A provider that does not exist is found before the first chat, and named with its key."""
    configure(fast="nosuch:model")
    assert checks(run)["models.fast"][0] == "fail"
    assert run("doctor").exit_code == 1


def test_a_model_that_changed_its_dimensions_is_a_failure_with_its_cure(
    run: Run, ollama: OllamaServer, configure: Configure
) -> None:
    """A model of the same name whose vectors have another length does not go with the file."""
    configure(embedding="ollama:llama-test")
    run("import", str(SAMPLE))
    assert checks(run)["embedder"] == ("ok", "")
    ollama.dims = 24
    assert checks(run)["embedder"] == ("fail", "langmemory reembed")
    run("reembed")
    assert checks(run)["embedder"] == ("ok", "")


def test_an_embedding_model_that_does_not_answer_is_one_failing_line(
    filled: Run, configure: Configure
) -> None:
    """With Ollama down, the report is whole and says what to start."""
    configure(embedding="ollama:bge-m3")
    found = checks(lambda *words: filled(*words, "--db", "new.db"))
    assert found["embedder"][0] == "fail"
    assert found["Ollama"][0] == "fail"
    failed = filled("doctor", "--db", "new.db").stdout
    assert "Start Ollama" in " ".join(failed.split())


def test_a_damaged_file_comes_with_what_to_do(filled: Run) -> None:
    """Who asks the doctor about a damaged file is not sent to the doctor."""
    os.truncate("memory.db", 100_000)
    state, advice = checks(filled)["memory file"]
    assert (state, "Restore a backup" in advice) == ("fail", True)
    said = " ".join(filled("doctor").stdout.split())
    assert "doctor --rescue FILE" in said
    assert "Run `langmemory doctor`" not in said


def test_a_folder_that_is_not_there_fails(run: Run) -> None:
    """A path that no application could open is a failure, with the command that helps."""
    found = checks(lambda *words: run(*words, "--db", "data/memory.db"))
    assert found["memory file"] == ("fail", "mkdir -p data")


def test_ollama_is_needed_only_if_configured(run: Run, configure: Configure) -> None:
    """No answer from Ollama is fine until a setting needs it."""
    assert checks(run)["Ollama"][0] == "ok"
    configure(fast="ollama:llama-test")
    assert checks(run)["Ollama"][0] == "fail"


def test_a_wrong_configuration_is_one_failing_line(run: Run, configure: Configure) -> None:
    """A mistake in the configuration is reported as a check, with the key."""
    configure(embeding="static")
    result = run("doctor")
    assert result.exit_code == 1
    assert "embeding" in result.stdout


@pytest.mark.parametrize("body", ["<html>a router</html>", "[]", "{}", '{"models": null}'])
def test_what_answers_in_ollamas_place_does_not_end_the_report(
    run: Run, configure: Configure, monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    """Another server at the address, or an address that is none, is one line, and the rest is told."""
    configure(fast="ollama:llama-test")
    with OllamaServer() as server:
        server.tags = body.encode()
        monkeypatch.setenv("OLLAMA_URL", server.url)
        assert checks(run)["Ollama"][0] == "fail"
    for url in ("http://[::1", "http://127.0.0.1:99999"):
        monkeypatch.setenv("OLLAMA_URL", url)
        assert checks(run)["Ollama"] == (
            "fail",
            "Start it with `ollama serve`; models.fast needs it.",
        )


def test_an_archive_file_that_nothing_moved_to_is_not_told_of(
    filled: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Doctor says nothing of an archive before the first move, and makes no file; the memory file itself is
    refused as its own archive."""
    monkeypatch.setenv("MEMORY_ARCHIVE_DB_PATH", "archive.db")
    assert "archive" not in checks(filled)
    assert not Path("archive.db").exists()
    monkeypatch.setenv("MEMORY_ARCHIVE_DB_PATH", "memory.db")
    assert checks(filled)["archive"][0] == "fail"


def test_a_journal_that_cannot_be_written_is_told(filled: Run, tmp_path: Path) -> None:
    """A folder of the journal that is none is a warning; one that is to be made is well."""
    settings = Path("config/memory.json")
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(json.dumps({"journal": {"path": "pages/of/mine"}}))
    assert checks(filled)["journal"] == ("ok", "")
    Path("pages").write_text("a file")
    state, advice = checks(filled)["journal"]
    assert (state, "journal.path" in advice) == ("warn", True)


def test_a_preset_that_there_is_not_is_a_mistake_in_the_configuration(filled: Run) -> None:
    """Doctor reports configuration errors that appear only when a store opens."""
    settings = Path("config/memory.json")
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(json.dumps({"recall": {"preset": "quick"}}))
    report = json.loads(filled("doctor", "--json").stdout)
    [wrong] = [check for check in report if check["state"] == "fail"]
    assert wrong["what"] == "configuration"
    assert "preset 'quick'" in wrong["found"]


def test_a_rule_of_the_lifecycle_that_cannot_fire_is_told(
    filled: Run, reflected_file: Path, tmp_path: Path
) -> None:
    """Where facts are there and nothing was cited, the doctor says that unused memories are not known."""
    assert "lifecycle" not in checks(filled), "nothing was derived yet"
    copied(reflected_file, tmp_path / "memory.db")
    state, advice = checks(filled)["lifecycle"]
    assert state == "warn"
    assert "count_usage" in advice


def test_a_model_that_is_not_understood_is_told(run: Run, tmp_path: Path) -> None:
    """Where reflections could not use their model's answers, the doctor says so and what to do."""
    with MemoryStore(tmp_path / "memory.db") as store:
        said = [{"role": "user", "name": "Lena", "content": "I live in Kiel."}]
        store.remember(("memories", "lena"), said, thread_id="t")
        graph = build_reflection_graph(store, model=ScriptedModel(otherwise="Kiel Kiel"))
        graph.invoke({"namespace": ["memories", "lena"]})
    state, advice = checks(run)["reflection"]
    assert state == "warn"
    assert "doctor --model" in advice


def test_runs_tell_what_was_left_out(run: Run, tmp_path: Path) -> None:
    """How much of a model's notes nobody said, and why, stands beside what a run learned."""
    with MemoryStore(tmp_path / "memory.db") as store:
        said = [{"role": "user", "name": "Lena", "content": "I live in Kiel."}]
        store.remember(("memories", "lena"), said, thread_id="t")
        texts = ("Lena hates herring.", "Lena has 12 boats in Kiel.", "I live in Kiel.")
        notes = [{"text": text, "evidence": ["t1"], "kind": "fact", "claims": []} for text in texts]
        answer = json.dumps({"facts": notes, "summary": {"text": ""}})
        graph = build_reflection_graph(store, model=ScriptedModel(otherwise=answer))
        graph.invoke({"namespace": ["memories", "lena"]})
    shown = " ".join(run("runs").stdout.split())
    assert "3 left out (2 no person said so, 1 in the first person)" in shown


def test_a_model_is_measured_once(
    run: Run, tmp_path: Path, configure: Configure, ollama: OllamaServer
) -> None:
    """What the model can follow stands beside the configuration afterwards."""
    configure(fast="ollama:llama-test")
    ollama.always("nothing that helps")
    found = run("doctor", "--model", "ollama:llama-test", "--json")
    assert found.exit_code == 0, found.output
    told = {check["what"]: check["found"] for check in json.loads(found.stdout)}
    assert [*told] == ["form full", "form small", "ollama:llama-test"]
    wanted = sum(len(trial.tells) for one in PROMPTS.values() for trial in one.trials)
    assert f"0 of {wanted} notes made" in told["form small"]
    forms = json.loads((tmp_path / "config" / "models.json").read_text())
    assert forms == {"ollama:llama-test": "none"}
    assert run("doctor", "--model", "nobody:tiny").exit_code == 1


def test_the_doctor_keeps_a_head(filled: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a key it says how to make one; with one it writes the head, compares it, and leaves it as it is
    where something differs."""
    assert "LANGMEMORY_HEAD_KEY" in filled("doctor", "--head", "head").output
    assert not Path("head").exists()
    monkeypatch.setenv("LANGMEMORY_HEAD_KEY", "k" * 32)
    assert filled("doctor", "--head", "head").exit_code == 0
    before = json.loads(Path("head").read_text("utf-8"))
    assert filled("doctor", "--head", "head").exit_code == 0
    after = json.loads(Path("head").read_text("utf-8"))
    assert after["previous"] == before["seal"]
    with MemoryStore("memory.db", index=False) as store, store._core.engine.write() as connection:
        connection.execute("UPDATE item SET privacy = 'public', owner = 'eve'")
    result = filled("doctor", "--head", "head")
    assert result.exit_code == 1
    assert "without a record" in " ".join(result.output.split())
    assert json.loads(Path("head").read_text("utf-8")) == after
