//! A sensor on its two lines: an I2C slave that follows SCL and SDA edge by edge and pulls SDA low
//! for its acknowledge bits and its zero bits. It never stretches the clock.

use super::registers::Registers;

/// Delay from the falling clock edge to the slave's own change of SDA, in nanoseconds.
pub(super) const HOLD_NS: u64 = 100;

/// If the clock stops while the slave holds SDA low, it releases SDA after this time, in
/// nanoseconds.
pub(super) const LET_GO_NS: u64 = 11_000_000;

/// Number of bits before the acknowledge bit.
const BYTE_BITS: u8 = 8;

/// The slave's position in a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Not addressed: waiting for a START.
    Idle,
    /// Receiving the address, or a byte to write.
    Take { address: bool, bits: u8, byte: u8 },
    /// Acknowledging the received byte.
    Acknowledge { then_read: bool },
    /// Sending a byte, of which this many bits have been put on the line.
    Give { byte: u8, bits: u8 },
    /// Waiting for the master's acknowledge bit.
    Await,
    /// The master has requested another byte.
    Acknowledged,
}

/// What the slave drives on SDA after an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Output {
    /// The instant from which it is valid.
    pub(super) at_ns: u64,
    /// Whether it pulls SDA low.
    pub(super) low: bool,
}

/// The slave.
pub(crate) struct Wire {
    address: u8,
    phase: Phase,
    scl: bool,
    sda: bool,
    /// Whether the slave pulls SDA low.
    low: bool,
    /// When the clock changed last.
    clocked_ns: u64,
    /// Number of STOP conditions seen.
    stops: u16,
}

impl Wire {
    /// A slave that joins a bus with these levels.
    pub(super) fn new(address: u8, scl: bool, sda: bool) -> Self {
        Self {
            address,
            phase: Phase::Idle,
            scl,
            sda,
            low: false,
            clocked_ns: 0,
            stops: 0,
        }
    }

    /// The number of STOP conditions since the last call.
    pub(super) fn take_stops(&mut self) -> u16 {
        std::mem::take(&mut self.stops)
    }

    /// When the slave releases SDA by itself if the clock stops.
    pub(super) fn lets_go_ns(&self) -> Option<u64> {
        self.low.then_some(self.clocked_ns + LET_GO_NS)
    }

    /// The lines have these levels from `at_ns` on; `others_sda` is SDA without this slave's pull.
    /// Returns what the slave drives on SDA, if that changes or is renewed.
    pub(super) fn lines(
        &mut self,
        registers: &mut Registers,
        scl: bool,
        others_sda: bool,
        at_ns: u64,
    ) -> Option<Output> {
        let was_low = self.low;
        if self.lets_go_ns().is_some_and(|end| end <= at_ns) {
            self.low = false;
            self.phase = Phase::Idle;
        }
        let sda = others_sda && !self.low;
        let was_scl = std::mem::replace(&mut self.scl, scl);
        let was_sda = std::mem::replace(&mut self.sda, sda);
        if was_scl != scl {
            self.clocked_ns = at_ns;
        }
        match (was_scl, scl) {
            (true, true) if was_sda && !sda => self.start(),
            (true, true) if !was_sda && sda => self.stop(),
            (false, true) => self.rising(sda),
            (true, false) => self.falling(registers, at_ns),
            _ => {}
        }
        // The slave sees its own pull on the line at once.
        self.sda = others_sda && !self.low;
        let clocked = was_scl != scl && self.low;
        (was_low != self.low || clocked).then_some(Output {
            at_ns: at_ns + HOLD_NS,
            low: self.low,
        })
    }

    fn start(&mut self) {
        self.low = false;
        self.phase = Phase::Take {
            address: true,
            bits: 0,
            byte: 0,
        };
    }

    fn stop(&mut self) {
        self.stops = self.stops.wrapping_add(1);
        self.low = false;
        self.phase = Phase::Idle;
    }

    fn rising(&mut self, sda: bool) {
        match &mut self.phase {
            Phase::Take { bits, byte, .. } if *bits < BYTE_BITS => {
                *byte = *byte << 1 | u8::from(sda);
                *bits += 1;
            }
            Phase::Await => {
                self.phase = if sda {
                    Phase::Idle
                } else {
                    Phase::Acknowledged
                }
            }
            _ => {}
        }
    }

    fn falling(&mut self, registers: &mut Registers, at_ns: u64) {
        self.phase = match self.phase {
            Phase::Take {
                address,
                bits: BYTE_BITS,
                byte,
            } => self.taken(registers, address, byte, at_ns),
            Phase::Acknowledge { then_read: false } => Phase::Take {
                address: false,
                bits: 0,
                byte: 0,
            },
            Phase::Acknowledge { then_read: true } | Phase::Acknowledged => Phase::Give {
                byte: registers.read(at_ns),
                bits: 1,
            },
            Phase::Give {
                bits: BYTE_BITS, ..
            } => Phase::Await,
            Phase::Give { byte, bits } => Phase::Give {
                byte,
                bits: bits + 1,
            },
            other => other,
        };
        self.low = match self.phase {
            Phase::Acknowledge { .. } => true,
            Phase::Give { byte, bits } => byte >> (BYTE_BITS - bits) & 1 == 0,
            _ => false,
        };
    }

    /// A whole byte was received.
    fn taken(&self, registers: &mut Registers, address: bool, byte: u8, at_ns: u64) -> Phase {
        if !address {
            registers.write(byte, at_ns);
            return Phase::Acknowledge { then_read: false };
        }
        if byte >> 1 != self.address {
            return Phase::Idle;
        }
        let then_read = byte & 1 == 1;
        if !then_read {
            registers.begin_write();
        }
        Phase::Acknowledge { then_read }
    }
}
