#!/bin/sh
# Tests that `make install` installs the expected files under DESTDIR, and that they work there.
set -eu
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
share=$root/usr/share

fail() {
  echo "$*" >&2
  exit 1
}

make -s install DESTDIR="$root" PREFIX=/usr
expected="./usr/bin/thumbs
./usr/share/bash-completion/completions/thumbs
./usr/share/doc/thumbs/copyright
./usr/share/fish/vendor_completions.d/thumbs.fish
./usr/share/man/man1/thumbs.1
./usr/share/zsh/site-functions/_thumbs"
found=$(cd "$root" && find . -type f | sort)
[ "$found" = "$expected" ] || fail "Unexpected files: $found"
cmp "$share/doc/thumbs/copyright" LICENSE

# The command depends only on system libraries, and not on the directory in which it was built.
thumbs=$root/usr/bin/thumbs
[ -x "$thumbs" ] || fail "The command is not executable."
if ldd "$thumbs" | grep -E 'libswift|libFoundation|lib_Foundation|not found'; then
  fail "The command depends on Swift libraries."
fi
cd /
env -i "$thumbs" --version | grep -qxE '[0-9]+\.[0-9]+\.[0-9]+' || fail "The command prints no version."

# The manual page has every option, and man reports no warnings.
[ -z "$(man --warnings -l -Tutf8 -P cat "$share/man/man1/thumbs.1" 2>&1 >/dev/null)" ] || fail "man reports warnings."
manual=$(MANWIDTH=200 man -l -Tascii -P cat "$share/man/man1/thumbs.1" | sed 's/.\x08//g')
for command in fetch 'cache ls' 'cache prune' 'cache verify'; do
  # Unquoted on purpose: the words are a command and its subcommand.
  for option in $("$thumbs" $command --help | grep -oE '^  +(-[a-z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+'); do
    case $option in --help | --version) continue ;; esac
    printf '%s' "$manual" | grep -qF -- "$option" || fail "The manual page lacks $option of $command."
  done
done

# Each shell loads its completions and completes an option.
bash -c '
  source "$0"
  complete -p thumbs >/dev/null
  COMP_WORDS=(thumbs fetch --gal) COMP_CWORD=2 COMP_LINE="thumbs fetch --gal" COMP_POINT=18 COMP_TYPE=9
  "$(complete -p thumbs | sed "s/.* -F \([^ ]*\).*/\1/")" thumbs --gal fetch
  [[ " ${COMPREPLY[*]} " == *--gallery* ]]
' "$share/bash-completion/completions/thumbs" || fail "bash does not complete."
zsh -fc '
  fpath=($1 $fpath); autoload -Uz compinit; compinit -D -u
  [[ $_comps[thumbs] == _thumbs ]]
  zsh -n $1/_thumbs
' zsh "$share/zsh/site-functions" || fail "zsh does not complete."
XDG_CONFIG_HOME=$root HOME=$root PATH=$root/usr/bin:$PATH fish -N -c "
  source $share/fish/vendor_completions.d/thumbs.fish
  complete -C 'thumbs fetch --gal'" | grep -q -- --gallery || fail "fish does not complete."

cd "$OLDPWD"
make -s uninstall DESTDIR="$root" PREFIX=/usr
[ -z "$(find "$root/usr" -type f)" ] || fail "Files remain after make uninstall."
echo "$(echo "$expected" | wc -l) files installed, tested and uninstalled."
