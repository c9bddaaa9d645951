//! What a debug probe does on the wires to its target.

/// One access to a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// To a register of an access port, not of the debug port.
    pub is_ap: bool,
    /// It reads.
    pub is_read: bool,
    /// Bits 2 and 3 of the register's address, at their places.
    pub address: u8,
    /// What a write writes.
    pub data: u32,
}

impl Access {
    /// A read of a register of the debug port.
    pub(crate) const fn read_dp(address: u8) -> Self {
        Self {
            is_ap: false,
            is_read: true,
            address,
            data: 0,
        }
    }

    /// A write to one.
    pub(crate) const fn write_dp(address: u8, data: u32) -> Self {
        Self {
            is_ap: false,
            is_read: false,
            address,
            data,
        }
    }
}

/// Registers of the debug port, by their addresses: `ABORT` is written where `DPIDR` is read.
pub(crate) const DPIDR: u8 = 0x0;
pub(crate) const ABORT: u8 = 0x0;
pub(crate) const CTRL_STAT: u8 = 0x4;
pub(crate) const SELECT: u8 = 0x8;
pub(crate) const RDBUFF: u8 = 0xC;

/// How a target acknowledges an access, by the numbers that CMSIS-DAP has for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ack {
    /// Done.
    Ok = 1,
    /// It is busy.
    Wait = 2,
    /// An error is to be cleared first.
    Fault = 4,
    /// It says nothing.
    Silence = 7,
    /// It says what means nothing.
    Broken = 8,
}

/// What came of accesses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accessed {
    /// How many were done.
    pub done: usize,
    /// The acknowledgement of the last one that was tried.
    pub ack: Ack,
    /// What the reads among those that were done have read.
    pub values: Vec<u32>,
}

/// Why a probe did not do something.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PortError {
    /// It cannot, or not with this target; it is of use for other things.
    #[error("the probe cannot do that: {0}")]
    Refused(String),
    /// It is gone, or its driver fails.
    #[error("{0}")]
    Lost(String),
}

/// A debug probe, with the target on its wires. Each call ends within a few seconds.
pub trait Port {
    /// Takes the wires.
    ///
    /// # Errors
    /// [`PortError`], as of all that follow.
    fn connect(&mut self) -> Result<(), PortError>;

    /// Lets go of them.
    ///
    /// # Errors
    /// [`PortError`]
    fn disconnect(&mut self) -> Result<(), PortError>;

    /// Sets the clock to the fastest that is not above this.
    ///
    /// # Errors
    /// [`PortError`]
    fn set_clock(&mut self, hz: u32) -> Result<(), PortError>;

    /// Sets the clocks between two accesses, and how often one is tried again that the target is too busy for.
    fn configure(&mut self, idle_cycles: u8, wait_retries: u16);

    /// Clocks bits out: resets the line, changes the protocol on it.
    ///
    /// # Errors
    /// [`PortError`]
    fn sequence(&mut self, bits: &[bool]) -> Result<(), PortError>;

    /// Makes accesses in their order, until one is not acknowledged. A read of an access port brings its own value, not
    /// that of the one before it.
    ///
    /// # Errors
    /// [`PortError`]
    fn access(&mut self, accesses: &[Access]) -> Result<Accessed, PortError>;

    /// Holds the target's reset line low, or lets go of it.
    ///
    /// # Errors
    /// [`PortError`]
    fn set_reset(&mut self, is_held: bool) -> Result<(), PortError>;
}
