#!/bin/bash
# Adds install.sh and SHA256SUMS to the files of a release: sign.sh VERSION DIRECTORY
#
# With SIGNING_KEY, a file with a private key in PEM form (openssl ecparam -name prime256v1 -genkey -noout), signs the
# sums, and puts the public key into install.sh, which then demands the signature.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
public=
SIGNING_KEY=${SIGNING_KEY:+$(realpath "$SIGNING_KEY")}
[ -z "$SIGNING_KEY" ] || public=$(openssl pkey -in "$SIGNING_KEY" -pubout)
script=$(< "$here/install.sh")
script=${script/@VERSION@/$1}
printf '%s\n' "${script/@KEY@/$public}" > "$2/install.sh"
chmod +x "$2/install.sh"
cd "$2"
rm -f SHA256SUMS SHA256SUMS.sig
sums=$(sha256sum -- *)
echo "$sums" > SHA256SUMS
if [ -n "$public" ]; then openssl dgst -sha256 -sign "$SIGNING_KEY" -out SHA256SUMS.sig SHA256SUMS; fi
