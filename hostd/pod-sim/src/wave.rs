//! Waveforms that follow from a few numbers and are computed only where a capture looks at them.

/// A position in a waveform: what it drives there, and when that changes.
pub(crate) trait Wave: Send {
    /// The channels driven now, and those of them that are high.
    fn drive(&self) -> (u16, u16);

    /// When the drive changes next, in nanoseconds. `None` if it never does.
    fn next_ns(&self) -> Option<u64>;

    /// Advances past the next change.
    fn advance(&mut self);
}
