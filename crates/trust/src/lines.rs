//! How many lines of code a file has.

/// Lines that are neither blank nor comment, without what is compiled for tests alone. Comments in our sources begin with `//`.
pub fn code_lines(text: &str) -> usize {
    code(text).filter(|l| !l.trim().is_empty() && !l.trim_start().starts_with("//")).count()
}

/// The lines of a file without what is compiled for tests alone.
pub fn code(text: &str) -> impl Iterator<Item = &str> {
    let mut lines = text.lines();
    std::iter::from_fn(move || loop {
        let line = lines.next()?;
        if !line.trim_start().starts_with("#[cfg(test)]") {
            return Some(line);
        }
        skip_item(line, &mut lines);
    })
}

/// The item behind an attribute: to a line that ends it at the same depth.
fn skip_item<'a>(attribute: &str, lines: &mut impl Iterator<Item = &'a str>) {
    let depth = |l: &str| l.len() - l.trim_start().len();
    let own = depth(attribute);
    for line in lines {
        let end = depth(line) == own && line.trim_end().ends_with([';', '}']);
        if end || depth(line) == own && line.trim_end().ends_with(',') {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::code_lines;

    #[test]
    fn blank_lines_comments_and_tests_do_not_count() {
        let text = "//! Header.\n\nuse a::b;\n#[cfg(test)]\nuse c::d;\n/// Doc.\nfn f() {\n    // why\n    g();\n}\n\n#[cfg(test)]\nmod tests {\n    fn h() {\n    }\n}\nfn i() {}\n";
        assert_eq!(code_lines(text), 5);
        assert_eq!(code_lines("struct S {\n    #[cfg(test)]\n    a: u8,\n    b: u8,\n}\n"), 3);
    }
}
