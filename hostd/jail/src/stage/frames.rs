//! Carries frames between a jail's interface and slirp4netns: out those that the gate lets pass, in all that come.
//!
//! Init does this beside relaying connections. One frame waits on its way out at most: while slirp4netns is busy the
//! kernel queues the others, and drops what is too much, as any network does.

use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{RecvFlags, SendFlags, recv, send};

use super::Failure;
use super::gate::Gate;
use super::greeting;
use super::interface::PACKET_BYTES_MAX;
use super::relay::unless_blocked;
use super::uplink::{COMPLAINT_BYTES_MAX, Families, START_WITHIN, Uplink, failure};

/// The longest frame: a packet and its Ethernet header.
const FRAME_BYTES_MAX: usize = PACKET_BYTES_MAX as usize + 14;

/// Frames in one direction before others get their turn.
const FRAMES_PER_STEP: usize = 32;

/// How long after its first answer it may take for the other version of IP: it may see no way there.
const OTHER_WITHIN: Duration = Duration::from_millis(100);

/// The way of one jail into the network.
pub(super) struct Frames {
    tap: OwnedFd,
    slirp4netns: OwnedFd,
    complaints: PipeReader,
    /// What slirp4netns ends with.
    _held: PipeWriter,
    families: Families,
    gate: Gate,
    /// A frame, and how many bytes it has if slirp4netns has not taken it yet.
    out: Box<[u8]>,
    waiting: Option<usize>,
    /// Where a frame of slirp4netns comes to.
    into: Box<[u8]>,
}

impl Frames {
    /// Carries frames of `tap`, an interface that is up.
    pub(super) fn new(tap: OwnedFd, uplink: Uplink, gate: Gate) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&uplink.socket, true)?;
        Ok(Self {
            tap,
            slirp4netns: uplink.socket,
            complaints: uplink.complaints,
            _held: uplink.held,
            families: uplink.families,
            gate,
            out: vec![0; FRAME_BYTES_MAX].into(),
            waiting: None,
            into: vec![0; FRAME_BYTES_MAX].into(),
        })
    }

    /// Waits until slirp4netns answers, and tells for which versions of IP it does. None if `lifeline` ended first.
    pub(super) fn greet(&mut self, lifeline: BorrowedFd<'_>) -> io::Result<Option<Families>> {
        let mut answered = Families::default();
        let mut until = Instant::now() + START_WITHIN;
        let mut questions = greeting::questions(self.families).into_iter();
        while answered != self.families {
            self.send_out()?;
            if self.waiting.is_none()
                && let Some(question) = questions.next()
            {
                self.out[..question.len()].copy_from_slice(&question);
                self.waiting = Some(question.len());
                continue;
            }
            let mut fds = [
                PollFd::new(&self.slirp4netns, PollFlags::IN),
                PollFd::from_borrowed_fd(lifeline, PollFlags::IN),
            ];
            let left = until.saturating_duration_since(Instant::now());
            match poll(&mut fds, Timespec::try_from(left).ok().as_ref()) {
                Ok(0) if answered == Families::default() => {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                Ok(0) => break,
                Err(rustix::io::Errno::INTR) => continue,
                other => drop(other?),
            }
            if !fds[1].revents().is_empty() {
                return Ok(None);
            }
            if self.take_in(|_, frame| greeting::note(frame, &mut answered))? {
                until = until.min(Instant::now() + OTHER_WITHIN);
            }
        }
        Ok(Some(answered))
    }

    /// The end of the network, with what slirp4netns says about it.
    pub(super) fn failure(&mut self, error: io::Error) -> Failure {
        failure(&mut self.complaints, error)
    }

    /// The events after which a step can do something.
    pub(super) fn waits_for(&self) -> impl Iterator<Item = PollFd<'_>> {
        let mut wanted = PollFlags::IN;
        wanted.set(PollFlags::OUT, self.waiting.is_some());
        let tap = self.waiting.is_none().then_some(&self.tap);
        let fixed = [
            PollFd::new(&self.slirp4netns, wanted),
            PollFd::new(&self.complaints, PollFlags::IN),
        ];
        let tap = tap.map(|tap| PollFd::new(tap, PollFlags::IN));
        fixed.into_iter().chain(tap)
    }

    /// Carries some frames without waiting. An error is the end of the network.
    pub(super) fn step(&mut self) -> io::Result<()> {
        let mut ignored = [0; COMPLAINT_BYTES_MAX];
        let said = rustix::io::read(&self.complaints, &mut ignored);
        if unless_blocked(said)? == Some(0) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        for _ in 0..FRAMES_PER_STEP {
            if !self.take_in(deliver)? {
                break;
            }
        }
        for _ in 0..FRAMES_PER_STEP {
            self.send_out()?;
            if self.waiting.is_some() {
                break;
            }
            let Some(bytes) = unless_blocked(rustix::io::read(&self.tap, &mut *self.out))? else {
                break;
            };
            if self.gate.lets(&self.out[..bytes]) {
                self.waiting = Some(bytes);
            }
        }
        Ok(())
    }

    fn send_out(&mut self) -> io::Result<()> {
        if let Some(bytes) = self.waiting {
            let sent = send(&self.slirp4netns, &self.out[..bytes], SendFlags::NOSIGNAL);
            // A frame is taken as a whole or not at all.
            if unless_blocked(sent)?.is_some() {
                self.waiting = None;
            }
        }
        Ok(())
    }

    /// Does something with the next frame of slirp4netns. Returns whether there was one.
    fn take_in(&mut self, each: impl FnOnce(&OwnedFd, &[u8])) -> io::Result<bool> {
        let received = recv(&self.slirp4netns, &mut *self.into, RecvFlags::empty());
        match unless_blocked(received.map(|(bytes, _)| bytes))? {
            None => Ok(false),
            Some(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Some(bytes) => {
                each(&self.tap, &self.into[..bytes]);
                Ok(true)
            }
        }
    }
}

/// Hands a frame to the jail's interface.
fn deliver(tap: &OwnedFd, frame: &[u8]) {
    if !Gate::admits(frame) {
        return;
    }
    // What the kernel does not take is lost, as on any network.
    let _ = rustix::io::write(tap, frame);
}
