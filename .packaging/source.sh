#!/bin/bash
# Unpacks source packages: source.sh DIRECTORY PACKAGE[/SUITE] ...
#
# They come from the suite of this system, or from another suite of the same distribution, such as curl/trixie. The
# system's own lists stay as they are.
set -euo pipefail
directory=$(mkdir -p "$1" && cd "$1" && pwd)
shift
mkdir -p "$directory"/{parts,lists/partial,cache/archives/partial}
# shellcheck source=/dev/null
. /etc/os-release
keyring=/usr/share/keyrings/$ID-archive-keyring.gpg
case $ID in
  debian) host=http://deb.debian.org security=debian-security ;;
  ubuntu) host=http://archive.ubuntu.com security=ubuntu ;;
  *) echo "Only Debian and Ubuntu have these source packages." >&2 && exit 1 ;;
esac

apt() {
  "apt-$1" -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$directory/parts" \
    -o Dir::State::Lists="$directory/lists" -o Dir::Cache="$directory/cache" -o APT::Sandbox::User=root -qq "${@:2}"
}

# Lists the sources of a suite and of its security updates.
list_suite() {
  local archive suite
  for archive in "$ID $1" "$security $1-security"; do
    printf 'Types: deb-src\nURIs: %s/%s\nSuites: %s\nComponents: main\nSigned-By: %s\n\n' \
      "$host" "${archive% *}" "${archive#* }" "$keyring"
  done > "$directory/parts/suite.sources"
  apt get update
}

# Unpacks the newest version that can be downloaded: a mirror may list a security update and not have its files.
unpack() {
  local version
  for version in $(apt cache showsrc --only-source "$1" | sed -n 's/^Version: //p' | sort -rVu); do
    if (cd "$directory" && apt get source "$1=$version" >/dev/null 2>&1); then return; fi
  done
  echo "No source of $1 can be downloaded." >&2
  exit 1
}

listed=
for package in "$@"; do
  suite=${package#*/}
  [ "$suite" != "$package" ] || suite=$VERSION_CODENAME
  [ "$suite" = "$listed" ] || list_suite "$suite"
  listed=$suite
  unpack "${package%/*}"
done
