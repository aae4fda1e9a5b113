"""Finds the command `thumbs` and writes its arguments."""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any, Iterable, Iterator, List, Mapping, Sequence, Union

from .errors import CommandNotFound, UsageError

Value = Union[str, int, float, os.PathLike]  # type: ignore[type-arg]
Option = Union[None, bool, Value, Sequence[Value]]
Size = Union[int, str]
Sizes = Union[Size, Sequence[Size], None]
Hosts = Mapping[str, Mapping[str, Any]]

USAGE = 64
"""The exit status of the command for wrong arguments."""

_END = "the command would end at once, without results"
REFUSED = {
    "protocol": "this package reads frames", "no_bodies": "the results would have no thumbnails",
    "size": "the argument is called sizes", "url_column": "the argument is called url_col",
    "version": f"{_END}; see thumbs.__version__", "help": _END,
    "help_hidden": _END, "generate_completion_script": _END,
}
"""Options of the command that a run cannot have, and the reasons."""


def find() -> str:
    """Returns the path of the command.

    It is the one that the environment variable `THUMBS_BINARY` names, else the one that was installed with this
    package, else the first one in `PATH`.

    Raises `CommandNotFound` if there is no such file.
    """
    named = os.environ.get("THUMBS_BINARY")
    if named:
        if not (os.path.isfile(named) and os.access(named, os.X_OK)):
            raise CommandNotFound(f"THUMBS_BINARY is {named}, which is not an executable file.")
        return os.path.abspath(named)
    for path in _installed():
        if path.is_file() and os.access(path, os.X_OK):
            return str(path)
    found = shutil.which("thumbs")
    if found is None:
        raise CommandNotFound(
            "The command thumbs was not found. Install the wheel of a release, or set THUMBS_BINARY to its path.")
    return found


def _installed() -> Iterator[Path]:
    """Yields the places where pip puts the scripts of a wheel."""
    yield Path(sysconfig.get_path("scripts")) / "thumbs"
    yield Path(sysconfig.get_path("scripts", "posix_user")) / "thumbs"
    yield Path(sys.executable).parent / "thumbs"
    yield Path(__file__).resolve().parents[1] / "bin" / "thumbs"  # pip install --target


def arguments(sizes: Sizes = None, **options: Option) -> List[str]:
    """Returns command line arguments: `per_host=2` is `--per-host=2`, True is a flag, a list repeats the option.

    None and False leave an option out. Raises `UsageError` for an option that a run cannot have.
    """
    for name, value in options.items():
        reason = REFUSED.get(name.replace("-", "_"))
        if reason is not None and value is not None and value is not False:
            raise UsageError(f"The option {name} cannot be used here: {reason}.")
    given = [f"--size={size}" for size in size_list(sizes)]
    for name, value in options.items():
        given.extend(_argument(name, value))
    return given


def size_list(sizes: Sizes) -> List[str]:
    """Returns the sizes as texts, an empty list for None."""
    if sizes is None:
        return []
    several = [sizes] if isinstance(sizes, str) or not isinstance(sizes, Iterable) else sizes
    return [part for size in several for part in str(size).split(",")]


def check(sizes: Sizes, **options: Option) -> None:
    """Raises `UsageError` if the command refuses the arguments."""
    verify([find(), "worker", *arguments(sizes, **options)])


def verify(command: Sequence[str]) -> None:
    """Starts a worker without any row. Raises `UsageError` if it refuses its arguments."""
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    if done.returncode == USAGE:
        raise UsageError(done.stderr.decode(errors="replace").strip())


def check_hosts(hosts: object) -> None:
    """Raises `TypeError` if `hosts` is not a mapping, such as the path of a file."""
    if hosts is not None and not isinstance(hosts, Mapping):
        raise TypeError(f"hosts is of type {type(hosts).__name__}, but must be a mapping of hosts to their settings; "
                        "read the file first.")


def _argument(name: str, value: Option) -> Iterator[str]:
    option = "--" + name.replace("_", "-")
    if value is True:
        yield option
    elif value is None or value is False:
        return
    elif isinstance(value, (str, int, float, os.PathLike)) or hasattr(value, "__float__"):  # A scalar of NumPy, too.
        yield f"{option}={os.fspath(value) if isinstance(value, os.PathLike) else value}"
    else:
        for single in value:
            yield from _argument(name, single)
