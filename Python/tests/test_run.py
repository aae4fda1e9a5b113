"""Tests of `thumbs.run` with a worker that misbehaves."""
from __future__ import annotations

import asyncio
import os
import queue
import signal
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Callable, Iterator, List, Tuple

import numpy
import pytest

import thumbs
import thumbs.webdataset
from thumbs._frames import Frame
from thumbs._worker import WorkerProcess

pytestmark = pytest.mark.usefixtures("stand_in")
URLS = [f"http://host{number % 7}.example/{number}.jpg" for number in range(500)]


def pids(state: Path) -> List[int]:
    return [int(line) for line in (state / "pids").read_text().split()]


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def check_exactly_once(results: List[thumbs.Result]) -> None:
    assert Counter(result.index for result in results) == Counter(range(len(URLS)))
    assert all(result.thumbnail == result.row.encode() for result in results)


def test_every_row_has_one_result_with_its_thumbnail() -> None:
    results = thumbs.run(URLS, sizes=[256])
    check_exactly_once(list(results))
    assert (results.counters.rows, results.counters.ok, results.counters.requests) == (500, 500, 500)
    assert results.counters.bytes == 500_000
    assert results.worker_pid is None


def test_a_result_has_the_fields_of_the_report_and_the_row() -> None:
    row = {"url": URLS[0], "caption": object(), "name": None}
    [result] = thumbs.run([row])
    assert result.row is row
    assert (result.status, result.code, result.retryable, result.http, result.origin) == (
        "ok", None, False, 200, "network")
    assert (result.width, result.height, result.format, result.bytes, result.ms) == (640, 480, "jpeg", 1000, 6)
    assert result.thumbnails == (thumbs.Thumbnail("256x256", 256, 192, "jpeg", URLS[0].encode()),)
    assert result.placeholder == {"thumbhash": "1QcSHQRnh493V4dIh4eXh1h4kJUI", "color": "#141b24"}
    assert result.phash == "aaaa5555f00f3c3c"


def test_a_failed_row_has_a_code_and_no_thumbnail() -> None:
    [result] = thumbs.run([{"link": "http://a.example/missing.jpg"}], url_col="link")
    assert (result.ok, result.code, result.thumbnail, result.thumbnails) == (False, "http_404", None, ())
    assert result.placeholder is None and result.phash is None


@pytest.mark.parametrize("row", [
    None, 7, b"http://a.example/x.jpg", {"url": b"x"}, {"url": "http://a.example/\ud800"}, {"url": float("nan")},
    {"url": URLS[0], "headers": {"A": "x" * 1_100_000}}, {"url": URLS[0], "headers": {1, 2}},
])
def test_a_row_that_is_not_json_fails_and_others_are_unaffected(row: Any) -> None:
    results = list(thumbs.run([URLS[0], row, URLS[1]], columns=["headers"]))
    assert sorted((result.index, result.code) for result in results if not result.ok) == [(1, "bad_row")]
    assert len(results) == 3


@pytest.mark.parametrize("fault", ["die", "tear", "leave", "cancel", "terminate", "close"])
@pytest.mark.parametrize("after", [0, 1, 250, 499])
def test_a_worker_that_dies_is_replaced_and_no_row_is_lost_or_repeated(
    fault: str, after: int, tmp_path: Path
) -> None:
    options: Any = {f"{fault}_after": after}
    results = thumbs.run(URLS, state=tmp_path, **options)
    check_exactly_once(list(results))
    assert results.counters.restarts == 1
    assert len(pids(tmp_path)) == 2


def test_a_missing_last_record_raises() -> None:
    with pytest.raises(thumbs.ProtocolError, match="last record"):
        list(thumbs.run(URLS, trailer="missing"))


def test_a_worker_that_dies_again_raises_with_its_last_words(tmp_path: Path) -> None:
    results = thumbs.run(URLS, state=tmp_path, leave_after=100, faulty_starts=2)
    with pytest.raises(thumbs.WorkerDied, match="exit status 74.*The disk is full"):
        list(results)
    assert results.counters.rows == 200
    assert list(results) == []


