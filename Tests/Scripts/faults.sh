#!/bin/sh
# Makes each system call of the disk cache fail once, with strace, while `thumbs fetch` fetches the example images:
# faults.sh THUMBS. The fetch must succeed every time without a crash or hang, and leave a valid cache: a full cache
# keeps its entries and serves the images of the list, and a new one has what was written or does not exist.
# Run it through Examples/serve.py, which serves http://icons.example/.
set -u
thumbs=$1
manifest=$(dirname "$0")/../../Examples/apps.plist
scratch=$(realpath "$(mktemp -d)")
cache=$scratch/cache
trap 'rm -rf "$scratch"' EXIT
rounds=0
"$thumbs" fetch "$manifest" --no-cache -o "$scratch/whole" --quiet 2>/dev/null

# Creates a cache with a stored limit, and fills it with sources that are not in the manifest, and then with those that
# are: 16 images and one that is missing.
entries() { "$thumbs" cache stats --cache-dir "$1" --format json | sed -n 's/.*"sources" *: *\([0-9]*\).*/\1/p'; }
seq -f 'http://icons.example/compass.png?%g' 400 >"$scratch/many.txt"
fill() {
  "$thumbs" fetch "$1" --cache-dir "$scratch/full" --per-host 16 -o "$scratch/many" --quiet 2>"$scratch/errors"
  [ $? -eq "$2" ] || { cat "$scratch/errors" >&2; exit 1; }
}
# Prints how many images of the manifest the cache $1 holds.
hits() {
  "$thumbs" fetch "$manifest" --offline --cache-dir "$1" -o "$scratch/offline" --summary - --quiet 2>"$scratch/errors" |
    sed -n 's/.*"ok":\([0-9]*\).*/\1/p'
}
head -1 "$scratch/many.txt" >"$scratch/one.txt"
fill "$scratch/one.txt" 0
"$thumbs" cache limit 1MiB --cache-dir "$scratch/full" >/dev/null
fill "$scratch/many.txt" 0
fill "$manifest" 1
full=$(entries "$scratch/full")
[ "$full" -ge 40 ] && [ "$full" -lt 400 ] || { echo "The cache is not full: $full sources." >&2; exit 1; }
found=$(hits "$scratch/full")
[ "$found" -eq 16 ] || { echo "The cache serves $found of 16 images." >&2; exit 1; }
# Eviction frees an additional twentieth of the limit, and the new sources need space too.
least=$((full * 8 / 10))

fail() {
  echo "$1 when call $3 of $2 failed on a $4 cache:" >&2
  cat "$scratch/errors" >&2
  exit 1
}

# Selects calls on the files of the cache; those of the loader and the outputs do not count.
generation=$cache/g000001
paths="-P $generation/cache.db -P $generation/cache.db-wal -P $generation/cache.db-shm -P $generation"
paths="$paths -P $cache/CURRENT -P $cache/LIMIT -P $cache/lock -P $cache/RUNS -P $cache"
paths="$paths -P $cache/CURRENT.new -P $cache/LIMIT.new -P $cache/RUNS.new"

# Runs once with call number $3 of the system call $1 failing with $2, on a $4 (full or new) cache. Returns 1 if that
# call did not happen.
round() {
  rm -rf "$cache" "$scratch/out"
  [ "$4" = new ] || cp -a "$scratch/full" "$cache"
  timeout 60 strace -f -qq -o "$scratch/trace" $paths -e trace="$1" -e signal=none -e inject="$1:error=$2:when=$3" \
    "$thumbs" fetch "$manifest" --cache-dir "$cache" -o "$scratch/out" --quiet 2>"$scratch/errors"
  status=$?
  grep -q INJECTED "$scratch/trace" || return 1
  rounds=$((rounds + 1))
  # One image of the list is missing on purpose.
  [ $status -eq 1 ] || fail "The fetch exited with $status" "$1" "$3" "$4"
  diff -r "$scratch/whole" "$scratch/out" >"$scratch/errors" || fail "The thumbnails differ" "$1" "$3" "$4"
  "$thumbs" cache verify --cache-dir "$cache" >"$scratch/errors" 2>&1
  status=$?
  # 66: there is no cache, because the failure prevented its creation.
  [ $status -eq 0 ] || [ "$4 $status" = "new 66" ] || fail "The verification exited with $status" "$1" "$3" "$4"
  [ "$4" = new ] && return
  left=$(entries "$cache")
  [ "$left" -ge $least ] || fail "Only $left of $full sources remain" "$1" "$3" "$4"
  found=$(hits "$cache")
  [ "$found" -eq 16 ] || fail "Only $found of 16 images are served" "$1" "$3" "$4"
}

faults="openat:EMFILE openat:EIO openat:EACCES read:EIO pwrite64:ENOSPC pwrite64:EIO fdatasync:EIO pread64:EIO"
faults="$faults flock:ENOLCK flock:EIO ftruncate:EIO mkdir:EACCES openat:ENOMEM mmap:ENOMEM fcntl:ENOLCK fcntl:EIO"
faults="$faults fsync:EIO write:ENOSPC rename:EIO unlink:EIO rmdir:EIO newfstatat:EIO fstat:EIO statfs:EIO"
faults="$faults lseek:EIO getdents64:EIO fchmod:EPERM access:EIO"
# FAULTS="openat:EIO flock:EIO" runs only these.
faults=${FAULTS:-$faults}
for kind in full new; do
  for fault in $faults; do
    call=1
    while [ $call -le 60 ] && round "${fault%:*}" "${fault#*:}" $call $kind; do call=$((call + 1)); done
    echo "$kind cache, $fault: $((call - 1)) calls"
  done
done
[ $rounds -gt 0 ] || { echo "No call failed: strace is missing, or is not permitted to trace." >&2; exit 1; }
echo "$rounds faults passed; each full cache had $full sources before its fault"
