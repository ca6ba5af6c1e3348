from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from langmemory.cli.app import app
from langmemory.parts.evals import SAMPLE
from tests.seeds import seeds


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["eval", *arguments])


@pytest.mark.thorough
def test_the_command_evaluates_the_sample_and_writes_json(tmp_path: Path) -> None:
    """Without data it runs what is shipped, with every system, and the file is whole."""
    result = _run(
        *("--split", "garden", "--ablate", "--rankings"),
        *("--json", str(tmp_path / "out.json")),
    )
    assert result.exit_code == 0, result.output
    report = json.loads((tmp_path / "out.json").read_text())
    names = [system["name"] for system in report["systems"]]
    assert names == [
        *("balanced", "with facts", "no embedder", "store.search", "keyword arm"),
        "semantic arm",
        *("InMemoryStore", "SqliteStore"),
    ]
    assert report["systems"][0]["groups"][0]["metrics"]["recall@10"]["value"] == 1.0
    assert len(report["systems"][0]["outcomes"]) == 8
    assert {"keyword", "dense"} <= {ablation["name"] for ablation in report["ablations"]}
    assert "Ablation: balanced without" in result.output


def test_a_preset_of_the_configuration_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its name, with what it changes, also with its stages off; and an own form of a built-in one."""
    config = tmp_path / "memory.json"
    presets = {"narrow": {"depth": 1, "second_look": 0}, "fast": {"depth": 3}}
    config.write_text(json.dumps({"recall": {"presets": presets}}))
    monkeypatch.setenv("LANGMEMORY_CONFIG", str(config))
    out = tmp_path / "out.json"
    result = _run(
        *("--system", "langmemory", "--preset", "narrow", "--preset", "fast", "--ablate"),
        *("--json", str(out)),
    )
    assert result.exit_code == 0, result.output
    report = json.loads(out.read_text())
    assert [one["name"] for one in report["systems"]] == ["narrow", "fast"]
    stages = {one["name"] for one in report["ablations"]}
    assert "keyword" in stages
    assert "second_look" not in stages


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--split", "nowhere"), "nowhere"),
        (("--preset", "swift"), "swift"),
        (("--system", "Chroma"), "Invalid value for '--system': 'Chroma' is not one of"),
        (("--granularity", "word"), "'--granularity': 'word' is not one of 'turn', 'session'."),
        (("--system", "sqlite", "--ablate"), "langmemory first"),
        (("gone.json",), "gone"),
        (("--json", "nofolder/out.json"), "nofolder"),
        (("--json", "."), "is no report of an evaluation"),
        (("--rankings",), "name a file with --json"),
    ],
)
def test_wrong_options_are_refused_by_name(arguments: tuple[str, ...], complaint: str) -> None:
    """An unknown conversation, preset or file ends the command before anything runs."""
    result = _run(*arguments)
    assert result.exit_code == 2
    assert complaint in " ".join(result.output.replace("│", " ").split())


def test_asked_before_is_beside_asked_once(tmp_path: Path) -> None:
    """`--asked-before` adds a column; the JSON has the figures of both."""
    result = _run(
        *("--system", "no-embedder", "--asked-before"),
        *("--json", str(tmp_path / "out.json")),
    )
    assert result.exit_code == 0, result.output
    once, again = json.loads((tmp_path / "out.json").read_text())["systems"]
    assert (once["name"], again["name"]) == ("no embedder", "no embedder, asked before")
    for system in (once, again):
        assert system["prompts"]["prompts"] == {"answerable": 7}
        assert 0 < system["prompts"]["precision"] <= 1


def test_data_named_as_json_is_not_written_over(tmp_path: Path) -> None:
    """Elsewhere `--json` is a switch; a report of before is replaced, anything else is kept."""
    data = tmp_path / "data.jsonl"
    data.write_text(SAMPLE.read_text(encoding="utf-8"), encoding="utf-8")
    result = _run("--json", str(data))
    assert result.exit_code == 2
    assert data.read_text(encoding="utf-8") == SAMPLE.read_text(encoding="utf-8")
    for _ in range(2):
        written = _run("--system", "keyword", "--json", str(tmp_path / "out.json"))
        assert written.exit_code == 0, written.output


def test_a_data_set_of_which_nothing_can_be_asked_is_reported_whole(tmp_path: Path) -> None:
    """Without a question that has evidence there is nothing to time, and the JSON says so."""
    data = tmp_path / "data.jsonl"
    data.write_text(
        '{"session": "s", "turns": [{"id": "a", "text": "kites"}]}\n'
        '{"question": "kites?", "evidence": ["gone"]}\n'
    )
    result = _run(str(data), "--system", "keyword", "--json", str(tmp_path / "out.json"))
    assert result.exit_code == 0, result.output
    (system,) = json.loads((tmp_path / "out.json").read_text())["systems"]
    assert (system["groups"], system["timing"]["p50_ms"]) == ([], None)


@pytest.mark.parametrize("columns", seeds([30, 80], first=1))
def test_no_figure_is_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    """All systems, with three presets and a long category: each line has a figure of each of them,
    whole, on a narrow terminal and in a pipe."""
    monkeypatch.setenv("COLUMNS", str(columns))
    category = "single-session-preference-of-the-user"
    data = tmp_path / "data.jsonl"
    data.write_text(
        '{"session": "s", "turns": [{"id": "a", "text": "kites"}, {"id": "b", "text": "boats"}]}\n'
        f'{{"question": "kites?", "evidence": ["a"], "category": "{category}"}}\n'
    )
    presets = [word for name in ("fast", "balanced", "thorough") for word in ("--preset", name)]
    result = _run(str(data), *presets)
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert [line.split()[1:] for line in lines if line.split()[:1] == [category]] == [
        ["1", *["1.00"] * 10]
    ] * 2
    pooled = next(line for line in lines if line.split()[:1] == ["thorough"])
    assert pooled.split()[1:8] == [*["1.00"] * 6, "1.00–1.00"]


def test_names_in_brackets_are_shown_as_they_are(tmp_path: Path) -> None:
    """A category or a conversation of a data set is no markup of the table."""
    lines = [
        {"conversation": "[/red]", "session": "s", "turns": [{"id": "a", "text": "kites"}]},
        {"conversation": "b", "session": "s", "turns": [{"id": "a", "text": "boats"}]},
        {"conversation": "[/red]", "question": "kites", "evidence": ["a"], "category": "[/x]"},
        {"conversation": "b", "question": "boats", "evidence": ["a"], "category": "[red]"},
    ]
    data = tmp_path / "data.jsonl"
    data.write_text("\n".join(map(json.dumps, lines)))
    result = _run(str(data), "--system", "langmemory", "--split", "[/red]")
    assert result.exit_code == 0, result.output
    for name in ("[/red]", "[/x]", "[red]"):
        assert name in result.output
