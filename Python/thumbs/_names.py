"""Canonical names of hosts: one form for all ways to write a host, as the command reads them.

A host whose names differ here would be two hosts of a cluster, each with the full limit.
"""
from __future__ import annotations

import ipaddress
import re
import unicodedata
from typing import Optional, Tuple
from urllib.parse import unquote

DEFAULT_PORTS = ("", "80", "443")
"""Ports that count as the default one, whatever the scheme is."""

# UTS 46 removes invisible letters, and changes this capital letter in another way than Python.
_CHANGES = {0x00AD: None, 0x200B: None, 0x2060: None, 0xFEFF: None, 0x1E9E: "ss"}
_SIMPLE = re.compile(r"(?:[a-z0-9_-]+\.)*[a-z][a-z0-9_-]*", re.ASCII)
_NUMBER = re.compile(r"0[xX][0-9A-Fa-f]+|[0-9]+", re.ASCII)


def canonical(authority: str) -> str:
    """Returns a host with its port unless that is a default one: `127.1:080` is `127.0.0.1`."""
    name, port = split(authority)
    return name if (port or "") in DEFAULT_PORTS else f"{name}:{port}"


def split(authority: str) -> Tuple[str, Optional[str]]:
    """Returns the canonical name of a host, and its port if it has one: without zeros at the beginning."""
    text = authority.strip()
    end = text.find("]") + 1 if text.startswith("[") else 0
    name, colon, port = text[end:].partition(":")
    digits = port.lstrip("0") or port[-1:]
    return (_address(text[:end]) if end else _name(name)), digits if colon else None


def _name(name: str) -> str:
    """Returns a name in lower case and ASCII, without final dot, and an IPv4 address as four decimal numbers."""
    if not _SIMPLE.fullmatch(name):
        folded = unicodedata.normalize("NFKC", unquote(name).translate(_CHANGES).lower())
        name = ".".join(map(_label, re.split("[.\u3002]", folded)))
        name = name[:-1] if name.endswith(".") else name
    return _ipv4(name) or name


def _label(label: str) -> str:
    """Returns the ASCII form of a label (RFC 3492)."""
    if label.isascii():
        return label.lower()
    return "xn--" + label.lower().encode("punycode", "replace").decode()


def _ipv4(name: str) -> Optional[str]:
    """Returns the address that one to four numbers stand for, as in inet_aton(3); None if they stand for none."""
    parts = name.split(".")
    if len(parts) > 4 or not all(map(_NUMBER.fullmatch, parts)):
        return None
    try:
        *bytes_, rest = map(_number, parts)
    except ValueError:
        return None
    if any(byte > 255 for byte in bytes_) or rest >= 256 ** (4 - len(bytes_)):
        return None
    return ".".join(map(str, [*bytes_, *rest.to_bytes(4 - len(bytes_), "big")]))


def _number(text: str) -> int:
    if text[:2] in ("0x", "0X"):
        return int(text, 16)
    return int(text, 8 if text.startswith("0") else 10)


def _address(text: str) -> str:
    """Returns an IPv6 address in brackets in its shortest form."""
    try:
        return f"[{ipaddress.IPv6Address(text[1:-1].partition('%')[0])}]"
    except ValueError:
        return text.lower()
