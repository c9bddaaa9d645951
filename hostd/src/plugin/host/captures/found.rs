//! What a decoder of the host finds in a capture, as records of the contract.

use std::ops::ControlFlow;

use decode::{Annotation, Spec, Value};
use lab::captures::reader::{ReadError, Reader};

use super::super::offers;
use crate::host::waiting::Gone;
use offers::captures::Decoded;

/// Bytes that the annotations of one call take; fewer of them come when they are longer.
const BYTES_MAX: usize = 8 << 20;

/// Bytes of an annotation beside its texts and numbers.
const RECORD_BYTES: usize = 64;

/// Annotations behind the first `skip`, at most `limit`, and whether there were more.
pub(super) fn annotations(
    reader: &Reader,
    spec: &Spec,
    (mut skip, limit): (u64, usize),
    gone: &Gone,
) -> Result<(Vec<Decoded>, bool), ReadError> {
    let mut found = Vec::new();
    let mut bytes = 0;
    let mut is_more = false;
    reader.decode(spec, &mut |part| {
        let left_out = part.len().min(usize::try_from(skip).unwrap_or(usize::MAX));
        skip -= left_out as u64;
        for annotation in &part[left_out..] {
            if found.len() >= limit || bytes >= BYTES_MAX {
                is_more = true;
                return ControlFlow::Break(());
            }
            let one = decoded(spec, annotation);
            bytes += RECORD_BYTES + one.class.len() + one.text.len() + size_of_val(&*one.numbers);
            found.push(one);
        }
        match gone.is_gone() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })?;
    Ok((found, is_more))
}

fn decoded(spec: &Spec, annotation: &Annotation) -> Decoded {
    let class = &spec.decoder().classes[usize::from(annotation.class)];
    Decoded {
        start: annotation.start,
        end: annotation.end,
        class: class.id.to_string(),
        text: spec.words(annotation),
        numbers: match &annotation.value {
            Value::Bit(bit) => vec![u64::from(*bit)],
            Value::Number(number) => vec![*number],
            Value::Words(words) => words.to_vec(),
            // Class and text say it all.
            _ => Vec::new(),
        },
    }
}
