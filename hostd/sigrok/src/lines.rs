//! The lines that `sigrok-cli` prints: `253-253 i2c-1: start: "Start" "S"`.

use decode::{Annotation, Value};
use std::collections::HashMap;

/// Longest line.
const LINE_BYTES_MAX: usize = 64 << 10;

/// Longest text of an annotation.
const TEXT_BYTES_MAX: usize = 1 << 10;

/// Reads lines that come in pieces.
#[derive(Debug)]
pub(crate) struct Lines {
    /// Index of each class, by its id.
    classes: HashMap<String, u8>,
    /// Added to each sample.
    base: u64,
    rest: Vec<u8>,
}

/// A line that is none of an annotation, shortened.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotUnderstood(pub(crate) String);

impl Lines {
    pub(crate) fn new(classes: HashMap<String, u8>) -> Self {
        Self {
            classes,
            base: 0,
            rest: Vec::new(),
        }
    }

    /// The number of the first sample.
    pub(crate) fn begin_at(&mut self, sample: u64) {
        self.base = sample;
    }

    /// Takes some bytes of the output.
    pub(crate) fn push(
        &mut self,
        bytes: &[u8],
        found: &mut Vec<Annotation>,
    ) -> Result<(), NotUnderstood> {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.rest.len() + piece.len() > LINE_BYTES_MAX {
                return Err(NotUnderstood(format!(
                    "a line of over {LINE_BYTES_MAX} bytes"
                )));
            }
            self.rest.extend_from_slice(piece);
            if !piece.ends_with(b"\n") {
                break;
            }
            let line = std::mem::take(&mut self.rest);
            self.line(&line, found)?;
        }
        Ok(())
    }

    /// There is no more.
    pub(crate) fn finish(&mut self, found: &mut Vec<Annotation>) -> Result<(), NotUnderstood> {
        let line = std::mem::take(&mut self.rest);
        self.line(&line, found)
    }

    fn line(&self, line: &[u8], found: &mut Vec<Annotation>) -> Result<(), NotUnderstood> {
        let line = String::from_utf8_lossy(line);
        let line = line.trim_end_matches(['\r', '\n']);
        if line.is_empty() {
            return Ok(());
        }
        let annotation = self.annotation(line);
        let annotation =
            annotation.ok_or_else(|| NotUnderstood(line.chars().take(80).collect()))?;
        found.push(annotation);
        Ok(())
    }

    fn annotation(&self, line: &str) -> Option<Annotation> {
        let (samples, rest) = line.split_once(' ')?;
        let (start, end) = samples.split_once('-')?;
        let (start, end): (u64, u64) = (start.parse().ok()?, end.parse().ok()?);
        let (_, rest) = rest.split_once(": ")?;
        let (class, texts) = rest.split_once(": \"")?;
        // The first text is the longest one.
        let text = match texts.split_once("\" \"") {
            Some((text, _)) => text,
            None => texts.strip_suffix('"')?,
        };
        Some(Annotation {
            start: start.saturating_add(self.base),
            end: end.saturating_add(self.base),
            class: *self.classes.get(class)?,
            value: Value::Text(cut(text).into()),
        })
    }
}

fn cut(text: &str) -> &str {
    match text.len() <= TEXT_BYTES_MAX {
        true => text,
        false => &text[..text.floor_char_boundary(TEXT_BYTES_MAX)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines() -> Lines {
        let classes = [("start".to_owned(), 0), ("data".to_owned(), 7)];
        Lines::new(classes.into())
    }

    fn read(text: &str) -> Result<Vec<(u64, u64, u8, String)>, NotUnderstood> {
        let mut lines = lines();
        lines.begin_at(1000);
        let mut found = Vec::new();
        // Cut anywhere.
        for piece in text.as_bytes().chunks(7) {
            lines.push(piece, &mut found)?;
        }
        lines.finish(&mut found)?;
        let told = found.into_iter().map(|one| match one.value {
            Value::Text(text) => (one.start, one.end, one.class, text.into()),
            other => panic!("{other:?}"),
        });
        Ok(told.collect())
    }

    #[test]
    fn annotations_have_their_longest_text() {
        assert_eq!(
            read("253-253 i2c-1: start: \"Start\" \"S\"\n255-269 x-1: data: \"say \"hi\": now\"\n3-4 a-1: data: \"\"").unwrap(),
            [
                (1253, 1253, 0, "Start".to_owned()),
                (1255, 1269, 7, "say \"hi\": now".to_owned()),
                (1003, 1004, 7, String::new()),
            ]
        );
    }

    #[test]
    fn other_lines_are_not_understood() {
        for text in [
            "253-253 i2c-1: Start",
            "253-253 i2c-1: stop: \"Stop\"",
            "-1-2 i2c-1: start: \"Start\"",
            "a",
            "99999999999999999999-1 i2c-1: start: \"x\"",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
        assert!(read(&"x".repeat(LINE_BYTES_MAX + 1)).is_err());
        assert_eq!(read("\n\r\n").unwrap(), []);
    }

    #[test]
    fn long_texts_are_cut_between_letters() {
        let text = format!("1-2 a-1: data: \"{}\"\n", "é".repeat(TEXT_BYTES_MAX));
        let all = read(&text).unwrap();
        assert_eq!(all[0].3.len(), TEXT_BYTES_MAX);
    }
}
