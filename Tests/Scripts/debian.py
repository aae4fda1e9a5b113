"""The empty Debian systems that tests copy, in .build-roots."""
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
SYSTEMS = ROOT / ".build-roots"


def make_base(codename):
    """Returns the directory of the empty system: the required packages and ca-certificates. It is made once."""
    base = SYSTEMS / codename
    if base.exists():
        return base
    SYSTEMS.mkdir(exist_ok=True)
    unfinished = base.with_suffix(".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    subprocess.run(["debootstrap", "--variant=minbase", "--include=ca-certificates", codename, str(unfinished)],
                   check=True, stdout=subprocess.DEVNULL)
    sources = unfinished / "etc/apt/sources.list"
    archive = sources.read_text().split()[1].rstrip("/")
    sources.write_text(f"deb {archive} {codename} main\ndeb {archive} {codename}-updates main\n"
                       f"deb {archive}-security {codename}-security main\n")
    unfinished.rename(base)
    return base
