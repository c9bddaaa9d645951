//! Whether annotations of a decoder from elsewhere can be.

use super::Ends;
use crate::annotation::{Annotation, Value};

/// Annotations that one call may return: four for every change, two for every sample.
const PER_CALL_MAX: usize = 128 << 10;

/// Annotations of one decoding: half an hour of a busy UART at 115,200 baud has 20 million bytes.
const TOTAL_MAX: u64 = 64 << 20;

/// Bytes of one text.
const TEXT_BYTES_MAX: usize = 1 << 10;

/// Words of one annotation.
const WORDS_MAX: usize = 4 << 10;

/// What is wrong with what a decoder returned. Fits "failed to …".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadAnnotation {
    /// There is no such class.
    #[error("take an annotation of class {class}: the decoder has {classes} classes")]
    Class {
        /// The index it gave.
        class: u32,
        /// How many it has.
        classes: usize,
    },
    /// It ends before it starts.
    #[error("take an annotation that starts at sample {start} and ends at {end}")]
    Backwards {
        /// First sample.
        start: u64,
        /// Last sample.
        end: u64,
    },
    /// It reaches beyond the capture.
    #[error("take an annotation that ends at sample {end}: the capture has {samples}")]
    Beyond {
        /// Last sample.
        end: u64,
        /// Samples of the capture.
        samples: u64,
    },
    /// It ends before one that came earlier.
    #[error(
        "take an annotation that ends at sample {end} after one that ends at {before}: they must come in the order of their ends"
    )]
    Order {
        /// Last sample.
        end: u64,
        /// Last sample of the one before.
        before: u64,
    },
    /// Too long a text.
    #[error("take a text of {bytes} bytes: the limit is {TEXT_BYTES_MAX}")]
    Text {
        /// Its length.
        bytes: usize,
    },
    /// Too many words in one.
    #[error("take an annotation of {words} words: the limit is {WORDS_MAX}")]
    Words {
        /// How many.
        words: usize,
    },
    /// Too many in one call.
    #[error("take {count} annotations of one call: the limit is {PER_CALL_MAX}")]
    Many {
        /// How many.
        count: usize,
    },
    /// Too many in all.
    #[error("take more than {TOTAL_MAX} annotations of one decoding")]
    TooMany,
}

/// Checks the annotations of one decoding as they come.
#[derive(Debug)]
pub(crate) struct Check {
    classes: usize,
    samples: u64,
    ends: Ends,
    before: u64,
    count: u64,
}

impl Check {
    /// For a decoder with so many classes, and a capture of so many samples.
    pub(crate) fn new(classes: usize, samples: u64, ends: Ends) -> Self {
        Self {
            classes,
            samples,
            ends,
            before: 0,
            count: 0,
        }
    }

    /// Check what one call returned; texts become one line without control characters.
    pub(crate) fn take(&mut self, annotations: &mut [Annotation]) -> Result<(), BadAnnotation> {
        let count = annotations.len();
        if PER_CALL_MAX < count {
            return Err(BadAnnotation::Many { count });
        }
        self.count += count as u64;
        if TOTAL_MAX < self.count {
            return Err(BadAnnotation::TooMany);
        }
        for annotation in annotations {
            self.one(annotation)?;
        }
        Ok(())
    }

    fn one(&mut self, annotation: &mut Annotation) -> Result<(), BadAnnotation> {
        let &mut Annotation {
            start, end, class, ..
        } = annotation;
        let classes = self.classes;
        if classes <= usize::from(class) {
            let class = class.into();
            return Err(BadAnnotation::Class { class, classes });
        }
        if end < start {
            return Err(BadAnnotation::Backwards { start, end });
        }
        if self.ends == Ends::Anywhere {
            annotation.end = end.min(self.samples);
            annotation.start = start.min(annotation.end);
            return text_and_words(annotation);
        }
        if self.samples < end {
            let samples = self.samples;
            return Err(BadAnnotation::Beyond { end, samples });
        }
        if end < self.before {
            let before = self.before;
            return Err(BadAnnotation::Order { end, before });
        }
        self.before = end;
        text_and_words(annotation)
    }
}

