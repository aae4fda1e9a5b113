"""Tests of the files that `thumbs.parquet` and `thumbs.webdataset` write."""
from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any, Dict, Iterator, List, Set

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


def lines(folder: Path) -> List[Any]:
    """Returns the lines of all shards."""
    return [json.loads(line) for path in sorted(folder.glob("*.jsonl")) for line in path.read_text().splitlines()]


def test_a_webdataset_has_a_sample_per_thumbnail_and_a_line_per_row(tmp_path: Path) -> None:
    counters = thumbs.webdataset.write(thumbs.run(URLS), tmp_path / "set", shard_rows=50)
    assert (counters.ok, counters.failed) == (180, 20)
    assert sorted(os.listdir(tmp_path / "set")) == [
        f"0000{number}{ending}" for number in range(4) for ending in (".jsonl", ".tar", "_stats.json")]
    expected = {f"{number:09}.{kind}" for number in range(200) if number % 10 != 3 for kind in ("jpg", "json")}
    assert len(members(tmp_path / "set")) == 360 and set(members(tmp_path / "set")) == expected
    assert [line["url"] for line in sorted(lines(tmp_path / "set"), key=lambda line: line["index"])] == URLS
    failed = [line for line in lines(tmp_path / "set") if line["status"] == "failed"]
    assert {line["index"] for line in failed} == {number for number in range(200) if number % 10 == 3}
    assert {line["code"] for line in failed} == {"http_404"}
    counted = [json.loads(path.read_text()) for path in (tmp_path / "set").glob("*_stats.json")]
    assert all(shard["rows"] == 50 and shard["codes"] == {"http_404": 5} for shard in counted)


def test_a_sample_has_the_thumbnail_and_the_row(tmp_path: Path) -> None:
    thumbs.webdataset.write(thumbs.run([{"url": URLS[0], "caption": "A dune", "date": Path("x")}]), tmp_path / "set")
    with tarfile.open(tmp_path / "set/00000.tar") as archive:
        image, description = [archive.extractfile(name) for name in ("000000000.jpg", "000000000.json")]
        assert image and image.read() == URLS[0].encode()
        assert description and json.load(description)["row"] == {"url": URLS[0], "caption": "A dune", "date": "x"}


def test_a_sample_has_the_caption_and_the_values_of_its_row(tmp_path: Path) -> None:
    numpy = pytest.importorskip("numpy")
    rows = [{"url": URLS[0], "text": "A düne", "n": numpy.int64(7), "vector": numpy.arange(2000)},
            {"url": URLS[1], "text": float("nan")}]
    thumbs.webdataset.write(thumbs.run(rows), tmp_path / "set", caption_col="text")
    with tarfile.open(tmp_path / "set/00000.tar") as archive:
        found = {member.name: file.read() for member in archive for file in [archive.extractfile(member)] if file}
    assert found["000000000.txt"] == "A düne".encode() and found["000000001.txt"] == b""
    row = json.loads(found["000000000.json"])["row"]
    assert (row["n"], row["vector"]) == (7, list(range(2000)))


@pytest.mark.parametrize("options, ending", [({}, ".jpg"), ({"format": "webp"}, ".webp")])
def test_all_samples_have_one_format(options: Dict[str, Any], ending: str, tmp_path: Path) -> None:
    thumbs.webdataset.write(thumbs.run(URLS[:2], own_format="png", **options), tmp_path / "set")
    assert members(tmp_path / "set")[::2] == [f"00000000{number}{ending}" for number in range(2)]


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


def test_a_shard_may_have_a_table_of_all_its_rows(tmp_path: Path) -> None:
    rows = [{"url": f"http://a.test/{number}.png", "text": f"Number {number}", "score": number / 2, "": None}
            for number in range(25)]
    rows[3]["url"] = ""
    del rows[4]["score"]
    thumbs.webdataset.write(thumbs.run(rows[:14]), tmp_path, tables=True, shard_rows=10)
    thumbs.webdataset.write(thumbs.run(rows), tmp_path, tables=True, shard_rows=10, mode="continue")
    pytest.importorskip("pyarrow")
    import pyarrow.parquet

    tables = [pyarrow.parquet.read_table(path) for path in sorted(tmp_path.glob("*.parquet"))]
    assert [table.num_rows for table in tables] == [10, 4, 10, 1] and len({str(table.schema) for table in tables}) == 1
    table = pyarrow.concat_tables(tables)
    assert sorted(table.column("index").to_pylist()) == list(range(25)) and "thumbnail" not in table.column_names
    found = {row["index"]: row for row in table.to_pylist()}
    assert (found[7]["text"], found[7]["score"], found[7]["thumbnail_format"]) == ("Number 7", 3.5, "jpeg")
    assert (found[3]["status"], found[3]["thumbnail_width"], found[4]["score"]) == ("failed", None, None)


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
    assert list(rows[0]) == [
        "index", "url", "status", "code", "message", "retryable", "http", "final_url", "origin", "width", "height",
        "format", "bytes", "sha256", "thumbnail", "thumbnail_width", "thumbnail_height", "thumbnail_format", "attempts",
        "ms"]
    assert all(row["url"] == URLS[row["index"]] for row in rows)


