#!/usr/bin/env bash
# need.sh required|optional PACKAGE "TEST COMMAND" "WHAT FOR": make sure that a system tool is there.
# Installs the Debian package if the test fails, we are root and apt-get exists; else says what is missing and how to get it.
set -uo pipefail
how=$1 package=$2 check=$3 purpose=$4
sh -c "$check" >/dev/null 2>&1 && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "installing $package ($purpose)"
  log=$(mktemp)
  if { apt-get install -y --no-install-recommends "$package" || { apt-get update && apt-get install -y --no-install-recommends "$package"; }; } >"$log" 2>&1 </dev/null; then
    rm -f "$log"
    exit 0
  fi
  tail -5 "$log"
  rm -f "$log"
fi
if [ "$how" = required ]; then
  echo "error: $package is missing; it is needed for: $purpose. Install it (Debian, Ubuntu: sudo apt-get install $package) and run make again." >&2
  exit 1
fi
echo "skipping: $package is missing, so no $purpose. To have it: sudo apt-get install $package"