fn text_and_words(annotation: &mut Annotation) -> Result<(), BadAnnotation> {
    match &mut annotation.value {
        Value::Text(text) if TEXT_BYTES_MAX < text.len() => {
            Err(BadAnnotation::Text { bytes: text.len() })
        }
        Value::Words(words) if WORDS_MAX < words.len() => {
            Err(BadAnnotation::Words { words: words.len() })
        }
        Value::Text(text) => {
            if text.chars().any(char::is_control) {
                *text = printable(text);
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn printable(text: &str) -> Box<str> {
    let replaced = text.chars().map(|letter| match letter {
        letter if letter.is_control() => char::REPLACEMENT_CHARACTER,
        letter => letter,
    });
    replaced.collect::<String>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(start: u64, end: u64, class: u8) -> Annotation {
        Annotation::mark(start, end, class)
    }

    fn with(value: Value) -> Annotation {
        Annotation {
            value,
            ..found(0, 0, 0)
        }
    }

    fn refused(annotations: &mut [Annotation]) -> BadAnnotation {
        Check::new(2, 100, Ends::InOrder)
            .take(annotations)
            .unwrap_err()
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let (class, classes) = (2, 2);
        assert_eq!(
            refused(&mut [found(0, 1, 2)]),
            BadAnnotation::Class { class, classes }
        );
        assert_eq!(
            refused(&mut [found(5, 4, 0)]),
            BadAnnotation::Backwards { start: 5, end: 4 }
        );
        let samples = 100;
        assert_eq!(
            refused(&mut [found(5, 101, 0)]),
            BadAnnotation::Beyond { end: 101, samples }
        );
        assert_eq!(
            refused(&mut [found(5, 9, 0), found(1, 8, 1)]),
            BadAnnotation::Order { end: 8, before: 9 }
        );
        let bytes = TEXT_BYTES_MAX + 1;
        assert_eq!(
            refused(&mut [with(Value::Text("x".repeat(bytes).into()))]),
            BadAnnotation::Text { bytes }
        );
        let words = WORDS_MAX + 1;
        assert_eq!(
            refused(&mut [with(Value::Words(vec![0; words].into()))]),
            BadAnnotation::Words { words }
        );
        let count = PER_CALL_MAX + 1;
        assert_eq!(
            refused(&mut vec![found(0, 0, 0); count]),
            BadAnnotation::Many { count }
        );
    }

    #[test]
    fn what_is_at_its_limit_is_taken() {
        let mut check = Check::new(2, 100, Ends::InOrder);
        let text = Value::Text("x".repeat(TEXT_BYTES_MAX).into());
        let words = Value::Words(vec![u64::MAX; WORDS_MAX].into());
        check.take(&mut [with(text), with(words)]).unwrap();
        check.take(&mut vec![found(0, 0, 1); PER_CALL_MAX]).unwrap();
        // Of the same end, and one inside the other.
        check
            .take(&mut [found(10, 50, 0), found(0, 50, 1), found(100, 100, 1)])
            .unwrap();
        let ended = check.take(&mut [found(0, 99, 0)]).unwrap_err();
        assert!(matches!(ended, BadAnnotation::Order { .. }), "{ended}");
    }

    #[test]
    fn the_sum_of_all_calls_is_bounded() {
        let mut check = Check::new(1, 0, Ends::InOrder);
        let mut full = vec![found(0, 0, 0); PER_CALL_MAX];
        for _ in 0..TOTAL_MAX / PER_CALL_MAX as u64 {
            check.take(&mut full).unwrap();
        }
        assert_eq!(
            check.take(&mut [found(0, 0, 0)]),
            Err(BadAnnotation::TooMany)
        );
    }

    #[test]
    fn ends_are_brought_back_where_they_may_be_anywhere() {
        let mut all = [found(5, 200, 0), found(150, 160, 1), found(1, 2, 0)];
        Check::new(2, 100, Ends::Anywhere).take(&mut all).unwrap();
        assert_eq!(all, [found(5, 100, 0), found(100, 100, 1), found(1, 2, 0)]);
        let wrong = Check::new(2, 100, Ends::Anywhere).take(&mut [found(0, 0, 2)]);
        assert!(matches!(wrong, Err(BadAnnotation::Class { .. })));
    }

    #[test]
    fn texts_are_one_line() {
        let mut text = [with(Value::Text("a\nb\u{1b}[31m \u{e9}".into()))];
        Check::new(1, 1, Ends::InOrder).take(&mut text).unwrap();
        assert_eq!(
            text[0].value,
            Value::Text("a\u{fffd}b\u{fffd}[31m \u{e9}".into())
        );
    }
}
