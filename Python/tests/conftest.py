"""Fixtures of all tests."""
from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Lets the package start the worker of `stand_in.py`, with this Python."""
    script = tmp_path / "stand-in"
    script.write_text(f"#!/bin/sh\nexec {sys.executable} -SE {HERE}/stand_in.py \"$@\"\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("THUMBS_BINARY", str(script))
    monkeypatch.setattr("thumbs._worker.LONGEST_GOODBYE", 0.5)
    return script


@pytest.fixture(scope="session")
def command() -> str:
    """The path of the real command, which the tests need."""
    path = os.environ.get("THUMBS_BINARY")
    if not path:
        pytest.skip("THUMBS_BINARY does not name the command")
    return path
