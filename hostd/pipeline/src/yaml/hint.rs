//! What is probably wrong with a line that is no YAML: found in the line itself and those before it, since the parser
//! knows where it stopped and not why.

use super::Span;

/// Characters of a placeholder that a message repeats.
const PLACEHOLDER_CHARS_MAX: usize = 60;

/// Parts of the parser's messages about lines that do not stand where they belong.
const MISPLACED: [&str; 8] = [
    "expected key",
    "'-' indicator",
    "mapping values are not allowed",
    "mapping keys are not allowed",
    "block sequence entries are not allowed",
    "simple key",
    "invalid indentation",
    "<document start>",
];

/// Where something is wrong, and what to do about it.
pub(super) struct Hint {
    pub(super) span: Span,
    pub(super) message: String,
}

/// Why the parser, which said `said`, stopped at `at`; nothing if the line does not show it.
pub(super) fn of(text: &str, at: Span, said: &str) -> Option<Hint> {
    // A pipeline has some hundred lines; what is longer is read once for its one error.
    let lines: Vec<&str> = text.lines().collect();
    let line = usize::try_from(at.line).ok()?.checked_sub(1)?;
    let line = line.min(lines.len().checked_sub(1)?);
    tab(&lines, line, at, said)
        .or_else(|| placeholder(&lines, line))
        .or_else(|| said_of(&MISPLACED, said).then(|| columns(&lines, line))?)
}

/// The first character outside of comments that looks like a space where a line is divided, and is none for YAML.
pub(crate) fn blank(text: &str) -> Option<(Span, String)> {
    text.lines().enumerate().find_map(|(line, text)| {
        let (column, found) = blank_in(text)?;
        let name = match found {
            '\u{a0}' => "a no-break space",
            '\u{feff}' => "a byte order mark",
            '\u{200b}' => "a zero-width space",
            _ => "a space of another kind",
        };
        let code = u32::from(found);
        let message = format!(
            "there is {name} (U+{code:04X}) here, which is text for YAML: put a plain space in its place"
        );
        Some((place(line, column), message))
    })
}

/// In the indentation of a line, behind a `-` or behind the colon of a key.
fn blank_in(line: &str) -> Option<(usize, char)> {
    let is_blank = |c: char| {
        !matches!(c, ' ' | '\t' | '\r')
            && (c.is_whitespace() || matches!(c, '\u{200b}' | '\u{feff}' | '\u{2060}'))
    };
    let mut before = None;
    for (column, c) in line.chars().enumerate() {
        match c {
            ' ' | '\t' | '-' if before.is_none() => {}
            '#' if before.is_none() => return None,
            // At the very start of a document, a mark is what it is for.
            '\u{feff}' if column == 0 => {}
            c if is_blank(c) && matches!(before, None | Some(':')) => return Some((column, c)),
            c => before = Some(c),
        }
    }
    None
}

fn said_of(parts: &[&str], said: &str) -> bool {
    parts.iter().any(|part| said.contains(part))
}

fn place(line: usize, column: usize) -> Span {
    let count = |count: usize| u32::try_from(count + 1).unwrap_or(u32::MAX);
    Span {
        line: count(line),
        column: count(column),
        width: 1,
    }
}

/// A tab where a line is indented: this one, or if the parser met a tab, the first one from here on.
fn tab(lines: &[&str], line: usize, at: Span, said: &str) -> Option<Hint> {
    let mut words = said.split(|c: char| !c.is_alphabetic());
    let has_met = words.any(|word| matches!(word, "tab" | "tabs"));
    let searched = &lines[line..if has_met { lines.len() } else { line + 1 }];
    let found = searched.iter().enumerate().find_map(|(index, text)| {
        let mut indented = text.chars().take_while(|c| matches!(c, ' ' | '\t' | '-'));
        let column = indented.position(|c| c == '\t')?;
        Some(place(line + index, column))
    });
    let span = found.or_else(|| has_met.then_some(Span { width: 1, ..at }))?;
    Some(Hint {
        span,
        message: "there is a tab here; YAML wants spaces: indent with spaces alone".to_owned(),
    })
}

/// A placeholder without quotes, on the line or on the one before.
fn placeholder(lines: &[&str], line: usize) -> Option<Hint> {
    [Some(line), line.checked_sub(1)]
        .into_iter()
        .flatten()
        .find_map(|line| {
            let text = lines[line];
            let (at, _) = text.match_indices("{{").find(|(at, _)| {
                let before = text[..*at].trim_end();
                before.is_empty() || before.ends_with([':', '-', '[', ',', '?'])
            })?;
            let written = &text[at..];
            let end = written.find("}}").map_or(written.len(), |end| end + 2);
            let shown: String = written[..end].chars().take(PLACEHOLDER_CHARS_MAX).collect();
            Some(Hint {
                span: place(line, text[..at].chars().count()),
                message: format!(
                    "a value that begins with `{{{{` must be in quotes, since `{{` begins a map in YAML: write \"{shown}\""
                ),
            })
        })
}

/// How something on a line begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    /// An entry of a list.
    Dash,
    /// A key of a map.
    Key,
}

/// Where the entries and keys on a line begin, in columns from 0. None on a line without any.
fn starts(line: &str) -> Vec<(Start, usize)> {
    let mut starts = Vec::new();
    let mut rest = line.trim_start_matches(' ');
    let column = |rest: &str| line.len() - rest.len();
    while rest == "-" || rest.starts_with("- ") {
        starts.push((Start::Dash, column(rest)));
        rest = rest[1..].trim_start_matches(' ');
    }
    let is_key = rest.contains(": ") || rest.trim_end().ends_with(':');
    if is_key && !rest.starts_with('#') {
        starts.push((Start::Key, column(rest)));
    }
    starts
}

/// Whether the lines below may be indented deeper.
fn opens(line: &str) -> bool {
    let line = line.split(" #").next().unwrap_or_default().trim_end();
    line.ends_with([':', '-', '|', '>'])
}

/// A line that begins in another column than those that it could stand beside.
fn columns(lines: &[&str], line: usize) -> Option<Hint> {
    let (kind, own) = *starts(lines[line]).first()?;
    let mut above = Vec::new();
    // What began behind this column has ended.
    let mut limit = usize::MAX;
    let earlier = lines[..line].iter().rev();
    for (index, text) in earlier.filter(|text| !starts(text).is_empty()).enumerate() {
        let starts = starts(text);
        if index == 0 && opens(text) && starts.last().is_some_and(|(_, column)| own > *column) {
            return None;
        }
        let open = starts
            .iter()
            .filter(|(of, column)| *of == kind && *column < limit);
        above.extend(open.map(|(_, column)| *column));
        limit = starts
            .first()
            .map_or(limit, |(_, column)| limit.min(*column));
        if limit == 0 {
            break;
        }
    }
    let nearest = above
        .into_iter()
        .min_by_key(|column| column.abs_diff(own))?;
    if nearest == own {
        return None;
    }
    let (own_column, column) = (own + 1, nearest + 1);
    let message = match kind {
        Start::Dash => format!(
            "this `-` is in column {own_column}, and those beside it are in column {column}: move it there"
        ),
        Start::Key => format!(
            "this key begins in column {own_column}, and those beside it in column {column}: move it there"
        ),
    };
    Some(Hint {
        span: place(line, own),
        message,
    })
}
