//! A serial port's settings over Telnet (RFC 2217), as far as the UART of a device has them: 8 data bits, a parity bit if
//! the line can have one, one stop bit, any rate of a UART, breaks of a fixed length. What is asked beyond that is
//! answered with what there is.

use pod_protocol::{Parity, UART_BAUD_MAX, UART_BAUD_MIN};

use super::setting::{Setting, WAITING_MAX};
use super::telnet::{self, Heard, Reader, Verb};

/// Telnet options (RFC 856, 857, 858, 2217).
const BINARY: u8 = 0;
const ECHO: u8 = 1;
const SUPPRESS_GO_AHEAD: u8 = 3;
const COM_PORT: u8 = 44;

/// What each side may agree to. The target echoes, if anything does.
const OURS: [u8; 4] = [BINARY, ECHO, SUPPRESS_GO_AHEAD, COM_PORT];
const THEIRS: [u8; 3] = [BINARY, SUPPRESS_GO_AHEAD, COM_PORT];

/// Commands of a client. The server's have the same numbers and [`FROM_SERVER`] more.
const SIGNATURE: u8 = 0;
const SET_BAUDRATE: u8 = 1;
const SET_DATASIZE: u8 = 2;
const SET_PARITY: u8 = 3;
const SET_STOPSIZE: u8 = 4;
const SET_CONTROL: u8 = 5;
const POLL_LINESTATE: u8 = 6;
const POLL_MODEMSTATE: u8 = 7;
const FLOWCONTROL_SUSPEND: u8 = 8;
const FLOWCONTROL_RESUME: u8 = 9;
const SET_LINESTATE_MASK: u8 = 10;
const SET_MODEMSTATE_MASK: u8 = 11;
const PURGE_DATA: u8 = 12;
const FROM_SERVER: u8 = 100;

const DATA_BITS: u8 = 8;
/// Values of `SET_PARITY`; 0 asks which one there is.
const PARITY_NONE: u8 = 1;
const PARITY_ODD: u8 = 2;
const PARITY_EVEN: u8 = 3;
const STOP_BITS_ONE: u8 = 1;

/// Values of `SET_CONTROL`.
const FLOW_NONE: u8 = 1;
const BREAK_ON: u8 = 5;
const BREAK_OFF: u8 = 6;
const DTR_ON: u8 = 8;
const RTS_ON: u8 = 11;
const FLOW_IN_NONE: u8 = 14;

/// Values of `PURGE_DATA`.
const PURGE_RECEIVED: u8 = 1;
const PURGE_BOTH: u8 = 3;

/// Carrier, ready and clear to send: a line of two wires is always ready.
const MODEM_READY: u8 = 0xb0;

/// What has happened to the line that a client should know of.
const LINE_FINE: u8 = 0;

/// What a client wants of the line or of whoever serves it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Asked {
    /// These bytes for the target.
    Bytes(Vec<u8>),
    Baud(u32),
    Parity(Parity),
    Break,
    /// What waits for the client is to be dropped.
    Purge,
}

/// One side of an option (RFC 1143, without its queue: nothing is ever asked twice).
#[derive(Debug, Clone, Copy, Default)]
struct Side {
    is_on: bool,
    /// It was proposed, and there is no answer yet.
    is_asked: bool,
}

/// The server's end of one client's connection.
#[derive(Debug)]
pub(crate) struct Rfc2217 {
    reader: Reader,
    ours: [Side; OURS.len()],
    theirs: [Side; THEIRS.len()],
    baud: Setting<u32>,
    parity: Setting<Parity>,
    /// Whether the line can have a parity bit at all.
    has_parity: bool,
    breaks_waiting: u32,
    is_dtr_on: bool,
    is_rts_on: bool,
    is_suspended: bool,
    has_told_wires: bool,
    /// The last byte was a carriage return; not in binary.
    after_return: bool,
    signature: String,
}

impl Rfc2217 {
    /// `signature` is what the port calls itself.
    pub(crate) fn new(baud: u32, parity: Option<Parity>, signature: &str) -> Self {
        Self {
            reader: Reader::default(),
            ours: [Side::default(); OURS.len()],
            theirs: [Side::default(); THEIRS.len()],
            baud: Setting::new(baud),
            parity: Setting::new(parity.unwrap_or(Parity::None)),
            has_parity: parity.is_some(),
            breaks_waiting: 0,
            is_dtr_on: true,
            is_rts_on: true,
            is_suspended: false,
            has_told_wires: false,
            after_return: false,
            signature: signature.to_owned(),
        }
    }

