//! A fuzz entry: any bytes as a form, whole and in pieces.

use super::{Event, Form, FormError};

/// Name, file name and content of every part.
pub(super) type Parts = Vec<(String, Option<String>, Vec<u8>)>;

/// The boundary of the forms that are read here.
pub(super) const BOUNDARY: &str = "XX";

/// The parts of a body that arrives in these pieces.
///
/// # Panics
/// If parts do not begin and end alternately, or content comes in empty pieces.
pub(super) fn read<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Result<Parts, FormError> {
    let mut form = Form::new(BOUNDARY);
    let mut parts: Parts = Vec::new();
    let mut is_open = false;
    for piece in pieces {
        form.push(piece);
        while let Some(event) = form.next_event()? {
            match event {
                Event::Part(head) => {
                    assert!(!std::mem::replace(&mut is_open, true));
                    parts.push((head.name, head.file_name, Vec::new()));
                }
                Event::Data(bytes) => {
                    assert!(is_open && !bytes.is_empty());
                    let (_, _, content) = parts.last_mut().expect("a part is open");
                    content.extend(bytes);
                }
                Event::End => assert!(std::mem::replace(&mut is_open, false)),
            }
        }
    }
    form.finish()?;
    assert!(!is_open);
    Ok(parts)
}

/// Reads a form with the boundary `XX`, in pieces of the length that the first byte gives, and all
/// at once.
///
/// # Panics
/// If the two differ, or more comes out than went in. Nothing else may panic.
pub fn form(data: &[u8]) {
    let Some((longest, body)) = data.split_first() else {
        return;
    };
    let once = read(std::iter::once(body));
    if let Ok(parts) = &once {
        let bytes: usize = parts.iter().map(|(_, _, content)| content.len()).sum();
        assert!(bytes <= body.len());
    }
    let pieces = body.chunks(usize::from(*longest).max(1));
    assert_eq!(read(pieces), once, "{}", body.escape_ascii());
}
