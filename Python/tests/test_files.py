"""Tests of the files that `thumbs.parquet` and `thumbs.webdataset` write."""
from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any, List, Set

import pytest
from support import wait_until

import thumbs
import thumbs.webdataset

pytestmark = pytest.mark.usefixtures("stand_in")
HERE = Path(__file__).resolve().parent
URLS = [f"http://a.example/{number}{'-missing' if number % 10 == 3 else ''}.jpg" for number in range(200)]


def members(folder: Path) -> List[str]:
    names = []
    for path in sorted(folder.glob("*.tar")):
        with tarfile.open(path) as archive:
            names += archive.getnames()
    return names


def test_a_webdataset_has_a_sample_per_thumbnail_and_a_line_per_failure(tmp_path: Path) -> None:
    counters = thumbs.webdataset.write(thumbs.run(URLS), tmp_path / "set", shard_rows=50)
    assert (counters.ok, counters.failed) == (180, 20)
    assert sorted(os.listdir(tmp_path / "set")) == ["00000.tar", "00001.tar", "00002.tar", "00003.tar", "failed.jsonl"]
    expected = {f"{number:09}.{kind}" for number in range(200) if number % 10 != 3 for kind in ("jpg", "json")}
    assert len(members(tmp_path / "set")) == 360 and set(members(tmp_path / "set")) == expected
    lines = [json.loads(line) for line in (tmp_path / "set/failed.jsonl").read_text().splitlines()]
    assert {line["index"] for line in lines} == {number for number in range(200) if number % 10 == 3}
    assert {line["code"] for line in lines} == {"http_404"}


def test_a_sample_has_the_thumbnail_and_the_row(tmp_path: Path) -> None:
    thumbs.webdataset.write(thumbs.run([{"url": URLS[0], "caption": "A dune", "date": Path("x")}]), tmp_path / "set")
    with tarfile.open(tmp_path / "set/00000.tar") as archive:
        image, description = [archive.extractfile(name) for name in ("000000000.jpg", "000000000.json")]
        assert image and image.read() == URLS[0].encode()
        assert description and json.load(description)["row"] == {"url": URLS[0], "caption": "A dune", "date": "x"}


def test_a_shard_ends_at_its_number_of_bytes(tmp_path: Path) -> None:
    thumbs.webdataset.write(thumbs.run(URLS), tmp_path / "set", shard_bytes=1000)
    assert len(list((tmp_path / "set").glob("*.tar"))) > 3
    assert len(members(tmp_path / "set")) == 360


def test_the_package_webdataset_reads_the_files(tmp_path: Path) -> None:
    webdataset = pytest.importorskip("webdataset")
    thumbs.webdataset.write(thumbs.run(URLS), tmp_path / "set", shard_rows=100)
    files = [str(path) for path in sorted((tmp_path / "set").glob("*.tar"))]
    samples = list(webdataset.WebDataset(files, shardshuffle=False))
    assert len(samples) == 180 and all(set(sample) >= {"__key__", "jpg", "json"} for sample in samples)


def test_parquet_files_have_every_row(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    import pyarrow.dataset

    import thumbs.parquet

    counters = thumbs.parquet.write(thumbs.run(URLS), tmp_path / "table", shard_rows=70)
    assert counters.rows == 200
    assert sorted(os.listdir(tmp_path / "table")) == [f"part-0000{number}.parquet" for number in range(3)]
    rows = pyarrow.dataset.dataset(tmp_path / "table").to_table().to_pylist()
    assert {row["url"] for row in rows} == set(URLS) and len(rows) == 200
    assert all(row["thumbnail"] == (row["url"].encode() if row["status"] == "ok" else None) for row in rows)
    assert list(rows[0]) == ["url", "status", "code", "retryable", "http", "final_url", "origin", "width", "height",
                             "format", "bytes", "thumbnail", "attempts", "ms"]


def test_several_sizes_are_a_list_in_parquet(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    import pyarrow.dataset

    import thumbs.parquet

    thumbs.parquet.write(thumbs.run(URLS[:1], sizes=[8, 16]), tmp_path / "table", sizes=[8, 16])
    [row] = pyarrow.dataset.dataset(tmp_path / "table").to_table().to_pylist()
    assert row["thumbnails"] == [
        {"spec": "256x256", "width": 256, "height": 192, "format": "jpeg", "data": URLS[0].encode()}]


@pytest.mark.parametrize("module", ["webdataset", "parquet"])
def test_earlier_files_are_not_replaced(module: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    import thumbs.parquet

    write: Any = getattr(thumbs, module).write
    write(thumbs.run(URLS[:3]), tmp_path)
    with pytest.raises(FileExistsError):
        write(thumbs.run(URLS[:3]), tmp_path)


@pytest.mark.parametrize("module", ["webdataset", "parquet"])
def test_an_error_leaves_no_unfinished_file(module: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    import thumbs.parquet

    with pytest.raises(thumbs.ProtocolError):
        getattr(thumbs, module).write(thumbs.run(URLS, trailer="missing"), tmp_path / "out", shard_rows=150)
    assert len(os.listdir(tmp_path / "out")) == 1


WRITE = """
import sys, itertools, thumbs, thumbs.parquet, thumbs.webdataset
urls = (f"http://a.example/{number}.jpg" for number in itertools.count())
getattr(thumbs, sys.argv[1]).write(thumbs.run(urls), sys.argv[2], shard_rows=100)
"""


@pytest.mark.parametrize("module", ["webdataset", "parquet"])
@pytest.mark.parametrize("files", [1, 3, 6])
def test_after_a_kill_every_file_is_valid_and_the_next_run_can_begin(module: str, files: int, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    import pyarrow.parquet

    import thumbs.parquet

    folder = tmp_path / "out"
    process = subprocess.Popen([sys.executable, "-c", WRITE, module, str(folder)],
                               env={**os.environ, "PYTHONPATH": str(HERE.parent)})
    pattern = getattr(thumbs, module).PATTERN
    wait_until(lambda: folder.exists() and len(list(folder.glob(pattern))) >= files, 60)
    process.send_signal(signal.SIGKILL)
    process.wait()
    complete = sorted(folder.glob(pattern))
    if module == "parquet":
        assert all(pyarrow.parquet.read_table(path).num_rows == 100 for path in complete)
    else:
        assert len(members(folder)) == 200 * len(complete)
    for path in complete:
        path.unlink()
    getattr(thumbs, module).write(thumbs.run(URLS[:3]), folder)
    assert not any("unfinished" in name for name in os.listdir(folder))


def test_the_worker_ends_with_a_killed_process(tmp_path: Path) -> None:
    state = tmp_path / "state"
    script = f"import thumbs, itertools\nlist(thumbs.run(map(str, itertools.count()), state={str(state)!r}))"
    process = subprocess.Popen([sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": str(HERE.parent)})
    wait_until(lambda: (state / "pids").exists(), 60)
    process.send_signal(signal.SIGKILL)
    process.wait()
    pid = (state / "pids").read_text().strip()
    wait_until(lambda: not os.path.exists(f"/proc/{pid}"), 10)
