//! Requests that two servers in a row may read differently.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::breach::{Breach, Ground, Length, Seen};

/// Longest wait for an answer.
const ANSWER_WAIT: Duration = Duration::from_secs(5);

/// What each is, and the request.
const REQUESTS: [(&str, &str); 6] = [
    (
        "a length and chunks",
        "POST /api/auth/session HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    ),
    (
        "two lengths",
        "POST /api/auth/session HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}",
    ),
    (
        "an unknown encoding",
        "POST /api/auth/session HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ntransfer-encoding: xchunked\r\n\r\n0\r\n\r\n",
    ),
    (
        "lines that end with LF alone",
        "GET /healthz HTTP/1.1\nhost: a\n\n",
    ),
    ("no host", "GET /healthz HTTP/1.1\r\n\r\n"),
    (
        "two hosts",
        "GET /healthz HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n",
    ),
];

/// Ambiguous requests.
pub(crate) struct Smuggling;

impl Breach for Smuggling {
    fn name(&self) -> &'static str {
        "smuggling"
    }

    fn does(&self) -> &'static str {
        "requests whose end or host depends on who reads them"
    }

    fn takes_jobs(&self) -> bool {
        false
    }

    fn run(&self, ground: &Ground, _: Length, seen: &mut Seen) -> Result<()> {
        for (what, request) in REQUESTS {
            let mut stream = TcpStream::connect(ground.host.site.address).context("connect")?;
            stream.set_read_timeout(Some(ANSWER_WAIT))?;
            stream.write_all(request.as_bytes())?;
            let mut answer = [0; 12];
            // A connection that is closed without a word is a refusal as well.
            let begun = match stream.read_exact(&mut answer) {
                Ok(()) => String::from_utf8_lossy(&answer).into_owned(),
                Err(_) => "no answer".to_owned(),
            };
            seen.note(format!("{what}: {begun}"));
            let is_refused = begun.ends_with(" 400") || begun.ends_with(" 501");
            seen.expect(
                is_refused || begun == "no answer",
                format!("{what} is taken"),
            );
        }
        Ok(())
    }
}
