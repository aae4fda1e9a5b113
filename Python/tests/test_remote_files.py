"""Datasets in buckets, and on other file systems of fsspec."""
from __future__ import annotations

import io
import json
import subprocess
import sys
import tarfile
import uuid
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple

import fsspec
import pyarrow.parquet
import pytest
import thumbs
import thumbs.parquet
import thumbs.webdataset

pytestmark = pytest.mark.usefixtures("stand_in")
MODULES = pytest.mark.parametrize("module", ["parquet", "webdataset"])
ROWS = [{"url": f"http://a.test/{number}.png", "text": f"Number {number}"} for number in range(100)]
SHARDS: Dict[str, Dict[str, int]] = {"parquet": {"shard_rows": 30}, "webdataset": {"shard_rows": 30}}


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """A server for buckets, and its URL."""
    code = ("import sys; from moto.moto_server.threaded_moto_server import ThreadedMotoServer as Server; "
            "server = Server('127.0.0.1', 0, verbose=False); server.start(); "
            "print(server.get_host_and_port()[1], flush=True); sys.stdin.read()")
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        text=True)
    assert process.stdin is not None and process.stdout is not None
    yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    process.stdin.close()
    process.wait()


@pytest.fixture(params=["s3", "memory", "local"])
def place(request: Any, tmp_path: Path) -> Tuple[str, Dict[str, Any]]:
    """A URL of an empty directory on one of several file systems, and the options of that system."""
    name = f"bucket-{uuid.uuid4().hex}"
    if request.param == "s3":
        options = {"endpoint_url": request.getfixturevalue("server"), "key": "test", "secret": "test"}
        fsspec.filesystem("s3", **options).mkdir(name)
        return f"s3://{name}/images", options
    return (f"memory://{name}/images" if request.param == "memory" else f"local://{tmp_path}/images"), {}


def write(module: str, rows: Any, place: Tuple[str, Dict[str, Any]], **options: Any) -> thumbs.Counters:
    mode = options.pop("mode", "error")
    counters: thumbs.Counters = getattr(thumbs, module).write(
        thumbs.run(rows, **options), place[0], mode=mode, storage_options=place[1], **SHARDS[module])
    return counters


def files(place: Tuple[str, Dict[str, Any]]) -> Dict[str, bytes]:
    system, path = fsspec.core.url_to_fs(place[0], **place[1])
    system.invalidate_cache()
    return {name.rpartition("/")[2]: system.cat_file(name) for name in system.find(path)}


def indices(module: str, place: Tuple[str, Dict[str, Any]]) -> List[int]:
    found: List[int] = []
    for name, data in files(place).items():
        if module == "parquet":
            found += pyarrow.parquet.read_table(io.BytesIO(data)).column("index").to_pylist()
        elif name.endswith(".jsonl"):
            found += [json.loads(line)["index"] for line in data.splitlines()]
    return sorted(found)


@MODULES
def test_every_row_is_in_a_file_of_the_directory(module: str, place: Any) -> None:
    assert write(module, ROWS, place).ok == 100
    assert indices(module, place) == list(range(100))
    names = sorted(files(place))
    if module == "parquet":
        assert names == [f"part-{number:05}.parquet" for number in range(4)]
    else:
        assert len(names) == 12 and names[:3] == ["00000.jsonl", "00000.tar", "00000_stats.json"]
        with tarfile.open(fileobj=io.BytesIO(files(place)["00000.tar"])) as archive:
            assert len(archive.getnames()) == 60


@MODULES
def test_files_that_are_there_are_not_replaced_unless_the_mode_says_so(module: str, place: Any) -> None:
    write(module, ROWS[:40], place)
    with pytest.raises(FileExistsError, match="exists already"):
        write(module, ROWS, place)
    write(module, ROWS, place, mode="overwrite")
    assert indices(module, place) == list(range(100))

    def failing() -> Iterator[Any]:
        yield from ROWS[:10]
        raise KeyError("The rows end here.")

    with pytest.raises(KeyError):
        write(module, failing(), place, mode="overwrite")
    assert indices(module, place) == list(range(100))
    system, path = fsspec.core.url_to_fs(place[0], **place[1])
    assert [name for name in system.ls(path.rpartition("/")[0], detail=False) if "unfinished" in name] == []


