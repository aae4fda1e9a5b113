#!/usr/bin/env python3
"""Installs, uses and removes each file of a release in a clean system: packages.py DIRECTORY [TEST ...]

Run it through Tests/Servers/run.py, as root. DIRECTORY has the files that `make dist` makes. The clean systems are a
Debian system with only its required packages and ca-certificates, which is kept in .build-roots, and a container image
with nothing but the command, glibc and certificate authorities.
"""
import contextlib
import functools
import http.server
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading

from debian import ROOT, make_base

URL = os.environ["THUMBS_TEST_HTTPS"] + "/fjord.jpg"
AUTHORITY = pathlib.Path(os.environ["THUMBS_TEST_CA"])
# A document in the package shared-mime-info.
DOCUMENT = pathlib.Path("/usr/share/doc/shared-mime-info/shared-mime-info-spec.pdf")
# Nothing of this user's environment reaches the systems.
CLEAN = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "DEBIAN_FRONTEND": "noninteractive"}
TESTS = []


def test(function):
    TESTS.append(function)
    return function


def run(*command, expected=0, environment=CLEAN, directory=None):
    """Runs a command and returns its output. Any other exit status than `expected` ends the tests."""
    done = subprocess.run([str(part) for part in command], env=environment, cwd=directory, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    if done.returncode != expected:
        sys.exit(f"{' '.join(map(str, command))}: exit status {done.returncode}, not {expected}\n{done.stdout}")
    return done.stdout


def check(condition, message):
    if not condition:
        sys.exit(message)


@contextlib.contextmanager
def mounted_proc(root):
    """Mounts /proc, where the command finds its own folder."""
    pathlib.Path(root, "proc").mkdir(exist_ok=True)
    run("mount", "-t", "proc", "proc", f"{root}/proc")
    try:
        yield
    finally:
        run("umount", f"{root}/proc")


@contextlib.contextmanager
def clean_system():
    """A copy of the clean Debian system. It trusts the authority that signed the certificate of the test server."""
    base = make_base("bookworm")
    with tempfile.TemporaryDirectory(prefix="thumbs-system-", dir=base.parent) as root:
        run("cp", "-a", f"{base}/.", root)
        shutil.copy(AUTHORITY, f"{root}/usr/local/share/ca-certificates/test.crt")
        run("chroot", root, "update-ca-certificates")
        with mounted_proc(root):
            yield pathlib.Path(root)


def fetch_over_https(system, command, *options):
    """Fetches an image with `command` inside `system`, and checks that an unknown authority is refused."""
    (system / "work").mkdir(exist_ok=True)
    (system / "work").chmod(0o777)
    (system / "work/list.txt").write_text(URL + "\n")
    thumbs = ["chroot", *options, system, command, "--cache-dir", "/work/cache", "-o", "/work/out", "/work/list.txt"]
    output = run(*thumbs)
    check("1 item: 1 ok" in output, f"The image was not fetched:\n{output}")
    check((system / "work/out/fjord.jpg").stat().st_size > 1000, "There is no thumbnail.")
    empty = dict(CLEAN, SSL_CERT_FILE="/work/none.pem")
    output = run(*thumbs, "--refresh", "-v", expected=1, environment=empty)
    check("Install the package ca-certificates" in output, f"The message has no remedy:\n{output}")
    shutil.rmtree(system / "work")


@test
def binary(packages):
    """The single file runs in a system with only required packages."""
    with clean_system() as system:
        archive = next(packages.glob("*.tar.gz"))
        run("tar", "-xzf", archive, "-C", system / "opt")
        folder = archive.name.removesuffix(".tar.gz")
        for name in ["share/man/man1/thumbs.1", "share/doc/thumbs/licenses/components.tsv"]:
            check((system / "opt" / folder / name).is_file(), f"The tarball lacks {name}.")
        fetch_over_https(system, f"/opt/{folder}/bin/thumbs")


@test
def debian_package(packages):
    """The package has no faults that lintian knows; it is installed, used and removed."""
    package = next(packages.glob("thumbs_*.deb"))
    faults = run("lintian", "--fail-on", "error,warning", "--allow-root", package)
    check(faults == "", f"lintian reports:\n{faults}")
    with clean_system() as system:
        before = run("chroot", system, "find", "/usr", "/etc", "-xdev")
        shutil.copy(package, system / "root")
        run("chroot", system, "dpkg", "-i", f"/root/{package.name}")
        fetch_over_https(system, "thumbs")
        run("chroot", system, "dpkg", "--purge", "thumbs")
        check(run("chroot", system, "find", "/usr", "/etc", "-xdev") == before, "Files remain after the removal.")


def try_decoders(packages, name, file, library):
    """Without a package of decoders, a file fails with a remedy; with the package, it is decoded in a sandbox."""
    decoders, command = next(packages.glob(f"{name}_*.deb")), next(packages.glob("thumbs_*.deb"))
    faults = run("lintian", "--fail-on", "error,warning", "--allow-root", decoders)
    check(faults == "", f"lintian reports:\n{faults}")
    with clean_system() as system:
        for path in (command, decoders, file):
            shutil.copy(path, system / "root")
        run("chroot", system, "dpkg", "-i", f"/root/{command.name}")
        fetch = ["chroot", system, "thumbs", "--allow-file", "--no-cache", "-v", "-o", "/root/out", "/root/list.txt"]
        (system / "root/list.txt").write_text(f"file:///root/{file.name}\n")
        output = run(*fetch, expected=1)
        check(f"install the package {name}" in output, f"The message has no remedy:\n{output}")
        run("chroot", system, "apt-get", "-qq", "update")
        run("chroot", system, "apt-get", "-qq", "install", "--no-install-recommends", f"/root/{decoders.name}")
        output = run(*fetch)
        check("1 item: 1 ok" in output, f"The image was not decoded:\n{output}")
        output = run("chroot", system, "thumbs", "doctor")
        check(library in output and "seccomp" in output, f"The decoders are not in:\n{output}")
        run("chroot", system, "dpkg", "--purge", name)
        run(*fetch, expected=1)


@test
def decoder_package(packages):
    """With the package of decoders, formats that need a library of the system are decoded."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "circle.svg")
        file.write_text('<svg xmlns="http://www.w3.org/2000/svg"><circle r="9"/></svg>')
        try_decoders(packages, "thumbs-decoders", file, "librsvg")


@test
def document_package(packages):
    """With the package for documents, the first page of a PDF is drawn."""
    try_decoders(packages, "thumbs-decode-pdf", DOCUMENT, "poppler")


@test
def wheel(packages):
    """pip installs the wheel; the command is in the virtual environment, and the package finds it."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {"PATH": os.environ["PATH"], "HOME": folder}
        run(sys.executable, "-m", "venv", f"{folder}/venv", environment=environment)
        pip = [f"{folder}/venv/bin/pip", "--quiet", "--disable-pip-version-check"]
        run(*pip, "install", "--no-index", next(packages.glob("*.whl")), environment=environment)
        command = f"{folder}/venv/bin/thumbs"
        (pathlib.Path(folder) / "list.txt").write_text(URL + "\n")
        trusted = dict(environment, SSL_CERT_FILE=str(AUTHORITY))
        output = run(command, "list.txt", environment=trusted, directory=folder)
        check("1 item: 1 ok" in output, f"The image was not fetched:\n{output}")
        program = f"import thumbs; print([result.status for result in thumbs.run(['{URL}'])], thumbs.find_command())"
        output = run(f"{folder}/venv/bin/python", "-c", program, environment=trusted, directory=folder)
        check(output == f"['ok'] {command}\n", f"The package printed:\n{output}")
        run(*pip, "uninstall", "-y", "thumbs", environment=environment)
        check(not os.path.exists(command), "The command remains after pip uninstall.")


@contextlib.contextmanager
def served(directory):
    """Serves a directory on a free loopback port."""
    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=directory))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@test
