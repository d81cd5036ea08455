#!/usr/bin/env bash
# Unpacks an archive of ./dev package somewhere else and asks it for an answer, in an empty environment.
# usage: try_package.sh ARCHIVE
set -euo pipefail
archive=$(realpath "$1")
table=$(realpath "$(dirname "$0")/../demo/trips")
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
tar -C "$place" -xzf "$archive"
mv "$place"/firn-* "$place/moved to"
cd /
firn="$place/moved to/bin/firn"
foreign=$(env -i ldd "$firn" | grep '=> /' | grep -vF "$place" | grep -vE '/(libc|libm|libdl|librt|libpthread|libresolv)\.so' || true)
[ -z "$foreign" ] || { echo "libraries from outside the archive:"; echo "$foreign"; exit 1; }
! env -i ldd "$firn" | grep 'not found' || exit 1
answer=$(env -i "$firn" local -q "SELECT count() > 0 FROM icebergLocal('$table')")
[ "$answer" = 1 ] || { echo "the unpacked firn answered: $answer"; exit 1; }
env -i "$firn" --version
echo "the archive runs from elsewhere"
