"""How long reading a folder takes, and what the process holds in memory meanwhile.

    python -m benchmarks.reading FOLDER [--write MEGABYTES] [--database FILE]

Reads FOLDER into a new database, once more, and asks twelve questions of it, opened again. With --write it
first writes so much text there: Markdown of sentences of a seeded grammar, the same for the same number.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import median

from benchmarks.corpus import Corpus
from langmemory import MemoryStore

FILE_BYTES = 120_000
SENTENCES = 100_000
"""Of which the files are made; a file draws its own of them, so that hardly two parts are alike."""
QUESTIONS = 12
SAMPLED_SECONDS = 10.0


def write(folder: Path, megabytes: int) -> int:
    """Write files of some 120 kB until there are so many megabytes; how many files."""
    corpus = Corpus(7)
    sentences = [corpus.fact(number).text for number in range(SENTENCES)]
    chosen = random.Random(7)
    written = files = 0
    while written < megabytes * 1_000_000:
        parts, length = [f"# Record {files}\n"], 0
        while length < FILE_BYTES:
            body = " ".join(chosen.choices(sentences, k=chosen.randrange(5, 20)))
            parts.append(f"\n## Part {len(parts)}\n\n{body}\n")
            length += len(parts[-1])
        path = folder / f"{files // 100:03}" / f"record-{files:05}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        written += path.write_bytes("".join(parts).encode())
        files += 1
    return files


def memory() -> dict[str, int]:
    """Return what the process holds in memory, in megabytes: most, now, and how much of it is anonymous."""
    about = Path("/proc/self/status")
    lines = about.read_text().splitlines() if about.exists() else []
    named = dict(line.split(":", 1) for line in lines)
    return {name: int(named[name].split()[0]) // 1000 for name in ("VmHWM", "VmRSS", "RssAnon")}


def sampled(done: list[str], stop: threading.Event) -> None:
    """Print the memory and the progress from time to time."""
    start = time.perf_counter()
    while not stop.wait(SAMPLED_SECONDS):
        elapsed, used = time.perf_counter() - start, time.process_time()
        print(f"{elapsed:7.0f} s, {used:7.1f} s of CPU, {done[-1]}: {memory()}", flush=True)


def read(folder: Path, database: str) -> None:
    """Read a folder twice; the second time nothing has changed."""
    done = ["begins"]
    stop = threading.Event()
    sampler = threading.Thread(target=sampled, args=(done, stop), daemon=True)
    sampler.start()
    with MemoryStore(database) as store:
        for _ in range(2):
            start, used = time.perf_counter(), time.process_time()
            found = store.documents.add(
                folder, progress=lambda n, of, _: done.append(f"{n} of {of}")
            )
            print(
                f"{len(found.added)} files, {found.chunks} parts, {found.unchanged} unchanged, "
                f"{len(found.failed)} failed: {time.perf_counter() - start:.1f} s, "
                f"{time.process_time() - used:.1f} s of CPU, {memory()}", flush=True,
            )  # fmt: skip
    stop.set()


def ask(folder: Path, database: str) -> None:
    """Ask for words of some of the files."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    chosen = random.Random(3)
    with MemoryStore(database) as store:
        start = time.perf_counter()
        listed = len(store.documents.list())
        print(f"{listed} listed: {time.perf_counter() - start:.1f} s, {memory()}", flush=True)
        took, used = list[float](), list[float]()
        for path in chosen.sample(paths, min(QUESTIONS, len(paths))):
            words = path.read_text("utf-8", "replace").split()
            begin = chosen.randrange(max(len(words) - 8, 1))
            start, cpu = time.perf_counter(), time.process_time()
            found = store.recall(" ".join(words[begin : begin + 8]), ("documents",))
            took.append(time.perf_counter() - start)
            used.append(time.process_time() - cpu)
            print(f"{took[-1] * 1000:.0f} ms, {len(found.results)} found, {memory()}", flush=True)
        print(
            f"recall: {median(took) * 1000:.1f} ms, {median(used) * 1000:.1f} ms of CPU (medians)"
        )


def main() -> None:
    """Run the parts, each in a process of its own."""
    parser = argparse.ArgumentParser(prog="benchmarks.reading")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", type=int, default=0, metavar="MEGABYTES")
    parser.add_argument("--database")
    parser.add_argument("--only", choices=("read", "ask"))
    arguments = parser.parse_args()
    if arguments.only:
        {"read": read, "ask": ask}[arguments.only](arguments.folder, arguments.database)
        return
    if arguments.write:
        print(f"{write(arguments.folder, arguments.write)} files written", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        database = arguments.database or str(Path(folder) / "memory.db")
        for only in ("read", "ask"):
            print(f"load {os.getloadavg()[0]:.1f}", flush=True)
            command = [sys.executable, "-m", "benchmarks.reading", str(arguments.folder)]
            subprocess.run([*command, "--only", only, "--database", database], check=True)


if __name__ == "__main__":
    main()
