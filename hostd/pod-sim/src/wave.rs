//! Waveforms that follow from a few numbers and are worked out only where a capture looks at them.

/// A place in a waveform: what it drives there, and when that changes.
pub(crate) trait Wave: Send {
    /// The channels driven now, and those of them that are high.
    fn drive(&self) -> (u16, u16);

    /// When the drive changes next, in nanoseconds. `None` when it never does.
    fn next_ns(&self) -> Option<u64>;

    /// Steps over the next change.
    fn advance(&mut self);
}
