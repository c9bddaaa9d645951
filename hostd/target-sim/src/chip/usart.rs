//! A serial port in asynchronous mode: frames go out and come in bit by bit, at the rate set by BRR. Its
//! registers are those of the STM32F0.
//!
//! Received bits are sampled in the middle; there is no noise detection and no automatic baud rate.

use crate::bus::NEVER;
use crate::word::{bit, low_half};

/// Offsets of the registers.
pub(crate) mod offset {
    pub(crate) const CR1: u32 = 0x00;
    pub(crate) const CR2: u32 = 0x04;
    pub(crate) const CR3: u32 = 0x08;
    pub(crate) const BRR: u32 = 0x0c;
    pub(crate) const RQR: u32 = 0x18;
    pub(crate) const ISR: u32 = 0x1c;
    pub(crate) const ICR: u32 = 0x20;
    pub(crate) const RDR: u32 = 0x24;
    pub(crate) const TDR: u32 = 0x28;
}
use offset::{BRR, CR1, CR2, CR3, ICR, ISR, RDR, RQR, TDR};

const PE: u32 = 1;
const FE: u32 = 1 << 1;
const ORE: u32 = 1 << 3;
const RXNE: u32 = 1 << 5;
const TC: u32 = 1 << 6;
const TXE: u32 = 1 << 7;
const BUSY: u32 = 1 << 16;
/// Flags that ICR clears with the bit of the same number.
const CLEARABLE: u32 = PE | FE | 1 << 2 | ORE | 1 << 4 | TC;

const UE: u32 = 0;
const RE: u32 = 2;
const TE: u32 = 3;
const RXNEIE: u32 = 5;
const TCIE: u32 = 6;
const TXEIE: u32 = 7;
const PEIE: u32 = 8;
const ODD: u32 = 9;
const PARITY: u32 = 10;
const M0: u32 = 12;
const OVER8: u32 = 15;
const M1: u32 = 28;

/// The smallest divider that the hardware accepts.
const DIVIDER_MIN: u32 = 16;

/// A frame being sent.
#[derive(Debug)]
struct Sending {
    /// Levels still to be sent, first bit first.
    bits: u16,
    left: u32,
    next_at: u64,
}

/// A frame being received.
#[derive(Debug)]
struct Receiving {
    bits: u16,
    count: u32,
    next_at: u64,
}

/// A word that started to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) value: u16,
    pub(crate) bit_cycles: u64,
}

/// A change of the transmit line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LineEvent {
    pub(crate) at: u64,
    /// The transmit line's level from then on.
    pub(crate) level: bool,
    /// With a start bit: the word that it starts.
    pub(crate) started: Option<Word>,
}

#[derive(Debug)]
pub(crate) struct Usart {
    cr1: u32,
    cr2: u32,
    cr3: u32,
    brr: u32,
    status: u32,
    received: u16,
    waiting: Option<u16>,
    sending: Option<Sending>,
    receiving: Option<Receiving>,
    input: bool,
    /// Core cycles per cycle of the bus that feeds the baud rate generator.
    bus_divider: u32,
}

impl Usart {
    pub(crate) fn new() -> Self {
        Self {
            cr1: 0,
            cr2: 0,
            cr3: 0,
            brr: 0,
            status: TC | TXE,
            received: 0,
            waiting: None,
            sending: None,
            receiving: None,
            input: true,
            bus_divider: 1,
        }
    }

    pub(crate) fn set_bus_divider(&mut self, divider: u32) {
        self.bus_divider = divider;
    }

    fn bit_cycles(&self) -> u64 {
        let divider = if bit(self.cr1, OVER8) {
            (self.brr & 0xfff0 | (self.brr & 7) << 1) / 2
        } else {
            self.brr
        };
        u64::from(divider.max(DIVIDER_MIN)) * u64::from(self.bus_divider)
    }

    /// Number of bits between start and stop, including the parity bit.
    fn word_bits(&self) -> u32 {
        match (bit(self.cr1, M1), bit(self.cr1, M0)) {
            (true, false) => 7,
            (false, true) => 9,
            _ => 8,
        }
    }

    /// The parity bit for the data.
    fn parity(&self, data: u16) -> bool {
        (data.count_ones() & 1 == 1) != bit(self.cr1, ODD)
    }

    fn mask(&self) -> u16 {
        let data_bits = self.word_bits() - u32::from(bit(self.cr1, PARITY));
        low_half((1 << data_bits) - 1)
    }

    fn is_on(&self, enable: u32) -> bool {
        bit(self.cr1, UE) && bit(self.cr1, enable)
    }

    /// Starts a frame. Its first level change is due at once.
    fn send(&mut self, value: u16, at: u64) {
        let bits = self.word_bits();
        let mut word = value & self.mask();
        if bit(self.cr1, PARITY) {
            word |= u16::from(self.parity(word)) << (bits - 1);
        }
        let stop_bits = if self.cr2 >> 12 & 3 == 2 { 2 } else { 1 };
        self.sending = Some(Sending {
            bits: word << 1 | u16::MAX << (bits + 1),
            left: 1 + bits + stop_bits,
            next_at: at,
        });
        self.status &= !TC;
        self.status |= TXE;
    }