def test_more_restarts_can_be_allowed(tmp_path: Path) -> None:
    results = thumbs.run(URLS, state=tmp_path, die_after=100, faulty_starts=4, restarts=4)
    check_exactly_once(list(results))
    assert results.counters.restarts == 4


@pytest.mark.parametrize("count", ["received", "finished"])
def test_a_count_that_differs_raises(count: str) -> None:
    with pytest.raises(thumbs.ProtocolError, match="500 rows"):
        list(thumbs.run(URLS, trailer=count))


@pytest.mark.parametrize("fault", ["repeat", "invent", "garbage", "huge"])
def test_a_frame_that_matches_no_row_raises(fault: str, tmp_path: Path) -> None:
    options: Any = {f"{fault}_after": 100}
    results = thumbs.run(URLS, state=tmp_path, **options)
    with pytest.raises(thumbs.ProtocolError):
        list(results)
    assert not is_running(pids(tmp_path)[0])


def test_a_worker_that_hangs_is_replaced(tmp_path: Path) -> None:
    results = thumbs.run(URLS, state=tmp_path, hang_after=100, silence=1)
    check_exactly_once(list(results))
    assert results.counters.restarts == 1


def test_a_consumer_that_pauses_does_not_make_the_worker_count_as_dead(tmp_path: Path) -> None:
    results = thumbs.run(URLS, state=tmp_path, silence=0.5, delay=0.001)
    first = [next(results)]
    time.sleep(1)
    check_exactly_once(first + list(results))
    assert results.counters.restarts == 0


def test_a_source_slower_than_silence_does_not_make_the_worker_count_as_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = threading.Event()

    def rows() -> Iterator[str]:
        gate.wait()
        yield from URLS

    results = thumbs.run(rows(), silence=2)
    exchange = results._exchange

    def let_one_wait_pass() -> None:
        exchange()
        gate.set()

    monkeypatch.setattr(results, "_exchange", let_one_wait_pass)
    check_exactly_once(list(results))
    assert results.counters.restarts == 0


def test_an_unknown_option_raises_with_the_message_of_the_command() -> None:
    with pytest.raises(thumbs.UsageError, match="--colour=blue"):
        list(thumbs.run(URLS, colour="blue"))


def test_a_missing_command_raises_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THUMBS_BINARY", "/nowhere/thumbs")
    with pytest.raises(thumbs.CommandNotFound, match="/nowhere/thumbs"):
        thumbs.run(URLS)


def test_closing_ends_the_worker(tmp_path: Path) -> None:
    with thumbs.run(URLS, state=tmp_path, delay=0.01) as results:
        next(results)
        assert is_running(pids(tmp_path)[0])
    assert not is_running(pids(tmp_path)[0])
    assert list(results) == []


def test_leaving_the_loop_ends_the_worker(tmp_path: Path) -> None:
    for _ in thumbs.run(URLS, state=tmp_path, delay=0.01):
        break
    assert not is_running(pids(tmp_path)[0])


def test_an_error_of_the_rows_is_raised_after_the_results_of_earlier_rows() -> None:
    def rows() -> Iterator[str]:
        yield from URLS[:100]
        raise LookupError("no more")

    taken = []
    with pytest.raises(LookupError, match="no more"):
        for result in thumbs.run(rows()):
            taken.append(result.index)
    assert sorted(taken) == list(range(100))


def test_rows_that_depend_on_results_do_not_hang() -> None:
    rows: "queue.Queue[Any]" = queue.Queue()
    rows.put(URLS[0])
    taken = []
    for result in thumbs.run(iter(rows.get, None)):
        taken.append(result.row)
        rows.put(URLS[len(taken)] if len(taken) < 50 else None)
    assert taken == URLS[:50]


def test_rows_that_depend_on_results_do_not_hang_after_a_death(tmp_path: Path) -> None:
    rows: "queue.Queue[Any]" = queue.Queue()
    rows.put(URLS[0])
    taken = []
    for result in thumbs.run(iter(rows.get, None), state=tmp_path, die_after=20):
        taken.append(result.row)
        rows.put(URLS[len(taken)] if len(taken) < 50 else None)
    assert taken == URLS[:50]


