//! The fields of a packet, in little-endian order, and bits packed into bytes.

/// The unread rest of a packet. A truncated field reads as `None`.
pub(super) struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    pub(super) fn new(packet: &'a [u8]) -> Self {
        Self(packet)
    }

    pub(super) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(count)?;
        self.0 = tail;
        Some(head)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    pub(super) fn half(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn word(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }
}

/// The bits of bytes, lowest first.
pub(super) fn bits(bytes: &[u8]) -> impl Iterator<Item = bool> + '_ {
    bytes
        .iter()
        .flat_map(|byte| (0..8).map(move |place| byte >> place & 1 == 1))
}

/// Bits packed into bytes, lowest first.
pub(super) fn bytes(bits: &[bool]) -> impl Iterator<Item = u8> + '_ {
    bits.chunks(8).map(|chunk| {
        let weighted = chunk.iter().zip(0u32..);
        weighted.fold(0, |byte, (bit, place)| byte | u8::from(*bit) << place)
    })
}
