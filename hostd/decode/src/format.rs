//! Annotations as text: sigrok-cli's lines, JSON lines, or CSV.

use crate::annotation::{Annotation, Value};
use crate::spec::Spec;
use crate::text::{push, push_decimal};
use std::io::{self, Write};
use std::ops::Range;

/// Bytes of text collected before they go to the writer.
const FLUSH_BYTES: usize = 64 * 1024;

/// A text format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `first-last i2c-1: Text`, the lines of `sigrok-cli --protocol-decoder-samplenum`.
    Sigrok,
    /// One object per line: `start`, `end`, `decoder`, `class`, `text`, and `value` or `values` if
    /// there are numbers; of a register its `device`, `part`, `register` and `fields`, too.
    Json,
    /// `start,end,decoder,class,text`, quoted where needed; the header line is [`Format::header`].
    Csv,
}

impl Format {
    /// The text before the first annotation.
    pub fn header(self) -> &'static str {
        match self {
            Self::Csv => "start,end,decoder,class,text\n",
            Self::Sigrok | Self::Json => "",
        }
    }

    /// Writes one line for each annotation.
    ///
    /// # Errors
    /// A write to `out` fails.
    pub fn write(
        self,
        spec: &Spec,
        annotations: &[Annotation],
        out: &mut impl Write,
    ) -> io::Result<()> {
        let mut text = Vec::with_capacity(FLUSH_BYTES + 1024);
        for annotation in annotations {
            match self {
                Self::Sigrok => push_sigrok(&mut text, spec, annotation),
                Self::Json => push_json(&mut text, spec, annotation),
                Self::Csv => push_csv(&mut text, spec, annotation),
            }
            text.push(b'\n');
            if text.len() >= FLUSH_BYTES {
                out.write_all(&text)?;
                text.clear();
            }
        }
        out.write_all(&text)
    }

    /// Writes a line for samples that were lost, which a decoding left out: in place of a decoder `capture`, of the class
    /// `lost`.
    ///
    /// # Errors
    /// A write to `out` fails.
    pub fn write_lost(self, lost: &Range<u64>, out: &mut impl Write) -> io::Result<()> {
        let Range { start, end } = lost;
        match self {
            Self::Sigrok => writeln!(out, "{start}-{end} capture-1: {LOST}"),
            Self::Json => writeln!(
                out,
                "{{\"start\":{start},\"end\":{end},\"decoder\":\"capture\",\"class\":\"lost\",\"text\":\"{LOST}\"}}"
            ),
            Self::Csv => writeln!(out, "{start},{end},capture,lost,{LOST}"),
        }
    }
}

/// What is said of samples that were lost.
const LOST: &str = "Samples lost";

fn push_sigrok(out: &mut Vec<u8>, spec: &Spec, annotation: &Annotation) {
    push_decimal(out, annotation.start);
    out.push(b'-');
    push_decimal(out, annotation.end);
    out.push(b' ');
    out.extend_from_slice(spec.decoder().id.as_bytes());
    out.extend_from_slice(b"-1: ");
    push(out, spec, annotation);
}

fn class_id<'s>(spec: &'s Spec, annotation: &Annotation) -> &'s str {
    &spec.decoder().classes[usize::from(annotation.class)].id
}

fn push_json(out: &mut Vec<u8>, spec: &Spec, annotation: &Annotation) {
    out.extend_from_slice(b"{\"start\":");
    push_decimal(out, annotation.start);
    out.extend_from_slice(b",\"end\":");
    push_decimal(out, annotation.end);
    out.extend_from_slice(b",\"decoder\":\"");
    out.extend_from_slice(spec.decoder().id.as_bytes());
    out.extend_from_slice(b"\",\"class\":\"");
    out.extend_from_slice(class_id(spec, annotation).as_bytes());
    out.extend_from_slice(b"\",\"text\":\"");
    let from = out.len();
    push(out, spec, annotation);
    // Texts have no control characters; a UART in ASCII format can produce `"` and `\`.
    escape(out, from, |byte| {
        (byte == b'"' || byte == b'\\').then_some(b'\\')
    });
    out.push(b'"');
    match &annotation.value {
        Value::Number(number) => {
            out.extend_from_slice(b",\"value\":");
            push_decimal(out, *number);
        }
        Value::Bit(bit) => {
            out.extend_from_slice(b",\"value\":");
            out.push(b'0' + u8::from(*bit));
        }
        Value::Words(words) => {
            out.extend_from_slice(b",\"values\":[");
            for (index, word) in words.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                push_decimal(out, *word);
            }
            out.push(b']');
        }
        Value::Access(access) => {
            out.push(b',');
            out.extend_from_slice(access.members.as_bytes());
        }
        Value::Mark | Value::Direction | Value::Text(_) => {}
    }
    out.push(b'}');
}

fn push_csv(out: &mut Vec<u8>, spec: &Spec, annotation: &Annotation) {
    push_decimal(out, annotation.start);
    out.push(b',');
    push_decimal(out, annotation.end);
    out.push(b',');
    out.extend_from_slice(spec.decoder().id.as_bytes());
    out.push(b',');
    out.extend_from_slice(class_id(spec, annotation).as_bytes());
    out.push(b',');
    let from = out.len();
    push(out, spec, annotation);
    let needs_quotes = out[from..].iter().any(|byte| b"\",".contains(byte));
    if needs_quotes {
        out.insert(from, b'"');
        escape(out, from + 1, |byte| (byte == b'"').then_some(b'"'));
        out.push(b'"');
    }
}

/// Inserts a byte before every byte after `from` that needs one.
fn escape(out: &mut Vec<u8>, from: usize, prefix: impl Fn(u8) -> Option<u8>) {
    if out[from..].iter().all(|byte| prefix(*byte).is_none()) {
        return;
    }
    let text = out.split_off(from);
    for byte in text {
        out.extend(prefix(byte));
        out.push(byte);
    }
}
