"""Tests of the parts that need no process."""
from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any, Dict, List

import pytest

import thumbs
from thumbs import _command
from thumbs._frames import FrameReader
from thumbs._ledger import Ledger
from thumbs._rows import Columns, entry


def frame(header: Dict[str, Any], *bodies: bytes) -> bytes:
    text = json.dumps({**header, "bodies": [len(body) for body in bodies]}).encode()
    return struct.pack("<I", len(text)) + text + b"".join(bodies)


STREAM = frame({"id": 1}, b"one") + frame({"id": 2}) + frame({"id": 3}, b"", b"three" * 100)


@pytest.mark.parametrize("length", [1, 2, 3, 5, 7, 50, 10_000])
def test_frames_are_the_same_wherever_the_stream_is_cut(length: int) -> None:
    reader = FrameReader()
    frames = []
    for start in range(0, len(STREAM), length):
        frames += list(reader.feed(STREAM[start:start + length]))
    assert [(found.header["id"], found.bodies) for found in frames] == [
        (1, [b"one"]), (2, []), (3, [b"", b"three" * 100])]


def test_half_a_frame_is_never_a_frame() -> None:
    whole = frame({"id": 1}, b"body")
    for length in range(len(whole)):
        assert list(FrameReader().feed(whole[:length])) == []


@pytest.mark.parametrize("data", [
    b"\xff\xff\xff\xff", struct.pack("<I", 2) + b"[]", struct.pack("<I", 1) + b"{",
    struct.pack("<I", 15) + b'{"bodies":[-1]}', struct.pack("<I", 15) + b'{"bodies":"ab"}',
    struct.pack("<I", 23) + b'{"bodies":[2000000000]}',
])
def test_bytes_that_are_no_frame_raise(data: bytes) -> None:
    with pytest.raises(thumbs.ProtocolError):
        list(FrameReader().feed(data))


def test_a_ledger_gives_the_rows_without_a_result_to_the_next_worker() -> None:
    ledger = Ledger()
    for index, url in enumerate("abc"):
        ledger.add(entry(index, url, Columns()))
    [found] = FrameReader().feed(frame({"id": 1, "index": 1, "status": "failed"}))
    result = ledger.settle(found)
    assert result is not None and (result.index, result.row) == (1, "b")
    lines = [json.loads(line) for line in ledger.restart().splitlines()]
    assert lines == [{"id": 0, "url": "a"}, {"id": 1, "url": "c"}]
    assert ledger.pending == 2 and not ledger.is_complete


def test_a_result_without_an_id_belongs_to_the_row_at_its_index() -> None:
    ledger = Ledger()
    ledger.add(entry(0, "a", Columns()))
    ledger.add(entry(1, "b", Columns()))
    [found] = FrameReader().feed(frame({"id": None, "index": 1, "status": "failed", "code": "bad_row"}))
    result = ledger.settle(found)
    assert result is not None and (result.index, result.code) == (1, "bad_row")


def test_thumbnails_that_are_not_those_of_the_outputs_raise() -> None:
    ledger = Ledger()
    ledger.add(entry(0, "a", Columns()))
    [found] = FrameReader().feed(frame({"id": 0, "status": "ok", "outputs": [{}, {}]}, b"one"))
    with pytest.raises(thumbs.ProtocolError, match="1 thumbnails"):
        ledger.settle(found)


@pytest.mark.parametrize("header", [
    {"id": 0}, {"id": 0, "status": "ok", "outputs": [{}]}, {"status": "failed"}, {"id": [], "status": "failed"},
    {"id": 1, "status": "failed"}, {"id": 0, "status": "failed", "source": 7}, {"id": 7, "status": "cancelled"},
])
def test_a_result_without_its_fields_raises(header: Dict[str, Any]) -> None:
    ledger = Ledger()
    ledger.add(entry(0, "a", Columns()))
    [found] = FrameReader().feed(frame(header, *[b""] * len(header.get("outputs", ()))))
    with pytest.raises(thumbs.ProtocolError):
        ledger.settle(found)


@pytest.mark.parametrize("options, arguments", [
    ({"per_host": 2, "no_cache": True, "robots": False, "rate": None}, ["--per-host=2", "--no-cache"]),
    ({"sizes": [64, "128@2x,32"], "header": ["A: b", "C: d"]},
     ["--size=64", "--size=128@2x", "--size=32", "--header=A: b", "--header=C: d"]),
    ({"sizes": 64, "cache_dir": Path("/tmp/x"), "user_agent": "--x"},
     ["--size=64", "--cache-dir=/tmp/x", "--user-agent=--x"]),
])
def test_options_become_arguments(options: Dict[str, Any], arguments: List[str]) -> None:
    assert _command.arguments(**options) == arguments


def test_the_command_is_found_in_this_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def program(folder: str) -> Path:
        path = tmp_path / folder / "thumbs"
        path.parent.mkdir()
        path.write_text("")
        path.chmod(0o755)
        return path

    monkeypatch.delenv("THUMBS_BINARY", raising=False)
    monkeypatch.setattr("sysconfig.get_path", lambda *arguments: str(tmp_path / "scripts"))
    monkeypatch.setattr("sys.executable", str(tmp_path / "python/python3"))
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    with pytest.raises(thumbs.CommandNotFound, match="THUMBS_BINARY"):
        thumbs.find_command()
    for folder in ["path", "python", "scripts"]:
        expected = program(folder)
        assert thumbs.find_command() == str(expected)
    named = program("named")
    monkeypatch.setenv("THUMBS_BINARY", str(named))
    assert thumbs.find_command() == str(named)
