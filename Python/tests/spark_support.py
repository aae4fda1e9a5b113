"""Spark sessions on this machine, and the checks of what a fetch leaves behind."""
from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Optional

import pyspark
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from support import Origin, wait_until

import thumbs.spark
from thumbs._hosts import ROWS_PER_SALT, HostPlan, default_partitions

PACKAGE = Path(thumbs.__file__).resolve().parents[1]
ENVIRONMENT = {
    "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": str(PACKAGE), "SPARK_LOCAL_IP": "127.0.0.1",
    "SPARK_NO_DAEMONIZE": "1", "PYTHONWARNINGS": "ignore",
}


def session(master: str, folder: Path) -> SparkSession:
    """Starts an application whose executors have 1 core each."""
    os.environ.update(ENVIRONMENT)
    settings = {
        "spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
        "spark.executor.memory": "700m", "spark.executor.cores": "1", "spark.sql.shuffle.partitions": "4",
        "spark.local.dir": str(folder / "local"), "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.showConsoleProgress": "false", "spark.sql.session.localRelationCacheThreshold": "1000000000",
        **{f"spark.executorEnv.{name}": value for name, value in ENVIRONMENT.items()},
        "spark.executorEnv.THUMBS_BINARY": os.environ["THUMBS_BINARY"],
    }
    builder = SparkSession.builder.appName("thumbs").master(master)
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


class Standalone:
    """A master and two workers with a core each, on loopback."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._processes: List["subprocess.Popen[bytes]"] = []
        log = self._start("master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        self.master = wait_until(lambda: _master_in(log), 120)
        for _ in range(2):
            self.start_worker()

    def start_worker(self) -> None:
        """Starts another worker."""
        folder = self._folder / f"worker{len(self._processes)}"
        log = self._start("worker.Worker", "--host", "127.0.0.1", "--cores", "1", "--memory", "1g", "--webui-port", "0",
                          "--work-dir", str(folder), self.master)
        wait_until(lambda: "Successfully registered" in log.read_text(), 120)

    def close(self) -> None:
        """Ends all processes."""
        for process in self._processes:
            process.terminate()
            process.wait()

    def _start(self, name: str, *arguments: str) -> Path:
        home = Path(pyspark.__file__).parent
        log = self._folder / f"daemon{len(self._processes)}.log"
        command = [str(home / "bin/spark-class"), f"org.apache.spark.deploy.{name}", *arguments]
        environment = {**os.environ, **ENVIRONMENT, "SPARK_HOME": str(home), "SPARK_DAEMON_MEMORY": "256m"}
        with log.open("wb") as file:
            self._processes.append(subprocess.Popen(command, stdout=file, stderr=file, env=environment))
        return log


def _master_in(log: Path) -> Optional[str]:
    words = [word for word in log.read_text().split() if word.startswith("spark://")]
    return words[0].rstrip(".,") if words else None


def rows(spark: SparkSession, origin: Origin, count: int, urls: int) -> DataFrame:
    """Returns `count` rows over `urls` URLs; the first host of `origin` has 30 % of them."""
    number = F.col("id") % urls
    others = 1 + F.floor(number / 7) % (origin.hosts - 1)
    host = F.when(number % 100 < 30, 0).otherwise(others)
    name = F.format_string("http://127.0.%d.%d:" + f"{origin.port}/%d.png",
                           1 + F.floor(host / 200), 1 + host % 200, number)
    return spark.range(count).select("id", name.alias("link"))


class Trial:
    """A fetch during which a process is killed, and what it left behind."""

    def __init__(self, spark: SparkSession, origin: Origin, df: DataFrame, path: Path, **options: Any) -> None:
        self.spark, self.origin, self.df, self.path = spark, origin, df, path
        self.options = {"sizes": 32, "no_cache": True, "no_config": True, **options}
        self.urls = df.select("link").distinct().count()

    def fetch(self, kill: Optional[Callable[[], Any]] = None, after: float = 0.33) -> DataFrame:
        """Fetches, and calls `kill` as soon as the server has got a share of the requests."""
        self.origin.reset()
        killer = threading.Thread(target=self._kill, args=(kill, after * self.urls))
        killer.start()
        fetched = thumbs.spark.fetch(self.df, "link", path=str(self.path), **self.options)
        killer.join()
        return fetched

    def _kill(self, kill: Optional[Callable[[], Any]], requests: float) -> None:
        if kill is not None:
            wait_until(lambda: self.origin.requests() >= requests, 300)
            kill()

    def check_requests(self, lost_cores: int) -> int:
        """Checks that each URL was requested once, and again at most if its result was not kept when a task was lost.
        Returns the number of extra requests."""
        stats = self.origin.stats()
        extra = sum(stats["requests"].values()) - len(stats["requests"])
        print(f"{extra} extra requests; the largest partition has {self.largest_partition()} URLs; at most "
              f"{max(stats['peaks'].values())} connections per host")
        assert len(stats["requests"]) == self.urls
        assert max(stats["requests"].values()) <= (2 if lost_cores else 1)
        assert extra <= lost_cores * self.largest_partition()
        assert max(stats["peaks"].values()) <= self.options.get("per_host", 6)
        return extra

    def largest_partition(self) -> int:
        """Returns the number of URLs in the largest partition."""
        plan = HostPlan(self.options.get("per_host", 6), rows_per_salt=self.options.get("rows_per_salt", ROWS_PER_SALT),
                        tasks=thumbs.spark._tasks(self.df.sparkSession))
        urls = thumbs.spark._distinct_urls(self.df, "link")
        count, salts = thumbs.spark._count(urls, plan)
        partitions = self.options.get("partitions") or default_partitions(count)
        placed = thumbs.spark._place(urls, salts, partitions)
        sizes = placed.groupBy(F.spark_partition_id()).count().agg(F.max("count")).collect()
        return int(sizes[0][0])

    def check_rows(self, fetched: DataFrame) -> None:
        """Checks that every row is there exactly once, with its thumbnail, and the table has every URL exactly once."""
        table = self.spark.read.parquet(str(self.path))
        assert (table.count(), table.select("url").distinct().count()) == (self.urls, self.urls)
        is_complete = (F.col("status") == "ok") & F.col("thumbnail").isNotNull()
        count = self.df.count()
        found = fetched.agg(F.count("*"), F.countDistinct("id"), F.sum(is_complete.cast("int"))).collect()[0]
        assert tuple(found) == (count, count, count)