def install_script(packages):
    """install.sh installs the command from a server and from a directory, and nothing if the sum is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        release, home = pathlib.Path(folder) / "release", pathlib.Path(folder) / "home"
        shutil.copytree(packages, release)
        command = home / ".local/bin/thumbs"
        environment = {"PATH": os.environ["PATH"], "HOME": str(home)}
        with served(release) as url:
            for source in [[url], []]:
                output = run("sh", release / "install.sh", *source, environment=environment)
                check(f"Installed {command}" in output and "Add " in output, f"install.sh printed:\n{output}")
                run(command, "--version", environment=environment)
                command.unlink()
            with open(next(release.glob("*.tar.gz")), "r+b") as archive:
                archive.seek(1000)
                archive.write(b"\0" * 8)
            output = run("sh", release / "install.sh", url, environment=environment, expected=1)
            check("nothing was installed" in output and not command.exists(), f"A wrong sum was accepted:\n{output}")


@test
def image(packages):
    """The image has only the command, glibc and certificate authorities, and runs without root."""
    environment = dict(CLEAN, SOURCE_DATE_EPOCH="1700000000")
    with tempfile.TemporaryDirectory() as folder:
        buildah = functools.partial(run, "buildah", "--root", f"{folder}/root", "--runroot", f"{folder}/run",
                                    "--storage-driver", "vfs", environment=environment)
        archive, command = f"{folder}/image.tar", pathlib.Path(folder) / "thumbs"
        with open(command, "wb") as file:
            subprocess.run(["tar", "-xzOf", next(packages.glob("*.tar.gz")), "--wildcards", "*/bin/thumbs"],
                           stdout=file, check=True)
        command.chmod(0o755)
        run(ROOT / "Packaging/image.sh", command, "0", archive, environment=environment)
        container = buildah("from", f"oci-archive:{archive}").split()[-1]
        system = pathlib.Path(buildah("mount", container).strip())
        files = [path for path in system.rglob("*") if path.is_file()]
        check(len(files) == 7, f"The image has other files: {files}")
        output = buildah("run", "--isolation", "chroot", container, "/usr/bin/thumbs", "--version")
        check(output.strip().count(".") == 2, f"The command printed:\n{output}")
        with open(system / "etc/ssl/certs/ca-certificates.crt", "a") as authorities:
            authorities.write(AUTHORITY.read_text())
        with mounted_proc(system):
            fetch_over_https(system, "/usr/bin/thumbs", "--userspec=65532:65532")


@test
def tarball(packages):
    """Packing the same files again gives the same bytes."""
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ)
        run(ROOT / "Packaging/dist.sh", ROOT / ".build-static/dist", folder, environment=environment)
        check((pathlib.Path(folder) / "SHA256SUMS").read_text() == (packages / "SHA256SUMS").read_text(),
              "Packed again, the files differ.")


def main():
    packages = pathlib.Path(sys.argv[1]).resolve()
    if os.geteuid() != 0:
        sys.exit("The tests of packages need root.")
    for function in TESTS:
        if not sys.argv[2:] or function.__name__ in sys.argv[2:]:
            function(packages)
            print(f"{function.__name__}: {function.__doc__}", flush=True)


main()
