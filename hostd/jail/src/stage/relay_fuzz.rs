//! A fuzz entry: whatever a program in a jail and the server do with the two ends of a relayed connection.

use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;

use super::relay::{Connection, Progress};

/// Bytes that are read at once.
const READ_BYTES: usize = 20_000;

/// Steps that take a connection to its end, at most, once both peers have closed their halves.
const STEPS_MAX: usize = 100_000;

/// One end, as its owner sees it.
struct Peer {
    /// None once it is dropped.
    socket: Option<UnixStream>,
    sent: Vec<u8>,
    heard: Vec<u8>,
    is_closed: bool,
    has_ended: bool,
}

impl Peer {
    fn say(&mut self, bytes: &[u8]) {
        if let Some(socket) = self.socket.as_mut().filter(|_| !self.is_closed) {
            // One that cannot be written to takes nothing.
            let count = socket.write(bytes).unwrap_or_default();
            self.sent.extend_from_slice(&bytes[..count]);
        }
    }

    fn close(&mut self) {
        if let Some(socket) = &self.socket {
            // The other one may be gone.
            let _ = socket.shutdown(Shutdown::Write);
            self.is_closed = true;
        }
    }

    fn hear(&mut self) {
        let Some(socket) = &mut self.socket else {
            return;
        };
        let mut buffer = vec![0; READ_BYTES];
        match socket.read(&mut buffer) {
            Ok(0) => self.has_ended = true,
            Ok(count) => self.heard.extend_from_slice(&buffer[..count]),
            Err(error) => self.has_ended |= error.kind() != ErrorKind::WouldBlock,
        }
    }
}

/// Plays a script: a byte with what is done (bits 0 and 1: say, hear, close, drop) by whom (bit 2), and to say
/// something a byte with how much of it. The relay takes a step after each.
///
/// # Panics
/// If somebody hears what nobody said, or, when both have only closed their halves, not all of it; if the relay does
/// not come to an end; or if there are no sockets.
pub fn connection(script: &[u8]) {
    let pair = || {
        let (outer, inner) = UnixStream::pair().expect("a pair of sockets");
        for socket in [&outer, &inner] {
            socket.set_nonblocking(true).expect("a socket");
        }
        (outer, inner)
    };
    let ((client, inner_client), (server, inner_server)) = (pair(), pair());
    let mut connection = Some(Connection::new(inner_client.into(), inner_server.into()));
    let mut peers = [client, server].map(|socket| Peer {
        socket: Some(socket),
        sent: Vec::new(),
        heard: Vec::new(),
        is_closed: false,
        has_ended: false,
    });
    let mut script = script.iter();
    while let Some(what) = script.next() {
        let peer = &mut peers[usize::from(what >> 2 & 1)];
        match what & 3 {
            0 => {
                let count = script.next().copied().unwrap_or_default();
                peer.say(&vec![*what ^ count; usize::from(count) * 257]);
            }
            1 => peer.hear(),
            2 => peer.close(),
            _ => peer.socket = None,
        }
        step(&mut connection);
    }
    let is_whole = peers.iter().all(|peer| peer.socket.is_some());
    let mut steps = 0;
    while connection.is_some() || peers.iter().any(|p| p.socket.is_some() && !p.has_ended) {
        for peer in &mut peers {
            peer.close();
            peer.hear();
        }
        step(&mut connection);
        steps += 1;
        assert!(steps < STEPS_MAX, "the relay does not come to its end");
    }
    let [client, server] = &peers;
    for (heard, sent) in [(&client.heard, &server.sent), (&server.heard, &client.sent)] {
        assert!(sent.starts_with(heard), "somebody heard what nobody said");
        assert!(!is_whole || heard.len() == sent.len(), "something was lost");
    }
}

/// As init does: a connection that has failed or is done is closed.
fn step(connection: &mut Option<Connection>) {
    let goes_on = |connection: &mut Connection| matches!(connection.step(), Ok(Progress::Open));
    if !connection.as_mut().is_some_and(goes_on) {
        *connection = None;
    }
}
