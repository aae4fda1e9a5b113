"""Text on a system without Landlock, where the decoders can open no fonts: in SVG empty boxes, in PDF nothing unless
the document contains the fonts; each with a warning."""
import ctypes

import cases
import pdf
import svg

# The actions of libseccomp. The second one fails with ENOSYS, as an unknown system call does.
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | 38
WARNINGS = {"text.svg": "the text is empty boxes, because the decoder can open no fonts here",
            "text.pdf": "text is missing whose fonts the document lacks, because the decoder can open none here"}
DRAWINGS = {"text": '<text y="30">Text</text>', "shapes": '<rect width="40" height="40"/>'}


def refuse_landlock():
    """Removes Landlock from this process and those that it starts."""
    library = ctypes.CDLL("libseccomp.so.2")
    library.seccomp_init.restype = ctypes.c_void_p
    rules = ctypes.c_void_p(library.seccomp_init(ctypes.c_uint32(ALLOW)))
    call = library.seccomp_syscall_resolve_name(b"landlock_create_ruleset")
    if library.seccomp_rule_add(rules, ctypes.c_uint32(REFUSE), call, 0) or library.seccomp_load(rules):
        raise OSError("libseccomp has refused the filter")


def check(command, folder):
    folder.mkdir()
    for name, content in DRAWINGS.items():
        svg.write(folder / f"{name}.svg", 'width="40" height="40"', content)
    pdf.write(folder / "text.pdf", pdf.pages([pdf.TEXT]))
    pdf.write(folder / "shapes.pdf", pdf.page_with(pdf.stream(pdf.SHAPES), ""))
    files, failures = [*sorted(folder.iterdir()), pdf.DOCUMENTS[0]], []
    for run, prepare in (("with", None), ("without", refuse_landlock)):
        for path, line in zip(files, cases.render(command, folder / run, files, "40", prepare)):
            expected = [WARNINGS[path.name]] if path.name in WARNINGS and prepare else []
            if line.get("warnings") != expected:
                failures.append(f"Fonts: {path.name} {run} Landlock: {line['status']}, {line.get('warnings')}")
    print(f"Fonts: {len(failures)} of {2 * len(files)} drawings have another warning than they should", flush=True)
    return failures
