"""Removes credentials from texts that are stored, by the rules of the command for its report.

A URL that the command would call invalid may have a password anywhere before its last `@`, so everything up to there is
hidden. The usual cause is a password that contains a slash.
"""
from __future__ import annotations

import re
from typing import Any, FrozenSet, Mapping, Optional

from ._rows import converted

MARK = "***"

_PORT = r"(?::(?:[0-9]{1,4}|[0-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])?)?"

WITHOUT_USER = rf"[A-Za-z][A-Za-z0-9+.-]*://(?:\[[0-9A-Fa-f:.]*\]|[^/?#@:\\\x00-\x20]*){_PORT}(?:[/?#][\s\S]*)?"
"""A URL that has no credentials, even if an `@` is in its path. Python and Java read it alike."""

_VALID = re.compile(
    rf"(?:https?://(?:[^/?#@\s]*@)?(?:\[[0-9A-Fa-f:.]+\]|[^/?#@:\\\s\[\]]+){_PORT}|file://)(?:[/?#].*)?",
    re.IGNORECASE | re.DOTALL)
_USERS = re.compile(r"://[^/?#]*@")
_SCHEME = re.compile(r"[A-Za-z]+://")
_BEGINNING = re.compile(r"\s*[A-Za-z][A-Za-z0-9+.-]*://")
_WITHIN = re.compile(r"[A-Za-z]*://[^ \t\n\"'<>]*")


def url(text: str) -> str:
    """Returns a URL with `***` in place of its user and password."""
    if "@" not in text:
        return text
    return _USERS.sub(f"://{MARK}@", text) if _VALID.fullmatch(text) else hiding_all(text)


def hiding_all(text: str, mark: str = MARK) -> str:
    """Returns a text with `mark` in place of everything between the scheme and the last `@`."""
    scheme = _SCHEME.match(text)
    return f"{scheme[0] if scheme else ''}{mark}@{text.rpartition('@')[2]}"


def text(value: str, known: Optional[str] = None) -> str:
    """Returns a text that may be a URL or contain some, without their credentials.

    `known` is a URL without credentials that the text may be, which covers invalid ones.
    """
    if "@" not in value:
        return value
    if known is not None and known in (url(value), hiding_all(value)):
        return known
    return url(value) if _BEGINNING.match(value) else _WITHIN.sub(lambda found: url(found[0]), value)


def row(value: Any, known: Optional[str]) -> Any:
    """Returns a row of `run` without credentials, as far as JSON can hold it.

    Its members `headers` keep only the names, because the values may be secret.
    """
    if isinstance(value, str):
        return _scalar(url(value if known is None else known))
    if not isinstance(value, Mapping):
        return plain(value, known)
    return plain({name: _member(name, member) for name, member in value.items()}, known)


def plain(value: Any, known: Optional[str] = None, outer: FrozenSet[int] = frozenset()) -> Any:
    """Returns a value as JSON can hold it, and without credentials.

    A number that JSON does not have, and an object within itself, become null; other objects become texts.
    """
    value = converted(value)
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    if not isinstance(value, (Mapping, list, tuple)):
        return _scalar(text(_text(value), known))
    if id(value) in outer or len(outer) >= 100:
        return None
    within = outer | {id(value)}
    if isinstance(value, Mapping):
        return {_scalar(text(_text(name), known)): plain(member, known, within) for name, member in value.items()}
    return [plain(member, known, within) for member in value]


def typed(value: Any, known: Optional[str] = None) -> Any:
    """Returns a value of the same type, with everything in it, without the credentials in its texts."""
    value = converted(value)
    if isinstance(value, str):
        return text(value, known)
    if isinstance(value, Mapping):
        return {name: typed(member, known) for name, member in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(typed(member, known) for member in value) if type(value) in (list, tuple) else value
    return value


def _member(name: Any, value: Any) -> Any:
    if name == "headers" and value is not None:
        return dict.fromkeys(value, MARK) if isinstance(value, Mapping) else MARK
    if name in ("url", "urls"):
        return [_url(single) for single in value] if isinstance(value, (list, tuple)) else _url(value)
    return value


def _url(value: Any) -> Any:
    return url(value) if isinstance(value, str) else value


def _text(value: Any) -> str:
    try:
        return str(value)
    except Exception:  # An object may raise anything, but its row has a result that must not be lost.
        return f"<{type(value).__name__}>"


def _scalar(value: str) -> str:
    """Returns a text without halves of surrogate pairs, which many readers of JSON reject."""
    return value if value.isascii() else value.encode("utf-8", "replace").decode()
