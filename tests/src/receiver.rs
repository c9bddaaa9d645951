//! Somebody who is told: an HTTP server that keeps what it gets, and answers as a test wants it to.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// Longest wait for a request that a test expects.
const WAIT: Duration = Duration::from_secs(60);

/// Between the bytes of a slow answer.
const DRIP: Duration = Duration::from_millis(50);

/// How requests are answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// With this status.
    Status(u16),
    /// With this status and one more header.
    With(u16, &'static str, String),
    /// Not at all, while the connection stays open.
    Silence,
    /// With success, and a body that never ends.
    Endless,
    /// With success, a byte at a time, for ever.
    Slow,
    /// With something that is no HTTP.
    Garbage,
}

/// A request.
#[derive(Debug, Clone)]
pub struct Received {
    pub method: String,
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: String,
    pub at: Instant,
}

#[derive(Debug)]
struct State {
    answer: Answer,
    seen: Vec<Received>,
}

/// A receiver on a free port, as long as the process lives.
#[derive(Debug, Clone)]
pub struct Receiver {
    address: SocketAddr,
    shared: Arc<(Mutex<State>, Condvar)>,
}

impl Received {
    /// First value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers.find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    /// The body.
    ///
    /// # Panics
    /// It is not JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect("the body is JSON")
    }
}

impl Receiver {
    /// Answers each request so.
    ///
    /// # Panics
    /// There is no free port.
    #[must_use]
    pub fn start(answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let state = State {
            answer,
            seen: Vec::new(),
        };
        let shared = Arc::new((Mutex::new(state), Condvar::new()));
        let receiver = Self { address, shared };
        let serving = receiver.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let receiver = serving.clone();
                thread::spawn(move || receiver.serve(stream));
            }
        });
        receiver
    }

    /// `http://127.0.0.1:port` and a path.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Answers otherwise from now on.
    pub fn answer(&self, answer: Answer) {
        self.state().answer = answer;
    }

    /// Everything that came so far.
    #[must_use]
    pub fn seen(&self) -> Vec<Received> {
        self.state().seen.clone()
    }

    /// Waits until requests came for which this holds.
    ///
    /// # Panics
    /// They do not come.
    pub fn until(&self, enough: impl Fn(&[Received]) -> bool) -> Vec<Received> {
        let (mutex, news) = &*self.shared;
        let guard = mutex.lock().unwrap_or_else(PoisonError::into_inner);
        let waits = |state: &mut State| !enough(&state.seen);
        let waited = news.wait_timeout_while(guard, WAIT, waits);
        let (state, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        assert!(!timeout.timed_out(), "only {:?}", state.seen);
        state.seen.clone()
    }

    /// Waits for this many requests.
    ///
    /// # Panics
    /// They do not come.
    #[must_use]
    pub fn wait_for(&self, count: usize) -> Vec<Received> {
        self.until(|seen| seen.len() >= count)
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, mut stream: TcpStream) {
        let Some(received) = read(&stream) else {
            return;
        };
        let answer = {
            let mut state = self.state();
            state.seen.push(received);
            state.answer.clone()
        };
        self.shared.1.notify_all();
        // A client that has left has its reasons.
        drop(say(&mut stream, &answer));
    }
}

fn read(stream: &TcpStream) -> Option<Received> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        match line.trim().split_once(':') {
            Some((name, value)) => {
                headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
            }
            None => break,
        }
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length
        .and_then(|(_, value)| value.parse().ok())
        .unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Received {
        method,
        path,
        headers,
        body: String::from_utf8(body).ok()?,
        at: Instant::now(),
    })
}

fn say(stream: &mut TcpStream, answer: &Answer) -> std::io::Result<()> {
    match answer {
        Answer::Status(status) => say_head(stream, *status, ""),
        Answer::With(status, name, value) => {
            say_head(stream, *status, &format!("{name}: {value}\r\n"))
        }
        Answer::Silence => loop {
            let mut rest = [0; 1];
            if stream.read(&mut rest)? == 0 {
                return Ok(());
            }
        },
        Answer::Endless => {
            stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")?;
            let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
            loop {
                stream.write_all(chunk.as_bytes())?;
            }
        }
        Answer::Slow => {
            stream.write_all(b"HTTP/1.1 200 OK\r\nX-Slow: ")?;
            loop {
                stream.write_all(b"x")?;
                thread::sleep(DRIP);
            }
        }
        Answer::Garbage => stream.write_all(b"\x16\x03\x01 nonsense\r\n\r\n"),
    }
}

fn say_head(stream: &mut TcpStream, status: u16, more: &str) -> std::io::Result<()> {
    let head =
        format!("HTTP/1.1 {status} Word\r\n{more}Content-Length: 0\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes())
}