@pytest.mark.parametrize("size, lengths", [(1 << 20, [70, 70, 60]), (1, [1] * 180)])
def test_a_batch_ends_at_its_number_of_rows_or_bytes(
    size: int, lengths: List[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyarrow")
    from thumbs import _arrow

    monkeypatch.setattr(_arrow, "BATCH_ROWS", 70)
    monkeypatch.setattr(_arrow, "BATCH_BYTES", size)
    results = [result for result in thumbs.run(URLS) if size > 1 or result.ok]
    batches = list(_arrow.batches(results, _arrow.schema(1), {}))
    assert [batch.num_rows for batch in batches] == lengths
    assert [url for batch in batches for url in batch.column(0).to_pylist()] == [result.url for result in results]


def test_a_partition_is_written_once_and_an_empty_one_has_its_columns(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    import pyarrow.parquet

    from thumbs import _ray_tasks
    from thumbs._tasks import Fetch

    task = Fetch(256, {}, {"state": tmp_path / "state"}, "seed")
    group = pyarrow.table({"url": ["http://me:secret@a.example/1.jpg", *URLS[:3]], "part": [7] * 4})
    file = {"file": "part-00007-000.parquet", "rows": 4}
    for _ in range(2):
        assert _ray_tasks.FetchPartitions(task, str(tmp_path))(group).to_pylist() == [file]
    assert len((tmp_path / "state/pids").read_text().split()) == 1
    table = pyarrow.parquet.ParquetFile(tmp_path / "part-00007-000.parquet")
    assert table.metadata.row_group(0).column(0).compression == "ZSTD"
    assert set(URLS[:3]) < set(table.read().column("url").to_pylist()) and "secret" not in str(table.read())
    _ray_tasks.write_empty(task, tmp_path)
    empty = pyarrow.parquet.read_table(tmp_path / "part-00000-000.parquet")
    assert empty.num_rows == 0 and empty.schema.equals(table.schema_arrow)


def test_an_empty_table_has_its_columns(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    import pyarrow.dataset

    import thumbs.parquet

    thumbs.parquet.write(thumbs.run([]), tmp_path / "table")
    table = pyarrow.dataset.dataset(tmp_path / "table").to_table()
    assert table.num_rows == 0 and table.column_names[:2] == ["index", "url"]


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


@pytest.mark.parametrize("module, files", [
    ("webdataset", {f"0000{number}{ending}" for number in (0, 1) for ending in (".tar", ".jsonl", "_stats.json")}),
    ("parquet", {"part-00000.parquet", "part-00001.parquet"}),
])
def test_an_error_is_raised_when_the_results_before_it_are_in_files(
    module: str, files: Set[str], tmp_path: Path
) -> None:
    pytest.importorskip("pyarrow")
    import pyarrow.dataset

    import thumbs.parquet

    with pytest.raises(thumbs.ProtocolError):
        getattr(thumbs, module).write(thumbs.run(URLS, trailer="missing"), tmp_path / "out", shard_rows=150)
    assert set(os.listdir(tmp_path / "out")) == files
    if module == "parquet":
        assert pyarrow.dataset.dataset(tmp_path / "out").count_rows() == 200
    else:
        assert len(members(tmp_path / "out")) == 360
        assert len(lines(tmp_path / "out")) == 200


@pytest.mark.parametrize("module", ["webdataset", "parquet"])
def test_an_error_before_the_first_result_leaves_no_file(module: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    import thumbs.parquet

    with pytest.raises(thumbs.UsageError):
        getattr(thumbs, module).write(thumbs.run(URLS, colour="blue"), tmp_path)
    assert [name for name in os.listdir(tmp_path) if name != "stand-in"] == []


@pytest.mark.parametrize("module", ["webdataset", "parquet"])
def test_a_file_that_cannot_be_written_leaves_nothing_unfinished(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyarrow")
    import thumbs.parquet

    def fail(descriptor: int) -> None:
        raise OSError("The disk is full.")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="full"):
        getattr(thumbs, module).write(thumbs.run(URLS), tmp_path / "out")
    assert os.listdir(tmp_path / "out") == []


class Page:
    def __str__(self) -> str:
        return "http://me:secret@a.example/"


class Rude:
    def __str__(self) -> str:
        raise LookupError("no text")


def test_a_row_that_json_cannot_hold_is_written_as_far_as_it_can(tmp_path: Path) -> None:
    inner: Any = {"self": None, (1, 2): float("nan"), "numbers": [float("inf"), 1.5, True, None]}
    inner["self"] = inner
    rows = [{"url": URLS[0], "inner": inner, "rude": Rude(), "half": "\ud800"}, {"url": "x-missing", "a": Rude()},
            *URLS[4:8]]
    counters = thumbs.webdataset.write(thumbs.run(rows), tmp_path / "set")
    assert (counters.ok, counters.failed) == (5, 1)
    with tarfile.open(tmp_path / "set/00000.tar") as archive:
        description = archive.extractfile("000000000.json")
        assert description and len(archive.getnames()) == 10

        def reject(constant: str) -> None:
            raise ValueError(constant)

        row = json.loads(description.read(), parse_constant=reject)["row"]
    assert row == {"url": URLS[0], "rude": "<Rude>", "half": "?",
                   "inner": {"self": None, "(1, 2)": None, "numbers": [None, 1.5, True, None]}}
    assert [line["row"]["a"] for line in lines(tmp_path / "set") if line["status"] == "failed"] == ["<Rude>"]


@pytest.mark.parametrize("row", [
    "http://me:secret@a.example/x.jpg", "http://me:sec/ret@a.example/missing.jpg?secret@b",
    {"url": "http://me:secret@a.example/x.jpg", "urls": ["http://a.example/y.jpg", "me:secret@a.example/y.jpg"]},
    {"url": URLS[0], "headers": {"Authorization": "secret", "Cookie": "secret"}}, {"url": URLS[0], "headers": "secret"},
    {"url": URLS[0], "caption": "See <http://me:secret@a.example/> for more", "inner": [{"x": "http://secret@b/"}]},
    {"url": URLS[0], "from": Page()},
])
@pytest.mark.parametrize("is_missing", [False, True])
def test_credentials_are_in_no_file(row: Any, is_missing: bool, tmp_path: Path) -> None:
    if is_missing and isinstance(row, dict):
        row = {**row, "url": row["url"].replace("x.jpg", "missing")}
    result = next(thumbs.run([row]))
    thumbs.webdataset.write([dataclasses.replace(result, thumbnails=tuple(
        dataclasses.replace(thumbnail, data=b"") for thumbnail in result.thumbnails))], tmp_path / "set")
    files = list((tmp_path / "set").iterdir())
    assert files and all(b"secret" not in path.read_bytes() for path in files)
    assert any(b"***" in path.read_bytes() for path in files)


def test_what_is_no_credential_stays_in_the_row(tmp_path: Path) -> None:
    row = {"url": URLS[0], "headers": {"Accept": "x"}, "caption": "By a@b.example, http://a.example/@me", "x": "@y",
           "page": "https://a.example:8080/@me/x"}
    thumbs.webdataset.write(thumbs.run([row]), tmp_path / "set")
    with tarfile.open(tmp_path / "set/00000.tar") as archive:
        description = archive.extractfile("000000000.json")
        assert description and json.load(description)["row"] == {**row, "headers": {"Accept": "***"}}


def test_a_row_with_several_thumbnails_needs_a_table_for_them(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    import pyarrow.dataset

    import thumbs.parquet

    results = list(thumbs.run(URLS[:3]))
    results[2] = dataclasses.replace(results[2], thumbnails=results[2].thumbnails * 2)
    with pytest.raises(ValueError, match="Row 2 has 2 thumbnails.*several sizes"):
        thumbs.parquet.write(results, tmp_path / "one")
    assert pyarrow.dataset.dataset(tmp_path / "one").count_rows() == 2
    thumbs.parquet.write(results, tmp_path / "several", sizes=[8, 16])
    [row] = pyarrow.dataset.dataset(tmp_path / "several").to_table().to_pylist()[2:]
    assert len(row["thumbnails"]) == 2


@pytest.mark.parametrize("module", ["webdataset", "parquet"])
def test_two_runs_cannot_write_to_a_directory_at_once(module: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    import thumbs.parquet

    write: Any = getattr(thumbs, module).write

    def results() -> Iterator[thumbs.Result]:
        yield from thumbs.run(URLS[:3])
        with pytest.raises(FileExistsError, match="Another process"):
            write(thumbs.run(URLS[:3]), tmp_path / "out")

    write(results(), tmp_path / "out")
    assert not any("unfinished" in name for name in os.listdir(tmp_path / "out"))


@pytest.mark.parametrize("name, is_ours", [
    (f".00000.tar.{'a' * 32}.unfinished", True), (f".00000.jsonl.{'0' * 32}.unfinished", True),
    (".mine.tar.unfinished", False), (".mine.tar.new.unfinished", False),
    ("mine.unfinished", False), (f".mine.{'a' * 32}.unfinished", False),
])
def test_only_unfinished_files_of_this_package_are_removed(name: str, is_ours: bool, tmp_path: Path) -> None:
    (tmp_path / name).write_text("x")
    thumbs.webdataset.write(thumbs.run(URLS[:3]), tmp_path)
    assert (tmp_path / name).exists() != is_ours


def test_earlier_failures_are_not_replaced(tmp_path: Path) -> None:
    thumbs.webdataset.write(thumbs.run(["http://a.example/missing.jpg"]), tmp_path)
    assert not list(tmp_path.glob("*.tar"))
    with pytest.raises(FileExistsError, match="00000.*mode"):
        thumbs.webdataset.write(thumbs.run(URLS[:3]), tmp_path)


@pytest.mark.parametrize("module", ["webdataset", "parquet"])
def test_a_path_that_cannot_be_used_raises_before_the_first_request(module: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    import thumbs.parquet

    (tmp_path / "file").write_text("")
    for path, error in [("file", FileExistsError), ("file/below", NotADirectoryError)]:
        with pytest.raises(error):
            getattr(thumbs, module).write(thumbs.run(URLS, state=tmp_path / "state"), tmp_path / path)
    assert not (tmp_path / "state").exists()


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
    getattr(thumbs, module).write(thumbs.run(f"http://a.example/{number}.jpg" for number in range(1000)), folder,
                                  shard_rows=100, mode="continue")
    assert not any("unfinished" in name for name in os.listdir(folder))
    assert set(complete) <= set(folder.glob(pattern))


def test_the_worker_ends_with_a_killed_process(tmp_path: Path) -> None:
    state = tmp_path / "state"
    script = f"import thumbs, itertools\nlist(thumbs.run(map(str, itertools.count()), state={str(state)!r}))"
    process = subprocess.Popen([sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": str(HERE.parent)})
    wait_until(lambda: (state / "pids").exists(), 60)
    process.send_signal(signal.SIGKILL)
    process.wait()
    pid = (state / "pids").read_text().strip()
    wait_until(lambda: not os.path.exists(f"/proc/{pid}"), 10)


def test_a_column_with_the_name_of_a_result_raises_before_a_shard_is_fetched(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    import pyarrow.parquet

    rows = [{"url": f"http://a.test/{number}.png", "width": number} for number in range(30)]
    log = tmp_path / "log"
    with pytest.raises(ValueError, match="prefix"):
        thumbs.webdataset.write(thumbs.run(rows, window=1, log=log), tmp_path / "out", tables=True)
    assert len(log.read_text().splitlines()) <= 2 and members(tmp_path / "out") == []
    with pytest.raises(ValueError, match="prefix"):
        thumbs.webdataset.write(
            thumbs.run(pyarrow.Table.from_pylist(rows), state=tmp_path / "state"), tmp_path / "out", tables=True)
    assert not (tmp_path / "state").exists()
    thumbs.webdataset.write(thumbs.run(rows), tmp_path / "out", tables=True, prefix="thumbs_")
    table = pyarrow.parquet.read_table(tmp_path / "out/00000.parquet").sort_by("thumbs_index")
    assert table.column("width").to_pylist() == list(range(30)) and "thumbs_width" in table.column_names


def test_tables_that_others_have_made_stay(tmp_path: Path) -> None:
    thumbs.webdataset.write(thumbs.run(["http://a.test/1"]), tmp_path, tables=True)
    names = ["2024.parquet", "2024-01.parquet", "00077.parquet"]
    for name in names:
        (tmp_path / name).write_text("x")
    thumbs.webdataset.write(thumbs.run(["http://a.test/1", "http://a.test/2"]), tmp_path, mode="continue")
    assert [(tmp_path / name).read_text() for name in names] == ["x"] * 3
    with pytest.raises(FileExistsError, match="no file of this format"):
        thumbs.webdataset.write(thumbs.run(["http://a.test/1"]), tmp_path, mode="overwrite")