@MODULES
def test_a_dataset_continues_after_an_error(module: str, place: Any, tmp_path: Path) -> None:
    def failing() -> Iterator[Any]:
        yield from ROWS[:45]
        raise KeyError("The rows end here.")

    with pytest.raises(KeyError):
        write(module, failing(), place)
    first = indices(module, place)
    log = tmp_path / "log"
    write(module, ROWS, place, mode="continue", log=log)
    assert indices(module, place) == list(range(100))
    assert len(log.read_text().splitlines()) == 100 - len(first)


@MODULES
def test_a_killed_process_leaves_whole_files_in_a_bucket(module: str, server: str) -> None:
    options = {"endpoint_url": server, "key": "test", "secret": "test"}
    place = (f"s3://killed{module}/images", options)
    fsspec.filesystem("s3", **options).mkdir(f"killed{module}")
    code = f"""
import os, signal, sys, thumbs, thumbs.{module}
def rows():
    for number in range(100):
        if number == 70: os.kill(os.getpid(), signal.SIGKILL)
        yield {{"url": f"http://a.test/{{number}}.png", "text": "x"}}
thumbs.{module}.write(thumbs.run(rows(), window=1), {place[0]!r}, storage_options={options!r}, **{SHARDS[module]!r})
"""
    assert subprocess.run([sys.executable, "-c", code]).returncode == -9
    assert indices(module, place) == list(range(60))
    write(module, ROWS, place, mode="continue")
    assert indices(module, place) == list(range(100))


@MODULES
def test_a_scheme_that_has_no_library_raises_before_any_row_is_read(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for url, error in (("gs://bucket/x", ImportError), ("unknown://bucket/x", ValueError)):
        with pytest.raises(error):
            write(module, ROWS, (url, {}), state=tmp_path / "state")
    assert not (tmp_path / "gs:").exists() and not (tmp_path / "state").exists()
    with pytest.raises(ValueError, match="storage_options are for URLs"):
        write(module, ROWS, (str(tmp_path / "out"), {"key": "test"}))


def test_without_fsspec_a_url_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    monkeypatch.delitem(sys.modules, "thumbs._remote_files", raising=False)
    monkeypatch.delattr(thumbs, "_remote_files", raising=False)
    with pytest.raises(ImportError, match="pip install fsspec"):
        write("webdataset", ROWS, ("s3://bucket/x", {}))


@MODULES
@pytest.mark.parametrize("failing", [1, 2])
def test_an_overwrite_that_stops_midway_loses_no_row(
    module: str, failing: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    place: Tuple[str, Dict[str, Any]] = (f"memory://{uuid.uuid4().hex}/images", {})
    write(module, ROWS[:40], place)
    system, calls = fsspec.filesystem("memory"), 0
    copy = type(system).cp_file

    def fail(self: Any, *arguments: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == failing:
            raise PermissionError("No more copies.")
        return copy(self, *arguments, **options)

    monkeypatch.setattr(type(system), "cp_file", fail)
    with pytest.raises(OSError, match="which stay there"):
        write(module, ROWS, place, mode="overwrite")
    monkeypatch.undo()
    parent = place[0].rpartition("/")[0].replace("memory:/", "")
    [left] = [name for name in system.ls(parent, detail=False) if name.endswith(".unfinished")]
    assert indices(module, (f"memory:/{left}", {})) == list(range(100))
    assert set(range(40)) <= set(indices(module, place))


def test_messages_show_no_password_of_a_url() -> None:
    from thumbs._remote_files import RemoteFolder

    folder = RemoteFolder(fsspec.filesystem("memory"), "/x", "sftp://me:secret@a.test/x")
    assert str(folder) == "sftp://***@a.test/x"
