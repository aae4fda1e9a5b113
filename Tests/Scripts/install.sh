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
./usr/libexec/thumbs/thumbs-decode
./usr/libexec/thumbs/thumbs-decode-pdf
./usr/share/bash-completion/completions/thumbs
./usr/share/doc/thumbs/copyright
$(ls .build-static/dist/licenses | sed 's#^#./usr/share/doc/thumbs/licenses/#')
./usr/share/fish/vendor_completions.d/thumbs.fish
./usr/share/man/man1/thumbs.1
./usr/share/zsh/site-functions/_thumbs"
found=$(cd "$root" && find . -type f | LC_ALL=C sort)
[ "$found" = "$(echo "$expected" | LC_ALL=C sort)" ] || fail "Unexpected files: $found"
cmp "$share/doc/thumbs/copyright" LICENSE

# It finds the decoders next to it.
"$root/usr/bin/thumbs" doctor | grep -q 'decoders .*librsvg' || fail "The command does not find its decoders."
"$root/usr/bin/thumbs" doctor | grep -q 'documents .*poppler' || fail "The command does not find its decoder of PDF."

# The command needs only glibc, in version 2.34, and not the directory in which it was built.
thumbs=$root/usr/bin/thumbs
[ -x "$thumbs" ] || fail "The command is not executable."
glibc='linux-vdso\.so\.1|libc\.so\.6|libm\.so\.6|/lib64/ld-linux-x86-64\.so\.2'
others=$(ldd "$thumbs" | grep -vE "^\s*($glibc) " || true)
[ -z "$others" ] || fail "The command needs more than glibc: $others"
newest=$(objdump -T "$thumbs" | grep -oE 'GLIBC_[0-9.]+' | sort -Vu | tail -1)
[ "$newest" = GLIBC_2.34 ] || fail "The command needs $newest."
size=$(stat -c %s "$thumbs")
[ "$size" -le 39600000 ] || fail "The command has $size bytes."
while IFS="$(printf '\t')" read -r name _ _ file; do
  [ -s "$share/doc/thumbs/licenses/$file" ] || [ "$file" = file ] || fail "There is no license of $name."
done < "$share/doc/thumbs/licenses/components.tsv"
examples=$(pwd)/Examples
cd /
env -i "$thumbs" --version | grep -qxE '[0-9]+\.[0-9]+\.[0-9]+' || fail "The command prints no version."

# Languages, time zones and a missing locale change nothing, although the command has few Unicode data.
for locale in C C.UTF-8 de_DE.UTF-8 tr_TR.UTF-8 ar_EG.UTF-8 th_TH.UTF-8 zh_TW.UTF-8 xx_YY; do
  env -i HOME="$root/home" TZ=Asia/Kathmandu LC_ALL=$locale LANG=$locale http_proxy="$http_proxy" \
    "$thumbs" --no-cache -o "$root/$locale" --report "$root/$locale.jsonl" -q "$examples/apps.plist" &&
    code=0 || code=$?
  [ $code = 1 ] || fail "With the locale $locale, the command ended with $code."
  counts=$(grep -c '"status":"ok"' "$root/$locale.jsonl") || true
  [ "$counts" = 16 ] || fail "With the locale $locale, $counts rows succeeded."
  diff -r "$root/C" "$root/$locale" || fail "With the locale $locale, the thumbnails differ."
  # Both names are one host, so the second one is refused.
  echo '{"BÜCHER.example": {}, "xn--bcher-kva.example": {}}' > "$root/hosts.json"
  env -i HOME="$root/home" LC_ALL=$locale "$thumbs" --hosts "$root/hosts.json" --dry-run - 2>&1 </dev/null |
    grep -q "xn--bcher-kva.example occurs twice" || fail "With the locale $locale, international names differ."
done

# The manual page has every option, and man reports no warnings.
[ -z "$(man --warnings -l -Tutf8 -P cat "$share/man/man1/thumbs.1" 2>&1 >/dev/null)" ] || fail "man reports warnings."
manual=$(MANWIDTH=200 man -l -Tascii -P cat "$share/man/man1/thumbs.1" | sed 's/.\x08//g')
for command in fetch retry doctor 'report summary' 'report failed' 'cache ls' 'cache prune' 'cache verify'; do
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