    /// The next event up to `now`, if any. Call until there is none.
    pub(crate) fn advance(&mut self, now: u64) -> Option<LineEvent> {
        while self.next_sample() <= now {
            self.sample();
        }
        let bit_cycles = self.bit_cycles();
        let is_first = |sending: &Sending, bits| sending.left > bits;
        let frame_bits = self.word_bits() + 1;
        let sending = self
            .sending
            .as_mut()
            .filter(|sending| sending.next_at <= now)?;
        let at = sending.next_at;
        if sending.left == 0 {
            self.sending = None;
            match self.waiting.take() {
                Some(value) => self.send(value, at),
                None => self.status |= TC,
            }
            return self.advance(now);
        }
        let starts = is_first(sending, frame_bits) && sending.bits & 1 == 0;
        let value = sending.bits >> 1;
        let level = sending.bits & 1 == 1;
        sending.bits = value | 1 << 15;
        sending.left -= 1;
        sending.next_at += bit_cycles;
        let started = starts.then(|| Word {
            value: value & self.mask(),
            bit_cycles,
        });
        Some(LineEvent { at, level, started })
    }

    fn next_sample(&self) -> u64 {
        self.receiving
            .as_ref()
            .map_or(NEVER, |receiving| receiving.next_at)
    }

    /// Takes one sample of the frame being received.
    fn sample(&mut self) {
        let (bit_cycles, word_bits, level) = (self.bit_cycles(), self.word_bits(), self.input);
        let Some(receiving) = &mut self.receiving else {
            return;
        };
        receiving.next_at += bit_cycles;
        let place = receiving.count;
        receiving.count += 1;
        if place == 0 {
            // Too short to be a start bit.
            if level {
                self.receiving = None;
            }
        } else if place <= word_bits {
            receiving.bits |= u16::from(level) << (place - 1);
        } else {
            let word = receiving.bits;
            self.receiving = None;
            self.receive(word, level);
        }
    }

    fn receive(&mut self, word: u16, stop: bool) {
        if self.status & RXNE != 0 {
            self.status |= ORE;
            return;
        }
        let data = word & self.mask();
        if !stop {
            self.status |= FE;
        }
        if bit(self.cr1, PARITY) {
            let parity = word >> (self.word_bits() - 1) & 1 == 1;
            if parity != self.parity(data) {
                self.status |= PE;
            }
        }
        // The hardware keeps the parity bit in the register.
        self.received = word;
        self.status |= RXNE;
    }

    /// The level of the receive line has changed.
    pub(crate) fn set_input(&mut self, now: u64, level: bool) {
        let falls = self.input && !level;
        self.input = level;
        if falls && self.receiving.is_none() && self.is_on(RE) {
            self.receiving = Some(Receiving {
                bits: 0,
                count: 0,
                next_at: now + self.bit_cycles() / 2,
            });
        }
    }

    pub(crate) fn next_event(&self) -> u64 {
        let edge = self
            .sending
            .as_ref()
            .map_or(NEVER, |sending| sending.next_at);
        edge.min(self.next_sample())
    }

    /// Whether the interrupt line is high.
    pub(crate) fn interrupts(&self) -> bool {
        let enabled = |place| bit(self.cr1, place);
        let is_set = |flags| self.status & flags != 0;
        enabled(RXNEIE) && is_set(RXNE | ORE)
            || enabled(TXEIE) && is_set(TXE)
            || enabled(TCIE) && is_set(TC)
            || enabled(PEIE) && is_set(PE)
            || bit(self.cr3, 0) && is_set(FE | ORE)
    }

    pub(crate) fn read(&mut self, offset: u32) -> u32 {
        match offset {
            CR1 => self.cr1,
            CR2 => self.cr2,
            CR3 => self.cr3,
            BRR => self.brr,
            ISR => {
                let acknowledges =
                    u32::from(self.is_on(TE)) << 21 | u32::from(self.is_on(RE)) << 22;
                let busy = if self.receiving.is_some() { BUSY } else { 0 };
                self.status | acknowledges | busy
            }
            RDR => {
                self.status &= !RXNE;
                u32::from(self.received)
            }
            _ => 0,
        }
    }

    pub(crate) fn write(&mut self, now: u64, offset: u32, value: u32) {
        match offset {
            CR1 => {
                self.cr1 = value;
                if !bit(value, UE) {
                    self.stop();
                } else if !bit(value, RE) {
                    self.receiving = None;
                }
            }
            CR2 => self.cr2 = value,
            CR3 => self.cr3 = value,
            BRR => self.brr = value & 0xffff,
            // Only the request to discard received data is supported.
            RQR if bit(value, 3) => self.status &= !RXNE,
            ICR => self.status &= !(value & CLEARABLE),
            TDR if self.is_on(TE) => {
                if self.sending.is_some() {
                    self.waiting = Some(low_half(value));
                    self.status &= !(TXE | TC);
                } else {
                    self.send(low_half(value), now);
                }
            }
            _ => {}
        }
    }

