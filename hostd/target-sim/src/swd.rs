//! The serial wire: bits in, bits out. Line reset, the switch from JTAG, requests with their parity,
//! acknowledgements and turnarounds, as shown in the ARM debug interface specification (ADIv5, B4).
//!
//! ```text
//!   host    | start ap rw a2 a3 par stop park |trn|     |        | (write: trn, data 0-31, parity)
//!   target  |                                 |   | ack | (read: data 0-31, parity, trn)
//! ```

/// One transfer, as given in a request: the register and the direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// An access port register, not one of the debug port.
    pub is_ap: bool,
    /// The host reads.
    pub is_read: bool,
    /// Address bits 3 and 2, at their positions: 0, 4, 8 or 12.
    pub address: u8,
}

/// How the target answers a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// OK, with the data of a read (zero for a write).
    Ok(u32),
    /// Busy; the host should try again.
    Wait,
    /// A sticky error is set.
    Fault,
    /// Nothing drives the line.
    Silence,
}

impl Answer {
    /// The three bits on the wire, first bit lowest.
    #[must_use]
    pub const fn bits(self) -> u8 {
        match self {
            Self::Ok(_) => 1,
            Self::Wait => 2,
            Self::Fault => 4,
            Self::Silence => 7,
        }
    }
}

/// This many ones in a row reset the line.
const RESET_ONES: u32 = 50;
/// Sent first bit first after a line reset.
const JTAG_TO_SWD: u16 = 0xe79e;
const SWD_TO_JTAG: u16 = 0xe73c;

/// The state of the protocol on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    /// After power-on: JTAG, which is not supported here.
    #[default]
    Jtag,
    /// After a protocol error, until a line reset.
    Lost,
    /// After a line reset: only the identification may be read.
    Reset,
    Ready,
}

/// The position within a transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Idle,
    Request {
        bits: u8,
        count: u32,
    },
    Turn {
        then: Next,
    },
    Acknowledge {
        answer: Answer,
        is_read: bool,
        count: u32,
    },
    Read {
        data: u64,
        count: u32,
    },
    Write {
        data: u64,
        count: u32,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Acknowledge,
    Write,
    Idle,
}

/// Answers requests. A write request comes with its data.
pub(crate) trait Registers {
    /// Carries out a transfer.
    fn transfer(&mut self, request: Request, data: u32) -> Answer;

    /// What a write is refused with, before its data arrive.
    fn refuses(&mut self, request: Request) -> Option<Answer>;

    /// Whether data follow every acknowledgement, so that the host can send many transfers without looking.
    fn detects_overrun(&self) -> bool;
}

/// The target's end of the wire.
#[derive(Debug, Default)]
pub(crate) struct Wire {
    mode: Mode,
    ones: u32,
    /// The last 16 bits, the oldest lowest, collected after a line reset.
    switch_bits: u16,
    switch_count: u32,
    phase: Phase,
    request: Option<Request>,
}

impl Wire {
    /// A whole transfer at once, without single bits.
    pub(crate) fn transfer(
        &mut self,
        registers: &mut dyn Registers,
        request: Request,
        data: u32,
    ) -> Answer {
        self.phase = Phase::Idle;
        self.ones = 0;
        self.switch_count = 16;
        let identifies = !request.is_ap && request.is_read && request.address == 0;
        match self.mode {
            Mode::Jtag | Mode::Lost => Answer::Silence,
            Mode::Reset if !identifies => {
                self.mode = Mode::Lost;
                Answer::Silence
            }
            Mode::Reset | Mode::Ready => {
                self.mode = Mode::Ready;
                registers.transfer(request, data)
            }
        }
    }

    /// One clock while the host drives the line.
    pub(crate) fn clock_out(&mut self, registers: &mut dyn Registers, bit: bool) {
        self.watch(bit);
        match self.phase {
            Phase::Idle if bit && self.takes_requests() => {
                self.phase = Phase::Request { bits: 1, count: 1 };
            }
            Phase::Idle => {}
            Phase::Request { bits, count } => {
                let bits = bits | u8::from(bit) << count;
                self.phase = if count == 7 {
                    self.accept(bits)
                } else {
                    Phase::Request {
                        bits,
                        count: count + 1,
                    }
                };
            }
            Phase::Write { data, count } => {
                let data = data | u64::from(bit) << count;
                if count == 32 {
                    self.finish_write(registers, data);
                } else {
                    self.phase = Phase::Write {
                        data,
                        count: count + 1,
                    };
                }
            }
            // The host drives the line when it is the target's turn.
            Phase::Turn { .. } | Phase::Acknowledge { .. } | Phase::Read { .. } => {
                self.clock_in(registers);
            }
        }
    }

