//! The way out of a jail: connections to [`RELAY_PORT`] on its loopback interface are forwarded to a
//! socket of the server. Bytes are copied without being inspected, so WebSockets pass like requests.
//!
//! Init serves all connections while no child needs reaping, with the buffer sizes below for each. It watches
//! the lifeline too, and ends the jail with it. It has no thread for that: while a thread is being made
//! signals are blocked, and then the kernel does not ignore those that a job sends to init.

use std::io::{self, PipeReader, Read};
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, Shutdown, SocketAddrUnix, SocketFlags, SocketType, connect, shutdown,
    socket_with,
};

use super::frames::Frames;
use super::uplink::Families;
use super::{At, Failure, leave};
use crate::spec::{RELAY_CONNECTIONS_MAX, RELAY_PORT};
use crate::wire::Step;

/// Bytes between reading at one end and writing at the other, for each direction of a connection.
const BUFFER_BYTES: usize = 32 << 10;

/// Bytes that are read when children end: a `struct signalfd_siginfo`, and there is at most one.
const CHILDREN_BYTES: usize = 128;

/// The relay of one jail, and its lifeline.
pub(super) struct Relay {
    lifeline: PipeReader,
    way_out: Option<(TcpListener, OwnedFd)>,
    connections: Vec<Connection>,
    frames: Option<Frames>,
}

impl Relay {
    /// Listens, if there is a socket to forward connections to.
    pub(super) fn listen(server: Option<OwnedFd>, lifeline: PipeReader) -> io::Result<Self> {
        let listen = |server| {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, RELAY_PORT))?;
            listener.set_nonblocking(true)?;
            io::Result::Ok((listener, server))
        };
        Ok(Self {
            lifeline,
            way_out: server.map(listen).transpose()?,
            connections: Vec::new(),
            frames: None,
        })
    }

    /// Waits for the byte that outer sends when its part is done.
    pub(super) fn wait_for_outer(&mut self) -> io::Result<()> {
        self.lifeline.read_exact(&mut [0])
    }

    /// Carries frames as well from now on. Returns when there is somebody to carry them to, and for which versions of IP.
    pub(super) fn carry(&mut self, mut frames: Frames) -> Result<Families, Failure> {
        match frames.greet(self.lifeline.as_fd()) {
            Ok(Some(families)) => {
                self.frames = Some(frames);
                Ok(families)
            }
            Ok(None) => leave(1),
            Err(error) => Err(frames.failure(error)),
        }
    }

    /// Serves until a child has ended. Ends the jail if the lifeline ends first.
    pub(super) fn serve_until(&mut self, children: BorrowedFd<'_>) -> Result<(), Failure> {
        loop {
            let listener = self.way_out.as_ref().map(|(listener, _)| listener);
            let listener = listener.filter(|_| self.connections.len() < RELAY_CONNECTIONS_MAX);
            let mut fds = vec![
                PollFd::new(&self.lifeline, PollFlags::IN),
                PollFd::from_borrowed_fd(children, PollFlags::IN),
            ];
            fds.extend(listener.map(|listener| PollFd::new(listener, PollFlags::IN)));
            fds.extend(self.connections.iter().flat_map(Connection::waits_for));
            fds.extend(self.frames.iter().flat_map(Frames::waits_for));
            match poll(&mut fds, None) {
                Err(Errno::INTR) => continue,
                other => other.at(Step::Relay)?,
            };
            let happened = |at: usize| !fds[at].revents().is_empty();
            if happened(0) {
                leave(1);
            }
            let (has_ended, called) = (happened(1), listener.is_some() && happened(2));
            drop(fds);
            self.connections
                .retain_mut(|connection| matches!(connection.step(), Ok(Progress::Open)));
            if let Some(frames) = &mut self.frames
                && let Err(error) = frames.step()
            {
                return Err(frames.failure(error));
            }
            if called {
                let connection = self.accept();
                self.connections.extend(connection);
            }
            if has_ended {
                let told = rustix::io::read(children, &mut [0; CHILDREN_BYTES]);
                return unless_blocked(told).map(drop).at(Step::Relay);
            }
        }
    }

    /// Accepts a connection. None if the client or the server no longer wants it.
    fn accept(&self) -> Option<Connection> {
        let (listener, server) = self.way_out.as_ref()?;
        let (client, _) = listener.accept().ok()?;
        client.set_nonblocking(true).ok()?;
        // Messages of WebSockets are small, and somebody waits for each.
        client.set_nodelay(true).ok()?;
        Connection::new(client.into(), connect_to(server).ok()?).into()
    }
}

