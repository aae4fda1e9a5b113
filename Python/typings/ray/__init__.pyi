# Ray has no complete types, and is installed only for the tests of clusters: with this, a check finds the same either
# way, and `import ray` never means `thumbs/ray.py`, which stands beside its importer.
from typing import Any

def __getattr__(name: str) -> Any: ...
