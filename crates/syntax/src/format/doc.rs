//! A small layout algebra: texts, possible line breaks, groups that are flat or broken as a whole, fills that break where
//! they must. Linear in the size of the document times the width.

/// Columns of formatted text.
pub const WIDTH: usize = 100;

#[derive(Debug)]
pub enum Doc {
    Text(String),
    /// To the end of the line; never counted as too wide, and what holds it is never flat.
    Comment(String),
    /// The text when flat, a newline when broken.
    Line(&'static str),
    /// Always a newline.
    Hard,
    /// A newline, and an empty line before it.
    Blank,
    /// One after the other.
    Cat(Vec<Doc>),
    /// The text if the enclosing group is broken.
    IfBroken(&'static str),
    /// Two more columns for lines begun inside.
    Nest(Vec<Doc>),
    /// Flat if it fits, else every `Line` directly in it is broken. `forced`: it holds a newline that stands in any case.
    Group { parts: Vec<Doc>, forced: bool },
    /// Content, `Line`, content, ...: each line is broken only if the next content does not fit.
    /// With `hang`, what follows the first broken line is indented by two more.
    Fill { parts: Vec<Doc>, hang: bool },
}

impl Doc {
    /// A group of these.
    pub fn group(parts: Vec<Doc>) -> Doc {
        let forced = parts.iter().any(Doc::is_forced);
        Doc::Group { parts, forced }
    }

    fn is_forced(&self) -> bool {
        match self {
            Doc::Comment(_) | Doc::Hard | Doc::Blank => true,
            Doc::Text(_) | Doc::Line(_) | Doc::IfBroken(_) => false,
            Doc::Cat(parts) | Doc::Nest(parts) | Doc::Fill { parts, .. } => parts.iter().any(Doc::is_forced),
            Doc::Group { forced, .. } => *forced,
        }
    }
}

#[derive(Clone, Copy)]
enum Mode {
    Flat,
    Break,
}

enum Task<'a> {
    Doc(&'a Doc),
    /// The parts from a position on; whether a line was broken already.
    Fill(&'a [Doc], bool, bool),
}

type Entry<'a> = (usize, Mode, Task<'a>);

/// Lays out `docs`, lines at most [`WIDTH`] wide where the texts allow it.
pub fn print(docs: &[Doc]) -> String {
    let mut out = String::new();
    let mut column = 0;
    let mut stack: Vec<Entry> = docs.iter().rev().map(|d| (0, Mode::Break, Task::Doc(d))).collect();
    while let Some((indent, mode, task)) = stack.pop() {
        let doc = match task {
            Task::Doc(d) => d,
            Task::Fill(parts, hang, broken) => {
                fill(&mut stack, indent, column, parts, hang, broken);
                continue;
            }
        };
        match doc {
            Doc::Text(t) | Doc::Comment(t) => {
                out += t;
                column = advance(column, t);
            }
            Doc::Line(flat) => match mode {
                Mode::Flat => {
                    out += flat;
                    column += flat.len();
                }
                Mode::Break => column = newline(&mut out, indent, false),
            },
            Doc::Hard => column = newline(&mut out, indent, false),
            Doc::Blank => column = newline(&mut out, indent, true),
            Doc::Cat(inner) => stack.extend(inner.iter().rev().map(|d| (indent, mode, Task::Doc(d)))),
            Doc::IfBroken(t) => {
                if matches!(mode, Mode::Break) {
                    out += t;
                    column += t.len();
                }
            }
            Doc::Nest(inner) => stack.extend(inner.iter().rev().map(|d| (indent + 2, mode, Task::Doc(d)))),
            Doc::Group { parts: inner, forced } => {
                let room = WIDTH.saturating_sub(column);
                let fits = matches!(mode, Mode::Flat) || (!forced && fits(room, inner, &stack, Measure::Flat));
                let mode = if fits { Mode::Flat } else { Mode::Break };
                stack.extend(inner.iter().rev().map(|d| (indent, mode, Task::Doc(d))));
            }
            Doc::Fill { parts, .. } if matches!(mode, Mode::Flat) => stack.extend(parts.iter().rev().map(|d| (indent, mode, Task::Doc(d)))),
            Doc::Fill { parts, hang } => stack.push((indent, mode, Task::Fill(parts, *hang, false))),
        }
    }
    out
}

/// One step of a fill: the content in front, then the decision about the line behind it.
fn fill<'a>(stack: &mut Vec<Entry<'a>>, indent: usize, column: usize, parts: &'a [Doc], hang: bool, broken: bool) {
    match parts {
        [] => {}
        [line @ (Doc::Line(_) | Doc::Hard), rest @ ..] => {
            let next = &parts[..parts.len().min(2)];
            let below = if hang && !broken { indent + 2 } else { indent };
            let flat = matches!(line, Doc::Line(_)) && {
                stack.push((indent, Mode::Break, Task::Fill(&parts[next.len()..], hang, broken)));
                // What fits neither here nor on the next line stays, and breaks inside.
                let here = room_for(WIDTH.saturating_sub(column), line, next, stack);
                let f = here || !fits(WIDTH.saturating_sub(below), &next[1..], stack, Measure::Part);
                stack.pop();
                f
            };
            let indent = if flat { indent } else { below };
            stack.push((indent, Mode::Break, Task::Fill(rest, hang, broken || !flat)));
            stack.push((indent, if flat { Mode::Flat } else { Mode::Break }, Task::Doc(line)));
        }
        [content, rest @ ..] => {
            stack.push((indent, Mode::Break, Task::Fill(rest, hang, broken)));
            stack.push((indent, Mode::Break, Task::Doc(content)));
        }
    }
}

/// Whether the line, flat, and the part behind it fit.
fn room_for(room: usize, line: &Doc, next: &[Doc], rest: &[Entry]) -> bool {
    let width = if let Doc::Line(flat) = line { flat.len() } else { 0 };
    room >= width && fits(room - width, &next[1..], rest, Measure::Part)
}

fn advance(column: usize, text: &str) -> usize {
    match text.rfind('\n') {
        Some(i) => text[i + 1..].chars().count(),
        None => column + text.chars().count(),
    }
}

fn newline(out: &mut String, indent: usize, blank: bool) -> usize {
    out.truncate(out.trim_end_matches(' ').len());
    out.push('\n');
    if blank {
        out.push('\n');
    }
    out.extend(std::iter::repeat_n(' ', indent));
    indent
}

/// How a document is measured: always up to the first newline that stands in any case.
#[derive(Clone, Copy)]
enum Measure {
    /// Its lines are flat.
    Flat,
    /// As a part of a fill: its groups should be flat, its own lines may break.
    Part,
    /// As what follows: it may break wherever it can.
    Rest,
}

impl Measure {
    /// How a group inside is measured.
    fn inside(self) -> Measure {
        match self {
            Measure::Flat | Measure::Part => Measure::Flat,
            Measure::Rest => Measure::Rest,
        }
    }
}

/// Whether `docs`, measured so, and what follows up to the next possible newline, take at most `room` columns.
fn fits(room: usize, docs: &[Doc], rest: &[Entry], measure: Measure) -> bool {
    let mut room = room as isize;
    let mut rest = rest.iter().rev();
    let mut todo: Vec<(Measure, &Doc)> = docs.iter().rev().map(|d| (measure, d)).collect();
    loop {
        let Some((measure, doc)) = todo.pop() else {
            match rest.next() {
                None => return true,
                Some((_, mode, Task::Doc(d))) => todo.push((if matches!(mode, Mode::Flat) { Measure::Flat } else { Measure::Rest }, d)),
                // A fill that goes on can break at its next line.
                Some((_, _, Task::Fill([], ..))) => {}
                Some((_, _, Task::Fill([d, ..], ..))) => {
                    if matches!(d, Doc::Line(_) | Doc::Hard) {
                        return true;
                    }
                    todo.push((Measure::Rest, d));
                }
            }
            continue;
        };
        match doc {
            Doc::Text(t) => {
                let (first, more) = t.split_once('\n').map_or((t.as_str(), false), |(a, _)| (a, true));
                room -= first.chars().count() as isize;
                if room < 0 || more {
                    return room >= 0;
                }
            }
            Doc::Comment(_) | Doc::Hard | Doc::Blank => return true,
            Doc::Line(flat) => match measure {
                Measure::Part | Measure::Rest => return true,
                Measure::Flat => room -= flat.len() as isize,
            },
            Doc::IfBroken(t) => {
                if matches!(measure, Measure::Part | Measure::Rest) {
                    room -= t.len() as isize;
                }
            }
            Doc::Cat(inner) | Doc::Nest(inner) => todo.extend(inner.iter().rev().map(|d| (measure, d))),
            Doc::Group { parts, forced } => {
                // A group that is broken in any case breaks at its first line. What follows may break inside it, too: whether a
                // group is broken in any case can change by formatting, where the rest of a line ends must not.
                let inside = if *forced && !matches!(measure, Measure::Rest) { Measure::Part } else { measure.inside() };
                todo.extend(parts.iter().rev().map(|d| (inside, d)));
            }
            Doc::Fill { parts, .. } => todo.extend(parts.iter().rev().map(|d| (measure, d))),
        }
        if room < 0 {
            return false;
        }
    }
}
