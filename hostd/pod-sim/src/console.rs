//! The text console that a pod offers over USB: a line editor with a prompt, for people and for
//! programs that look for the serial port of a pod. It accepts no JSON.

use std::fmt::Write;
use std::sync::Arc;

use pod_protocol::connection::Stream;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::access::Peer;
use super::args::Args;
use super::commands::dispatch;
use super::firmware::Firmware;
use super::next::Next;
use super::{Shared, identity};

/// Characters in a line; any more are ignored.
const LINE_CHARS_MAX: usize = 127;

/// Bytes read at once.
const READ_BYTES: usize = 256;

const PROMPT: &str = "> ";

const HELP: &str = "\
commands:
  help
  identity
  la-voltage [mv]
  ping
  power <1|2> <on|off>
  status";

/// Serves a console until the other side has gone.
pub(crate) async fn run(shared: &Arc<Shared>, mut stream: impl Stream) {
    let mut editor = Editor::default();
    let mut bytes = [0; READ_BYTES];
    while let Ok(count @ 1..) = stream.read(&mut bytes).await {
        let mut shown = String::new();
        for byte in &bytes[..count] {
            if let Some(line) = editor.take(*byte, &mut shown) {
                for text in answer(shared, &line).lines() {
                    let _ = write!(shown, "{text}\r\n");
                }
                shown.push_str(PROMPT);
            }
        }
        if stream.write_all(shown.as_bytes()).await.is_err() || stream.flush().await.is_err() {
            return;
        }
    }
}

/// The line being typed.
#[derive(Default)]
struct Editor {
    line: String,
    /// A line feed that follows belongs to the carriage return.
    after_return: bool,
}

impl Editor {
    /// Takes a byte and appends what it shows. Returns the line if it ends one.
    fn take(&mut self, byte: u8, shown: &mut String) -> Option<String> {
        let after_return = std::mem::replace(&mut self.after_return, byte == b'\r');
        match byte {
            b'\n' if after_return => {}
            b'\r' | b'\n' => {
                shown.push_str("\r\n");
                return Some(std::mem::take(&mut self.line));
            }
            0x08 | 0x7F if self.line.pop().is_some() => shown.push_str("\x08 \x08"),
            b' '..=b'~' if self.line.len() < LINE_CHARS_MAX => {
                self.line.push(char::from(byte));
                shown.push(char::from(byte));
            }
            _ => {}
        }
        None
    }
}

/// The answer to a line; nothing for an empty one.
fn answer(shared: &Arc<Shared>, line: &str) -> String {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let [verb, arguments @ ..] = words.as_slice() else {
        return String::new();
    };
    match *verb {
        "help" => HELP.to_owned(),
        "status" => status(shared),
        "ping" => {
            let gateware = ask(shared, &json!({"cmd": "status"})).map(|s| s["gateware"].as_u64());
            let gateware = gateware.ok().flatten().unwrap_or_default();
            format!("  PING ok  version={gateware:#04x}")
        }
        "identity" => identity(shared),
        "la-voltage" | "power" if firmware(shared) >= Firmware::NETWORK_ONLY => format!(
            "{verb}: moved to the network API (JSON {}) in firmware {}",
            if *verb == "power" {
                "target_power"
            } else {
                "la_voltage"
            },
            Firmware::NETWORK_ONLY
        ),
        "la-voltage" => la_voltage(shared, arguments),
        "power" => power(shared, arguments),
        _ => format!("  unknown command '{verb}' (try 'help')"),
    }
}

/// Runs a command of the network API.
fn ask(shared: &Arc<Shared>, request: &Value) -> Result<Value, String> {
    let request: &Map<String, Value> = request.as_object().expect("built as an object");
    let next = shared.with(|world, now_ns| dispatch(world, &Args(request), Peer::CONSOLE, now_ns));
    shared.wires_changed();
    match next {
        Ok(Next::Reply(data)) => Ok(data),
        Ok(_) => Ok(Value::Null),
        Err(refusal) => Err(refusal.to_string()),
    }
}

fn firmware(shared: &Arc<Shared>) -> Firmware {
    shared.with(|world, _| world.config.firmware)
}

fn status(shared: &Arc<Shared>) -> String {
    let status = match ask(shared, &json!({"cmd": "status"})) {
        Ok(status) => status,
        Err(refusal) => return format!("  ERROR: {refusal}"),
    };
    let text = |name: &str| status[name].as_str().unwrap_or_default().to_owned();
    let yes = |name: &str| if status[name] == true { "yes" } else { "no" };
    let mut shown = format!(
        "  device : {}\n  board  : {}  fw v{}  rev {}  nrst_pin={}  usb_cc={}\n  fpga   : gateware v{} (reachable)\n",
        text("device"),
        text("board"),
        text("version"),
        text("board_rev"),
        yes("nrst_pin"),
        yes("usb_cc"),
        status["gateware"],
    );
    if status["adc_bits"].is_u64() {
        let _ = writeln!(
            shown,
            "  adc    : {}-bit x{}, {} mV full-scale",
            status["adc_bits"], status["adc_channels"], status["adc_fullscale_mv"]
        );
    }
    if firmware(shared) >= Firmware::NETWORK_ONLY {
        // The network adapter of the USB port is not simulated.
        shown.push_str("  usb    : net off link down\n");
    }
    let _ = writeln!(shown, "  reset  : {}", text("reset"));
    let _ = write!(shown, "  crash  : {}", text("last_crash"));
    shown
}

fn identity(shared: &Arc<Shared>) -> String {
    let short = identity::short_id(shared.seed);
    let key = identity::public_key(shared.seed);
    format!("identity {short} {key}")
}

/// `la-voltage [mv]`, as in firmware before 3.9.0.
fn la_voltage(shared: &Arc<Shared>, arguments: &[&str]) -> String {
    let request = match arguments {
        [] => json!({"cmd": "la_voltage"}),
        [mv] if mv.parse::<u16>().is_ok() => {
            json!({"cmd": "la_voltage", "mv": mv.parse::<u16>().unwrap_or_default()})
        }
        _ => return "  usage: la-voltage [mv]".to_owned(),
    };
    match ask(shared, &request) {
        Err(refusal) => format!("  {}", refusal.replace("v3 board", "v3 pod")),
        Ok(_) => {
            let bank_mv = shared.with(|world, _| world.digital.pins.bank_mv());
            let state = match bank_mv {
                0 => "UNSET".to_owned(),
                mv => format!("{mv} mV"),
            };
            format!("  LA VCCIO = {state} (st=1)")
        }
    }
}

/// `power <1|2> <on|off>`, as in firmware before 3.9.0.
fn power(shared: &Arc<Shared>, arguments: &[&str]) -> String {
    let (efuse, state) = match arguments {
        [efuse @ ("1" | "2"), state @ ("on" | "off")] => (*efuse, *state),
        [_, "on" | "off"] => return "  bad eFuse: want 1 or 2".to_owned(),
        _ => return "  usage: power <1|2> <on|off>".to_owned(),
    };
    let number = u8::from(efuse == "2") + 1;
    let request = json!({"cmd": "target_power", "efuse": number, "state": u8::from(state == "on")});
    match ask(shared, &request) {
        Ok(_) => format!("  eFuse{efuse} {}", state.to_ascii_uppercase()),
        Err(refusal) => format!("  ERROR: {refusal}"),
    }
}

#[cfg(test)]
mod tests;
