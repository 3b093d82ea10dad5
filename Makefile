# Two commands matter: `make demo` and `make test`. Both do all set-up themselves.
.PHONY: demo test setup build install amalgamation packages release site soak sweep rtl differential fuzz dist clean

CARGO ?= cargo
SANTOKU = target/release/santoku
# Rust may have been installed by set-up into the user's home.
export PATH := $(HOME)/.cargo/bin:$(PATH)

demo: setup build
	@tools/demo.sh

test: setup
	@tools/test.sh

setup:
	@tools/setup.sh

build:
	@echo "build: santoku (release)"
	@$(CARGO) build --release --locked --quiet -p santoku-cli

# The shipped C files as libraries, with headers, pkg-config and CMake files: `make install PREFIX=/usr/local`. Needs a C compiler alone.
install:
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' LIBDIR='$(LIBDIR)' INCLUDEDIR='$(INCLUDEDIR)' CC='$(CC)' AR='$(AR)' CFLAGS='$(CFLAGS)' tools/install.sh

# Units in one C file with one header: `make amalgamation UNITS="nacl_sign hash_sha256" OUT=build/amalgamation`. Needs no compiler.
amalgamation:
	@UNITS='$(UNITS)' OUT='$(OUT)' tools/amalgamate.sh

# Packages for programs in other languages, in build/packages/: made, tested, and measured beside others that are installed.
packages:
	@tools/setup.sh packages
	@$(MAKE) --no-print-directory build
	@tools/packages.sh

# Archives with checksums: the C library, the sources, the command.
release: setup build
	@tools/release.sh

# The pages as a site, with a report of the newest records; looked at in Chromium.
site:
	@tools/setup.sh site
	@$(MAKE) --no-print-directory build
	@tools/site.sh

# Regenerates what library users take.
dist: setup build
	@$(SANTOKU) dist

# Long runs, outside CI: 100 keys at every level, every size of message, long fuzzing, every object certified (hours; what is
# broken off goes on).
soak:
	@tools/setup.sh soak
	@tools/soak.sh

# All of NaCl beside TweetNaCl and libsodium: the same calls, more than 10^5 of them. `make soak` makes 10^7.
differential: setup build
	@$(SANTOKU) lab differential nacl

# Openers and verifiers on arbitrary bytes, beside libsodium, under sanitizers: `make fuzz SECONDS=600`.
fuzz: setup
	@tools/fuzz.sh $(or $(SECONDS),60)

# Every level, target and single pass switched off.
sweep: setup build
	@$(SANTOKU) lab table nacl.sign
	@$(SANTOKU) lab ablate nacl.sign --target rv32-spark
	@$(SANTOKU) lab table ecdsa.p256

# Rebuilds the Rocket RTL and compares the timing model with it (about 10 minutes, 10 GB of memory).
rtl:
	@tools/setup.sh rtl
	@lab/rtl/compare.sh

clean:
	@$(CARGO) clean
	@rm -rf build
