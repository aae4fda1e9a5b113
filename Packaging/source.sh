#!/bin/bash
# Unpacks source packages: source.sh DIRECTORY PACKAGE[/SUITE] ...
#
# They come from the suite of this system, or from another suite of the same distribution, such as curl/trixie, and get
# our patch for that suite, if there is one. The system's own lists stay as they are.
set -euo pipefail
patches=$(cd "$(dirname "$0")/patches" && pwd)
directory=$(mkdir -p "$1" && cd "$1" && pwd)
shift
mkdir -p "$directory"/{parts,lists/partial,cache/archives/partial}
# shellcheck source=/dev/null
. /etc/os-release

apt() {
  "apt-$1" -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$directory/parts" \
    -o Dir::State::Lists="$directory/lists" -o Dir::Cache="$directory/cache" -o APT::Sandbox::User=root -qq "${@:2}"
}

# Lists the sources of a suite and of its updates, on the servers from which this system has its packages.
list_suite() {
  apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' | sort -u |
    while read -r uri release; do
      case $release in "$VERSION_CODENAME"*) ;; *) continue ;; esac
      printf 'Types: deb-src\nURIs: %s\nSuites: %s\nComponents: main\nSigned-By: %s\n\n' "$uri" \
        "$1${release#"$VERSION_CODENAME"}" "/usr/share/keyrings/$ID-archive-keyring.gpg"
    done > "$directory/parts/suite.sources"
  apt get update
}

# Unpacks the newest version that can be downloaded: a mirror may list a security update and not have its files.
unpack() {
  local version
  for version in $(apt cache showsrc --only-source "$1" | sed -n 's/^Version: //p' | sort -rVu); do
    if (cd "$directory" && apt get source "$1=$version" >/dev/null 2>&1); then
      patch_source "$1"
      return
    fi
  done
  echo "No source of $1 can be downloaded." >&2
  exit 1
}

patch_source() {
  if [ -f "$patches/$1-$suite.patch" ]; then
    patch --quiet --strip=1 --directory="$(echo "$directory/$1"-*/)" <"$patches/$1-$suite.patch"
  fi
}

listed=
for package in "$@"; do
  suite=${package#*/}
  [ "$suite" != "$package" ] || suite=$VERSION_CODENAME
  [ "$suite" = "$listed" ] || list_suite "$suite"
  listed=$suite
  unpack "${package%/*}"
done
