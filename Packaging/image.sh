#!/bin/bash
# Builds a container image of the release: image.sh THUMBS VERSION ARCHIVE
#
# The image has the command, the files of glibc that it needs, and the certificate authorities; no shell and no package
# manager. It runs as an ordinary user in /work, where a directory with lists can be mounted.
set -euo pipefail
thumbs=$1 version=$2 archive=$3
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$(dirname "$0")" log -1 --format=%ct)}
files=$(mktemp -d) storage=$(mktemp -d)
trap 'rm -rf "$files" "$storage"' EXIT
install -D -m 755 "$thumbs" "$files/usr/bin/thumbs"
for library in $(ldd "$thumbs" | grep -oE '/[^ ]+'); do install -D -m 755 "$library" "$files$library"; done
mkdir -p "$files/etc/ssl/certs"
cat /usr/share/ca-certificates/mozilla/*.crt > "$files/etc/ssl/certs/ca-certificates.crt"
install -d -m 1777 "$files/tmp"
install -d -m 755 -o 65532 -g 65532 "$files/work"
echo "thumbs:x:65532:65532::/work:/usr/bin/thumbs" > "$files/etc/passwd"
echo "hosts: files dns" > "$files/etc/nsswitch.conf"

# The storage is temporary, so the images and containers of the user stay as they are.
buildah() {
  command buildah --root "$storage/root" --runroot "$storage/run" --storage-driver vfs "$@"
}
container=$(buildah from scratch)
buildah copy --quiet "$container" "$files" / >/dev/null
buildah config --entrypoint '["/usr/bin/thumbs"]' --user 65532:65532 --workingdir /work --env HOME=/work \
  --label org.opencontainers.image.version="$version" --label org.opencontainers.image.licenses=MIT "$container"
buildah commit --quiet --timestamp "$SOURCE_DATE_EPOCH" "$container" "oci-archive:$archive:thumbs:$version" >/dev/null
