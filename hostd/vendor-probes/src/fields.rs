//! The fields of a packet, in little-endian order.

/// The rest of a packet that was not read yet. A field that is cut off reads as `None`.
#[derive(Debug)]
pub(crate) struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    pub(crate) fn new(packet: &'a [u8]) -> Self {
        Self(packet)
    }

    pub(crate) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(count)?;
        self.0 = tail;
        Some(head)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    pub(crate) fn half(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn word(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }
}
