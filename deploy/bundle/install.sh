#!/bin/sh
# Installs Gridline for Linux, with its own Node. It gets the archive of the latest release, compares its hash with
# SHA256SUMS, and unpacks it below PREFIX. Nothing that was there is changed before the new copy is complete.
#
# sh install.sh [--prefix DIR] [--uninstall]
#   --prefix DIR   where it is installed: DIR/lib/gridline and DIR/bin/gridline
#                  (default: /usr/local for root, otherwise ~/.local)
#   --uninstall    removes it. Data is in ~/.local/share/gridline, and stays.
#
# GRIDLINE_DOWNLOAD_URL: another address of the files of the release.
set -eu
# All users may run it, whatever the mask of root is.
umask 022

url=${GRIDLINE_DOWNLOAD_URL:-https://github.com/gridline/gridline/releases/latest/download}
url=${url%/}
# What Node needs.
glibc=2.28

fail() {
  echo "error: $1" >&2
  exit 1
}

prefix=
is_removal=
while [ $# -gt 0 ]; do
  case $1 in
    --prefix) [ $# -gt 1 ] || fail "--prefix needs a directory"; prefix=$2; shift ;;
    --uninstall) is_removal=yes ;;
    -h | --help)
      echo 'Usage: sh install.sh [--prefix DIR] [--uninstall]. Installs Gridline for Linux; see docs/install.md'
      exit 0
      ;;
    *) fail "unknown argument: $1. Usage: sh install.sh [--prefix DIR] [--uninstall]" ;;
  esac
  shift
done
if [ -z "$prefix" ]; then
  # The copy that this script belongs to is updated in its place.
  here=$(dirname "$(readlink -f "$0" 2>/dev/null || echo "$0")")
  case $here in
    */lib/gridline/*/lib) prefix=${here%/lib/gridline/*/lib} ;;
    *) if [ "$(id -u)" = 0 ]; then prefix=/usr/local; else prefix=$HOME/.local; fi ;;
  esac
fi
case $prefix in
  /*) ;;
  *) prefix=$PWD/$prefix ;;
esac
prefix=${prefix%/}
place=$prefix/lib/gridline
command=$prefix/bin/gridline
# A Debian package has this place to itself.
[ ! -e "$place/lib/installed-by" ] || fail "Gridline in $place was installed in another way: remove it first"

# Copies that this script installed, and what it left behind when it was killed.
copies() {
  for copy in "$place"/[0-9]*.[0-9]*.[0-9]* "$place"/.next-*; do
    if [ -d "$copy" ]; then echo "$copy"; fi
  done
}

if [ -n "$is_removal" ]; then
  [ -d "$place" ] || fail "no Gridline in $prefix"
  rm -f "$command"
  copies | while read -r copy; do rm -rf "$copy"; done
  rmdir "$place" 2>/dev/null || true
  echo "Removed $command and $place. Data in ~/.local/share/gridline was not touched." >&2
  exit 0
fi

[ "$(uname -s)" = Linux ] || fail "this is for Linux; elsewhere, use Node and: npm install --global gridline"
case $(uname -m) in
  x86_64) system=linux-x64 ;;
  aarch64 | arm64) system=linux-arm64 ;;
  *) fail "no archive for $(uname -m): use Node and: npm install --global gridline" ;;
esac
library=$(getconf GNU_LIBC_VERSION 2>/dev/null | sed 's/[^0-9.]*//') || library=
[ -n "$library" ] || fail "the Node in the archive needs glibc $glibc, which this system (such as Alpine) does not have.
With Node from the system: apk add nodejs npm && npm install --global gridline"
oldest=$(printf '%s\n' "$glibc" "$library" | sort -t . -k 1,1n -k 2,2n | head -n 1)
[ "$oldest" = "$glibc" ] || fail "the Node in the archive needs glibc $glibc or later; this system has $library"
command -v xz >/dev/null || fail "xz is missing: install xz-utils"

if command -v curl >/dev/null; then
  get() { curl -fsSL --retry 2 -o "$2" "$1"; }
elif command -v wget >/dev/null; then
  get() { wget -q -O "$2" "$1"; }
else
  fail "curl or wget is missing"
fi

mkdir -p "$place" "$prefix/bin" 2>/dev/null && [ -w "$place" ] && [ -w "$prefix/bin" ] ||
  fail "$prefix is not writable: run this as root, or with --prefix DIR"
next=$(mktemp -d "$place/.next-XXXXXX")
trap 'rm -rf "$next"' EXIT
trap 'exit 1' HUP INT TERM

get "$url/SHA256SUMS" "$next/SHA256SUMS" ||
  fail "$url/SHA256SUMS could not be fetched: check the network, and https_proxy behind a proxy"
line=$(grep -E "^[0-9a-f]{64} [ *]gridline-[0-9]+\.[0-9]+\.[0-9]+-$system\.tar\.xz\$" "$next/SHA256SUMS" | head -n 1)
[ -n "$line" ] || fail "the release has no archive for $system"
wanted=${line%% *}
file=${line##*[ *]}
version=${file#gridline-}
version=${version%-"$system".tar.xz}
if [ -e "$place/$version/lib/package.json" ] && [ "$(readlink -f "$command")" = "$(readlink -f "$place/$version")/bin/gridline" ]; then
  echo "Gridline $version is already in $prefix." >&2
  exit 0
fi
get "$url/$file" "$next/$file" || fail "$url/$file could not be fetched completely. Nothing was changed"
hash=$(sha256sum "$next/$file" | cut -d ' ' -f 1)
[ "$hash" = "$wanted" ] || fail "$file has the hash $hash instead of $wanted: it is damaged. Nothing was changed"
tar -xJf "$next/$file" -C "$next" 2>/dev/null || fail "$file could not be unpacked: is the disk full? Nothing was changed"
"$next/gridline-$version-$system/bin/gridline" --version >/dev/null ||
  fail "Gridline $version does not run here. Nothing was changed"

# The copy that was in use until now is kept, since a server may still run from it. Older ones go.
previous=$(readlink -f "$command" 2>/dev/null) || previous=
previous=${previous%/bin/gridline}
copies | while read -r other; do
  # Another install that runs now has a folder of its own, too.
  case $other in */.next-*) [ -n "$(find "$other" -prune -mtime +0)" ] || continue ;; esac
  [ "$(readlink -f "$other")" = "$previous" ] || rm -rf "$other"
done
rm -rf "${place:?}/$version"
mv "$next/gridline-$version-$system" "$place/$version"
# A rename replaces the command at once.
ln -s "../lib/gridline/$version/bin/gridline" "$next/command"
mv -f "$next/command" "$command"

echo "Installed Gridline $version: $command" >&2
found=$(command -v gridline) || found=
if [ -z "$found" ]; then
  echo "It is not on the PATH yet. Add this to the settings of your shell:" >&2
  echo "  export PATH=\"$prefix/bin:\$PATH\"" >&2
elif [ "$(readlink -f "$found")" != "$(readlink -f "$command")" ]; then
  echo "warning: another copy comes first on the PATH: $found" >&2
fi