    /// What to propose to a client that has just connected.
    pub(crate) fn greet(&mut self, out: &mut Vec<u8>) {
        for (side, option) in self.ours.iter_mut().zip(OURS) {
            side.is_asked = true;
            telnet::say(Verb::Will, option, out);
        }
        for (side, option) in self.theirs.iter_mut().zip(THEIRS) {
            side.is_asked = true;
            telnet::say(Verb::Do, option, out);
        }
    }

    /// Whether the client wants no data for now.
    pub(crate) fn is_suspended(&self) -> bool {
        self.is_suspended
    }

    /// Bytes from the client: what it asks for, in order, and into `out` what it is answered at once.
    pub(crate) fn receive(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Vec<Asked> {
        let mut asked = Vec::new();
        for byte in bytes {
            match self.reader.read(*byte) {
                None => {}
                Some(Heard::Data(byte)) => self.data(byte, &mut asked),
                Some(Heard::Option(verb, option)) => self.option(verb, option, out),
                Some(Heard::Subnegotiation(said)) => {
                    if let [COM_PORT, command, value @ ..] = said.as_slice() {
                        self.tell_wires(out);
                        asked.extend(self.command(*command, value, out));
                    }
                }
            }
        }
        asked
    }

    /// Without the option BINARY a carriage return has a zero behind it.
    fn data(&mut self, byte: u8, asked: &mut Vec<Asked>) {
        let is_binary = THEIRS
            .iter()
            .zip(self.theirs)
            .any(|(option, side)| *option == BINARY && side.is_on);
        let is_filler = self.after_return && byte == 0 && !is_binary;
        self.after_return = byte == b'\r';
        if is_filler {
            return;
        }
        match asked.last_mut() {
            Some(Asked::Bytes(bytes)) => bytes.push(byte),
            _ => asked.push(Asked::Bytes(vec![byte])),
        }
    }

    /// Agrees or refuses. What is so already is not answered, so that two sides never answer each other for ever.
    fn option(&mut self, verb: Verb, option: u8, out: &mut Vec<u8>) {
        let (known, sides, yes, no): (&[u8], &mut [Side], _, _) = match verb {
            Verb::Do | Verb::Dont => (&OURS, &mut self.ours, Verb::Will, Verb::Wont),
            Verb::Will | Verb::Wont => (&THEIRS, &mut self.theirs, Verb::Do, Verb::Dont),
        };
        let is_wanted = matches!(verb, Verb::Do | Verb::Will);
        let place = known.iter().position(|known| *known == option);
        let Some(side) = place.and_then(|place| sides.get_mut(place)) else {
            if is_wanted {
                telnet::say(no, option, out);
            }
            return;
        };
        let was_asked = std::mem::take(&mut side.is_asked);
        if side.is_on != is_wanted {
            side.is_on = is_wanted;
            if !was_asked {
                telnet::say(if is_wanted { yes } else { no }, option, out);
            }
            if (verb, option) == (Verb::Will, COM_PORT) {
                self.tell_wires(out);
            }
        }
    }

    /// Says once what the wires are like. Some clients wait for that; and some take a proposal of the option for an
    /// agreement, so that their first command is the first that is heard of it.
    fn tell_wires(&mut self, out: &mut Vec<u8>) {
        if !self.has_told_wires {
            self.has_told_wires = true;
            answer(POLL_MODEMSTATE, &[MODEM_READY], out);
        }
    }

    fn command(&mut self, command: u8, value: &[u8], out: &mut Vec<u8>) -> Option<Asked> {
        match (command, value) {
            (SIGNATURE, []) => answer(SIGNATURE, self.signature.as_bytes(), out),
            (SET_BAUDRATE, bytes) => {
                return self.ask_baud(u32::from_be_bytes(*bytes.first_chunk()?), out);
            }
            (SET_DATASIZE, [_, ..]) => answer(command, &[DATA_BITS], out),
            (SET_PARITY, [parity, ..]) => return self.ask_parity(*parity, out),
            (SET_STOPSIZE, [_, ..]) => answer(command, &[STOP_BITS_ONE], out),
            (SET_CONTROL, [control, ..]) => return self.control(*control, out),
            (FLOWCONTROL_SUSPEND, _) => self.is_suspended = true,
            (FLOWCONTROL_RESUME, _) => self.is_suspended = false,
            (SET_LINESTATE_MASK, [mask, ..]) => answer(command, &[*mask], out),
            (SET_MODEMSTATE_MASK, [mask, ..]) => {
                answer(command, &[*mask], out);
                answer(POLL_MODEMSTATE, &[MODEM_READY & mask], out);
            }
            (POLL_LINESTATE, _) => answer(command, &[LINE_FINE], out),
            (POLL_MODEMSTATE, _) => answer(command, &[MODEM_READY], out),
            (PURGE_DATA, [what, ..]) => {
                answer(command, &[*what], out);
                return matches!(*what, PURGE_RECEIVED | PURGE_BOTH).then_some(Asked::Purge);
            }
            _ => {}
        }
        None
    }

    fn ask_baud(&mut self, baud: u32, out: &mut Vec<u8>) -> Option<Asked> {
        let wish = Some(baud).filter(|baud| (UART_BAUD_MIN..=UART_BAUD_MAX).contains(baud));
        let asked = self.baud.ask(wish);
        // It has the rate already, or only asks which one there is, or cannot have that one.
        if asked.is_none()
            && let Some(baud) = self.baud.settled()
        {
            answer(SET_BAUDRATE, &baud.to_be_bytes(), out);
        }
        asked.map(Asked::Baud)
    }

    fn ask_parity(&mut self, value: u8, out: &mut Vec<u8>) -> Option<Asked> {
        let wish = Parity::ALL.into_iter().find(|p| parity_value(*p) == value);
        let asked = self.parity.ask(wish.filter(|_| self.has_parity));
        // As with rates.
        if asked.is_none()
            && let Some(parity) = self.parity.settled()
        {
            answer(SET_PARITY, &[parity_value(parity)], out);
        }
        asked.map(Asked::Parity)
    }

    fn control(&mut self, control: u8, out: &mut Vec<u8>) -> Option<Asked> {
        let is = match control {
            // The flow control there is, whatever is asked for.
            0..=3 | 17.. => FLOW_NONE,
            BREAK_ON => {
                if self.breaks_waiting < WAITING_MAX {
                    self.breaks_waiting += 1;
                    return Some(Asked::Break);
                }
                BREAK_OFF
            }
            4 | BREAK_OFF => BREAK_OFF,
            // There are no such wires: what a client sets is what it reads, and nothing else.
            7 => DTR_ON + u8::from(!self.is_dtr_on),
            8 | 9 => {
                self.is_dtr_on = control == DTR_ON;
                control
            }
            10 => RTS_ON + u8::from(!self.is_rts_on),
            11 | 12 => {
                self.is_rts_on = control == RTS_ON;
                control
            }
            13..=16 => FLOW_IN_NONE,
        };
        answer(SET_CONTROL, &[is], out);
        None
    }

    /// The line has this rate now.
    pub(crate) fn baud_is(&mut self, baud: u32, out: &mut Vec<u8>) {
        if self.baud.becomes(baud) {
            answer(SET_BAUDRATE, &baud.to_be_bytes(), out);
        }
    }

    /// The line has this parity now.
    pub(crate) fn parity_is(&mut self, parity: Parity, out: &mut Vec<u8>) {
        if self.parity.becomes(parity) {
            answer(SET_PARITY, &[parity_value(parity)], out);
        }
    }

    /// A break is over.
    pub(crate) fn broke(&mut self, out: &mut Vec<u8>) {
        if self.breaks_waiting > 0 {
            self.breaks_waiting -= 1;
            answer(SET_CONTROL, &[BREAK_ON], out);
        }
    }
}

fn parity_value(parity: Parity) -> u8 {
    match parity {
        Parity::None => PARITY_NONE,
        Parity::Odd => PARITY_ODD,
        Parity::Even => PARITY_EVEN,
    }
}

fn answer(command: u8, value: &[u8], out: &mut Vec<u8>) {
    let mut data = vec![command + FROM_SERVER];
    data.extend(value);
    telnet::subnegotiate(COM_PORT, &data, out);
}
