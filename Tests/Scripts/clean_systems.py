#!/usr/bin/env python3
"""Runs the commands of the README in an empty Debian system: clean_systems.py CODENAME [--all]

As root. The system (bookworm or trixie) has only the required packages of Debian, what the Swift toolchain needs by
itself, git and make. The toolchain is that of this machine, bound to the same path; the files of git's configuration
are copied, and local directories that they name in place of a server are bound, so that packages resolve as they do
here.

The files that git knows are copied to the same path; .build in the system is .build-CODENAME here.
Steps: `make run` as the README says; `thumbs doctor`, which must show every format and every protection; the tests
are compiled; the suites of decoders, transport and TLS run, or with --all, `make test`.
"""
import ctypes
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

from debian import ROOT, SYSTEMS, make_base

LIBC = ctypes.CDLL(None, use_errno=True)
# CLONE_NEWNS of unshare(2), and PR_SET_PDEATHSIG of prctl(2).
NEW_MOUNTS, PARENT_DEATH_SIGNAL = 0x20000, 1
SUITES = {"bookworm": "12", "trixie": "13"}
# The Swift toolchain needs a C and C++ compiler's headers and libraries, and these libraries at run time. None of them
# is a package of the project (PACKAGES in the Makefile).
TOOLCHAIN = ["git", "make", "g++", "libcurl4", "libedit2", "libncurses6", "libsqlite3-0", "libxml2", "tzdata"]
# The suites of the decoders and their sandbox, of the transport, of TLS and real servers, and of the doctor.
FILTER = "Decoder|Isolated|AVIF|PDF|PSD|CameraRaw|octor|Nginx|RemoteServer|Bucket|BadResponse|" \
    "DownloadsTests.(HandleReuse|OddHead|HeadParser|" \
    "Proxy|Deadline|Resolution|Address|SourceURL|FloodWatch|NameTable|Certificate|Credential)"
FORMATS = "avif bmp gif heic ico jp2 jpeg jxl pdf png pnm psd qoi raw svg tiff webp"
PROTECTIONS = ["no new privileges", "Landlock", "seccomp", "resource limits"]


def run(*command, **options):
    subprocess.run([str(part) for part in command], check=True, **options)


def end_with_parent():
    LIBC.prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL)


def leave_mounts():
    """Gives this process a separate mount namespace, so that its mounts end with it."""
    if LIBC.unshare(NEW_MOUNTS) != 0:
        sys.exit(f"The system allows no separate mounts: {os.strerror(ctypes.get_errno())}")
    run("mount", "--make-rprivate", "/")


class System:
    """A copy of the empty system. Its mounts end with this process, which has its own mount namespace."""

    def __init__(self, codename):
        self.root = SYSTEMS / f"clean-{codename}"
        self.codename = codename
        shutil.rmtree(self.root, ignore_errors=True)
        run("cp", "-a", make_base(codename), self.root)
        for path in ["/dev", "/sys"]:
            run("mount", "--rbind", path, f"{self.root}{path}")
        for path in self.configuration() + [pathlib.Path("/etc/resolv.conf")]:
            target = pathlib.Path(f"{self.root}{path}")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
        self.toolchain = self.find_toolchain()
        for path in [self.toolchain, *self.mirrors()]:
            self.bind(path, path, read_only=True)
        self.copy_checkout()
        build = ROOT / f".build-{codename}"
        build.mkdir(exist_ok=True)
        self.bind(build, ROOT / ".build")

    def bind(self, path, target, read_only=False):
        inside = pathlib.Path(f"{self.root}{target}")
        inside.mkdir(parents=True, exist_ok=True)
        run("mount", "--bind", path, inside)
        if read_only:
            run("mount", "-o", "remount,bind,ro", inside)

    def copy_checkout(self):
        """Copies the files that git knows, or would add, to the same path."""
        files = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"],
                               cwd=ROOT, check=True, capture_output=True).stdout.split(b"\0")
        for name in filter(None, files):
            path = ROOT / os.fsdecode(name)
            if path.exists():
                copy = pathlib.Path(f"{self.root}{path}")
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, copy)

    @staticmethod
    def find_toolchain():
        """Returns the directory that has the toolchain's usr."""
        info = subprocess.run(["swift", "-print-target-info"], check=True, capture_output=True, text=True).stdout
        resources = info.split('"runtimeResourcePath": "')[1].split('"')[0]
        return pathlib.Path(resources).parents[2]

    @staticmethod
    def git(*arguments):
        done = subprocess.run(["git", "config", *arguments], cwd="/", capture_output=True, text=True)
        return done.stdout.splitlines()

    def configuration(self):
        """Returns the files of git's configuration, besides those of repositories."""
        origins = {line.split("\t")[0] for line in self.git("--list", "--show-origin")}
        return [pathlib.Path(origin.removeprefix("file:")) for origin in origins if origin.startswith("file:/")]

    def mirrors(self):
        """Returns the local directories that git reads in place of servers."""
        names = {line.split(" ")[0].removeprefix("url.").removesuffix(".insteadof").removeprefix("file://")
                 for line in self.git("--get-regexp", r"url\..*\.insteadof")}
        return [pathlib.Path(name) for name in names if pathlib.Path(name).is_dir()]

    def run(self, command, capture=False):
        """Runs a shell command in the checkout, with a clean environment, and prints the time it took."""
        print(f"\nDebian {SUITES[self.codename]}: {command}", flush=True)
        start = time.monotonic()
        paths = f"{self.toolchain}/usr/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        environment = {"PATH": paths, "HOME": "/root", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
        # In CI, warnings are errors.
        environment |= {name: os.environ[name] for name in ["CI"] if name in os.environ}
        # All processes of the command end with this one.
        inside = ["unshare", "--pid", "--fork", "--kill-child", f"--mount-proc={self.root}/proc", "chroot", self.root]
        done = subprocess.run(
            [*inside, "sh", "-c", f"cd {ROOT} && {command}"], env=environment, preexec_fn=end_with_parent, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE if capture else None)
        if done.returncode != 0:
            sys.exit(f"{done.stdout or ''}\nDebian {SUITES[self.codename]}: exit status {done.returncode}: {command}")
        print(f"Debian {SUITES[self.codename]}: done after {time.monotonic() - start:.0f} s", flush=True)
        return done.stdout


def check_doctor(text):
    """Checks that every format can be decoded and every protection holds."""
    print(text)
    for wanted in [f"in: {FORMATS};", *PROTECTIONS]:
        if wanted not in text:
            sys.exit(f"thumbs doctor does not show: {wanted}")


def main():
    codename = sys.argv[1]
    if codename not in SUITES:
        sys.exit(f"{codename} is none of {', '.join(SUITES)}.")
    if os.geteuid() != 0:
        sys.exit("A clean system needs root.")
    leave_mounts()
    system = System(codename)
    packages = " ".join(TOOLCHAIN)
    system.run(f"apt-get update -qq && apt-get install -y -qq --no-install-recommends {packages} >/dev/null")
    system.run("make run")
    check_doctor(system.run('"$(swift build --show-bin-path)/thumbs" doctor', capture=True))
    if "--all" in sys.argv:
        system.run("make test")
    else:
        system.run(f"make test FILTER='{FILTER}'")


main()