/// Connects to a socket by a descriptor of its file: inside the jail, no path leads to it.
fn connect_to(server: &OwnedFd) -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    let path = format!("/proc/self/fd/{}", server.as_raw_fd());
    connect(&socket, &SocketAddrUnix::new(path)?)?;
    Ok(socket)
}

/// Whether a connection goes on.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Progress {
    Open,
    /// Both directions have ended and everything has been delivered.
    Done,
}

/// Two sockets: whatever one receives is sent by the other.
pub(super) struct Connection {
    client: OwnedFd,
    server: OwnedFd,
    up: Pump,
    down: Pump,
}

impl Connection {
    /// Both sockets must be non-blocking.
    pub(super) fn new(client: OwnedFd, server: OwnedFd) -> Self {
        Self {
            client,
            server,
            up: Pump::new(),
            down: Pump::new(),
        }
    }

    /// The events after which a step can do something. A socket from which nothing is needed is left out:
    /// once both its directions are closed it would be reported again and again.
    pub(super) fn waits_for(&self) -> impl Iterator<Item = PollFd<'_>> {
        let of = |fd, reads: &Pump, writes: &Pump| {
            let mut wanted = PollFlags::empty();
            wanted.set(PollFlags::IN, reads.has_room());
            wanted.set(PollFlags::OUT, writes.holds_bytes());
            (!wanted.is_empty()).then(|| PollFd::new(fd, wanted))
        };
        let ends = [
            of(&self.client, &self.up, &self.down),
            of(&self.server, &self.down, &self.up),
        ];
        ends.into_iter().flatten()
    }

    /// Copies as much as possible without waiting.
    pub(super) fn step(&mut self) -> io::Result<Progress> {
        self.up.step(&self.client, &self.server)?;
        self.down.step(&self.server, &self.client)?;
        Ok(if self.up.is_done() && self.down.is_done() {
            Progress::Done
        } else {
            Progress::Open
        })
    }
}

/// One direction of a connection.
struct Pump {
    buffer: Box<[u8]>,
    /// The range of bytes that have been read but not written yet.
    held: std::ops::Range<usize>,
    source_ended: bool,
    /// The end has been passed on.
    closed: bool,
}

impl Pump {
    fn new() -> Self {
        Self {
            buffer: vec![0; BUFFER_BYTES].into(),
            held: 0..0,
            source_ended: false,
            closed: false,
        }
    }

    fn has_room(&self) -> bool {
        !self.source_ended && !self.holds_bytes()
    }

    fn holds_bytes(&self) -> bool {
        !self.held.is_empty()
    }

    fn is_done(&self) -> bool {
        self.closed
    }

    fn step(&mut self, source: impl AsFd, sink: impl AsFd) -> io::Result<()> {
        if self.has_room()
            && let Some(read) = unless_blocked(rustix::io::read(source, &mut *self.buffer))?
        {
            self.held = 0..read;
            self.source_ended = read == 0;
        }
        if self.holds_bytes() {
            let bytes = &self.buffer[self.held.clone()];
            let sent = rustix::net::send(&sink, bytes, rustix::net::SendFlags::NOSIGNAL);
            self.held.start += unless_blocked(sent)?.unwrap_or_default();
        }
        if self.source_ended && !self.closed {
            // Closes only half of the connection: the other direction continues until it ends by
            // itself.
            self.closed = true;
            return match shutdown(&sink, Shutdown::Write) {
                // The receiving side has already closed both of its directions.
                Err(Errno::NOTCONN) => Ok(()),
                other => Ok(other?),
            };
        }
        Ok(())
    }
}

/// None if there is nothing to do yet.
pub(super) fn unless_blocked<T>(outcome: Result<T, Errno>) -> Result<Option<T>, Errno> {
    match outcome {
        Ok(done) => Ok(Some(done)),
        Err(Errno::AGAIN | Errno::INTR) => Ok(None),
        Err(error) => Err(error),
    }
}
