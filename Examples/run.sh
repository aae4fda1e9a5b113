#!/bin/sh
# The main job on the example pictures, twice, and a look into the cache: run.sh THUMBS CACHE_DIRECTORY
# To be started by serve.py, which makes http://icons.example/ answer. One picture of the list is missing on purpose,
# so each run ends with the status 1: finished, some items failed for good.
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
    echo "The status is $status; it should be 1, for the one missing picture." >&2
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
