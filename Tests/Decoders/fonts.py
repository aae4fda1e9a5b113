"""SVG text on a system without Landlock, where the decoder can open no fonts: empty boxes, with a warning."""
import ctypes

import cases
import svg

# The actions of libseccomp. The second one fails with ENOSYS, as an unknown system call does.
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | 38
WARNING = "the text is empty boxes, because the decoder can open no fonts here"
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
    files, failures = [folder / f"{name}.svg" for name in DRAWINGS], []
    for run, prepare in (("with", None), ("without", refuse_landlock)):
        for name, line in zip(DRAWINGS, cases.render(command, folder / run, files, "40", prepare)):
            expected = [WARNING] if name == "text" and prepare else []
            if line.get("warnings") != expected:
                failures.append(f"Fonts: {name} {run} Landlock: {line['status']}, {line.get('warnings')}")
    print(f"Fonts: {len(failures)} of 4 drawings have another warning than they should", flush=True)
    return failures
