#!/bin/sh
# Installs thumbs for the present user: install.sh [--allow-http] [URL]
#
# URL is the URL or path of the directory with the files of a release; by default, the directory of this script. The
# command is put into ~/.local/bin, or into $THUMBS_BIN, after its SHA-256 sum was checked, and in a signed release, the
# signature of the sums with the key below. Plain http is refused, except from this machine or with --allow-http.
set -eu
version=@VERSION@
key='@KEY@'
name=thumbs-$version-linux-x86_64
schemes='=https'
bin=${THUMBS_BIN:-$HOME/.local/bin}

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

# Writes a file of the release to the present directory. A redirect never leads from https to http.
get() {
  case $from in
    http://* | https://*)
      if command -v curl >/dev/null; then
        curl -fsSL --proto "$schemes" --proto-redir "$schemes" -o "$1" "$from/$1"
      elif command -v wget >/dev/null; then
        # wget cannot refuse a redirect by its scheme.
        wget -q --max-redirect=0 -O "$1" "$from/$1"
      else
        fail "Install curl or wget first."
      fi ;;
    *) cp "$from/$1" "$1" ;;
  esac || fail "$from/$1 cannot be read."
}

if [ "${1:-}" = --allow-http ]; then
  schemes='=http,https'
  shift
fi
from=${1:-$(dirname "$0")}
[ "$(uname -s)-$(uname -m)" = Linux-x86_64 ] || fail "There is no binary for $(uname -s) on $(uname -m)."
case $from in
  https://* | /*) ;;
  http://127.0.0.1 | http://127.0.0.1[:/]* | http://localhost | http://localhost[:/]*) schemes='=http,https' ;;
  http://*) [ "$schemes" != '=https' ] || fail "$from is not encrypted; use https, or --allow-http." ;;
  *) from=$(pwd)/$from ;;
esac
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
get SHA256SUMS
case $key in
  *'BEGIN PUBLIC KEY'*)
    command -v openssl >/dev/null || fail "Install openssl first; it checks the signature of the release."
    get SHA256SUMS.sig
    echo "$key" > key.pem
    openssl dgst -sha256 -verify key.pem -signature SHA256SUMS.sig SHA256SUMS >/dev/null 2>&1 ||
      fail "The signature of the release is wrong; nothing was installed." ;;
esac
get "$name.tar.gz"
grep -F "  $name.tar.gz" SHA256SUMS > sum || fail "SHA256SUMS does not list $name.tar.gz."
sha256sum -c sum >/dev/null 2>&1 || fail "The SHA-256 sum of $name.tar.gz is wrong; nothing was installed."
tar -xzf "$name.tar.gz"
"$name/bin/thumbs" --version >/dev/null || fail "The command does not run here. It needs glibc 2.34 or newer."
mkdir -p "$bin"
# A running command is not disturbed: its file is replaced, not overwritten.
cp "$name/bin/thumbs" "$bin/.thumbs.$$"
mv -f "$bin/.thumbs.$$" "$bin/thumbs"
echo "Installed $bin/thumbs ($version)."
case :$PATH: in
  *:"$bin":*) ;;
  *) echo "Add $bin to PATH to run it as thumbs." ;;
esac
