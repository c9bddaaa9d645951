//! The messages between the server and the stages.
//!
//! There are three kinds of sockets, all of packets, so that a message arrives whole or not at all. On the
//! nursery's, the server sends one blueprint for each jail, with five descriptors: the jail's control socket, its gauge
//! and its standard streams. On a control socket the jail reports how it ended, where the first event counts; the
//! server sends nothing, but ends the jail by closing its half. On a gauge the server asks, by a number, what the jail
//! takes of the disk, and gets that with the number.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use serde::{Deserialize, Serialize};

use crate::reach::Reach;
use crate::spec::{Bind, Limits};
use crate::usage::Usage;

/// The longest blueprint, arguments and environment included: less than the 208 KiB that Linux buffers in a
/// socket.
pub(crate) const BLUEPRINT_BYTES_MAX: usize = 128 << 10;

/// The longest event: a step that names a path, and a number.
const EVENT_BYTES_MAX: usize = 8 << 10;

/// The descriptors that come with a blueprint.
const BLUEPRINT_DESCRIPTORS: usize = 5;

/// The longest answer of a gauge.
const COUNT_BYTES_MAX: usize = 1 << 10;

/// A jail as its stages must build it. Its environment may have secrets, so it is not to be shown.
#[derive(Serialize, Deserialize)]
pub(crate) struct Blueprint {
    pub(crate) program: String,
    pub(crate) arguments: Vec<String>,
    pub(crate) environment: Vec<(String, String)>,
    /// The host's folder that is `/job` inside.
    pub(crate) job: PathBuf,
    /// Where the command starts, below `/job`.
    pub(crate) folder: PathBuf,
    pub(crate) binds: Vec<Bind>,
    /// The host's folder that is the root inside, if not one with the host's `/usr`.
    pub(crate) root: Option<PathBuf>,
    /// The user to become on the host, if not the server's.
    pub(crate) uid: Option<u32>,
    /// The socket to which connections to the relay are forwarded.
    pub(crate) relay: Option<PathBuf>,
    pub(crate) network: Option<Network>,
    pub(crate) limits: Limits,
    /// The files through which a process joins its groups.
    pub(crate) groups: Vec<PathBuf>,
    pub(crate) makeshift: Makeshift,
}

/// The network of a jail.
#[derive(Serialize, Deserialize)]
pub(crate) struct Network {
    /// The program that is the host's side of it.
    pub(crate) slirp4netns: PathBuf,
    pub(crate) reach: Reach,
}

/// Bounds in place of those of missing groups.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Makeshift {
    /// Each process may have as much data as the whole jail should.
    pub(crate) memory: bool,
    pub(crate) processes: Option<ProcessBound>,
    /// The command has the lowest priority on the machine.
    pub(crate) cpu: bool,
}

/// How processes are counted without a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ProcessBound {
    /// By the number of process ids in the namespace.
    PidMax,
    /// By user, counted separately in each user namespace.
    PerUser,
}

/// A jail's report about itself.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Event {
    /// The command ended by itself.
    Exited(i32),
    /// A signal ended the command.
    Signaled(i32),
    /// The command ran for longer than it was allowed to.
    TimedOut,
    /// The server closed its half.
    Killed,
    /// There is no jail, because this step failed.
    Failed { step: Step, errno: i32 },
}

/// What a stage was doing when it failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Step {
    Blueprint,
    Fork,
    Streams,
    Groups,
    JobFolder,
    RelaySocket,
    User,
    Lifeline,
    Namespaces,
    Maps,
    Root,
    Tree(PathBuf),
    Bind(PathBuf),
    Devices,
    Proc,
    Tmp,
    Bounds,
    Pivot,
    Folder,
    Loopback,
    Relay,
    Tap,
    Interface,
    /// What cannot be done, with the reason.
    Network(String),
    Limits,
    Rights,
    Filter,
    Command(String),
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Blueprint => "read the blueprint",
            Self::Fork => "start a process",
            Self::Streams => "take the standard streams",
            Self::Groups => "join the control groups",
            Self::JobFolder => "enter the job's folder",
            Self::RelaySocket => "find the socket of the relay",
            Self::User => "become the slot's user",
            Self::Lifeline => "tie the jail to the server's life",
            Self::Namespaces => "make namespaces",
            Self::Maps => "map the user",
            Self::Root => "build the root",
            Self::Tree(path) => return write!(f, "make {} the root", path.display()),
            Self::Bind(path) => return write!(f, "show {} inside", path.display()),
            Self::Devices => "show the devices",
            Self::Proc => "mount /proc",
            Self::Tmp => "mount /tmp",
            Self::Bounds => "bound namespaces and processes",
            Self::Pivot => "enter the new root",
            Self::Folder => "enter the command's folder",
            Self::Loopback => "bring up loopback",
            Self::Relay => "listen for the relay",
            Self::Tap => "make a network interface with /dev/net/tun",
            Self::Interface => "configure the network interface",
            Self::Network(what) => what,
            Self::Limits => "set the limits of a process",
            Self::Rights => "give up all rights",
            Self::Filter => "install the filter of system calls",
            Self::Command(program) => return write!(f, "execute {program:?}"),
        })
    }
}

