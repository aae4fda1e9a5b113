"""Tests of files that a later call continues or replaces."""
from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tarfile
import time
from collections import Counter
from pathlib import Path
from typing import Any, Iterator, List

import pytest

import thumbs
import thumbs.webdataset

pytest.importorskip("pyarrow")
import pyarrow.dataset  # noqa: E402

import thumbs.parquet  # noqa: E402

pytestmark = pytest.mark.usefixtures("stand_in")
HERE = Path(__file__).resolve().parent
KILLS = int(os.environ.get("THUMBS_CONTINUE_KILLS", "5"))


def rows(count: int) -> List[Any]:
    return [{"url": f"http://a.example/{number}{'-missing' if number % 10 == 3 else ''}.jpg", "n": number}
            for number in range(count)]


ROWS = rows(400)
MODULES = pytest.mark.parametrize("module", ["webdataset", "parquet"])


def write(module: str, rows: Any, folder: Path, mode: str = "error", **options: Any) -> thumbs.Counters:
    call: Any = getattr(thumbs, module).write
    counters: thumbs.Counters = call(thumbs.run(rows, **options), folder, mode=mode, shard_rows=30)
    return counters


def indices(module: str, folder: Path, is_killed: bool = False) -> List[int]:
    """Returns the rows in the files, and checks their thumbnails. A call that was killed may leave a tar file without
    its lines, which the next call replaces."""
    if module == "parquet":
        files = [str(path) for path in folder.glob("part-*.parquet")]
        rows = pyarrow.dataset.dataset(files).to_table().to_pylist()
        assert all(row["n"] == row["index"] for row in rows)
        assert all(row["thumbnail"] == (row["url"].encode() if row["status"] == "ok" else None) for row in rows)
        return [row["index"] for row in rows]
    lines = [json.loads(line) for path in folder.glob("*.jsonl") for line in path.read_text().splitlines()]
    samples = []
    for path in folder.glob("*.tar"):
        with tarfile.open(path) as archive:
            samples += [int(name[:9]) for name in archive.getnames() if name.endswith(".jpg")]
    listed = [line["index"] for line in lines if line["status"] == "ok"]
    assert not Counter(listed) - Counter(samples)
    assert is_killed or sorted(samples) == sorted(listed)
    return [line["index"] for line in lines]


def fetched(log: Path) -> Counter[str]:
    return Counter(log.read_text().split()) if log.exists() else Counter()


@MODULES
def test_a_call_that_continues_fetches_only_the_other_rows(module: str, tmp_path: Path) -> None:
    log, folder = tmp_path / "log", tmp_path / "out"
    write(module, ROWS[:100], folder, log=log)
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    counters = write(module, ROWS, folder, "continue", log=log)
    assert counters.rows == 300
    assert sorted(indices(module, folder)) == list(range(400))
    assert set(fetched(log).values()) == {1} and len(fetched(log)) == 400
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert write(module, ROWS, folder, "continue", log=log).rows == 0
    assert len(fetched(log)) == 400


@MODULES
@pytest.mark.parametrize("earlier", [False, True])
def test_a_directory_without_rows_can_be_continued(module: str, earlier: bool, tmp_path: Path) -> None:
    if earlier:
        write(module, [], tmp_path / "out")
    write(module, ROWS[:50], tmp_path / "out", "continue")
    assert sorted(indices(module, tmp_path / "out")) == list(range(50))


@MODULES
def test_results_that_were_fetched_already_are_left_out_too(module: str, tmp_path: Path) -> None:
    folder, results = tmp_path / "out", list(thumbs.run(ROWS))
    call: Any = getattr(thumbs, module).write
    call(results[:100], folder)
    assert call(results, folder, mode="continue").rows == 300
    assert sorted(indices(module, folder)) == list(range(400))


