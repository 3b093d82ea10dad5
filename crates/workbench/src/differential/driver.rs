//! The program that makes the calls: it reads them from its input, and writes what they leave.

use crate::interface::{ArgumentRole, Function};
use std::fmt::Write;

/// C that calls `functions` by the names that `called` gives them; `random`: with randomness that is the same in every run.
pub fn driver(functions: &[Function], called: &dyn Fn(&str) -> String, random: bool) -> String {
    let mut text = BEFORE.to_string();
    if random {
        text += RANDOM;
    }
    for f in functions {
        let _ = writeln!(text, "{};", f.declaration.replacen(&format!(" {}(", f.name), &format!(" {}(", called(&f.name)), 1));
    }
    text += "\nstatic int call(int f)\n{\n    switch (f) {\n";
    for (k, f) in functions.iter().enumerate() {
        let list: Vec<String> = f.arguments.iter().enumerate().map(|(j, a)| if a.role == ArgumentRole::Length { format!("number[{j}]") } else { format!("(void *)object[{j}]") }).collect();
        let _ = writeln!(text, "    case {k}: return {}({});", called(&f.name), list.join(", "));
    }
    text += "    }\n    exit(3);\n}\n\nstatic int arguments(int f)\n{\n    switch (f) {\n";
    for (k, f) in functions.iter().enumerate() {
        let _ = writeln!(text, "    case {k}: return {};", f.arguments.len());
    }
    text + "    }\n    exit(3);\n}\n" + AFTER
}

const BEFORE: &str = r#"#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 8
#define ARGUMENTS 8

/* Objects of the steps of a group; those that are another argument's are not their own. */
static unsigned char *kept[STEPS][ARGUMENTS], *object[ARGUMENTS];
static unsigned long long size[STEPS][ARGUMENTS], number[ARGUMENTS];
static int own[STEPS][ARGUMENTS], steps;
static uint32_t state;

"#;

const RANDOM: &str = r#"void randombytes(unsigned char *x, unsigned long long n)
{
    while (n--) {
        state = state * 1103515245u + 12345u;
        *x++ = (unsigned char)(state >> 16);
    }
}

"#;

const AFTER: &str = r#"
static unsigned long long little(int bytes)
{
    unsigned long long value = 0;
    for (int k = 0; k < bytes; k++) {
        int c = getchar();
        if (c == EOF) {
            exit(4);
        }
        value |= (unsigned long long)c << (8 * k);
    }
    return value;
}

static void forget(void)
{
    for (int s = 0; s < steps; s++) {
        for (int k = 0; k < ARGUMENTS; k++) {
            if (own[s][k]) {
                free(kept[s][k]);
            }
            kept[s][k] = 0;
            own[s][k] = 0;
        }
    }
    steps = 0;
    state = 1;
}

static void argument(int k)
{
    int kind = (int)little(1);
    object[k] = 0;
    size[steps][k] = 0;
    if (kind == 0) {
        number[k] = little(8);
    } else if (kind == 1) {
        size[steps][k] = little(4);
        kept[steps][k] = malloc(size[steps][k]);
        own[steps][k] = 1;
        if (size[steps][k] && fread(kept[steps][k], 1, size[steps][k], stdin) != size[steps][k]) {
            exit(4);
        }
        object[k] = kept[steps][k];
    } else if (kind == 3) {
        object[k] = object[little(1)];
    } else if (kind == 4) {
        int step = (int)little(1), from = (int)little(1);
        unsigned long long bytes = little(4), at = little(4), change = little(1);
        if (bytes > size[step][from]) {
            exit(5);
        }
        size[steps][k] = bytes;
        kept[steps][k] = malloc(bytes);
        own[steps][k] = 1;
        if (bytes) {
            memcpy(kept[steps][k], kept[step][from], bytes);
            kept[steps][k][at % bytes] ^= (unsigned char)change;
        }
        object[k] = kept[steps][k];
    } else if (kind != 2) {
        exit(6);
    }
}

int main(void)
{
    int f;
    while ((f = getchar()) != EOF) {
        if (f == 255) {
            forget();
            continue;
        }
        int count = arguments(f);
        for (int k = 0; k < count; k++) {
            argument(k);
        }
        uint32_t returned = (uint32_t)call(f);
        for (int k = 0; k < 4; k++) {
            putchar((int)(returned >> (8 * k) & 255));
        }
        for (int k = 0; k < count; k++) {
            if (own[steps][k]) {
                fwrite(kept[steps][k], 1, size[steps][k], stdout);
            }
        }
        steps++;
    }
    forget();
    return fflush(stdout) != 0;
}
"#;
