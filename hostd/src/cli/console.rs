//! `hostd console`: the UART of a device's target in a terminal, through a server.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use futures_util::{SinkExt, StreamExt};
use pipeline::parse_time;
use pods::Parity;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::{Error, Message, protocol::frame::coding::CloseCode};

use super::server::{Server, URL_DEFAULT, upgrade};

type Socket = WebSocketStream<Box<dyn upgrade::Connection>>;

/// Time for the server to answer.
const OPEN_WAIT: Duration = Duration::from_secs(30);

/// Bytes of the terminal at once, and how many such runs wait for the server.
const TYPED_BYTES: usize = 256;
const TYPED_MAX: usize = 16;

/// Talk to the target of a device through its UART, until the server or Ctrl-C ends it. What is typed goes
/// to the target line by line.
#[derive(Debug, Args)]
pub struct Console {
    /// Name or id of the device
    #[arg(env = "HOSTD_DEVICE")]
    device: String,
    /// Address of the server, such as `https://bench.example`
    #[arg(long, alias = "server", env = "HOSTD_URL", value_name = "URL", default_value = URL_DEFAULT)]
    url: String,
    /// PEM file of the certificate authorities to trust, in place of the public ones
    #[arg(long, env = "HOSTD_CA", value_name = "FILE")]
    ca: Option<PathBuf>,
    /// API key
    #[arg(long, env = "HOSTD_KEY", hide_env_values = true)]
    key: String,
    /// Logic-analyzer channel that listens to the target; as the device is wired if left out
    #[arg(long, value_name = "LA")]
    rx: Option<u8>,
    /// Channel that talks to it
    #[arg(long, value_name = "LA")]
    tx: Option<u8>,
    /// Bits per second
    #[arg(long)]
    baud: Option<u32>,
    /// Parity bit of the line, for all who have it open; as it is if left out
    #[arg(long, value_parser = parities())]
    parity: Option<Parity>,
    /// End once the target has said this
    #[arg(long, value_name = "TEXT")]
    until: Option<String>,
    /// End after this time, such as 30s or 10m; a failure if --until waits for something
    #[arg(long = "for", value_name = "TIME", value_parser = parse_time)]
    time: Option<Duration>,
}

impl Console {
    /// Carry bytes until either side ends it.
    ///
    /// # Errors
    /// The server cannot be reached, refuses, or ends the stream; or the awaited text does not come.
    pub fn run(self, out: &mut impl Write) -> anyhow::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .context("start the async runtime")?;
        runtime.block_on(async {
            let socket = tokio::time::timeout(OPEN_WAIT, self.open()).await;
            let socket = socket.context("reach the server in time")??;
            let carried = self.carry(socket, out);
            let Some(time) = self.time else {
                return carried.await;
            };
            match (tokio::time::timeout(time, carried).await, &self.until) {
                (Ok(ended), _) => ended,
                (Err(_), None) => Ok(()),
                (Err(_), Some(text)) => bail!("hear {text:?} from the target within {time:?}"),
            }
        })
    }

    async fn open(&self) -> anyhow::Result<Socket> {
        let server = Server::new(&self.url, &self.key, self.ca.as_deref())?;
        let request = upgrade::request(&server, &self.path()).context("open the console")?;
        let connection = upgrade::connect(&server).await?;
        match tokio_tungstenite::client_async(request, connection).await {
            Ok((socket, _)) => Ok(socket),
            Err(Error::Http(answer)) => bail!("{}", upgrade::refused(&answer)),
            Err(error) => Err(error).context("open the console"),
        }
    }

    /// Below the URL of the API.
    fn path(&self) -> String {
        let known = [
            ("rx", self.rx.map(u32::from)),
            ("tx", self.tx.map(u32::from)),
            ("baud", self.baud),
        ];
        let query: Vec<String> = known
            .iter()
            .filter_map(|(name, value)| Some(format!("{name}={}", (*value)?)))
            .collect();
        let device = &self.device;
        format!("/bench/devices/{device}/uart/ws?{}", query.join("&"))
    }

    async fn carry(&self, mut socket: Socket, out: &mut impl Write) -> anyhow::Result<()> {
        let mut typed = terminal()?;
        let mut awaited = self.until.as_deref().map(Awaited::new);
        // The one that the line does not have yet.
        let mut parity = self.parity;
        loop {
            tokio::select! {
                message = socket.next() => match message.transpose().context("listen")? {
                    Some(Message::Binary(bytes)) => {
                        out.write_all(&bytes).and_then(|()| out.flush()).context("print")?;
                        if awaited.as_mut().is_some_and(|text| text.is_in(&bytes)) {
                            let _ = socket.close(None).await;
                            return Ok(());
                        }
                    }
                    Some(Message::Text(text)) => {
                        let told: Value = serde_json::from_str(&text).unwrap_or_default();
                        match parity.map(|parity| (parity, Standing::of(parity, &told))) {
                            Some((_, Standing::Has)) => parity = None,
                            Some((parity, Standing::Lacks)) => {
                                let wish = json!({"type": "parity", "parity": parity});
                                let wish = Message::Text(wish.to_string().into());
                                socket.send(wish).await.context("send")?;
                            }
                            Some((parity, Standing::Refused(why))) => {
                                bail!("set the parity to {}: {why}", parity.name());
                            }
                            Some((_, Standing::Untold)) | None => {}
                        }
                        tell(&told);
                    }
                    Some(Message::Close(Some(close))) if close.code != CloseCode::Normal => {
                        bail!("go on: the server closed the console: {} {}", close.code, close.reason);
                    }
                    Some(Message::Close(_)) | None => return Ok(()),
                    Some(_) => {}
                },
                Some(bytes) = typed.recv(), if parity.is_none() => {
                    socket.send(Message::Binary(bytes.into())).await.context("send")?;
                }
            }
        }
    }
}

