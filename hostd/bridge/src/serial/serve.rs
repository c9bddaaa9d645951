//! One client of a UART, until it leaves or the line ends.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::{Asked, Codec, FromLine, Line, ToLine};

/// Bytes read from a client at once.
const READ_BYTES: usize = 4 << 10;

/// Bytes of the target that wait for a client: half a minute at 57600 bits per second.
const WAITING_BYTES_MAX: usize = 256 << 10;

/// Bytes that are encoded at once.
const WRITE_BYTES: usize = 4 << 10;

/// Bytes of answers that a client has not read, beyond which no more of its requests are read.
const ANSWER_BYTES_MAX: usize = 16 << 10;

/// Time for a client to take what is left when the line ends.
const LAST_WAIT: Duration = Duration::from_secs(1);

/// What became of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Served {
    /// The line ended; otherwise the client left.
    pub line_ended: bool,
    /// Bytes of the target that the client was too slow for.
    pub lost_bytes: u64,
}

/// What a client has not taken yet.
struct Outgoing {
    codec: Codec,
    /// Bytes of the target.
    waiting: BytesMut,
    /// What is written next, and how much of it has been.
    encoded: Vec<u8>,
    written: usize,
    lost_bytes: u64,
}

impl Outgoing {
    fn new(mut codec: Codec) -> Self {
        let mut encoded = Vec::new();
        codec.greet(&mut encoded);
        Self {
            codec,
            waiting: BytesMut::new(),
            encoded,
            written: 0,
            lost_bytes: 0,
        }
    }

    /// What to write now.
    fn next(&mut self) -> &[u8] {
        if self.written == self.encoded.len() {
            self.encoded.clear();
            self.written = 0;
            if !self.codec.is_suspended() {
                let count = self.waiting.len().min(WRITE_BYTES);
                let bytes = self.waiting.split_to(count);
                self.codec.encode(&bytes, &mut self.encoded);
            }
        }
        &self.encoded[self.written..]
    }

    /// The rest, whatever the client thinks of it.
    fn last(&mut self) -> &[u8] {
        let waiting = self.waiting.split();
        self.codec.encode(&waiting, &mut self.encoded);
        &self.encoded[self.written..]
    }

    fn has_room(&self) -> bool {
        self.encoded.len() < ANSWER_BYTES_MAX
    }

    /// What a client asks of the line.
    fn hear(&mut self, bytes: &[u8]) -> VecDeque<ToLine> {
        let mut wishes = VecDeque::new();
        for asked in self.codec.receive(bytes, &mut self.encoded) {
            match asked {
                Asked::Bytes(bytes) if bytes.is_empty() => {}
                Asked::Bytes(bytes) => wishes.push_back(ToLine::Bytes(bytes.into())),
                Asked::Baud(baud) => wishes.push_back(ToLine::Baud(baud)),
                Asked::Parity(parity) => wishes.push_back(ToLine::Parity(parity)),
                Asked::Break => wishes.push_back(ToLine::Break),
                Asked::Purge => self.waiting.clear(),
            }
        }
        wishes
    }

    fn tell(&mut self, told: &FromLine) {
        match told {
            FromLine::Bytes(bytes) => {
                let room = WAITING_BYTES_MAX.saturating_sub(self.waiting.len());
                let kept = bytes.len().min(room);
                self.waiting.extend_from_slice(&bytes[..kept]);
                self.lost_bytes += (bytes.len() - kept) as u64;
            }
            FromLine::Baud(baud) => self.codec.baud_is(*baud, &mut self.encoded),
            FromLine::Parity(parity) => self.codec.parity_is(*parity, &mut self.encoded),
            FromLine::Broke => self.codec.broke(&mut self.encoded),
        }
    }
}

/// Carries bytes between a client and a line until either ends.
///
/// # Errors
/// The client's connection failed.
pub async fn serve(
    client: impl AsyncRead + AsyncWrite,
    mut line: Line,
    codec: Codec,
) -> io::Result<Served> {
    let (mut from_client, mut to_client) = tokio::io::split(client);
    let mut out = Outgoing::new(codec);
    let mut said = vec![0; READ_BYTES];
    let mut wishes = VecDeque::new();
    let mut has_left = false;
    while !has_left || !wishes.is_empty() {
        let may_ask = !has_left && wishes.is_empty() && out.has_room();
        let next = out.next();
        tokio::select! {
            count = from_client.read(&mut said), if may_ask => {
                let count = count?;
                has_left = count == 0;
                wishes = out.hear(&said[..count]);
            }
            permit = line.to.reserve(), if !wishes.is_empty() => match permit {
                Ok(permit) => permit.send(wishes.pop_front().expect("there is one")),
                // The other half of the line ends, too, and says what came last.
                Err(_) => wishes.clear(),
            },
            told = line.from.recv() => {
                let Some(told) = told else {
                    let last = async {
                        to_client.write_all(out.last()).await?;
                        to_client.shutdown().await
                    };
                    // A client that does not read its last bytes is closed all the same.
                    let _ = tokio::time::timeout(LAST_WAIT, last).await;
                    return Ok(served(true, &out));
                };
                out.tell(&told);
            }
            count = to_client.write(next), if !next.is_empty() => {
                match count? {
                    0 => return Err(io::ErrorKind::WriteZero.into()),
                    count => out.written += count,
                }
                to_client.flush().await?;
            }
        }
    }
    Ok(served(false, &out))
}

fn served(line_ended: bool, out: &Outgoing) -> Served {
    Served {
        line_ended,
        lost_bytes: out.lost_bytes,
    }
}
