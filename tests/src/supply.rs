//! A simulated bench supply that speaks SCPI over TCP: voltage, limit, output, measurements and an error queue, as
//! bench supplies have them.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use crate::port::own_port;

/// The highest voltage that it can be set to.
const VOLTS_MAX: f64 = 30.0;

/// The highest limit.
const AMPS_MAX: f64 = 3.0;

/// What is connected to its output.
const LOAD_OHMS: f64 = 100.0;

/// Entries of its error queue.
const ERRORS_MAX: usize = 8;

/// How a supply talks.
#[derive(Debug, Clone, Copy)]
pub struct Manner {
    /// Its answer to `*IDN?`.
    pub identity: &'static str,
    pub commands: Commands,
    /// What it says instead of an error.
    pub no_error: &'static str,
    /// What ends its answers.
    pub line_end: &'static str,
    /// What it answers whenever it has no error, in place of that.
    pub error_always: Option<&'static str>,
    /// It refuses to be switched off.
    pub stays_on: bool,
}

impl Default for Manner {
    fn default() -> Self {
        Self {
            identity: "EXAMPLE,PSU-30,0001,1.0",
            commands: Commands::Plain,
            no_error: "+0,\"No error\"",
            line_end: "\r\n",
            error_always: None,
            stays_on: false,
        }
    }
}

/// What its commands are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Commands {
    /// `OUTP ON`, `VOLT 3.3`; `OUTP?` is answered with a digit.
    Plain,
    /// `OUTP CH1,ON`, `CH1:VOLT 3.3`; the status, in hexadecimal, says what is on. There is no `*CLS`.
    Siglent,
    /// `OUTP CH1,ON`, `SOUR1:VOLT 3.3`; `OUTP? CH1` is answered with a word.
    Rigol,
}

impl Commands {
    /// A command as the others have it. `None` if there is none of this name.
    fn plain(self, line: &str) -> Option<String> {
        let line = line.to_ascii_uppercase();
        let is_common = matches!(line.as_str(), "*IDN?" | "SYST:ERR?");
        let (verb, value) = line.split_once(' ').unwrap_or((&line, ""));
        let source = match self {
            Self::Plain => return Some(line.clone()),
            Self::Siglent => "CH1:",
            Self::Rigol => "SOUR1:",
        };
        match verb {
            _ if is_common => Some(line.clone()),
            "*CLS" if self == Self::Rigol => Some(line.clone()),
            "SYST:STAT?" if self == Self::Siglent => Some(line.clone()),
            "OUTP?" if self == Self::Rigol && value == "CH1" => Some("OUTP?".to_owned()),
            "MEAS:VOLT?" | "MEAS:CURR?" if value == "CH1" => Some(verb.to_owned()),
            "OUTP" => Some(format!("OUTP {}", value.strip_prefix("CH1,")?)),
            _ => {
                let verb = verb.strip_prefix(source)?;
                matches!(verb, "VOLT" | "CURR").then(|| format!("{verb} {value}"))
            }
        }
    }
}

/// A supply, which is on its port until it is stopped or dropped.
pub struct Supply {
    shared: Arc<Shared>,
    port: u16,
    accepts: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    clients: Mutex<Vec<TcpStream>>,
    is_stopped: AtomicBool,
    /// It takes commands and answers nothing.
    is_mute: AtomicBool,
}

/// What it is set to.
#[derive(Debug, Clone, Default)]
pub struct State {
    pub volts: f64,
    pub amps_max: f64,
    pub is_on: bool,
    errors: VecDeque<&'static str>,
    manner: Manner,
    /// What it was told that was no question.
    pub told: Vec<String>,
}

impl Supply {
    /// A supply on a port of its own, where another one can be plugged in after its end.
    ///
    /// # Panics
    /// There is none.
    #[must_use]
    pub fn start() -> Self {
        Self::on(own_port())
    }

    /// A supply that has just been plugged in, on this port.
    ///
    /// # Panics
    /// The port is taken.
    #[must_use]
    pub fn on(port: u16) -> Self {
        Self::with(port, Manner::default())
    }

    /// A supply that talks like this, on a port of its own.
    ///
    /// # Panics
    /// There is none.
    #[must_use]
    pub fn talking(manner: Manner) -> Self {
        Self::with(own_port(), manner)
    }

