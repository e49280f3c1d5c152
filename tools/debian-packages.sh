#!/usr/bin/env bash
# Makes sure of Debian's packages in debian-packages.txt, which some tests use; quiet where all are there.
set -euo pipefail
cd "$(dirname "$0")/.."

missing=()
while read -r package; do
  [[ -z $package || $package == \#* ]] && continue
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $status == installed ]] || missing+=("$package")
done <debian-packages.txt
[[ ${#missing[@]} -eq 0 ]] && exit 0

if [[ $(id -u) -ne 0 ]] || ! command -v apt-get >/dev/null; then
  echo "Tests that use ${missing[*]} will be skipped. To run them: sudo apt-get install ${missing[*]}" >&2
  exit 0
fi
echo "installing ${missing[*]} ..." >&2
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { apt-get update -qq && apt-get install -qq -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
  tail -20 "$log" >&2
  echo "apt-get could not install ${missing[*]}." >&2
  exit 1
fi
