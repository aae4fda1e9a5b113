"""Tests of `thumbs.spark` with two executors on this machine."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Iterator

import pytest
from support import Origin, kill_one

import thumbs

pytest.importorskip("pyspark")

from pyspark.sql import SparkSession  # noqa: E402
from pyspark.sql import functions as F  # noqa: E402
from spark_support import PACKAGE, Trial, rows, session  # noqa: E402

import thumbs.spark  # noqa: E402
from thumbs import _urls  # noqa: E402
from thumbs._spark_storage import partitions_on_disk  # noqa: E402

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


def test_keys_and_hosts_are_those_of_the_python_function(spark: SparkSession) -> None:
    urls = [
        "http://a.example/x", "HTTP://A.Example:80", "https://a.example:443/x?y#z", "https://a.example:80/x", "#", "",
        "http://a.example?x=1", "http://user:secret@a.example:80/x", "http://[::1]:80/x", "http://bücher.example/",
        "http://a.example:/x", "http://a.example/ x\ny", "ftp://a.example/x", "mailto:a", "http:/a.example\\x",
        "http://", "http://a.example./", "http://ſ.example/", "http://a.example/#a#b", "file:///etc/passwd", None,
    ]
    key, host = thumbs.spark._key_and_host(F.col("url"))
    df = spark.createDataFrame(list(enumerate(urls)), "number int, url string")
    found = df.select("number", key.alias("key"), host.alias("host")).collect()
    expected = {number: _urls.key_and_host(url) for number, url in enumerate(urls)}
    assert {row.number: (row["key"], row["host"]) for row in found} == expected


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


def test_an_invalid_option_fails_the_job_and_leaves_no_table(
    spark: SparkSession, origin: Origin, tmp_path: Path
) -> None:
    df = spark.createDataFrame([(origin.url(1),)], "link string")
    with pytest.raises(Exception, match="--quality"):
        thumbs.spark.fetch(df, "link", path=str(tmp_path / "table"), quality=1000, **OPTIONS)
    assert not (tmp_path / "table/_SUCCESS").exists()


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


def test_partitions_on_disk_are_those_of_the_data_frame(spark: SparkSession, tmp_path: Path) -> None:
    df = spark.range(1000).withColumn("part", F.col("id") % 37).repartition(10, "part").select("part")
    before = spark.conf.get("spark.sql.files.maxPartitionBytes")
    with partitions_on_disk(df, str(tmp_path / "stored")) as stored:
        owners = stored.select("part", F.spark_partition_id().alias("owner")).distinct().collect()
        assert len(owners) == 37
        used = df.select(F.spark_partition_id()).distinct().count()
        assert len({row.owner for row in owners}) == used > 3
    assert not (tmp_path / "stored").exists()
    assert spark.conf.get("spark.sql.files.maxPartitionBytes") == before


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
