//! The host's side of a jail's network: slirp4netns, a program that turns the frames of a jail into sockets of an
//! ordinary user of the host. It is started before the jail has its namespaces, and gets some of its own: one of
//! processes, with which all of it ends; one of mounts, where the socket of its frames is that nobody else finds and
//! that leaves nothing; and one of users, in which it has no rights. It belongs to the jail's groups, and ends with the
//! jail: by the end of a pipe that init has, by a parent-death signal, and by outer.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, FdFlags};
use rustix::mount::{MountFlags, mount};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use rustix::process::{
    Gid, Pid, Resource, Signal, Uid, WaitId, WaitIdOptions, WaitOptions, kill_process,
    set_parent_process_death_signal, waitid, waitpid,
};
use rustix::thread::UnshareFlags;

use super::interface::{NETWORK_V4, PACKET_BYTES_MAX};
use super::{At, Failure, exec, kernel, leave, outer};
use crate::wire::{Network, Step};

/// Sockets and other descriptors of slirp4netns: the most connections of one jail.
const DESCRIPTORS_MAX: u64 = 4096;

/// How long slirp4netns may take to start. Usually it takes a hundredth of that.
pub(super) const START_WITHIN: Duration = Duration::from_secs(5);

/// How long to wait before it is looked again whether slirp4netns listens.
const LOOK_AFTER: Duration = Duration::from_micros(500);

/// The most of what slirp4netns says that is kept.
pub(super) const COMPLAINT_BYTES_MAX: usize = 2 << 10;

/// What slirp4netns says without there being any trouble.
const SAID_ALWAYS: [&str; 3] = ["Waiting for connection", "tapfd", "experimental"];

/// A folder that every machine has, in place of which slirp4netns sees an empty one, and the socket in there.
const FOLDER: &str = "/proc";
const SOCKET: &str = "/proc/frames";

/// Bounds of that folder.
const FOLDER_OPTIONS: &std::ffi::CStr = c"size=4k,nr_inodes=4,mode=700";

/// Addresses of no service, to ask the kernel for a route. Nothing is sent there.
const ANYWHERE_V4: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 1);
const ANYWHERE_V6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);

/// Something that there is for one version of IP or for both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Families {
    pub(super) v4: bool,
    pub(super) v6: bool,
}

/// What init gets of it.
pub(super) struct Uplink {
    /// Frames, one with each message.
    pub(super) socket: OwnedFd,
    /// With this, slirp4netns ends.
    pub(super) held: PipeWriter,
    /// What slirp4netns says. Reading does not wait.
    pub(super) complaints: PipeReader,
    /// Where the host has a route to.
    pub(super) families: Families,
    /// Where the host has a resolver.
    pub(super) resolvers: Families,
    /// Addresses of the host.
    pub(super) own: Vec<IpAddr>,
}

/// Starts slirp4netns as a child of this process, which has become the slot's user and is still in the host's
/// namespaces. Fails at once when the server lets go of the jail.
pub(super) fn start(
    network: &Network,
    groups: &[OwnedFd],
    control: &OwnedFd,
) -> Result<(Pid, Uplink), Failure> {
    let failed = || Step::Network("start slirp4netns".to_owned());
    let families = routes();
    if families == Families::default() {
        let no_route = Err(Errno::NETUNREACH);
        return no_route.at(Step::Network("find a way out of this machine".to_owned()));
    }
    let resolvers = resolvers(&std::fs::read("/etc/resolv.conf").unwrap_or_default());
    let own = kernel::own_addresses().at(failed())?;
    let (lifeline, held) = io::pipe().at(failed())?;
    let (mut complaints, complains) = io::pipe().at(failed())?;
    rustix::io::ioctl_fionbio(&complaints, true).at(failed())?;
    let user = (rustix::process::geteuid(), rustix::process::getegid());
    let namespaces = UnshareFlags::NEWUSER | UnshareFlags::NEWNS | UnshareFlags::NEWPID;
    let Some(child) = kernel::fork_into(namespaces).at(failed())? else {
        drop((held, complaints));
        let told = complains.try_clone();
        let error = become_slirp4netns(network, groups, user, &lifeline, complains, families);
        if let Ok(mut told) = told {
            let _ = writeln!(told, "{error}");
        }
        leave(1);
    };
    drop((lifeline, complains));
    let socket = match reach(child, control) {
        Ok(socket) => socket,
        Err(error) => {
            let _ = kill_process(child, Signal::KILL);
            let _ = waitpid(Some(child), WaitOptions::empty());
            return Err(failure(&mut complaints, error));
        }
    };
    let uplink = Uplink {
        socket,
        held,
        complaints,
        families,
        resolvers,
        own,
    };
    Ok((child, uplink))
}

/// Connects to slirp4netns as soon as it listens.
fn reach(child: Pid, control: &OwnedFd) -> io::Result<OwnedFd> {
    let path = format!("/proc/{}/root{SOCKET}", child.as_raw_nonzero());
    let address = SocketAddrUnix::new(path)?;
    let flags = SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
    let begun = Instant::now();
    loop {
        match connect(&socket, &address) {
            Ok(()) => return Ok(socket),
            // Its folder, its socket or the queue of that is not there yet.
            Err(Errno::ACCESS | Errno::NOENT | Errno::CONNREFUSED)
                if begun.elapsed() < START_WITHIN => {}
            Err(error) => return Err(error.into()),
        }
        // It is not reaped, so that its number remains its own.
        let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        if waitid(WaitId::Pid(child), ended)?.is_some() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        // The server never sends anything.
        let pause = Timespec::try_from(LOOK_AFTER).ok();
        if poll(&mut [PollFd::new(control, PollFlags::IN)], pause.as_ref())? > 0 {
            return Err(Errno::CANCELED.into());
        }
    }
}