/// What `--parity` takes.
fn parities() -> impl TypedValueParser<Value = Parity> {
    let names = PossibleValuesParser::new(Parity::ALL.map(Parity::name));
    names.try_map(|name| Parity::named(&name).ok_or("no such parity"))
}

/// What a message of the server says of a parity that is wanted.
#[derive(Debug, PartialEq, Eq)]
enum Standing {
    /// The line has it.
    Has,
    /// It has another one.
    Lacks,
    /// It does not get it; why.
    Refused(String),
    /// Nothing.
    Untold,
}

impl Standing {
    fn of(wanted: Parity, told: &Value) -> Self {
        let word = |name: &str| told[name].as_str().unwrap_or_default();
        match word("type") {
            "open" | "parity" if word("parity") == wanted.name() => Self::Has,
            // The device has no parity bit.
            "open" if told["parity"].is_null() && wanted == Parity::None => Self::Has,
            "open" => Self::Lacks,
            "error" if matches!(word("code"), "setting_refused" | "read_only") => {
                Self::Refused(word("message").to_owned())
            }
            _ => Self::Untold,
        }
    }
}

/// What the user types. Its thread is left behind when the console ends, since nothing can
/// interrupt a read.
fn terminal() -> anyhow::Result<mpsc::Receiver<Vec<u8>>> {
    let (typed, lines) = mpsc::channel(TYPED_MAX);
    let read = move || {
        let mut bytes = [0; TYPED_BYTES];
        while let Ok(count @ 1..) = std::io::stdin().read(&mut bytes) {
            if typed.blocking_send(bytes[..count].to_vec()).is_err() {
                return;
            }
        }
    };
    let thread = std::thread::Builder::new().name("terminal".to_owned());
    thread.spawn(read).context("start a thread")?;
    Ok(lines)
}

/// Events of the line go to standard error, apart from the target's output.
fn tell(told: &Value) {
    let word = |name: &str| told[name].as_str().unwrap_or_default().to_owned();
    let line = match word("type").as_str() {
        "flash" | "update" => format!("{} {}", word("type"), word("state")),
        "error" => word("message"),
        "open" if told["because"] != "connected" => "open again".to_owned(),
        "overrun" => "some bytes are missing".to_owned(),
        _ => return,
    };
    // A terminal that is gone ends the console at its next byte.
    let _ = writeln!(std::io::stderr(), "[{line}]");
}