    fn with(port: u16, manner: Manner) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).expect("a port for a supply");
        let port = listener.local_addr().expect("it is bound").port();
        let shared = Arc::new(Shared::default());
        shared.state().manner = manner;
        let accepting = shared.clone();
        let accepts = thread::spawn(move || accept(&listener, &accepting));
        Self {
            shared,
            port,
            accepts: Some(accepts),
        }
    }

    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// What it is set to now.
    #[must_use]
    pub fn state(&self) -> State {
        self.shared.state().clone()
    }

    /// From now on it does as it is told when it is switched off.
    pub fn obey(&self) {
        self.shared.state().manner.stays_on = false;
    }

    /// Switches its output by its own button.
    pub fn press(&self, on: bool) {
        self.shared.state().is_on = on;
    }

    /// From now on it takes commands and answers nothing, as one that hangs.
    pub fn hang(&self) {
        self.shared.is_mute.store(true, Ordering::Release);
    }

    /// Pulls its plug; its connections end.
    pub fn stop(&mut self) {
        self.shared.is_stopped.store(true, Ordering::Release);
        for client in self.shared.clients().drain(..) {
            let _ = client.shutdown(Shutdown::Both);
        }
        // Wakes the one that accepts.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        if let Some(accepts) = self.accepts.take() {
            let _ = accepts.join();
        }
    }
}

impl Drop for Supply {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn clients(&self) -> MutexGuard<'_, Vec<TcpStream>> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for client in listener.incoming() {
        let Ok(client) = client else { continue };
        let Ok(kept) = client.try_clone() else {
            continue;
        };
        let mut clients = shared.clients();
        if shared.is_stopped.load(Ordering::Acquire) {
            return;
        }
        clients.push(kept);
        drop(clients);
        let shared = shared.clone();
        thread::spawn(move || serve(client, &shared));
    }
}

fn serve(client: TcpStream, shared: &Shared) {
    let Ok(mut answers) = client.try_clone() else {
        return;
    };
    for line in BufReader::new(client).lines() {
        let Ok(line) = line else { return };
        let (answer, end) = {
            let mut state = shared.state();
            (state.hear(line.trim()), state.manner.line_end)
        };
        if let Some(answer) = answer
            && !shared.is_mute.load(Ordering::Acquire)
            && answers
                .write_all(format!("{answer}{end}").as_bytes())
                .is_err()
        {
            return;
        }
    }
}

impl State {
    /// Carries out a line; what it answers to a question.
    fn hear(&mut self, line: &str) -> Option<String> {
        if !line.contains('?') {
            self.told.push(line.to_owned());
        }
        let Some(line) = self.manner.commands.plain(line) else {
            self.complain("-113,\"Undefined header\"");
            return None;
        };
        let (verb, value) = line.split_once(' ').unwrap_or((&line, ""));
        match verb {
            "*IDN?" => return Some(self.manner.identity.to_owned()),
            "*CLS" => self.errors.clear(),
            "VOLT" => self.set(value, VOLTS_MAX, |state| &mut state.volts),
            "CURR" => self.set(value, AMPS_MAX, |state| &mut state.amps_max),
            "OUTP" => match value {
                "ON" | "1" => self.is_on = true,
                "OFF" | "0" if self.manner.stays_on => self.complain("-221,\"Settings conflict\""),
                "OFF" | "0" => self.is_on = false,
                _ => self.complain("-224,\"Illegal parameter value\""),
            },
            "OUTP?" if self.manner.commands == Commands::Rigol => {
                return Some(if self.is_on { "ON" } else { "OFF" }.to_owned());
            }
            "OUTP?" => return Some(u8::from(self.is_on).to_string()),
            // The output is limited by its voltage, and the two outputs are independent.
            "SYST:STAT?" => return Some(format!("0x{:x}", 4 | u8::from(self.is_on) << 4)),
            "MEAS:VOLT?" => return Some(format!("{:+.5E}", self.measured().0)),
            "MEAS:CURR?" => return Some(format!("{:+.5E}", self.measured().1)),
            "SYST:ERR?" => {
                let error = self.errors.pop_front().or(self.manner.error_always);
                return Some(error.unwrap_or(self.manner.no_error).to_owned());
            }
            _ => self.complain("-113,\"Undefined header\""),
        }
        None
    }

    fn set(&mut self, value: &str, most: f64, what: fn(&mut Self) -> &mut f64) {
        match value.parse::<f64>() {
            Ok(number) if (0.0..=most).contains(&number) => *what(self) = number,
            Ok(_) => self.complain("-222,\"Data out of range\""),
            Err(_) => self.complain("-104,\"Data type error\""),
        }
    }

    fn complain(&mut self, error: &'static str) {
        if self.errors.len() < ERRORS_MAX {
            self.errors.push_back(error);
        }
    }

    /// Volts and amperes of the output: the limit holds.
    fn measured(&self) -> (f64, f64) {
        if !self.is_on {
            return (0.0, 0.0);
        }
        let amps = (self.volts / LOAD_OHMS).min(self.amps_max);
        (amps * LOAD_OHMS, amps)
    }
}