/// A blueprint with its descriptors.
#[derive(Debug)]
pub(crate) struct Request {
    /// The blueprint, still encoded.
    pub(crate) blueprint: Vec<u8>,
    pub(crate) control: OwnedFd,
    pub(crate) gauge: OwnedFd,
    /// Standard input, output and error.
    pub(crate) streams: [OwnedFd; 3],
}

/// Requests a jail from the nursery.
pub(crate) fn send_request(
    nursery: BorrowedFd<'_>,
    blueprint: &[u8],
    descriptors: [BorrowedFd<'_>; BLUEPRINT_DESCRIPTORS],
) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(BLUEPRINT_DESCRIPTORS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        return Err(io::Error::other(
            "no space for the descriptors of a blueprint",
        ));
    }
    sendmsg(
        nursery,
        &[IoSlice::new(blueprint)],
        &mut control,
        SendFlags::NOSIGNAL,
    )?;
    Ok(())
}

/// What the nursery receives.
#[derive(Debug)]
pub(crate) enum Asked {
    Request(Request),
    /// A blueprint without its descriptors, for which this process had no room. Its server sees the end of the
    /// control socket.
    Incomplete,
    /// The server is gone.
    End,
}

/// Waits for the next blueprint.
pub(crate) fn receive_request(server: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<Asked> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(BLUEPRINT_DESCRIPTORS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received = recvmsg(
        server,
        &mut [IoSliceMut::new(buffer)],
        &mut control,
        RecvFlags::CMSG_CLOEXEC,
    )?;
    if received.bytes == 0 {
        return Ok(Asked::End);
    }
    let mut descriptors: Vec<OwnedFd> = Vec::with_capacity(BLUEPRINT_DESCRIPTORS);
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            descriptors.extend(rights);
        }
    }
    let Ok([control, gauge, stdin, stdout, stderr]) =
        <[OwnedFd; BLUEPRINT_DESCRIPTORS]>::try_from(descriptors)
    else {
        return Ok(Asked::Incomplete);
    };
    Ok(Asked::Request(Request {
        blueprint: buffer[..received.bytes].to_vec(),
        control,
        gauge,
        streams: [stdin, stdout, stderr],
    }))
}

/// Tells the server what happened.
pub(crate) fn send_event(control: BorrowedFd<'_>, event: &Event) -> io::Result<()> {
    let message = serde_json::to_vec(event)?;
    rustix::net::send(control, &message, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Waits for the next event. None if nothing of the jail is left.
pub(crate) fn receive_event(control: BorrowedFd<'_>) -> io::Result<Option<Event>> {
    let mut buffer = [0; EVENT_BYTES_MAX];
    let length = loop {
        match rustix::net::recv(control, &mut buffer, RecvFlags::empty()) {
            Err(rustix::io::Errno::INTR) => {}
            // The jail ended before it had read everything it was sent, which was nothing.
            Err(rustix::io::Errno::CONNRESET) => break 0,
            other => break other?.0,
        }
    };
    if length == 0 {
        return Ok(None);
    }
    Ok(Some(serde_json::from_slice(&buffer[..length])?))
}

/// What a jail takes of the disk, or why that was not counted.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Count {
    /// Of the question.
    pub(crate) number: u32,
    pub(crate) usage: Option<Usage>,
    pub(crate) errno: i32,
}

/// Asks a jail what it takes of the disk.
pub(crate) fn send_question(gauge: impl AsFd, number: u32) -> io::Result<()> {
    rustix::net::send(gauge, &number.to_le_bytes(), SendFlags::NOSIGNAL)?;
    Ok(())
}

/// The next question. None if nobody asks any more.
pub(crate) fn receive_question(gauge: impl AsFd) -> io::Result<Option<u32>> {
    let mut bytes = [0; 4];
    let (_, length) = rustix::net::recv(gauge, &mut bytes, RecvFlags::empty())?;
    Ok((length == bytes.len()).then(|| u32::from_le_bytes(bytes)))
}

/// Answers it.
pub(crate) fn send_count(gauge: impl AsFd, count: &Count) -> io::Result<()> {
    let message = serde_json::to_vec(count)?;
    rustix::net::send(gauge, &message, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Waits for the next answer. None if the jail has ended.
pub(crate) fn receive_count(gauge: impl AsFd) -> io::Result<Option<Count>> {
    let mut buffer = [0; COUNT_BYTES_MAX];
    let length = match rustix::net::recv(gauge, &mut buffer, RecvFlags::empty()) {
        // It ended with a question that it had not read.
        Err(rustix::io::Errno::CONNRESET) => 0,
        other => other?.0,
    };
    if length == 0 {
        return Ok(None);
    }
    Ok(Some(serde_json::from_slice(&buffer[..length])?))
}
