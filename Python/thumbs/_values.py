"""Values of other libraries as values of Python, without importing those libraries."""
from __future__ import annotations

from typing import Any


def native(value: Any) -> Any:
    """Returns a value as one of Python: numbers and arrays of NumPy, and what pandas uses for a missing value.

    A missing value becomes None, and a number with a fraction of zero an integer: pandas makes fractions of integers in
    a column that misses some.
    """
    kind = type(value).__module__.partition(".")[0]
    if kind in ("numpy", "pandas"):
        if type(value).__name__ in ("NAType", "NaTType"):
            return None
        value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, float):
        return None if value != value else int(value) if value.is_integer() else value
    return value


def converted(value: Any) -> Any:
    """Returns a number or an array of NumPy as a value of Python, and others as they are."""
    return value.tolist() if type(value).__module__ == "numpy" and hasattr(value, "tolist") else value
