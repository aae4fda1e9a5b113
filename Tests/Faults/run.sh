#!/bin/sh
# Lets the system calls of the disk cache fail one by one, with strace, while `thumbs fetch` runs on the example
# pictures: run.sh THUMBS. Whatever fails, the fetch must deliver, nothing may crash or hang, and the cache must be
# whole afterwards, or empty.
# To be started by Examples/serve.py, which makes http://icons.example/ answer.
set -u
thumbs=$1
manifest=$(dirname "$0")/../../Examples/apps.plist
scratch=$(realpath "$(mktemp -d)")
generation=$scratch/cache/g000001
trap 'rm -rf "$scratch"' EXIT
rounds=0
"$thumbs" fetch "$manifest" --no-cache -o "$scratch/whole" --quiet 2>/dev/null

fail() {
  echo "$1, when call $3 of $2 failed:" >&2
  cat "$scratch/errors" >&2
  exit 1
}

# Calls on the cache's own files only: the loader and the output have their own.
paths="-P $generation/cache.db -P $generation/cache.db-wal -P $generation -P $scratch/cache/lock"

# One run in which the call number $3 of the system call $1 fails with $2; 1 when there was no such call.
round() {
  rm -rf "$scratch/cache" "$scratch/out"
  timeout 60 strace -f -qq -o "$scratch/trace" $paths -e trace="$1" -e signal=none -e inject="$1:error=$2:when=$3" \
    "$thumbs" fetch "$manifest" --cache-dir "$scratch/cache" -o "$scratch/out" --quiet 2>"$scratch/errors"
  status=$?
  grep -q INJECTED "$scratch/trace" || return 1
  rounds=$((rounds + 1))
  # The list has one picture that is missing on purpose.
  [ $status -eq 1 ] || fail "The fetch ended with $status" "$1" "$3"
  diff -r "$scratch/whole" "$scratch/out" >"$scratch/errors" || fail "The pictures differ" "$1" "$3"
  "$thumbs" cache verify --cache-dir "$scratch/cache" >"$scratch/errors" 2>&1
  status=$?
  # 66: the failure left no cache at all.
  [ $status -eq 0 ] || [ $status -eq 66 ] || fail "The verification ended with $status" "$1" "$3"
}

for fault in pwrite64:ENOSPC pwrite64:EIO fdatasync:EIO pread64:EIO flock:ENOLCK mkdir:EACCES; do
  call=1
  while [ $call -le 60 ] && round "${fault%:*}" "${fault#*:}" $call; do call=$((call + 1)); done
  echo "$fault: $((call - 1)) calls"
done
[ $rounds -gt 0 ] || { echo "No call was made to fail: strace is missing, or may not trace." >&2; exit 1; }
echo "$rounds faults, none of which was felt"
