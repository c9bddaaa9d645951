//! Tools that Allegro defines in comments of drill files:
//! `Holesize 1. = 28.000000 Tolerance = +0.000000/-0.000000 PLATED MILS Quantity = 2`, in some versions after `T01`.

/// A tool.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tool {
    pub(super) number: u32,
    /// In millimetres or thousandths of an inch.
    pub(super) size: f64,
    pub(super) is_metric: bool,
    /// `None` where it may be either.
    pub(super) is_plated: Option<bool>,
}

/// What such a comment has first.
const KEY: &str = "holesize";

/// Whether a line of a file is such a comment.
pub(crate) fn is_tool(line: &[u8]) -> bool {
    let comment = line.strip_prefix(b";").unwrap_or_default();
    std::str::from_utf8(comment).is_ok_and(|text| Tool::read(text).is_some())
}

impl Tool {
    /// Reads a comment, without its semicolon.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut words = text.split_ascii_whitespace();
        let mut first = words.next()?;
        let number = |word: &str| word.trim_end_matches('.').parse::<u32>().ok();
        let of_tool = first.strip_prefix(['T', 't']).and_then(number);
        if of_tool.is_some() {
            first = words.next()?;
        }
        if !first.eq_ignore_ascii_case(KEY) {
            return None;
        }
        let of_size = number(words.next()?)?;
        if words.next()? != "=" {
            return None;
        }
        // The size of a slot has two numbers, of which the first is its width.
        let size = words.next()?.split('/').next()?.parse::<f64>().ok()?;
        let rest: Vec<String> = words.map(str::to_ascii_uppercase).collect();
        let has = |word: &str| rest.iter().any(|other| other == word);
        let is_plated = match (has("PLATED"), has("NON_PLATED")) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        };
        let is_metric = has("MM") || has("MILLIMETERS");
        Some(Self {
            number: of_tool.unwrap_or(of_size),
            size,
            is_metric,
            is_plated,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_read_with_and_without_their_number() {
        let mils =
            "Holesize 1. = 28.000000 Tolerance = +0.000000/-0.000000 PLATED MILS Quantity = 2";
        let tool = Tool {
            number: 1,
            size: 28.0,
            is_metric: false,
            is_plated: Some(true),
        };
        assert_eq!(Tool::read(mils), Some(tool));
        let metric =
            " T03 Holesize 3. = 0.900000 Tolerance = +0.1/-0.1 NON_PLATED MM Quantity = 12";
        let tool = Tool {
            number: 3,
            size: 0.9,
            is_metric: true,
            is_plated: Some(false),
        };
        assert_eq!(Tool::read(metric), Some(tool));
        let either = Tool::read("Holesize 2. = 40.0 Tolerance = +0/-0 OPTIONAL MILS Quantity = 1");
        assert_eq!(either.unwrap().is_plated, None);
        for text in [
            "",
            "Holesize",
            "Holesize 1. =",
            "Holesize x = 1",
            "HEADER:",
            "T01C0.1",
        ] {
            assert_eq!(Tool::read(text), None, "{text}");
        }
        assert!(is_tool(b";Holesize 1. = 28.0 PLATED MILS") && !is_tool(b"Holesize 1. = 28.0"));
    }
}
