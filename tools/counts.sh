# Sourced by test.sh and soak.sh: what the output of `cargo test` says.

# Sum of a column of the last lines of all suites: passed, failed, ignored.
count() { awk -v what="$2;" '/^test result/ { for (i = 2; i <= NF; i++) if ($i == what) n += $(i - 1) } END { print n + 0 }' "$1"; }

# Every suite's part from `failures:` on holds the output of its failed tests; errors of the compiler end with an empty line.
failures() { awk '/^failures:$/ { test = 1 } /^error/ { error = 1 } test || error; /^test result/ { test = 0 } /^$/ { error = 0 }' "$1"; }