@MODULES
def test_other_rows_cannot_continue(module: str, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    write(module, ROWS[:50], folder)
    with pytest.raises(ValueError, match="Row 0 has another URL.*same rows"):
        write(module, ROWS[1:], folder, "continue")
    assert sorted(indices(module, folder)) == list(range(50))


def test_other_sizes_cannot_continue_a_table(tmp_path: Path) -> None:
    write("parquet", ROWS[:50], tmp_path / "out")
    with pytest.raises(ValueError, match="other columns.*same sizes"):
        thumbs.parquet.write(thumbs.run(ROWS), tmp_path / "out", sizes=[8, 16], mode="continue")


def test_a_column_of_several_types_continues_as_json(tmp_path: Path) -> None:
    rows = [{**row, "mixed": "x" if index % 2 else index} for index, row in enumerate(ROWS)]
    write("parquet", rows[:50], tmp_path / "out")
    write("parquet", rows, tmp_path / "out", "continue")
    found = pyarrow.dataset.dataset(tmp_path / "out").to_table().sort_by("index")["mixed"].to_pylist()
    assert [json.loads(value) for value in found] == [row["mixed"] for row in rows]


@MODULES
def test_overwriting_replaces_the_files_only_at_the_end(module: str, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    write(module, ROWS[:50], folder)

    def checking() -> Iterator[Any]:
        yield from ROWS[:100]
        assert sorted(indices(module, folder)) == list(range(50))

    write(module, checking(), folder, "overwrite")
    assert sorted(indices(module, folder)) == list(range(100))
    with pytest.raises(thumbs.UsageError):
        write(module, ROWS, folder, "overwrite", colour="blue")
    assert sorted(indices(module, folder)) == list(range(100))
    assert [path.name for path in tmp_path.iterdir() if "unfinished" in path.name] == []


@MODULES
def test_what_a_killed_call_left_next_to_the_directory_is_removed(module: str, tmp_path: Path) -> None:
    write(module, ROWS[:50], tmp_path / "out")
    left, other = tmp_path / f".out.{'a' * 32}.unfinished", tmp_path / ".out.mine.unfinished"
    for folder in (left, other):
        folder.mkdir()
        (folder / "00000.tar").write_text("x")
    write(module, ROWS[:60], tmp_path / "out", "overwrite")
    assert (left.exists(), other.exists()) == (False, True)


def test_a_file_system_that_cannot_exchange_directories_renames_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("thumbs._files._RENAME_EXCHANGE", 1 << 20)
    write("parquet", ROWS[:50], tmp_path / "out")
    write("parquet", ROWS[:60], tmp_path / "out", "overwrite")
    assert sorted(indices("parquet", tmp_path / "out")) == list(range(60))
    assert [path.name for path in tmp_path.iterdir() if "unfinished" in path.name] == []


@MODULES
def test_a_directory_with_other_files_is_not_overwritten(module: str, tmp_path: Path) -> None:
    write(module, ROWS[:50], tmp_path / "out")
    (tmp_path / "out/thesis.txt").write_text("x")
    with pytest.raises(FileExistsError, match="thesis.txt"):
        write(module, ROWS[:50], tmp_path / "out", "overwrite")
    assert sorted(indices(module, tmp_path / "out")) == list(range(50))


@MODULES
def test_an_unknown_mode_raises(module: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="mode is 'append'"):
        write(module, ROWS, tmp_path / "out", "append")


SCRIPT = """
import sys
sys.path.insert(0, sys.argv[4])
import test_continue
rows = test_continue.rows(200 * test_continue.KILLS)
test_continue.write(sys.argv[1], rows, test_continue.Path(sys.argv[2]), "continue", delay=0.002,
                    log=sys.argv[3])
"""


@MODULES
def test_after_kills_at_any_moment_each_row_is_there_once(module: str, tmp_path: Path) -> None:
    folder, log, moments = tmp_path / "out", tmp_path / "log", random.Random(7)
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent)}
    for _ in range(KILLS):
        process = subprocess.Popen([sys.executable, "-c", SCRIPT, module, str(folder), str(log), str(HERE)],
                                   env=environment)
        begun = time.monotonic()
        while not folder.exists() and process.poll() is None and time.monotonic() - begun < 60:
            time.sleep(0.01)
        time.sleep(moments.random())
        process.send_signal(signal.SIGKILL)
        process.wait()
    count = 200 * KILLS
    # Otherwise, the kills came too late.
    assert 0 < len(indices(module, folder, is_killed=True)) < count
    write(module, rows(count), folder, "continue", log=log)
    assert sorted(indices(module, folder)) == list(range(count))
    assert not any("unfinished" in name for name in os.listdir(folder))
    # Only the rows of unfinished shards are fetched again.
    assert sum(fetched(log).values()) <= count + KILLS * 150
