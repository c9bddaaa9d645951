//! A decoder on its way through a capture, as the host drives it, and as tests do.

use super::{Annotation, Decoder, Found, Input, Setup, Value};

/// Bytes of one text, at most.
const TEXT_BYTES_MAX: usize = 1_024;

/// Words of one annotation, at most.
const WORDS_MAX: usize = 4_096;

/// A decoder of any type on its way.
#[doc(hidden)]
pub type Started = Box<dyn Running>;

/// What the host calls.
#[doc(hidden)]
pub trait Running {
    fn changes(&mut self, data: &[u32]) -> Vec<Annotation>;
    fn samples(&mut self, start: u64, data: &[u8]) -> Vec<Annotation>;
    fn finish(&mut self, end: u64) -> Vec<Annotation>;
}

/// Begin, if the setup names this decoder.
#[doc(hidden)]
#[must_use]
pub fn start<D: Decoder>(setup: &Setup) -> Option<Result<Started, String>> {
    (setup.decoder == D::DESCRIPTION.id).then(|| {
        let state = State {
            decoder: D::new(setup)?,
            found: Found::default(),
            at: 0,
            levels: None,
        };
        Ok(Box::new(state) as Started)
    })
}

struct State<D> {
    decoder: D,
    found: Found,
    at: u64,
    levels: Option<u8>,
}

impl<D: Decoder> Running for State<D> {
    fn changes(&mut self, data: &[u32]) -> Vec<Annotation> {
        let mut before = self.levels;
        for entry in data {
            self.at += u64::from(entry >> 8);
            let [levels, ..] = entry.to_le_bytes();
            // A long gap comes as entries that repeat the levels.
            if before != Some(levels) {
                self.decoder.change(self.at, levels, &mut self.found);
                before = Some(levels);
            }
        }
        self.levels = before;
        self.found.ready()
    }

    fn samples(&mut self, start: u64, data: &[u8]) -> Vec<Annotation> {
        self.decoder.samples(start, data, &mut self.found);
        self.found.ready()
    }

    fn finish(&mut self, end: u64) -> Vec<Annotation> {
        self.decoder.finish(end, &mut self.found);
        self.found.rest(end)
    }
}

/// A setup for a test: these roles are connected, and options that are not named have their defaults.
#[must_use]
pub fn setup<D: Decoder>(sample_rate_hz: f64, roles: &[&str], options: &[(&str, &str)]) -> Setup {
    let description = D::DESCRIPTION;
    Setup {
        decoder: description.id.to_owned(),
        sample_rate_hz,
        connected: description.connected(roles),
        options: description.chosen(options),
        extra: Vec::new(),
    }
}

/// Decode in a test, as the host would: `changes` are sample numbers, the first 0, with the levels from there on; the
/// capture ends before sample `end`.
///
/// # Errors
/// What [`Decoder::new`] says.
///
/// # Panics
/// An annotation is not what the host accepts.
pub fn decode<D: Decoder>(
    setup: &Setup,
    changes: &[(u64, u8)],
    end: u64,
) -> Result<Vec<Annotation>, String> {
    let mut state = State {
        decoder: D::new(setup)?,
        found: Found::default(),
        at: 0,
        levels: None,
    };
    let mut all = Vec::new();
    for (index, &(at, levels)) in changes.iter().enumerate() {
        match D::DESCRIPTION.input {
            Input::Changes => state.decoder.change(at, levels, &mut state.found),
            Input::Samples => {
                let next = changes.get(index + 1).map_or(end, |next| next.0);
                let count = usize::try_from(next - at).map_err(|_| "too many samples")?;
                state
                    .decoder
                    .samples(at, &vec![levels; count], &mut state.found);
            }
        }
        all.extend(state.found.ready());
    }
    all.extend(state.finish(end));
    let mut before = 0;
    for found in &all {
        let wrong = wrong(found, (before, end), D::DESCRIPTION.classes.len());
        assert!(wrong.is_none(), "{}: {found:?}", wrong.unwrap_or_default());
        before = found.end;
    }
    Ok(all)
}

/// Why the host would not take an annotation of a decoder with so many classes, after one that ends at `before`, in a
/// capture that ends before sample `end`.
fn wrong(found: &Annotation, (before, end): (u64, u64), classes: usize) -> Option<&'static str> {
    if found.end < found.start {
        return Some("it ends before it starts");
    }
    if found.end < before {
        return Some("not in the order of ends");
    }
    if end < found.end {
        return Some("beyond the capture");
    }
    if usize::try_from(found.class).is_ok_and(|class| class < classes) {
        return match &found.value {
            Value::Text(text) if TEXT_BYTES_MAX < text.len() => {
                Some("a text of more than 1,024 bytes")
            }
            Value::Words(words) if WORDS_MAX < words.len() => Some("more than 4,096 words"),
            _ => None,
        };
    }
    Some("of no class")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(start: u64, end: u64, class: u32, value: Value) -> Annotation {
        Annotation {
            start,
            end,
            class,
            value,
        }
    }

    fn told(found: &Annotation) -> Option<&'static str> {
        wrong(found, (5, 10), 2)
    }

    #[test]
    fn what_the_host_does_not_take_is_told() {
        let text = |bytes| Value::Text("x".repeat(bytes));
        let words = |count| Value::Words(vec![0; count]);
        for (found, expected) in [
            (found(0, 5, 0, Value::Mark), None),
            (found(10, 10, 1, Value::Number(u64::MAX)), None),
            (found(0, 5, 0, text(TEXT_BYTES_MAX)), None),
            (found(0, 5, 0, words(WORDS_MAX)), None),
            (
                found(7, 6, 0, Value::Mark),
                Some("it ends before it starts"),
            ),
            (
                found(0, 4, 0, Value::Mark),
                Some("not in the order of ends"),
            ),
            (found(0, 11, 0, Value::Mark), Some("beyond the capture")),
            (found(0, 5, 2, Value::Mark), Some("of no class")),
            (
                found(0, 5, 0, text(TEXT_BYTES_MAX + 1)),
                Some("a text of more than 1,024 bytes"),
            ),
            (
                found(0, 5, 0, words(WORDS_MAX + 1)),
                Some("more than 4,096 words"),
            ),
        ] {
            assert_eq!(told(&found), expected, "{} to {}", found.start, found.end);
        }
    }
}