    /// One clock while the host listens. A line that nobody drives is high.
    pub(crate) fn clock_in(&mut self, registers: &mut dyn Registers) -> bool {
        match self.phase {
            Phase::Idle | Phase::Request { .. } | Phase::Write { .. } => true,
            Phase::Turn { then } => {
                self.phase = self.turned(then, registers);
                true
            }
            Phase::Acknowledge {
                answer,
                is_read,
                count,
            } => {
                let bit = answer.bits() >> count & 1 == 1;
                self.phase = match (count, answer) {
                    (0 | 1, _) => Phase::Acknowledge {
                        answer,
                        is_read,
                        count: count + 1,
                    },
                    (_, Answer::Ok(data)) if is_read => {
                        let parity = u64::from(data.count_ones() & 1);
                        Phase::Read {
                            data: u64::from(data) | parity << 32,
                            count: 0,
                        }
                    }
                    (_, Answer::Ok(_)) => Phase::Turn { then: Next::Write },
                    (_, Answer::Silence) => Phase::Idle,
                    _ if registers.detects_overrun() => self.overrun(is_read),
                    _ => Phase::Turn { then: Next::Idle },
                };
                bit
            }
            Phase::Read { data, count } => {
                self.phase = if count == 32 {
                    Phase::Turn { then: Next::Idle }
                } else {
                    Phase::Read {
                        data,
                        count: count + 1,
                    }
                };
                data >> count & 1 == 1
            }
        }
    }

    /// The data after a refusal mean nothing.
    fn overrun(&mut self, is_read: bool) -> Phase {
        self.request = None;
        if is_read {
            return Phase::Read { data: 0, count: 0 };
        }
        Phase::Turn { then: Next::Write }
    }

    /// The ones of a line reset are not start bits.
    fn takes_requests(&self) -> bool {
        self.ones < RESET_ONES && matches!(self.mode, Mode::Ready | Mode::Reset)
    }

    /// Looks for a line reset and for the switching sequences, in any phase.
    fn watch(&mut self, bit: bool) {
        if self.switch_count < 16 {
            self.switch_bits = self.switch_bits >> 1 | u16::from(bit) << 15;
            self.switch_count += 1;
            if self.switch_count == 16 {
                self.switch();
            }
        }
        if bit {
            self.ones = self.ones.saturating_add(1);
            if self.ones >= RESET_ONES {
                self.phase = Phase::Idle;
                if self.mode != Mode::Jtag {
                    self.mode = Mode::Reset;
                }
            }
        } else {
            if self.ones >= RESET_ONES {
                // Both sequences begin with a zero.
                self.switch_bits = 0;
                self.switch_count = 1;
            }
            self.ones = 0;
        }
    }

    fn switch(&mut self) {
        match self.switch_bits {
            JTAG_TO_SWD if self.mode == Mode::Jtag => self.mode = Mode::Lost,
            JTAG_TO_SWD => {}
            SWD_TO_JTAG => self.mode = Mode::Jtag,
            _ => return,
        }
        self.phase = Phase::Idle;
    }

    /// A whole request was received: start, AP, read, two address bits, parity, stop, park.
    fn accept(&mut self, bits: u8) -> Phase {
        let parity = (bits >> 1 & 15).count_ones() & 1 == u32::from(bits >> 5 & 1);
        let is_framed = bits & 0x41 == 1 && bits & 0x80 != 0;
        if !parity || !is_framed {
            self.mode = Mode::Lost;
            return Phase::Idle;
        }
        self.request = Some(Request {
            is_ap: bits & 2 != 0,
            is_read: bits & 4 != 0,
            address: bits >> 1 & 0xc,
        });
        Phase::Turn {
            then: Next::Acknowledge,
        }
    }

    fn turned(&mut self, then: Next, registers: &mut dyn Registers) -> Phase {
        match then {
            Next::Idle => Phase::Idle,
            Next::Write => Phase::Write { data: 0, count: 0 },
            Next::Acknowledge => {
                let Some(request) = self.request else {
                    return Phase::Idle;
                };
                // A write is carried out when its data has arrived, but it is acknowledged before that.
                let answer = if request.is_read {
                    self.transfer(registers, request, 0)
                } else if matches!(self.mode, Mode::Ready) {
                    registers.refuses(request).unwrap_or(Answer::Ok(0))
                } else {
                    Answer::Silence
                };
                Phase::Acknowledge {
                    answer,
                    is_read: request.is_read,
                    count: 0,
                }
            }
        }
    }

