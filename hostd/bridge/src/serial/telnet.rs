//! The bytes of Telnet (RFC 854): data, commands, options and what is said about them.

/// Escapes itself and begins commands.
pub(super) const IAC: u8 = 255;
const DONT: u8 = 254;
const DO: u8 = 253;
const WONT: u8 = 252;
const WILL: u8 = 251;
const SB: u8 = 250;
const SE: u8 = 240;

/// Longest subnegotiation that is looked at; those of serial ports have a few bytes, a signature perhaps some more.
/// What is longer is skipped.
pub(super) const SUBNEGOTIATION_BYTES_MAX: usize = 256;

/// What somebody says about an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Will,
    Wont,
    Do,
    Dont,
}

impl Verb {
    fn of(byte: u8) -> Option<Self> {
        Some(match byte {
            WILL => Self::Will,
            WONT => Self::Wont,
            DO => Self::Do,
            DONT => Self::Dont,
            _ => return None,
        })
    }

    fn byte(self) -> u8 {
        match self {
            Self::Will => WILL,
            Self::Wont => WONT,
            Self::Do => DO,
            Self::Dont => DONT,
        }
    }
}

/// One thing that a client said.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    Data(u8),
    Option(Verb, u8),
    /// The option, and what is said about it.
    Subnegotiation(Vec<u8>),
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Data,
    Command,
    Option(Verb),
    Subnegotiation,
    /// After an IAC in a subnegotiation.
    SubnegotiationCommand,
}

/// Understands one byte after the other.
#[derive(Debug, Default)]
pub(super) struct Reader {
    state: State,
    collected: Vec<u8>,
    is_too_long: bool,
}

impl Reader {
    pub(super) fn read(&mut self, byte: u8) -> Option<Heard> {
        let (state, heard) = match (&self.state, byte) {
            (State::Data, IAC) => (State::Command, None),
            (State::Data, byte) => (State::Data, Some(Heard::Data(byte))),
            (State::Command, IAC) => (State::Data, Some(Heard::Data(IAC))),
            (State::Command, SB) => {
                self.collected.clear();
                self.is_too_long = false;
                (State::Subnegotiation, None)
            }
            // Other commands have no meaning for a serial port.
            (State::Command, byte) => match Verb::of(byte) {
                Some(verb) => (State::Option(verb), None),
                None => (State::Data, None),
            },
            (State::Option(verb), option) => (State::Data, Some(Heard::Option(*verb, option))),
            (State::Subnegotiation, IAC) => (State::SubnegotiationCommand, None),
            (State::Subnegotiation, byte) => {
                self.collect(byte);
                (State::Subnegotiation, None)
            }
            (State::SubnegotiationCommand, IAC) => {
                self.collect(IAC);
                (State::Subnegotiation, None)
            }
            (State::SubnegotiationCommand, SE) => {
                let whole = (!self.is_too_long && !self.collected.is_empty())
                    .then(|| Heard::Subnegotiation(std::mem::take(&mut self.collected)));
                (State::Data, whole)
            }
            // It was never finished; this is the next command.
            (State::SubnegotiationCommand, byte) => match Verb::of(byte) {
                Some(verb) => (State::Option(verb), None),
                None => (State::Data, None),
            },
        };
        self.state = state;
        heard
    }

    fn collect(&mut self, byte: u8) {
        if self.collected.len() < SUBNEGOTIATION_BYTES_MAX {
            self.collected.push(byte);
        } else {
            self.is_too_long = true;
        }
    }
}

/// Data for a client, escaped.
pub(super) fn escape(data: &[u8], out: &mut Vec<u8>) {
    for byte in data {
        out.push(*byte);
        if *byte == IAC {
            out.push(IAC);
        }
    }
}

pub(super) fn say(verb: Verb, option: u8, out: &mut Vec<u8>) {
    out.extend([IAC, verb.byte(), option]);
}

pub(super) fn subnegotiate(option: u8, data: &[u8], out: &mut Vec<u8>) {
    out.extend([IAC, SB, option]);
    escape(data, out);
    out.extend([IAC, SE]);
}