    /// Switching it off aborts everything in progress and clears the flags.
    fn stop(&mut self) {
        self.waiting = None;
        self.sending = None;
        self.receiving = None;
        self.status = TC | TXE;
    }

    /// Whether no frame is being sent; the transmit line is high then.
    pub(crate) fn is_idle(&self) -> bool {
        self.sending.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIVIDER: u64 = 69;

    fn usart(cr1: u32) -> Usart {
        let mut usart = Usart::new();
        usart.write(0, BRR, 69);
        usart.write(0, CR1, cr1 | 1 << UE | 1 << TE | 1 << RE);
        usart
    }

    /// Line changes up to `now`, with the words that were started.
    fn drain(usart: &mut Usart, now: u64) -> Vec<LineEvent> {
        std::iter::from_fn(|| usart.advance(now)).collect()
    }

    /// Drives the receive line with bits, each one bit time long.
    fn feed(usart: &mut Usart, from: u64, bits: &[u8]) {
        let mut at = from;
        for bit in bits {
            drain(usart, at);
            usart.set_input(at, *bit == 1);
            at += DIVIDER;
        }
        drain(usart, at);
    }

    #[test]
    fn a_byte_goes_out_bit_by_bit() {
        let mut usart = usart(0);
        usart.write(100, TDR, 0x55);
        assert_eq!(usart.read(ISR) & (TXE | TC), TXE);
        let events = drain(&mut usart, 100 + 10 * DIVIDER - 1);
        let levels: Vec<bool> = events.iter().map(|event| event.level).collect();
        let alternating: Vec<bool> = (0..10).map(|place| place % 2 == 1).collect();
        assert_eq!(levels, alternating);
        assert_eq!(events[3].at, 100 + 3 * DIVIDER);
        let word = Word {
            value: 0x55,
            bit_cycles: DIVIDER,
        };
        let started: Vec<_> = events.iter().filter_map(|event| event.started).collect();
        assert_eq!(started, [word]);
        assert_eq!(usart.read(ISR) & TC, 0);
        drain(&mut usart, 100 + 10 * DIVIDER);
        assert_eq!(usart.read(ISR) & TC, TC);
    }

    #[test]
    fn the_next_byte_follows_without_a_gap() {
        let mut usart = usart(0);
        usart.write(0, TDR, 0xff);
        usart.write(0, TDR, 0x01);
        assert_eq!(usart.read(ISR) & TXE, 0);
        let events = drain(&mut usart, 11 * DIVIDER);
        let starts: Vec<u64> = events
            .iter()
            .filter(|event| event.started.is_some())
            .map(|event| event.at)
            .collect();
        assert_eq!(starts, [0, 10 * DIVIDER]);
        assert_eq!(usart.read(ISR) & TXE, TXE);
    }

    #[test]
    fn a_byte_comes_in() {
        let mut usart = usart(1 << RXNEIE);
        feed(&mut usart, 50, &[0, 1, 0, 1, 0, 0, 1, 0, 0, 1]);
        assert!(usart.interrupts());
        assert_eq!(usart.read(ISR) & (RXNE | FE | ORE), RXNE);
        assert_eq!(usart.read(RDR), 0x25);
        assert!(!usart.interrupts());
    }

    #[test]
    fn an_unread_byte_is_kept_and_the_next_is_lost() {
        let mut usart = usart(0);
        feed(&mut usart, 0, &[0, 1, 0, 1, 0, 0, 1, 0, 0, 1]);
        feed(&mut usart, 5000, &[0, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
        assert_eq!(usart.read(ISR) & ORE, ORE);
        assert_eq!(usart.read(RDR), 0x25);
        usart.write(9000, ICR, ORE);
        assert_eq!(usart.read(ISR) & (ORE | RXNE), 0);
    }

    #[test]
    fn a_missing_stop_bit_and_a_wrong_parity_are_told() {
        let mut usart = usart(0);
        feed(&mut usart, 0, &[0; 10]);
        assert_eq!(usart.read(ISR) & FE, FE);
        let mut usart = super::tests::usart(1 << PARITY | 1 << M0);
        feed(&mut usart, 0, &[0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(usart.read(ISR) & PE, PE);
        assert_eq!(usart.read(RDR) & 0xff, 1);
    }

    #[test]
    fn a_glitch_is_no_start_bit() {
        let mut usart = usart(0);
        usart.set_input(0, false);
        drain(&mut usart, 10);
        usart.set_input(10, true);
        drain(&mut usart, 2000);
        assert_eq!(usart.read(ISR) & RXNE, 0);
    }

    #[test]
    fn even_parity_and_two_stop_bits_lengthen_the_frame() {
        let mut usart = usart(1 << PARITY | 1 << M0);
        usart.write(0, CR2, 2 << 12);
        usart.write(0, TDR, 0x07);
        let events = drain(&mut usart, 12 * DIVIDER - 1);
        assert_eq!(events.len(), 12);
        assert!(events[9].level, "three ones make the parity bit one");
        assert!(!usart.is_idle());
        drain(&mut usart, 12 * DIVIDER);
        assert!(usart.is_idle());
    }
}
