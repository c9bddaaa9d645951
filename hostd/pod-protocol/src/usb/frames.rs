//! Takes apart what comes over a link, in whatever pieces it comes. Data goes on to its connection piece by piece, so
//! that no frame is kept whole.

use bytes::{Buf, Bytes};

use super::channel::REASON_BYTES_MAX;
use super::frame::{HEADER_BYTES, Header, Kind};
use super::link::LinkError;
use super::shared::Shared;

/// How far the frame is that is arriving.
#[derive(Debug, Default)]
pub(super) struct Frames {
    header: [u8; HEADER_BYTES],
    /// Bytes of the header that have come.
    header_bytes: usize,
    /// The frame whose header is complete, and how many of its bytes are to come.
    frame: Option<(Header, usize)>,
    /// What has come of a frame without data, as far as anything is made of it.
    body: Vec<u8>,
}

impl Frames {
    /// Takes the next bytes of the link.
    pub(super) fn take(&mut self, shared: &Shared, mut bytes: Bytes) -> Result<(), LinkError> {
        loop {
            let (header, left) = match self.frame {
                Some(begun) => begun,
                None => match self.begin(&mut bytes, shared.ours.frame_bytes)? {
                    Some(header) => (header, header.length as usize),
                    None => return Ok(()),
                },
            };
            let part = bytes.split_to(left.min(bytes.len()));
            let left = left - part.len();
            self.frame = (left > 0).then_some((header, left));
            if header.kind == Kind::Data {
                shared.take(header, part)?;
            } else {
                let room = REASON_BYTES_MAX - self.body.len();
                self.body.extend_from_slice(&part[..part.len().min(room)]);
                if left == 0 {
                    shared.take(header, std::mem::take(&mut self.body).into())?;
                }
            }
            if left > 0 {
                return Ok(());
            }
        }
    }

    /// Takes what is missing of the header. `None` if it is not complete yet.
    fn begin(&mut self, bytes: &mut Bytes, longest: u32) -> Result<Option<Header>, LinkError> {
        let count = (HEADER_BYTES - self.header_bytes).min(bytes.len());
        bytes.copy_to_slice(&mut self.header[self.header_bytes..][..count]);
        self.header_bytes += count;
        if self.header_bytes < HEADER_BYTES {
            return Ok(None);
        }
        self.header_bytes = 0;
        Ok(Some(Header::of(self.header, longest)?))
    }
}
