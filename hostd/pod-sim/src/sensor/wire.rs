//! A sensor on its two lines: an I2C slave that follows SCL and SDA edge by edge and pulls SDA low for
//! its acknowledges and its zero bits. It never stretches the clock.

use super::registers::Registers;

/// From the falling clock edge to the slave's own change of SDA.
pub(super) const HOLD_NS: u64 = 100;

/// When the clock stops while the slave holds SDA low, it lets go after this.
pub(super) const LET_GO_NS: u64 = 11_000_000;

/// Bits before the acknowledge.
const BYTE_BITS: u8 = 8;

/// Where in a transfer the slave is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Not addressed: waits for a START.
    Idle,
    /// Takes the address, or a byte to write.
    Take { address: bool, bits: u8, byte: u8 },
    /// Acknowledges what it took.
    Acknowledge { then_read: bool },
    /// Gives a byte, of which this many bits have been put on the line.
    Give { byte: u8, bits: u8 },
    /// Waits for the master's acknowledge.
    Await,
    /// The master wants another byte.
    Acknowledged,
}

/// What the slave puts on SDA after an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Output {
    /// From when on.
    pub(super) at_ns: u64,
    /// It pulls SDA low.
    pub(super) low: bool,
}

/// The slave.
pub(crate) struct Wire {
    address: u8,
    phase: Phase,
    scl: bool,
    sda: bool,
    /// The slave pulls SDA low.
    low: bool,
    /// When the clock changed last.
    clocked_ns: u64,
    /// STOP conditions seen.
    stops: u16,
}

impl Wire {
    /// A slave that comes to a bus with these levels.
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

    /// The STOP conditions since the last call.
    pub(super) fn take_stops(&mut self) -> u16 {
        std::mem::take(&mut self.stops)
    }

    /// When the slave lets go by itself, should the clock stand still.
    pub(super) fn lets_go_ns(&self) -> Option<u64> {
        self.low.then_some(self.clocked_ns + LET_GO_NS)
    }

    /// The lines have these levels from `at_ns` on; `others_sda` is SDA without this slave's pull.
    /// Gives what the slave puts on SDA, when that changes or is renewed.
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
        // What the slave pulls now is on the line at once as far as it is concerned.
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

    /// A whole byte has come in.
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