@pytest.mark.parametrize("count", [0, 1])
def test_rows_that_end_just_before_the_run_waits_do_not_hang(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = threading.Event()
    threads: "queue.Queue[threading.Thread]" = queue.Queue()

    def rows() -> Iterator[str]:
        threads.put(threading.current_thread())
        yield from URLS[:count]
        gate.wait()

    results = thumbs.run(rows(), silence=20)
    taken = [next(results) for _ in range(count)]
    exchange, feed = results._exchange, threads.get()

    def end_the_rows_first() -> None:
        gate.set()
        feed.join()
        exchange()

    monkeypatch.setattr(results, "_exchange", end_the_rows_first)
    began = time.monotonic()
    assert len(taken + list(results)) == count
    assert time.monotonic() - began < 10


def test_a_run_whose_rows_have_ended_does_not_look_for_more(monkeypatch: pytest.MonkeyPatch) -> None:
    results, turns = thumbs.run(URLS[:3], delay=0.2), []
    exchange = results._exchange
    monkeypatch.setattr(results, "_exchange", lambda: turns.append(exchange()))
    assert len(list(results)) == 3
    assert len(turns) < 30


@pytest.mark.parametrize("window", [1, 2, 10])
def test_rows_are_read_ahead_only_as_far_as_the_window(window: int) -> None:
    read, taken = 0, 0
    ahead = []

    def rows() -> Iterator[str]:
        nonlocal read
        for url in URLS:
            read += 1
            ahead.append(read - taken)
            yield url

    for _ in thumbs.run(rows(), window=window):
        taken += 1
    assert taken == 500
    # Results that were read from the pipe together are counted as finished before they are taken.
    assert max(ahead) <= 2 * window + 1


def test_results_that_are_not_taken_hold_back_the_rows() -> None:
    read = threading.Semaphore(0)

    def rows() -> Iterator[str]:
        while True:
            read.release()
            yield "http://a.example/" + "x" * 10_000

    with thumbs.run(rows(), window=1000) as results:
        next(results)
        time.sleep(1)
        count = 0
        while read.acquire(blocking=False):
            count += 1
        assert count < 2500
        assert next(results).ok


@pytest.mark.parametrize("option, value, reason", [
    ("protocol", "jsonl", "reads frames"), ("no_bodies", True, "no thumbnails"), ("version", True, "__version__"),
    ("help", True, "without results"), ("size", 64, "called sizes"), ("no-bodies", True, "no thumbnails"),
])
def test_an_option_that_a_run_cannot_have_raises_at_once(option: str, value: Any, reason: str) -> None:
    with pytest.raises(thumbs.UsageError, match=f"{option} .*{reason}"):
        thumbs.run(URLS, **{option: value})
    assert len(list(thumbs.run(URLS[:3], **{option: False}))) == 3


@pytest.mark.parametrize("rows", [URLS[0], {"url": URLS[0]}, URLS[0].encode()])
def test_a_single_row_is_not_taken_for_several(rows: Any) -> None:
    with pytest.raises(TypeError, match="list"):
        thumbs.run(rows)


def test_the_path_of_a_file_is_no_settings_for_hosts() -> None:
    with pytest.raises(TypeError, match="hosts is of type str"):
        thumbs.run(URLS, hosts="hosts.json")  # type: ignore[arg-type]


def forked(work: Callable[[], Any]) -> Tuple[int, int]:
    """Runs `work` in a fork. Returns its process ID, and a descriptor that ends the fork when it is closed."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid:
        os.close(reader)
        return pid, writer
    os.close(writer)
    status = 1
    try:
        work()
        status = 0
    finally:
        os.read(reader, 1)
        os._exit(status)


def test_a_fork_does_not_keep_the_worker_waiting_for_input(tmp_path: Path) -> None:
    gate = threading.Event()

    def rows() -> Iterator[str]:
        yield URLS[0]
        gate.wait()

    results = thumbs.run(rows(), state=tmp_path)
    taken = [next(results)]
    pid, writer = forked(lambda: None)
    gate.set()
    taken += results
    os.close(writer)
    assert os.waitpid(pid, 0)[1] == 0
    assert len(taken) == 1 and results.counters.restarts == 0


def test_a_fork_cannot_take_results_and_does_not_end_the_worker(tmp_path: Path) -> None:
    results = thumbs.run(URLS, state=tmp_path, delay=0.001)
    taken = [next(results)]

    def take() -> None:
        with pytest.raises(RuntimeError, match="fork"):
            next(results)
        results.close()

    pid, writer = forked(take)
    os.close(writer)
    assert os.waitpid(pid, 0)[1] == 0
    check_exactly_once(taken + list(results))
    assert results.counters.restarts == 0


def test_a_worker_that_does_not_end_is_replaced_and_no_row_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("thumbs._run.LONGEST_END", 0.2)
    results = thumbs.run(URLS, state=tmp_path, trailer="late")
    check_exactly_once(list(results))
    assert results.counters.restarts == 1
    assert not is_running(pids(tmp_path)[0])


def test_silence_has_no_limit() -> None:
    gate = threading.Event()

    def rows() -> Iterator[str]:
        gate.wait()
        yield from URLS

    threading.Timer(0.2, gate.set).start()
    check_exactly_once(list(thumbs.run(rows(), silence=float("inf"))))


@pytest.mark.parametrize("window", [0, 40_000])
def test_an_impossible_window_raises(window: int) -> None:
    with pytest.raises(ValueError, match="window"):
        thumbs.run(URLS, window=window)


def test_settings_for_hosts_reach_the_worker() -> None:
    assert len(list(thumbs.run(URLS[:3], hosts={"*": {"per-host": 1}}))) == 3


def test_many_runs_leave_no_descriptors_open() -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        list(thumbs.run(URLS[:3]))
        next(thumbs.run(URLS[:3]))
    assert len(os.listdir("/proc/self/fd")) <= before


def test_header_fields_are_no_arguments_of_the_worker() -> None:
    script = """
import json, struct, sys
files = [argument.split("=", 1)[1] for argument in sys.argv if argument.startswith(("--header=@", "--hosts="))]
header = json.dumps({"arguments": sys.argv, "texts": [open(name.lstrip("@")).read() for name in files]}).encode()
sys.stdout.buffer.write(struct.pack("<I", len(header)) + header)
"""
    fields = ["--header=Authorization: Bearer secret", "--header=@/dev/null", "--header=B: é"]
    worker = WorkerProcess([sys.executable, "-c", script, "--header=A: x\ny", *fields], {"*": {"rate": "1/s"}})
    frames: List[Frame] = []
    wake, _ = os.pipe()
    while not worker.has_ended:
        frames += worker.exchange(wake, 10)
    assert worker.reap()[0] == 0

    [found] = [frame.header for frame in frames]
    assert [text for text in found["arguments"] if "secret" in text] == []
    assert "--header=A: x\ny" in found["arguments"] and "--header=@/dev/null" in found["arguments"]
    assert found["texts"] == ["", "Authorization: Bearer secret\nB: é", '{"*": {"rate": "1/s"}}']


def in_threads(count: int, work: Callable[[], Any]) -> List[Any]:
    """Returns what `work` returns or raises in each of several threads."""
    with ThreadPoolExecutor(count) as threads:
        started = [threads.submit(work) for _ in range(count)]
        return [each.exception() or each.result() for each in started]


@pytest.mark.parametrize("attempt", range(10))
def test_threads_share_the_results_of_a_run(attempt: int) -> None:
    results = thumbs.run(iter(URLS), window=16)
    taken = in_threads(4, lambda: list(results))
    assert not any(isinstance(part, BaseException) for part in taken)
    check_exactly_once([result for part in taken for result in part])


def test_a_run_that_is_closed_by_another_thread_raises_where_results_are_awaited(tmp_path: Path) -> None:
    results = thumbs.run([*URLS, "http://a.example/"], state=tmp_path, hang_after=1, silence=60)
    next(results)
    began = time.monotonic()
    threading.Timer(0.2, results.close).start()
    for _ in range(2):  # Also in the next call, because the loop must not look complete.
        with pytest.raises(thumbs.RunClosed, match="another thread"):
            next(results)
    assert time.monotonic() - began < 20
    results.close()
    assert not is_running(pids(tmp_path)[0])


def test_a_run_whose_rows_are_awaited_can_be_closed_by_another_thread() -> None:
    gate = threading.Event()
    results = thumbs.run(iter(gate.wait, True))
    threading.Timer(0.2, results.close).start()
    with pytest.raises(thumbs.RunClosed):
        next(results)
    gate.set()


def test_an_error_in_one_thread_ends_no_other_thread_in_silence(tmp_path: Path) -> None:
    results = thumbs.run(URLS, state=tmp_path, leave_after=100, faulty_starts=2)
    raised = in_threads(3, lambda: list(results))
    assert sorted(type(each).__name__ for each in raised) == ["RunClosed", "RunClosed", "WorkerDied"]


def test_a_signal_handler_can_close_a_run_while_results_are_awaited(tmp_path: Path) -> None:
    results = thumbs.run(URLS, state=tmp_path, hang_after=1, silence=60)
    earlier = signal.signal(signal.SIGUSR1, lambda *_: results.close())
    try:
        next(results)
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGUSR1)).start()
        with pytest.raises(thumbs.RunClosed):
            next(results)
    finally:
        signal.signal(signal.SIGUSR1, earlier)
    assert not is_running(pids(tmp_path)[0])
    assert list(results) == []


def test_signals_of_the_terminal_do_not_reach_the_worker(tmp_path: Path) -> None:
    results = thumbs.run(URLS, state=tmp_path, delay=0.001)
    taken = [next(results)]
    assert os.getpgid(pids(tmp_path)[0]) != os.getpgid(0)
    check_exactly_once(taken + list(results))


def test_rows_that_are_lost_raise(monkeypatch: pytest.MonkeyPatch) -> None:
    results = thumbs.run(URLS)
    monkeypatch.setattr(results._ledger, "restart", lambda: b"")
    taken = [next(results)]
    results._worker, lost = None, results._worker
    with pytest.raises(thumbs.ProtocolError, match="have no result"):
        taken += results
    assert lost is not None
    lost.cancel()


def test_the_source_runs_in_the_context_of_the_caller() -> None:
    variable: "ContextVar[str]" = ContextVar("variable")
    variable.set(URLS[0])
    assert [result.url for result in thumbs.run(variable.get() for _ in range(1))] == [URLS[0]]


def test_warnings_of_the_worker_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("WARNING", "thumbs"):
        list(thumbs.run(URLS[:3], warn="The cache cannot be used."))
    assert [record.getMessage() for record in caplog.records] == ["The cache cannot be used."]


def test_a_warning_is_logged_while_the_run_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    with thumbs.run(URLS, warn="The cache cannot be used.", delay=0.001) as results:
        next(results)
        assert [record.getMessage() for record in caplog.records] == ["The cache cannot be used."]


def test_a_result_shows_no_bytes_and_can_be_in_a_set() -> None:
    results = set(thumbs.run(URLS[:2]))
    assert len(results) == 2
    for result in results:
        assert "data=" not in repr(result) and "report=" not in repr(result) and len(repr(result)) < 500
        shown = result._repr_mimebundle_()
        assert "data:image/jpeg;base64," in shown["text/html"] and shown["text/plain"] == repr(result)
    [failed] = thumbs.run(["http://a.example/<b>missing.jpg"])
    shown = failed._repr_mimebundle_()["text/html"]
    assert "<b>" not in shown and "http_404" in shown


def test_results_can_be_awaited_while_other_tasks_go_on(tmp_path: Path) -> None:
    async def take() -> List[thumbs.Result]:
        async with thumbs.run(URLS, state=tmp_path, delay=0.001) as results:
            return [result async for result in results]

    async def count() -> int:
        turns = 0
        while not done:
            turns += 1
            await asyncio.sleep(0.001)
        return turns

    async def both() -> int:
        counting = asyncio.ensure_future(count())
        check_exactly_once(await take())
        done.append(True)
        return await counting

    done: List[bool] = []
    assert asyncio.run(both()) > 50


def test_tasks_share_a_run_and_a_task_that_is_canceled_loses_no_result(tmp_path: Path) -> None:
    async def take_all() -> List[thumbs.Result]:
        results, taken = thumbs.run(URLS, state=tmp_path, delay=0.002), []
        for _ in range(50):
            try:
                taken.append(await asyncio.wait_for(results.__anext__(), 0.001))
            except asyncio.TimeoutError:
                pass

        async def take() -> None:
            async for result in results:
                taken.append(result)

        await asyncio.gather(take(), take(), take())
        return taken

    check_exactly_once(asyncio.run(take_all()))


def test_leaving_an_async_with_ends_the_worker_while_a_task_waits(tmp_path: Path) -> None:
    async def leave() -> Any:
        async with thumbs.run(URLS, state=tmp_path, hang_after=1, silence=60) as results:
            await results.__anext__()
            waiting = asyncio.ensure_future(results.__anext__())
            await asyncio.sleep(0.2)
        return (await asyncio.gather(waiting, return_exceptions=True))[0]

    assert isinstance(asyncio.run(leave()), thumbs.RunClosed)
    assert not is_running(pids(tmp_path)[0])


def test_a_signal_handler_can_close_a_run_while_a_result_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    results = thumbs.run(URLS)
    # Stands in for a handler that interrupts the thread at this place.
    monkeypatch.setattr(results.counters, "add", lambda result: results.close())
    closing = threading.Thread(target=lambda: list(results), daemon=True)
    closing.start()
    closing.join(20)
    assert not closing.is_alive() and results.worker_pid is None


def test_a_signal_handler_that_closes_a_run_as_the_wait_ends_ends_the_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    results = thumbs.run(URLS, delay=0.001)
    wait = results._wait_for_results

    def wait_and_close() -> None:
        wait()
        results.close()

    monkeypatch.setattr(results, "_wait_for_results", wait_and_close)
    with pytest.raises(thumbs.RunClosed):
        next(results)
    assert results.worker_pid is None


def test_a_progress_bar_shows_the_rows_and_the_failures(capsys: pytest.CaptureFixture[str]) -> None:
    rows = ["http://a.test/1", {"wrong": 1}, "http://a.test/2"]
    assert len(list(thumbs.run(rows, progress=True))) == 3
    shown = capsys.readouterr().err
    assert "3/3" in shown and "failed=1" in shown
    assert len(list(thumbs.run((row for row in rows[:1]), progress=True))) == 1
    assert "1row" in capsys.readouterr().err


def test_a_run_that_is_closed_ends_its_progress_bar(capsys: pytest.CaptureFixture[str]) -> None:
    with thumbs.run([f"http://a.test/{number}" for number in range(20)], progress=True) as results:
        next(results)
    assert "1/20" in capsys.readouterr().err


def test_without_tqdm_a_progress_bar_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match="pip install tqdm"):
        thumbs.run(["http://a.test/1"], progress=True)


def test_a_number_of_numpy_is_an_option() -> None:
    assert [result.ok for result in thumbs.run(["http://a.test/1"], per_host=numpy.int64(6))] == [True]


@pytest.mark.parametrize("rows", [[], [None], iter(())])
def test_a_wrong_option_raises_even_without_rows(rows: Any) -> None:
    with pytest.raises(thumbs.UsageError, match="--colour"):
        list(thumbs.run(rows, colour="blue"))
    assert list(thumbs.run([])) == []


def test_a_progress_bar_counts_rows_that_are_finished_already(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"http://a.test/{number}" for number in range(20)]
    thumbs.webdataset.write(thumbs.run(rows[:15]), tmp_path)
    thumbs.webdataset.write(thumbs.run(rows, progress=True), tmp_path, mode="continue")
    assert "20/20" in capsys.readouterr().err
