#!/usr/bin/env bash
# What `make soak` needs beyond `tools/setup.sh`: compilers outside the matrix. Does nothing where all is present.
set -euo pipefail

packages=(clang-14 clang-16)
missing=()
for p in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'install ok installed' || missing+=("$p")
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "soak-setup: all ${#packages[@]} Debian packages present"
  exit 0
fi
echo "soak-setup: installing Debian packages: ${missing[*]}"
sudo=""
if [ "$(id -u)" -ne 0 ]; then
  if command -v sudo >/dev/null 2>&1; then sudo="sudo"; else
    echo "soak-setup: not root and no sudo; install these and run again: apt-get install ${missing[*]}" >&2
    exit 1
  fi
fi
$sudo apt-get update -qq
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
