#!/bin/bash
# Makes the files of a release from the result of `make release`: dist.sh DIST DIRECTORY
#
# DIRECTORY gets the tarball, the wheel, the Debian packages, install.sh and SHA256SUMS, and with SIGNING_KEY a
# signature of the sums (sign.sh). The same DIST gives the same bytes, except those of the signature. Times in the files
# are SOURCE_DATE_EPOCH; the default is the time of the last commit.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct)}
umask 022
rm -rf "$2"
mkdir -p "$2"
dist=$(cd "$1" && pwd)
packages=$(cd "$2" && pwd)
version=$("$dist/thumbs" --version)
name=thumbs-$version-linux-x86_64
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT

make -s -C "$root" install-files DESTDIR="$stage/$name" PREFIX=
"$here/pack.sh" "$stage/$name" "$packages/$name.tar.gz"
python3 -B "$here/wheel.py" "$dist/thumbs" "$dist/licenses" "$packages"
"$here/deb.sh" "$version" "$packages"
"$here/sign.sh" "$version" "$packages"
