#!/bin/sh
# Fetches the example images twice, then prints the cache statistics: run.sh THUMBS CACHE_DIRECTORY
# Run it through serve.py, which serves http://icons.example/. One image of the list is missing on purpose, so each run
# exits with status 1: finished; some items failed permanently.
set -u
thumbs=$1
cache=$2
manifest=$(dirname "$0")/apps.plist
rm -rf "$cache"

fetch() {
  echo "\$ thumbs fetch $manifest"
  "$thumbs" fetch "$manifest" --cache-dir "$cache"
  status=$?
  if [ $status -ne 1 ]; then
    echo "The exit status is $status instead of 1 (one image is missing on purpose)." >&2
    exit 1
  fi
  echo
}

fetch
fetch
echo "\$ thumbs cache stats"
"$thumbs" cache stats --cache-dir "$cache"
echo
echo "The thumbnails are in ./thumbs: $(ls thumbs | wc -l) files."
