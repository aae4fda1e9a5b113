"""Tests of `thumbs.spark` with two executors on this machine."""
from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any, Iterator, List, Set

import pandas
import pyarrow.ipc
import pytest
from support import Origin, children, kill_one, parent, wait_until

import thumbs

pytest.importorskip("pyspark")

from pyspark.sql import SparkSession  # noqa: E402
from pyspark.sql import functions as F  # noqa: E402
from spark_support import PACKAGE, Trial, rows, session  # noqa: E402

import thumbs.spark  # noqa: E402
from thumbs import _urls  # noqa: E402
from thumbs._hosts import HostPlan  # noqa: E402
from thumbs._spark_storage import ONE_FILE_PER_TASK, _settings, partitions_on_disk, replacement, scratch  # noqa: E402

pytestmark = pytest.mark.usefixtures("command")
OPTIONS: Any = {"sizes": 32, "no_cache": True, "no_config": True, "partitions": 2}


@pytest.fixture(scope="module")
def spark(command: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    folder = tmp_path_factory.mktemp("spark")
    spark = session("local-cluster[2,1,1024]", folder)
    yield spark
    spark.stop()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def origin() -> Iterator[Origin]:
    origin = Origin(hosts=40, delay=0.01)
    yield origin
    origin.close()


def test_keys_and_their_stored_form_are_those_of_the_python_functions(spark: SparkSession) -> None:
    urls = [
        "http://a.example:080/x", "http://a.example:0/x", "https://a.example:0443/x", "http://a.example:000/",
        "http://a.example/@me", "http://a.example:65536/@me", "http://a.example:65535?@me", "me:secret@a.example",
        "http://me:sec/ret@a.example/@", "HTTP://me@A.example#@", "http://[::1]:80/@x", "http://bücher.example/ @\nx",
        "http://a\u00a0b/@", "http://a b/@", "http://a\u00fcme:secret@a.example/", "s3+x://a@b", "://@", "@",
        "http://a.example/x", "HTTP://A.Example:80", "https://a.example:443/x?y#z", "https://a.example:80/x", "#", "",
        "http://a.example?x=1", "http://user:secret@a.example:80/x", "http://[::1]:80/x", "http://bücher.example/",
        "http://a.example:/x", "http://a.example/ x\ny", "ftp://a.example/x", "mailto:a", "http:/a.example\\x",
        "http://", "http://a.example./", "http://ſ.example/", "http://a.example/#a#b", "file:///etc/passwd", None,
    ]
    key = thumbs.spark._key(F.col("url"))
    df = spark.createDataFrame(list(enumerate(urls)), "number int, url string")
    found = df.select("number", key.alias("key"), thumbs.spark._stored(key, "salt").alias("stored")).collect()
    expected = {number: (_urls.key(url), _urls.stored(_urls.key(url), "salt")) for number, url in enumerate(urls)}
    assert {row.number: (row["key"], row["stored"]) for row in found} == expected


def test_all_spellings_of_a_host_are_in_one_partition(spark: SparkSession) -> None:
    hosts = ["127.1", "127.0.0.1:080", "127.0.0.1.", "bücher.example", "xn--bcher-kva.example", "BÜCHER.example.:80"]
    df = spark.createDataFrame([(f"http://{host}/{number}.png",) for host in hosts for number in range(50)], "u string")
    urls = thumbs.spark._distinct_urls(df, "u")
    count, salts = thumbs.spark._count(urls, HostPlan(rows_per_salt=100))
    assert (count, salts) == (300, {"127.0.0.1": 2, "xn--bcher-kva.example": 2})
    placed = thumbs.spark._place(urls, {}, 16).select("url", F.spark_partition_id().alias("part")).collect()
    assert len(placed) == 300
    for name in ["127", "cher"]:
        assert len({row.part for row in placed if name in row.url}) == 1


def test_each_row_gets_the_outcome_of_its_url(spark: SparkSession, origin: Origin, tmp_path: Path) -> None:
    origin.reset()
    good = origin.url(1)
    links = [good, good.replace("http", "HTTP"), good + "#part", good + "?missing", "no URL", "", None]
    df = spark.createDataFrame(list(enumerate(links)), "id int, link string")
    fetched = thumbs.spark.fetch(df, "link", path=str(tmp_path / "table"), **OPTIONS)
    assert fetched.columns[:3] == ["id", "link", "status"] and "url" not in fetched.columns
    found = {row.id: row for row in fetched.collect()}
    assert [found[number]["link"] for number in range(7)] == links
    assert [found[number]["code"] for number in range(7)] == [
        None, None, None, "http_404", "bad_url", found[5]["code"], found[5]["code"]]
    assert found[5]["code"] in ("bad_url", "bad_row")
    assert all(bytes(found[number]["thumbnail"]).startswith(b"\x89PNG") for number in range(3))
    assert set(origin.stats()["requests"].values()) == {1}
    assert thumbs.spark.counters(spark.read.parquet(str(tmp_path / "table"))).codes["http_404"] == 1


def test_credentials_are_used_and_not_stored(spark: SparkSession, origin: Origin, tmp_path: Path) -> None:
    origin.reset()
    links = [origin.url(1).replace("//", f"//{user}@") for user in ["me:secret", "me:other-secret", "secret"]]
    df = spark.createDataFrame([(link,) for link in [*links, links[0]]], "link string")
    fetched = thumbs.spark.fetch(df, "link", path=str(tmp_path / "table"), **OPTIONS).collect()
    assert sorted((row.link, row.status) for row in fetched) == sorted((link, "ok") for link in [*links, links[0]])
    urls = [row.url for row in spark.read.parquet(str(tmp_path / "table")).collect()]
    assert len(set(urls)) == 3 and all("***" in url and "secret" not in url for url in urls)
    assert [path.name for path in tmp_path.iterdir()] == ["table"]


def test_several_sizes_are_a_list(spark: SparkSession, origin: Origin, tmp_path: Path) -> None:
    df = spark.createDataFrame([(origin.url(1),)], "status string")
    options = {**OPTIONS, "sizes": [8, 16]}
    fetched = thumbs.spark.fetch(df, "status", path=str(tmp_path / "table"), prefix="image_", **options)
    [row] = fetched.collect()
    assert row.image_status == "ok"
    assert [(found["spec"], found["width"], found["data"][:4]) for found in row.image_thumbnails] == [
        ("8x8", 8, b"\x89PNG"), ("16x16", 16, b"\x89PNG")]


@pytest.mark.parametrize("column, message", [("url", "no column url"), ("link", "already has a column status")])
def test_columns_that_cannot_be_right_raise(spark: SparkSession, column: str, message: str, tmp_path: Path) -> None:
    df = spark.createDataFrame([("http://a.example/", "x")], "link string, status string")
    with pytest.raises(ValueError, match=message):
        thumbs.spark.fetch(df, column, path=str(tmp_path / "table"))


@pytest.mark.parametrize("options, message", [
    ({"quality": 1000}, "--quality"), ({"sizes": "huge"}, "huge"), ({"colour": "blue"}, "--colour")])
def test_an_invalid_option_raises_before_any_job(
    spark: SparkSession, options: Any, message: str, tmp_path: Path
) -> None:
    df = spark.createDataFrame([("http://a.example/",)], "link string")
    with pytest.raises(thumbs.UsageError, match=message):
        thumbs.spark.fetch(df, "link", path=str(tmp_path / "table"), **options)
    assert list(tmp_path.iterdir()) == []


def test_a_table_is_overwritten_only_when_the_new_one_is_complete(
    spark: SparkSession, origin: Origin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, df = str(tmp_path / "table"), spark.createDataFrame([(origin.url(1),)], "link string")
    thumbs.spark.fetch(df, "link", path=path, **OPTIONS)
    other = spark.createDataFrame([(origin.url(2),), (origin.url(3),)], "link string")
    with monkeypatch.context() as patched:
        patched.setattr("thumbs._command.check", lambda *_, **__: None)
        with pytest.raises(Exception, match="--colour"):
            thumbs.spark.fetch(other, "link", path=path, mode="overwrite", colour="blue", **OPTIONS)
    assert spark.read.parquet(path).count() == 1
    thumbs.spark.fetch(other, "link", path=path, mode="overwrite", **OPTIONS)
    assert spark.read.parquet(path).count() == 2
    assert [found.name for found in tmp_path.iterdir()] == ["table"]


def test_a_data_frame_that_changes_raises_when_it_is_read(spark: SparkSession, origin: Origin, tmp_path: Path) -> None:
    url = origin.url(1)
    changing = F.udf(lambda: f"{url}?{uuid.uuid4()}", "string").asNondeterministic()
    df = spark.range(5).withColumn("link", changing())
    fetched = thumbs.spark.fetch(df, "link", path=str(tmp_path / "table"), **OPTIONS)
    with pytest.raises(Exception, match="other rows each time"):
        fetched.collect()


@pytest.mark.parametrize("options, error, message", [
    ({}, FileExistsError, "exists already"), ({"mode": "append"}, ValueError, "mode is 'append'"),
    ({"size": [8, 16]}, thumbs.UsageError, "called sizes"), ({"no_bodies": True}, thumbs.UsageError, "no_bodies"),
    ({"hosts": "hosts.json"}, TypeError, "hosts is of type str"), ({"path": "table[0]"}, ValueError, "pattern"),
    ({"path": "file/table"}, OSError, "No directory can be created"), ({"mode": "overwrite"}, ValueError, "reads from"),
])
def test_what_cannot_work_raises_before_any_job(
    spark: SparkSession, tmp_path: Path, options: Any, error: Any, message: str
) -> None:
    spark.createDataFrame([("http://a.example/",)], "link string").write.parquet(str(tmp_path / "table"))
    (tmp_path / "file").write_text("")
    before = sorted(path.name for path in tmp_path.rglob("*"))
    df = spark.read.parquet(str(tmp_path / "table"))
    with pytest.raises(error, match=message):
        thumbs.spark.fetch(df, "link", **{**options, "path": str(tmp_path / options.get("path", "table"))})
    assert sorted(path.name for path in tmp_path.rglob("*")) == before


def test_directories_of_others_are_not_removed(spark: SparkSession, origin: Origin, tmp_path: Path) -> None:
    other = tmp_path / "table.thumbs-urls"
    other.mkdir()
    (other / "mine").write_text("")
    df = spark.createDataFrame([(origin.url(1),)], "link string")
    for path in [str(tmp_path / "table"), str(tmp_path / "table") + "/"]:
        thumbs.spark.fetch(df, "link", path=path, mode="overwrite", **OPTIONS)
        assert (other / "mine").exists()
        assert sorted(path.name for path in tmp_path.iterdir()) == ["table", "table.thumbs-urls"]


def test_a_killed_executor_loses_and_repeats_no_row(spark: SparkSession, origin: Origin, tmp_path: Path) -> None:
    df = rows(spark, origin, 20_000, 4000)
    total = thumbs.spark.accumulator(spark)
    trial = Trial(spark, origin, df, tmp_path / "table", partitions=10, per_host=4, rows_per_salt=500, counters=total)
    fetched = trial.fetch(lambda: kill_one("CoarseGrainedExecutorBackend"))
    trial.check_requests(lost_cores=1)
    origin.reset()
    trial.check_rows(fetched)
    assert origin.requests() == 0
    counted = thumbs.spark.counters(spark.read.parquet(str(tmp_path / "table")))
    assert (counted.rows, counted.ok, counted.failed) == (4000, 4000, 0)
    assert counted.rows <= total.value.rows <= counted.rows + trial.largest_partition()
    assert [path.name for path in tmp_path.iterdir()] == ["table"]


def test_a_task_goes_on_where_it_was_killed(spark: SparkSession, origin: Origin, tmp_path: Path) -> None:
    total = thumbs.spark.accumulator(spark)
    trial = Trial(spark, origin, rows(spark, origin, 1200, 1200), tmp_path / "table", partitions=1, per_host=1,
                  rows_per_salt=10_000, counters=total)
    kept: List[Set[str]] = [set()]

    def kept_urls() -> Set[str]:
        files = tmp_path.glob("table.*.thumbs-urls/_results-*/*.arrow")
        return {url for file in files for url in pyarrow.ipc.open_file(file).read_all().column("url").to_pylist()}

    def kill_thrice() -> None:
        for _ in range(3):
            wait_until(lambda: len(kept_urls()) > len(kept[-1]), 60)
            kept.append(kept_urls())
            os.kill(parent(wait_until(children, 60)[0]), signal.SIGKILL)

    trial.fetch(kill_thrice, after=0)
    requests = origin.stats()["requests"]
    assert len(requests) == 1200
    assert len(kept) == 4 and all(earlier < later for earlier, later in zip(kept, kept[1:]))
    # The images that were kept before the first kill were requested once, and never again.
    assert {requests[url.partition("//")[2].replace(f":{origin.port}", "")] for url in kept[1]} == {1}
    assert (total.value.rows, total.value.ok, total.value.requests) == (1200, 1200, 1200)


@pytest.mark.parametrize("settings", [
    {}, {"spark.sql.files.maxRecordsPerFile": "7", "spark.sql.files.minPartitionNum": "1000"},
])
def test_partitions_on_disk_are_those_of_the_data_frame(spark: SparkSession, settings: Any, tmp_path: Path) -> None:
    df = spark.range(1000).withColumn("part", F.col("id") % 37).repartition(10, "part").select("part")
    before = spark.conf.get("spark.sql.files.maxPartitionBytes")
    for name, value in settings.items():
        spark.conf.set(name, value)
    with scratch(spark, str(tmp_path / "stored")) as folder, partitions_on_disk(df, folder) as stored:
        owners = stored.select("part", F.spark_partition_id().alias("owner")).distinct().collect()
        assert len(owners) == 37
        used = df.select(F.spark_partition_id()).distinct().count()
        assert len({row.owner for row in owners}) == used > 3
    for name in settings:
        spark.conf.unset(name)
    assert list(tmp_path.iterdir()) == []
    assert spark.conf.get("spark.sql.files.maxPartitionBytes") == before


def test_fetches_that_overlap_leave_the_settings_as_they_were(spark: SparkSession) -> None:
    before = {name: spark.conf.get(name) for name in ONE_FILE_PER_TASK}
    first, second = _settings(spark), _settings(spark)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert {name: spark.conf.get(name) for name in ONE_FILE_PER_TASK} == ONE_FILE_PER_TASK
    second.__exit__(None, None, None)
    assert {name: spark.conf.get(name) for name in ONE_FILE_PER_TASK} == before


def test_spark_connect_fetches_too(origin: Origin, tmp_path: Path) -> None:
    urls = [origin.url(number) for number in range(8)] + [origin.url(1) + "?missing"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}
    program = [sys.executable, str(Path(__file__).with_name("spark_connect.py")), str(tmp_path / "table")]
    done = subprocess.run([*program, *urls, urls[0]], env={**environment, "PYTHONPATH": str(PACKAGE)}, timeout=300,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["codes"] == sorted([url, "http_404" if "missing" in url else None] for url in [*urls, urls[0]])
    assert (found["rows"], found["ok"]) == (9, 8)
    assert "thumbs.spark.counters" in found["message"]
    assert found["error"] == "FileExistsError"


def test_a_frame_of_pandas_is_refused_by_its_name(tmp_path: Path) -> None:
    frame: Any = pandas.DataFrame({"link": ["http://a.example/"]})
    with pytest.raises(TypeError, match="of type DataFrame, but must be a DataFrame of Spark"):
        thumbs.spark.fetch(frame, "link", path=tmp_path / "table")


def test_a_table_that_comes_into_being_during_the_fetch_is_kept(spark: SparkSession, tmp_path: Path) -> None:
    df = spark.createDataFrame([("http://a.example/",)], "link string")
    path = str(tmp_path / "table")
    with pytest.raises(FileExistsError, match="came into being"):
        with replacement(spark, path, "error", "parquet") as target:
            df.write.parquet(path)
            df.write.mode("error").parquet(target)
    assert spark.read.parquet(path).count() == 1
