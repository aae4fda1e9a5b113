"""Kills every kind of process of a standalone Spark cluster; `make test-cluster` and `make bench-spark` run this.

THUMBS_CLUSTER_ROWS and THUMBS_CLUSTER_URLS are the numbers of rows and of distinct URLs.
"""
from __future__ import annotations

import os
import shutil
import signal
import threading
from pathlib import Path
from typing import Any, Callable, Iterator

import pytest
from support import Origin, Tier, children, kill_one, parent, wait_until

pytest.importorskip("pyspark")

from pyspark.sql import DataFrame, SparkSession  # noqa: E402
from spark_support import Standalone, Trial, rows, session  # noqa: E402

pytestmark = [pytest.mark.cluster, pytest.mark.usefixtures("command")]
ROWS = int(os.environ.get("THUMBS_CLUSTER_ROWS", "100000"))
URLS = int(os.environ.get("THUMBS_CLUSTER_URLS", "20000"))


@pytest.fixture(scope="module")
def standalone(command: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standalone]:
    folder = tmp_path_factory.mktemp("standalone")
    standalone = Standalone(folder)
    yield standalone
    standalone.close()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def spark(standalone: Standalone, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    spark = session(standalone.master, tmp_path_factory.mktemp("spark"))
    yield spark
    spark.stop()


@pytest.fixture(scope="module")
def origin() -> Iterator[Origin]:
    origin = Origin(hosts=200, delay=0.005)
    yield origin
    origin.close()


@pytest.fixture(scope="module")
def df(spark: SparkSession, origin: Origin) -> DataFrame:
    return rows(spark, origin, ROWS, URLS)


def kill_child(standalone: Standalone) -> None:
    os.kill(wait_until(children, 60)[0], signal.SIGKILL)


def kill_python(standalone: Standalone) -> None:
    """Kills the Python process of a task."""
    os.kill(parent(wait_until(children, 60)[0]), signal.SIGKILL)


def kill_executor(standalone: Standalone) -> None:
    kill_one("CoarseGrainedExecutorBackend", below=1)


def kill_worker(standalone: Standalone) -> None:
    """Kills a worker, whose executor ends with it, and starts another one in its place."""
    kill_one("deploy.worker.Worker")
    standalone.start_worker()


def kill_worker_and_executor(standalone: Standalone) -> None:
    kill_one("deploy.worker.Worker")
    kill_one("CoarseGrainedExecutorBackend", below=1)
    standalone.start_worker()


@pytest.mark.parametrize("kill, lost_cores", [
    (kill_child, 1), (kill_python, 1), (kill_executor, 1), (kill_worker, 1), (kill_worker_and_executor, 2),
])
def test_a_kill_loses_and_repeats_no_row(
    spark: SparkSession, standalone: Standalone, origin: Origin, df: DataFrame, tmp_path: Path,
    kill: Callable[[Standalone], Any], lost_cores: int,
) -> None:
    trial = Trial(spark, origin, df, tmp_path / "table")
    fetched = trial.fetch(lambda: kill(standalone))
    trial.check_requests(lost_cores)
    trial.check_rows(fetched)
    shutil.rmtree(tmp_path / "table")


@pytest.mark.parametrize("kill", [kill_child, kill_executor])
def test_with_a_remote_cache_a_kill_repeats_only_what_was_in_flight(
    spark: SparkSession, standalone: Standalone, origin: Origin, df: DataFrame, tmp_path: Path,
    kill: Callable[[Standalone], Any],
) -> None:
    tier = Tier(tmp_path / "tier")
    trial = Trial(spark, origin, df, tmp_path / "table", remote_cache=tier.url, remote_cache_private=True,
                  remote_cache_timeout=60)
    fetched = trial.fetch(lambda: kill(standalone))
    extra = trial.check_requests(lost_cores=1)
    trial.check_rows(fetched)
    tier.close()
    # The rows that a worker has in progress, those whose uploads wait included.
    assert extra <= 1024 < trial.largest_partition()


def test_an_executor_killed_during_the_join_costs_no_request(
    spark: SparkSession, standalone: Standalone, origin: Origin, df: DataFrame, tmp_path: Path
) -> None:
    trial = Trial(spark, origin, df, tmp_path / "table")
    fetched = trial.fetch()
    trial.check_requests(lost_cores=0)
    origin.reset()
    joined = tmp_path / "joined"
    killer = threading.Thread(target=lambda: (
        wait_until(lambda: list(joined.glob("_temporary/**/part-*")), 120), kill_executor(standalone)))
    killer.start()
    fetched.write.parquet(str(joined))
    killer.join()
    trial.check_rows(spark.read.parquet(str(joined)))
    assert origin.requests() == 0
