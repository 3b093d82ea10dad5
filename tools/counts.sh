# Sourced by test.sh and soak.sh: what `cargo test` builds, and what its output says.

# Sum of a column of the last lines of all suites: passed, failed, ignored.
count() { awk -v what="$2;" '/^test result/ { for (i = 2; i <= NF; i++) if ($i == what) n += $(i - 1) } END { print n + 0 }' "$1"; }

# Every suite's part from `failures:` on holds the output of its failed tests; errors of the compiler end with an empty line.
failures() { awk '/^failures:$/ { test = 1 } /^error/ { error = 1 } test || error; /^test result/ { test = 0 } /^$/ { error = 0 }' "$1"; }

# Lines of a folder of a package and one of its test programs, by the messages (`--message-format=json-render-diagnostics`) of a build.
test_programs() {
  python3 - "$1" <<'END'
import json, os, sys
for line in open(sys.argv[1]):
    m = json.loads(line)
    if m.get("executable") and m["profile"]["test"]:
        print(os.path.relpath(os.path.dirname(m["manifest_path"])), m["executable"])
END
}

# Where cargo builds.
target_folder() { cargo metadata --locked --no-deps --format-version 1 | python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])'; }
