#!/usr/bin/env bash
# Installs what Santoku needs to build, prove, emit and measure. Says what it installs; does nothing where all is present.
# usage: setup.sh [rtl] [site] [soak] [ckb] [packages]     what `make rtl`, `make site`, `make soak` and `make packages` need besides; `ckb`: the
# chain's debugger, which a test compares cycles with (part of `soak`; minutes to build)
# Debian 12 or newer, Ubuntu 24.10 or newer. Works without root when the packages are already there.
set -euo pipefail

# Compilers and emulators are named by the descriptions of the machines. QEMU's RISC-V boards are compared with our own model.
mapfile -t packages < <(cd "$(dirname "$0")/.." && grep -hE '^packages = ' targets/*.toml | grep -oE '"[^"]+"' | tr -d '"' | sort -u)
[ "${#packages[@]}" -gt 0 ] || { echo "setup: the files of targets/ name no packages" >&2; exit 1; }
packages+=(g++ make cmake python3 pkg-config qemu-system-misc z3 libsodium-dev libssl-dev)
# What tests take: a checker of uses of undefined memory, and files of published vectors.
packages+=(valgrind python3-cryptography-vectors)
for part in "$@"; do
  case "$part" in
  rtl) packages+=(default-jdk-headless maven verilator device-tree-compiler unzip) ;;
  soak) packages+=(clang-14 clang-16 protobuf-compiler) ;;
  ckb) packages+=(protobuf-compiler) ;;
  site) packages+=(chromium fonts-dejavu-core) ;;
  packages)
    # debootstrap makes a folder with a newer Debian, in which other packages of OCaml are.
    packages+=(ocaml-nox ocaml-dune ocaml-findlib debootstrap)
    packages+=(python3-dev python3-venv python3-pip python3-setuptools python3-wheel python3-cffi python3-pytest python3-pytest-benchmark python3-cryptography python3-nacl) ;;
  *) echo "setup: no part is called \`$part\`; there are: ckb, packages, rtl, site, soak" >&2; exit 2 ;;
  esac
done
rust_min=1.85

missing=()
for p in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep 'install ok installed' >/dev/null || missing+=("$p")
done
if [ ${#missing[@]} -gt 0 ]; then
  echo "setup: installing Debian packages: ${missing[*]}"
  sudo=""
  if [ "$(id -u)" -ne 0 ]; then
    if command -v sudo >/dev/null 2>&1; then sudo="sudo"; else
      echo "setup: not root and no sudo; install these and run again: apt-get install ${missing[*]}" >&2
      exit 1
    fi
  fi
  $sudo apt-get update -qq
  # A fresh machine's unattended upgrades may hold the lock for minutes: wait. sudo drops variables, `env` sets this one behind it.
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
else
  echo "setup: all ${#packages[@]} Debian packages present"
fi

# At least `rust_min`, compared by version sort.
rust_ok() {
  command -v cargo >/dev/null 2>&1 || return 1
  local have
  have=$(rustc --version | awk '{print $2}')
  [ "$(printf '%s\n%s\n' "$rust_min" "$have" | sort -V | sed -n 1p)" = "$rust_min" ]
}

[ -f "$HOME/.cargo/env" ] && . "$HOME/.cargo/env"
if rust_ok; then
  echo "setup: $(rustc --version)"
elif command -v rustup >/dev/null 2>&1; then
  echo "setup: installing the stable Rust toolchain with rustup"
  rustup toolchain install stable --profile minimal >/dev/null
  rustup default stable >/dev/null
else
  echo "setup: installing Rust with the official installer (rustup)"
  if apt-cache show rustup >/dev/null 2>&1 && [ "$(id -u)" -eq 0 ]; then
    DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 install -y -qq rustup >/dev/null && rustup default stable >/dev/null
  else
    command -v curl >/dev/null 2>&1 || { echo "setup: curl is needed to install Rust; or install Rust >= $rust_min yourself" >&2; exit 1; }
    curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal >/dev/null
  fi
fi

# The chain's debugger, for this checkout alone.
ckb_version=1.1.1
ckb_root=$(cd "$(dirname "$0")/.." && pwd)/build/ckb-debugger
for part in "$@"; do
  case "$part" in
  ckb | soak)
    [ -f "$HOME/.cargo/env" ] && . "$HOME/.cargo/env"
    if [ "$("$ckb_root/bin/ckb-debugger" --version 2>/dev/null)" = "ckb-debugger $ckb_version" ]; then
      echo "setup: ckb-debugger $ckb_version present"
    else
      echo "setup: building ckb-debugger $ckb_version (about 8 minutes)"
      # Only a test needs it, which says that it is not there.
      cargo install --quiet --locked --root "$ckb_root" "ckb-debugger@$ckb_version" ||
        echo "setup: ckb-debugger cannot be built here: its test compares with recorded counts alone" >&2
    fi
    ;;
  esac
done
