//! The transmitter of an open serial session, which bytes and breaks share.

/// The transmitter of an open session.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sender {
    pub(crate) tx: u8,
    pub(crate) baud: u32,
    /// The end of what is on the line already.
    pub(crate) sent_to_ns: u64,
}
