//! The encoding of a JUnit file: what its first bytes and its declaration say, and its text as UTF-8.

use std::io::{self, Chain, Cursor, Read};

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};
use encoding_rs_io::{DecodeReaderBytes, DecodeReaderBytesBuilder};
use quick_xml::Reader;
use quick_xml::events::Event;

/// Bytes at the start of a file in which its declaration must be.
const HEAD_BYTES: u64 = 1024;

/// Characters of the name of an encoding that a message repeats.
const NAME_CHARS_MAX: usize = 40;

/// How texts in UTF-32 start, with a byte order mark or without.
const UTF_32: [&[u8]; 4] = [b"\xff\xfe\0\0", b"\0\0\xfe\xff", b"<\0\0\0", b"\0\0\0<"];

/// A file as UTF-8. Bytes that its encoding does not have become U+FFFD; those of a file in UTF-8 stay as they are.
pub(super) type Utf8<R> = DecodeReaderBytes<Chain<Cursor<Vec<u8>>, R>, Vec<u8>>;

/// Why a file is not decoded.
#[derive(Debug)]
pub(super) enum EncodingError {
    /// Its first bytes cannot be read.
    Io(io::Error),
    /// Its encoding is none of those that can be decoded.
    Unknown(String),
}

/// Looks at the start of a file, and decodes it.
pub(super) fn utf8<R: Read>(mut from: R) -> Result<Utf8<R>, EncodingError> {
    let mut head = Vec::new();
    let read = from.by_ref().take(HEAD_BYTES).read_to_end(&mut head);
    read.map_err(EncodingError::Io)?;
    let encoding = of(&head).map_err(EncodingError::Unknown)?;
    let mut builder = DecodeReaderBytesBuilder::new();
    // Without an encoding, nothing is decoded.
    builder.encoding(encoding).bom_sniffing(false);
    Ok(builder.build(Cursor::new(head).chain(from)))
}

/// The encoding of a file that starts like this; none for UTF-8. The bytes count more than the declaration, since
/// programs convert files and leave their declarations alone.
fn of(head: &[u8]) -> Result<Option<&'static Encoding>, String> {
    if UTF_32.iter().any(|start| head.starts_with(start)) {
        return Err("UTF-32".to_owned());
    }
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"<\0") {
        return Ok(Some(UTF_16LE));
    }
    if head.starts_with(b"\xfe\xff") || head.starts_with(b"\0<") {
        return Ok(Some(UTF_16BE));
    }
    if head.starts_with(b"\xef\xbb\xbf") {
        return Ok(None);
    }
    let Some(name) = declared(head) else {
        return Ok(None);
    };
    let Some(encoding) = Encoding::for_label_no_replacement(&name) else {
        let name = String::from_utf8_lossy(&name);
        let plain = name.chars().filter(|c| !c.is_control());
        return Err(plain.take(NAME_CHARS_MAX).collect());
    };
    // Those whose declaration can be read as ASCII are not in UTF-16, whatever it says.
    Ok(Some(encoding)
        .filter(|encoding| encoding.is_ascii_compatible() && *encoding != encoding_rs::UTF_8))
}

/// The encoding that the declaration names.
fn declared(head: &[u8]) -> Option<Vec<u8>> {
    let mut reader = Reader::from_reader(head);
    loop {
        match reader.read_event().ok()? {
            Event::Decl(declaration) => {
                return Some(declaration.encoding()?.ok()?.into_owned());
            }
            Event::Text(text) if text.iter().all(u8::is_ascii_whitespace) => {}
            _ => return None,
        }
    }
}
