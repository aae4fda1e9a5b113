"""Writes AVIF files as seeds: avif.py FOLDER. Still images and sequences, opaque and not. Needs avifenc."""
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "Decoders"))
import cases  # noqa: E402
import samples  # noqa: E402

target = pathlib.Path(sys.argv[1])
with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    for kind, image in ("opaque", samples.photo(60, 50)), ("alpha", samples.transparent(60, 50)):
        image.save(folder / f"{kind}.png")
        image.rotate(180).save(folder / f"{kind}-turned.png")
        frames = [folder / f"{kind}.png", "--duration", 3, folder / f"{kind}-turned.png", folder / f"{kind}.png"]
        cases.tool("avifenc", "-s", 10, frames[0], target / f"{kind}.avif")
        cases.tool("avifenc", "-s", 10, "--irot", 1, "--imir", 0, frames[0], target / f"{kind}-oriented.avif")
        cases.tool("avifenc", "-s", 10, *frames, target / f"{kind}-sequence.avif")