/// A text awaited in output that arrives in pieces.
struct Awaited {
    text: Vec<u8>,
    /// The last bytes, too few to be the whole text.
    last: Vec<u8>,
}

impl Awaited {
    fn new(text: &str) -> Self {
        Self {
            text: text.into(),
            last: Vec::new(),
        }
    }

    /// Whether these bytes complete it.
    fn is_in(&mut self, bytes: &[u8]) -> bool {
        self.last.extend_from_slice(bytes);
        if memchr::memmem::find(&self.last, &self.text).is_some() {
            return true;
        }
        let kept = self.text.len().saturating_sub(1).min(self.last.len());
        self.last.drain(..self.last.len() - kept);
        false
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[test]
    fn a_text_is_found_wherever_it_is_cut() {
        let said = b"noise APP_APP_OK and more";
        for cut in 0..said.len() {
            let mut awaited = Awaited::new("APP_OK");
            let found = [&said[..cut], &said[cut..]].map(|piece| awaited.is_in(piece));
            assert!(found.contains(&true), "{cut}");
        }
        let mut awaited = Awaited::new("APP_OK");
        assert!(said[..15].chunks(1).all(|byte| !awaited.is_in(byte)));
        assert!(awaited.is_in(b"K"));
        assert!(Awaited::new("").is_in(b"x"));
    }

    fn console(url: &str) -> Console {
        Console {
            device: "01X".into(),
            url: url.into(),
            ca: None,
            key: "bk_x".into(),
            rx: Some(3),
            tx: None,
            baud: Some(9600),
            parity: None,
            until: None,
            time: None,
        }
    }

    #[test]
    fn the_request_says_what_was_asked_for() {
        for url in ["http://bench:8800", "http://bench:8800/api/"] {
            let console = console(url);
            let server = Server::new(&console.url, &console.key, None).unwrap();
            let request = upgrade::request(&server, &console.path()).unwrap();
            let url = "ws://bench:8800/api/bench/devices/01X/uart/ws?rx=3&baud=9600";
            assert_eq!(request.uri().to_string(), url);
            assert_eq!(request.headers()["authorization"], "ApiKey bk_x");
        }
    }

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        console: Console,
    }

    #[test]
    fn a_parity_is_one_of_three_or_left_out() {
        let parsed = |args: &[&str]| {
            let line = [&["hostd", "01X", "--key", "bk_x"], args].concat();
            Line::try_parse_from(line).map(|line| line.console.parity)
        };
        assert_eq!(parsed(&[]).unwrap(), None);
        for parity in Parity::ALL {
            let args = ["--parity", parity.name()];
            assert_eq!(parsed(&args).unwrap(), Some(parity));
        }
        for odd in ["mark", "Even"] {
            let refused = parsed(&["--parity", odd]).unwrap_err().to_string();
            assert!(refused.contains("none, even, odd"), "{refused}");
        }
    }

    #[test]
    fn the_line_says_how_it_stands_to_a_parity() {
        let of = |told: Value| Standing::of(Parity::Even, &told);
        assert_eq!(of(json!({"type": "open"})), Standing::Lacks);
        let odd = json!({"type": "open", "parity": "odd"});
        assert_eq!(of(odd.clone()), Standing::Lacks);
        let even = json!({"type": "open", "parity": "even"});
        assert_eq!(of(even), Standing::Has);
        // What another client wanted comes first.
        assert_eq!(
            of(json!({"type": "parity", "parity": "odd"})),
            Standing::Untold
        );
        assert_eq!(
            of(json!({"type": "parity", "parity": "even"})),
            Standing::Has
        );
        for code in ["setting_refused", "read_only"] {
            let refused = json!({"type": "error", "code": code, "message": "no"});
            assert_eq!(of(refused), Standing::Refused("no".to_owned()));
        }
        let lost = json!({"type": "error", "code": "device_offline", "message": "x"});
        assert_eq!(of(lost), Standing::Untold);
        // Without the bit there is none.
        let none = json!({"type": "open"});
        assert_eq!(Standing::of(Parity::None, &none), Standing::Has);
        assert_eq!(Standing::of(Parity::None, &odd), Standing::Lacks);
    }
}
