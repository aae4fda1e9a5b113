"""Tests of `thumbs.run` with the real worker and a server."""
from __future__ import annotations

import base64
import hashlib
import io
import os
import signal
import tarfile
import time
from pathlib import Path
from typing import Any, Iterator

import pyarrow.parquet
import pytest
from origin import png
from support import Origin

import thumbs
import thumbs.parquet
import thumbs.webdataset

pytestmark = pytest.mark.usefixtures("command")
OPTIONS: Any = {"no_cache": True, "no_config": True, "sizes": 32}


@pytest.fixture(scope="module")
def origin() -> Iterator[Origin]:
    origin = Origin(hosts=20, delay=0.01)
    yield origin
    origin.close()


def test_every_row_has_a_thumbnail_from_one_request(origin: Origin) -> None:
    origin.reset()
    urls = [origin.url(number) for number in range(1000)]
    results = list(thumbs.run(urls, **OPTIONS))
    assert sorted(result.index for result in results) == list(range(1000))
    assert all(result.thumbnail and result.thumbnail.startswith(b"\x89PNG") for result in results)
    assert {(result.thumbnails[0].width, result.thumbnails[0].height) for result in results} == {(32, 21)}
    stats = origin.stats()
    assert set(stats["requests"].values()) == {1}
    assert max(stats["peaks"].values()) <= 6


def test_rows_with_one_url_count_one_request(origin: Origin) -> None:
    origin.reset()
    results = thumbs.run([origin.url(1)] * 50, **OPTIONS)
    lengths = {result.bytes for result in results}
    assert sum(origin.stats()["requests"].values()) == 1 and len(lengths) == 1
    assert (results.counters.rows, results.counters.requests, results.counters.bytes) == (50, 1, lengths.pop())


def test_noai_in_a_header_field_is_obeyed_with_robots(origin: Origin) -> None:
    url = origin.url(2) + "?noai"
    assert [result.ok for result in thumbs.run([url], **OPTIONS)] == [True]
    assert [result.code for result in thumbs.run([url], robots=True, **OPTIONS)] == ["blocked_robots"]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_worker_costs_at_most_its_rows_in_flight(origin: Origin, number: int) -> None:
    origin.reset()
    urls = [origin.url(number) for number in range(2000)]
    results = thumbs.run(urls, **OPTIONS)
    taken = []
    for result in results:
        taken.append(result)
        if len(taken) == 500 and results.worker_pid:
            os.kill(results.worker_pid, number)
    assert sorted(result.index for result in taken) == list(range(2000))
    assert all(result.ok for result in taken)
    assert results.counters.restarts == 1
    assert max(origin.stats()["requests"].values()) <= 2


def test_a_row_with_another_sha256_fails(origin: Origin) -> None:
    digest = hashlib.sha256(png(96, 64)).hexdigest()
    rows = [{"url": origin.url(number), "sha256": value} for number, value in enumerate([digest, "0" * 64, "0"])]
    results = {result.index: result.code for result in thumbs.run(rows, columns=["sha256"], **OPTIONS)}
    assert results == {0: None, 1: "hash_mismatch", 2: "bad_row"}


def test_failures_have_their_codes(origin: Origin) -> None:
    rows = [origin.url(1) + "?missing", "not a URL", None, "ftp://a.example/x", "http://127.0.0.1:1/x.png"]
    results = {result.index: result for result in thumbs.run(rows, retries=0, **OPTIONS)}
    assert [results[index].code for index in range(5)] == [
        "http_404", "bad_url", "bad_row", "blocked_scheme", "connect_failed"]
    assert results[4].retryable


def test_a_row_may_have_its_own_sizes_and_mirrors(origin: Origin) -> None:
    row = {"url": origin.url(1) + "?missing", "urls": [origin.url(2)], "size": "8,16"}
    [result] = thumbs.run([row], columns=["urls", "size"], **OPTIONS)
    assert [thumbnail.width for thumbnail in result.thumbnails] == [8, 16]


def test_settings_for_hosts_limit_the_worker(origin: Origin) -> None:
    origin.reset()
    urls = [origin.url(number) for number in range(200)]
    assert all(result.ok for result in thumbs.run(urls, hosts={"*": {"per-host": 2}}, **OPTIONS))
    assert max(origin.stats()["peaks"].values()) <= 2


def test_the_second_run_is_served_from_the_cache(origin: Origin, tmp_path: Path) -> None:
    origin.reset()
    urls = [origin.url(number) for number in range(100)]
    for expected in ["network", "disk"]:
        results = list(thumbs.run(urls, cache_dir=tmp_path, no_config=True, sizes=32))
        assert {result.origin for result in results} == {expected}
    assert origin.requests() == 100


def test_an_invalid_option_raises() -> None:
    with pytest.raises(thumbs.UsageError, match="--per-host"):
        list(thumbs.run(["http://127.0.0.1:1/"], per_host=-1))


def test_closing_ends_the_worker_soon(origin: Origin) -> None:
    results = thumbs.run((origin.url(number) for number in range(10_000)), **OPTIONS)
    next(results)
    pid = results.worker_pid
    started = time.monotonic()
    results.close()
    assert time.monotonic() - started < 2.5
    assert pid and not os.path.exists(f"/proc/{pid}")


def photo(width: int = 64) -> bytes:
    """A JPEG file with EXIF metadata."""
    image = pytest.importorskip("PIL.Image")
    exif, file = image.Exif(), io.BytesIO()
    exif[0x010F], exif[0x0112] = "A maker", 6
    exif.get_ifd(0x8769)[0x9003] = "2026:01:02 03:04:05"
    image.new("RGB", (width, 48), "teal").save(file, "jpeg", exif=exif)
    return file.getvalue()


def data_url(file: bytes) -> str:
    return f"data:image/jpeg;base64,{base64.b64encode(file).decode()}"


def test_the_original_is_the_downloaded_file_and_has_its_metadata(tmp_path: Path) -> None:
    options = {**OPTIONS, "sizes": [32, 16], "original": True}
    whole = photo()
    results = {result.index: result for result in thumbs.run(
        [data_url(whole), data_url(whole[:-200]), "data:text/plain,none"], **options)}
    assert results[0].original == whole and len(results[0].thumbnails) == 2
    assert results[0].exif["Make"] == "A maker" and results[0].exif["DateTimeOriginal"] == "2026:01:02 03:04:05"
    for broken in (results[1], results[2]):
        assert (broken.ok, broken.original, broken.exif) == (False, None, {})
    assert [result.original for result in thumbs.run([data_url(whole)], **OPTIONS)] == [None]


def test_files_have_the_originals(tmp_path: Path) -> None:
    files = [photo(width) for width in (64, 80)]
    urls = [data_url(file) for file in files]
    thumbs.webdataset.write(thumbs.run(urls, original=True, **OPTIONS), tmp_path / "dataset")
    with tarfile.open(tmp_path / "dataset/00000.tar") as archive:
        members = {name: archive.extractfile(name) for name in archive.getnames() if "original" in name}
        assert sorted(file.read() for file in members.values() if file) == sorted(files)
    assert sorted(members) == ["000000000.original.jpg", "000000001.original.jpg"]
    thumbs.parquet.write(thumbs.run(urls, original=True, **OPTIONS), tmp_path / "table", original=True)
    table = pyarrow.parquet.read_table(tmp_path / "table").sort_by("index")
    assert table.column("original").to_pylist() == files
    thumbs.parquet.write(thumbs.run(urls, original=True, **OPTIONS), tmp_path / "table", original=True, mode="continue")
    assert pyarrow.parquet.read_table(tmp_path / "table").num_rows == 2
