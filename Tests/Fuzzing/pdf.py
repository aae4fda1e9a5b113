"""Writes PDF documents as seeds: pdf.py FOLDER."""
import pathlib
import sys
import tempfile

# Instead of the folder of this file, in which the tests' module of the same name is hidden by it.
sys.path[0] = str(pathlib.Path(__file__).parent.parent / "Decoders")
import pdf  # noqa: E402

with tempfile.TemporaryDirectory() as name:
    for path in [*pdf.made(pathlib.Path(name)), pdf.locked(pathlib.Path(name))[0]]:
        pathlib.Path(sys.argv[1], path.name).write_bytes(path.read_bytes())