/// The end of the network, with the last of what slirp4netns says about it.
pub(super) fn failure(complaints: &mut PipeReader, error: io::Error) -> Failure {
    let mut said = Vec::new();
    let mut part = [0; COMPLAINT_BYTES_MAX];
    while let Ok(bytes @ 1..) = complaints.read(&mut part) {
        said.extend(&part[..bytes]);
        said.drain(..said.len().saturating_sub(COMPLAINT_BYTES_MAX));
    }
    let what = match complaint(&String::from_utf8_lossy(&said)) {
        Some(complaint) => format!("reach the network by slirp4netns, which says: {complaint}"),
        None => "reach the network by slirp4netns".to_owned(),
    };
    Failure {
        step: Step::Network(what),
        error,
    }
}

/// The last line that tells of trouble.
fn complaint(said: &str) -> Option<&str> {
    let mut lines = said.lines().map(str::trim);
    let is_trouble = |line: &str| {
        let is_usual = SAID_ALWAYS.iter().any(|usual| line.contains(usual));
        !line.is_empty() && !is_usual
    };
    lines.rfind(|line| is_trouble(line))
}

/// Returns only if it cannot.
fn become_slirp4netns(
    network: &Network,
    groups: &[OwnedFd],
    user: (Uid, Gid),
    lifeline: &PipeReader,
    complains: PipeWriter,
    families: Families,
) -> io::Error {
    let prepare = || -> io::Result<()> {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // The parent may have ended before that.
        let mut ended = [PollFd::new(lifeline, PollFlags::empty())];
        if poll(&mut ended, Some(&Timespec::default()))? != 0 {
            return Err(io::Error::from_raw_os_error(libc::ESRCH));
        }
        for group in groups {
            // This process, whichever number it has.
            rustix::io::write(group, b"0")?;
        }
        outer::map(user.0, user.1)?;
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        mount(c"tmpfs", FOLDER, c"tmpfs", flags, FOLDER_OPTIONS)?;
        exec::set(Resource::Nofile, DESCRIPTORS_MAX)?;
        exec::set(Resource::Core, 0)?;
        // Across the next program, and only this one.
        Ok(rustix::io::fcntl_setfd(lifeline, FdFlags::empty())?)
    };
    if let Err(error) = prepare() {
        return error;
    }
    Command::new(&network.slirp4netns)
        .args(arguments(lifeline.as_raw_fd(), families))
        .env_clear()
        .current_dir(Path::new("/"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(complains)
        .exec()
}

/// No address inside stands for the host's loopback.
fn arguments(lifeline: i32, families: Families) -> Vec<String> {
    let mut arguments = vec![
        "--target-type=bess".to_owned(),
        "--disable-host-loopback".to_owned(),
        format!("--cidr={}/{}", NETWORK_V4.first, NETWORK_V4.bits),
        format!("--mtu={PACKET_BYTES_MAX}"),
        format!("--exit-fd={lifeline}"),
    ];
    if families.v6 {
        arguments.push("--enable-ipv6".to_owned());
    }
    arguments.push(SOCKET.to_owned());
    arguments
}

/// For which versions of IP this machine has a route to the world.
fn routes() -> Families {
    let has_route = |from: IpAddr, to: IpAddr| {
        let socket = UdpSocket::bind((from, 0));
        socket.is_ok_and(|socket| socket.connect((to, 9)).is_ok())
    };
    Families {
        v4: has_route(Ipv4Addr::UNSPECIFIED.into(), ANYWHERE_V4.into()),
        v6: has_route(Ipv6Addr::UNSPECIFIED.into(), ANYWHERE_V6.into()),
    }
}

/// Of which versions of IP there is a resolver in a resolv.conf(5).
fn resolvers(text: &[u8]) -> Families {
    let text = String::from_utf8_lossy(text);
    let mut found = Families::default();
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        if words.next() != Some("nameserver") {
            continue;
        }
        // A link-local address has its interface behind it.
        let address = words.next().and_then(|word| word.split('%').next());
        match address.and_then(|address| address.parse().ok()) {
            Some(IpAddr::V4(_)) => found.v4 = true,
            Some(IpAddr::V6(_)) => found.v6 = true,
            None => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resolvers_are_told_by_version() {
        let of = |text: &str| resolvers(text.as_bytes());
        let (v4, v6) = (true, true);
        assert_eq!(
            of("# nameserver 1.1.1.1\nsearch lan\n"),
            Families::default()
        );
        assert_eq!(of("nameserver 127.0.0.53\n"), Families { v4, v6: false });
        assert_eq!(of("nameserver\tfe80::1%eth0\n"), Families { v4: false, v6 });
        assert_eq!(
            of("nameserver ::1\nnameserver 10.0.0.1"),
            Families { v4, v6 }
        );
    }

    #[test]
    fn the_host_s_loopback_is_nowhere() {
        for v6 in [true, false] {
            let arguments = arguments(7, Families { v4: true, v6 }).join(" ");
            for needed in [
                "--disable-host-loopback",
                "--cidr=192.0.0.0/25",
                "--exit-fd=7",
            ] {
                assert!(arguments.contains(needed), "{arguments}");
            }
            assert_eq!(arguments.contains("--enable-ipv6"), v6);
            assert!(arguments.ends_with(" /proc/frames"), "{arguments}");
        }
    }

    #[test]
    fn the_last_trouble_is_told() {
        let usual = "Waiting for connection to /proc/frames\nreceived tapfd=5\n\n";
        assert_eq!(complaint(usual), None);
        assert_eq!(complaint(&format!("first\nlast\n{usual}")), Some("last"));
    }
}