    fn finish_write(&mut self, registers: &mut dyn Registers, data: u64) {
        self.phase = Phase::Idle;
        let word = crate::word::low_word(data);
        let is_whole = word.count_ones() & 1 == u32::from(data >> 32 & 1 == 1);
        if let Some(request) = self.request.take().filter(|_| is_whole) {
            self.transfer(registers, request, word);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records transfers and answers reads with a number.
    #[derive(Default)]
    struct Log(Vec<(Request, u32)>);

    impl Registers for Log {
        fn transfer(&mut self, request: Request, data: u32) -> Answer {
            self.0.push((request, data));
            Answer::Ok(if request.is_read { 0x0bb1_1477 } else { 0 })
        }

        fn refuses(&mut self, _: Request) -> Option<Answer> {
            None
        }

        fn detects_overrun(&self) -> bool {
            false
        }
    }

    fn send(wire: &mut Wire, log: &mut Log, bits: u64, count: u32) {
        for place in 0..count {
            wire.clock_out(log, bits >> place & 1 == 1);
        }
    }

    fn receive(wire: &mut Wire, log: &mut Log, count: u32) -> u64 {
        (0..count).fold(0, |bits, place| {
            bits | u64::from(wire.clock_in(log)) << place
        })
    }

    fn connect(wire: &mut Wire, log: &mut Log) {
        send(wire, log, u64::MAX, 51);
        send(wire, log, 0xe79e, 16);
        send(wire, log, u64::MAX, 51);
        send(wire, log, 0, 8);
    }

    const READ_ID: Request = Request {
        is_ap: false,
        is_read: true,
        address: 0,
    };
    const WRITE_SELECT: Request = Request {
        is_ap: false,
        is_read: false,
        address: 8,
    };

    #[test]
    fn nothing_answers_before_the_switch_from_jtag() {
        let (mut wire, mut log) = (Wire::default(), Log::default());
        assert_eq!(wire.transfer(&mut log, READ_ID, 0), Answer::Silence);
        send(&mut wire, &mut log, u64::MAX, 60);
        assert_eq!(wire.transfer(&mut log, READ_ID, 0), Answer::Silence);
        connect(&mut wire, &mut log);
        assert_eq!(wire.transfer(&mut log, READ_ID, 0), Answer::Ok(0x0bb1_1477));
    }

    #[test]
    fn after_a_line_reset_the_identification_comes_first() {
        let (mut wire, mut log) = (Wire::default(), Log::default());
        connect(&mut wire, &mut log);
        assert_eq!(wire.transfer(&mut log, WRITE_SELECT, 0), Answer::Silence);
        assert_eq!(wire.transfer(&mut log, READ_ID, 0), Answer::Silence, "lost");
        send(&mut wire, &mut log, u64::MAX, 50);
        assert_eq!(wire.transfer(&mut log, READ_ID, 0), Answer::Ok(0x0bb1_1477));
        assert_eq!(wire.transfer(&mut log, WRITE_SELECT, 7), Answer::Ok(0));
        assert_eq!(log.0.last(), Some(&(WRITE_SELECT, 7)));
    }

    #[test]
    fn too_few_ones_are_no_reset() {
        let (mut wire, mut log) = (Wire::default(), Log::default());
        send(&mut wire, &mut log, u64::MAX, 49);
        send(&mut wire, &mut log, 0xe79e, 16);
        send(&mut wire, &mut log, u64::MAX, 60);
        assert_eq!(wire.transfer(&mut log, READ_ID, 0), Answer::Silence);
    }

    #[test]
    fn a_read_bit_by_bit() {
        let (mut wire, mut log) = (Wire::default(), Log::default());
        connect(&mut wire, &mut log);
        send(&mut wire, &mut log, 0xa5, 8);
        let bits = receive(&mut wire, &mut log, 1 + 3 + 33 + 1);
        assert_eq!(bits >> 1 & 7, 1, "ack");
        assert_eq!(bits >> 4 & 0xffff_ffff, 0x0bb1_1477);
        let ones = 0x0bb1_1477u32.count_ones() & 1;
        assert_eq!(bits >> 36 & 1, u64::from(ones), "parity");
        // The next request follows immediately: write SELECT, first with a wrong parity and then with the
        // right one.
        for (parity, written) in [(0, READ_ID), (1, WRITE_SELECT)] {
            send(&mut wire, &mut log, 0xb1, 8);
            assert_eq!(receive(&mut wire, &mut log, 5) >> 1 & 7, 1);
            send(&mut wire, &mut log, 0x0100_00f0 | parity << 32, 33);
            assert_eq!(log.0.last().map(|(request, _)| *request), Some(written));
        }
    }

    #[test]
    fn a_broken_request_loses_the_line_until_a_reset() {
        let (mut wire, mut log) = (Wire::default(), Log::default());
        connect(&mut wire, &mut log);
        send(&mut wire, &mut log, 0x85, 8);
        assert_eq!(receive(&mut wire, &mut log, 5), 0x1f);
        assert_eq!(wire.transfer(&mut log, READ_ID, 0), Answer::Silence);
    }
}
