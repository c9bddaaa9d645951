//! Finds HTTP/2 frame headers (RFC 9113, section 4.1) in the bytes that a client sends, as they pass
//! through. Nothing is kept but an incomplete header.

#[doc(hidden)]
pub mod fuzz;

#[cfg(test)]
mod tests;

/// The first bytes of an HTTP/2 connection.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Length of a frame header.
const HEAD_BYTES: usize = 9;

/// Kinds of frames by their number.
const DATA: u8 = 0;
const HEADERS: u8 = 1;

/// What a frame's header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    kind: u8,
    /// Bytes that follow the header.
    pub length: u32,
}

impl Frame {
    /// Whether it carries a part of a body.
    #[must_use]
    pub(crate) fn is_data(self) -> bool {
        self.kind == DATA
    }

    /// Whether it begins a request.
    #[must_use]
    pub(crate) fn is_request(self) -> bool {
        self.kind == HEADERS
    }
}

/// Where the reader is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Position {
    /// This much of the preface has arrived.
    Preface(usize),
    /// It is another protocol, so no more headers are looked for.
    Elsewhere,
    /// This much of a header has arrived.
    Head([u8; HEAD_BYTES], usize),
    /// This many bytes precede the next header.
    Payload(u32),
}

/// Reads frame headers in passing bytes.
#[derive(Debug)]
pub struct Frames {
    position: Position,
}

impl Default for Frames {
    fn default() -> Self {
        Self {
            position: Position::Preface(0),
        }
    }
}

impl Frames {
    /// Whether the connection speaks HTTP/2, as far as is known.
    #[cfg(test)]
    fn is_http2(&self) -> bool {
        matches!(self.position, Position::Head(..) | Position::Payload(_))
    }

    /// Read the next bytes, and call `found` for every header that they complete.
    pub fn pass(&mut self, mut bytes: &[u8], mut found: impl FnMut(Frame)) {
        while !bytes.is_empty() {
            match &mut self.position {
                Position::Elsewhere => return,
                Position::Preface(matched) => {
                    let wanted = &PREFACE[*matched..];
                    let length = wanted.len().min(bytes.len());
                    if wanted[..length] != bytes[..length] {
                        self.position = Position::Elsewhere;
                        return;
                    }
                    *matched += length;
                    bytes = &bytes[length..];
                    if *matched == PREFACE.len() {
                        self.position = Position::Head([0; HEAD_BYTES], 0);
                    }
                }
                Position::Head(head, filled) => {
                    let length = (HEAD_BYTES - *filled).min(bytes.len());
                    head[*filled..*filled + length].copy_from_slice(&bytes[..length]);
                    *filled += length;
                    bytes = &bytes[length..];
                    if *filled == HEAD_BYTES {
                        let frame = read(*head);
                        self.position = after(frame.length);
                        found(frame);
                    }
                }
                Position::Payload(left) => {
                    let length = bytes.len().min(*left as usize);
                    bytes = &bytes[length..];
                    let left = *left - u32::try_from(length).unwrap_or(*left);
                    self.position = after(left);
                }
            }
        }
    }
}

fn read(head: [u8; HEAD_BYTES]) -> Frame {
    Frame {
        kind: head[3],
        length: u32::from_be_bytes([0, head[0], head[1], head[2]]),
    }
}

/// The position when this much of a frame is still to come.
fn after(left: u32) -> Position {
    if left == 0 {
        Position::Head([0; HEAD_BYTES], 0)
    } else {
        Position::Payload(left)
    }
}
