"""SVG files and PDF documents that grow without limit, and JPEG 2000 files that declare more parts than any real
one."""
import cases
import jpeg2000
import pdf
import svg

SIDE = 40
SQUARE = '<rect width="40" height="40"/>'


def entities(depth):
    """Entities of which each is ten times the one before."""
    lines = ['<!ENTITY a0 "aaaaaaaaaa">'] + [f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, depth)]
    return "<!DOCTYPE svg [" + "".join(lines) + "]>"


def uses(depth):
    """Groups of which each uses the one before ten times."""
    groups = "".join(f'<g id="g{n}">' + f'<use xlink:href="#g{n - 1}"/>' * 10 + "</g>" for n in range(1, depth))
    return f'<defs><g id="g0">{SQUARE}</g>{groups}</defs><use xlink:href="#g{depth - 1}"/>'


BOMBS = {
    "entities": (entities(10), "<text>&a9;</text>"), "entities-in-attribute": (entities(10), '<text id="&a9;"/>'),
    "uses": ("", uses(10)), "depth": ("", "<g>" * 100_000 + "</g>" * 100_000),
    "loop": ('<!DOCTYPE svg [<!ENTITY a "&b;"><!ENTITY b "&a;">]>', "<text>&a;</text>"),
    "elements": ("", "<g/>" * 1_100_000),
}
# Files of a few hundred bytes. Their sizes are within the limits.
STREAMS = {
    "components": jpeg2000.hostile(100, components=16384), "some-components": jpeg2000.hostile(100, components=17),
    "tiles": jpeg2000.hostile(tile=16), "layers": jpeg2000.hostile(layers=65535, precinct=8),
    "precincts": jpeg2000.hostile(precinct=1), "blocks": jpeg2000.hostile(block=2, components=3),
}


def check(command, folder):
    folder.mkdir()
    for name, (document_type, content) in BOMBS.items():
        svg.write(folder / f"{name}.svg", f'width="{SIDE}" height="{SIDE}"', content, document_type)
    for name, stream in STREAMS.items():
        (folder / f"{name}.j2k").write_bytes(stream)
    for name, document in pdf.bombs().items():
        (folder / f"{name}.pdf").write_bytes(document)
    names = sorted(path.name for path in folder.iterdir())
    lines = cases.render(command, folder / "run", [folder / name for name in names], str(SIDE),
                         more=["--decode-timeout", "3"])
    codes = {name: line.get("code", line["status"]) for name, line in zip(names, lines)}
    failures = [f"Bombs: {name}: {code}" for name, code in codes.items() if code != "decode_limit"]
    print(f"Bombs: {len(codes) - len(failures)} of {len(codes)} files fail with decode_limit", flush=True)
    return failures
