//! The system calls of a jail for which no library offers safe functions.
#![allow(
    unsafe_code,
    reason = "fork, unshare, mount_setattr, interfaces, signals and close_range have no safe wrapper; each use says why it is sound"
)]

use std::io;
use std::net::IpAddr;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::process::Pid;
use rustix::thread::UnshareFlags;

/// Nothing can be changed or created below the mount.
pub(super) const READ_ONLY: u64 = 0x1;
/// Set-user-ID bits are ignored at `execve`.
pub(super) const NO_SUID: u64 = 0x2;
/// Device nodes cannot be opened.
pub(super) const NO_DEV: u64 = 0x4;
/// Nothing can be executed.
pub(super) const NO_EXEC: u64 = 0x8;

/// Forks this process. The new one gets `None`.
///
/// A stage has one thread: it is entered before the program has started any, and starts none.
pub(super) fn fork() -> io::Result<Option<Pid>> {
    // SAFETY: with one thread there is no lock that another thread could hold for ever in the copy.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        child => Ok(Pid::from_raw(child)),
    }
}

/// Forks this process into new namespaces, as [`fork`] does. With a process namespace the new one is PID 1 there.
pub(super) fn fork_into(namespaces: UnshareFlags) -> io::Result<Option<Pid>> {
    let flags = libc::c_long::from(namespaces.bits() | libc::SIGCHLD.cast_unsigned());
    let none: libc::c_long = 0;
    // SAFETY: as above; without a stack of its own and shared memory the copy goes on as after a fork.
    match unsafe { libc::syscall(libc::SYS_clone, flags, none, none, none, none) } {
        -1 => Err(io::Error::last_os_error()),
        child => Ok(i32::try_from(child).ok().and_then(Pid::from_raw)),
    }
}

/// Moves this process into new namespaces.
pub(super) fn unshare(flags: UnshareFlags) -> io::Result<()> {
    assert!(
        !flags.contains(UnshareFlags::FILES),
        "descriptors stay shared"
    );
    // SAFETY: the one unsound flag, which gives this thread a separate table of descriptors, was
    // refused.
    Ok(unsafe { rustix::thread::unshare_unsafe(flags) }?)
}

/// The argument of `mount_setattr(2)`, `struct mount_attr` of `linux/mount.h`.
#[repr(C)]
struct MountAttr {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

/// Adds attributes to a mount and to all mounts below it.
pub(super) fn restrict(mount: BorrowedFd<'_>, attributes: u64) -> io::Result<()> {
    set_attributes(mount, attributes, 0, libc::AT_RECURSIVE)
}

/// As [`restrict`]; and what is mounted below these mounts appears nowhere else.
pub(super) fn restrict_apart(mount: BorrowedFd<'_>, attributes: u64) -> io::Result<()> {
    set_attributes(mount, attributes, libc::MS_PRIVATE, libc::AT_RECURSIVE)
}

/// Adds attributes to a mount, but not to those below it.
pub(super) fn restrict_alone(mount: BorrowedFd<'_>, attributes: u64) -> io::Result<()> {
    set_attributes(mount, attributes, 0, 0)
}

fn set_attributes(
    mount: BorrowedFd<'_>,
    attributes: u64,
    propagation: u64,
    depth: i32,
) -> io::Result<()> {
    let wanted = MountAttr {
        set: attributes,
        clear: 0,
        propagation,
        user_namespace: 0,
    };
    let flags = libc::AT_EMPTY_PATH | depth;
    // SAFETY: the path is a C string, and the kernel reads exactly the given number of bytes of `wanted`.
    let failed = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            flags,
            &raw const wanted,
            size_of::<MountAttr>(),
        )
    };
    if failed == 0 {
        return Ok(());
    }
    Err(io::Error::last_os_error())
}

/// The device by which network interfaces are made.
pub(crate) const TUN: &str = "/dev/net/tun";

/// The argument of `TUNSETIFF`, `struct ifreq` of `netdevice(7)`.
#[repr(C)]
struct InterfaceRequest {
    name: [u8; libc::IFNAMSIZ],
    flags: i16,
    rest: [u8; 22],
}

/// Makes a network interface whose frames are read from and written to the descriptor, without waiting. It ends with
/// the descriptor.
pub(super) fn tap(name: &str) -> io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let tap = rustix::fs::open(TUN, flags, Mode::empty())?;
    let kind = libc::IFF_TAP | libc::IFF_NO_PI;
    let mut request = InterfaceRequest {
        name: [0; libc::IFNAMSIZ],
        flags: i16::try_from(kind).map_err(io::Error::other)?,
        rest: [0; 22],
    };
    let room = request.name.get_mut(..name.len());
    room.ok_or(io::ErrorKind::InvalidInput)?
        .copy_from_slice(name.as_bytes());
    // SAFETY: the kernel reads and writes no more than the structure, which has the size of its own.
    if unsafe { libc::ioctl(tap.as_raw_fd(), libc::TUNSETIFF, &raw mut request) } == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(tap)
}

/// The addresses of the interfaces of this network namespace.
pub(super) fn own_addresses() -> io::Result<Vec<IpAddr>> {
    let mut first = std::ptr::null_mut();
    // SAFETY: the list is written to the pointer, and released below.
    if unsafe { libc::getifaddrs(&raw mut first) } == -1 {
        return Err(io::Error::last_os_error());
    }
    let mut addresses = Vec::new();
    let mut entry: *const libc::ifaddrs = first;
    // SAFETY: each entry is valid until the list is released, and its address is null or as long as its family says.
    while let Some(interface) = unsafe { entry.as_ref() } {
        entry = interface.ifa_next;
        // SAFETY: as above.
        let family = unsafe { interface.ifa_addr.as_ref() }.map(|address| address.sa_family);
        match family.map(i32::from) {
            Some(libc::AF_INET) => {
                // SAFETY: as above.
                let address = unsafe {
                    interface
                        .ifa_addr
                        .cast::<libc::sockaddr_in>()
                        .read_unaligned()
                };
                addresses.push(IpAddr::from(address.sin_addr.s_addr.to_ne_bytes()));
            }
            Some(libc::AF_INET6) => {
                // SAFETY: as above.
                let address = unsafe {
                    interface
                        .ifa_addr
                        .cast::<libc::sockaddr_in6>()
                        .read_unaligned()
                };
                addresses.push(IpAddr::from(address.sin6_addr.s6_addr));
            }
            _ => {}
        }
    }
    // SAFETY: nothing of the list is used any more.
    unsafe { libc::freeifaddrs(first) };
    Ok(addresses)
}

/// A descriptor that becomes readable when a child has ended, in place of a signal.
pub(super) fn ended_children() -> io::Result<OwnedFd> {
    let mut signals = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    let flags = libc::SFD_CLOEXEC | libc::SFD_NONBLOCK;
    // SAFETY: the set is filled before it is used, and lives as long as the calls; the new descriptor has no
    // other owner.
    unsafe {
        libc::sigemptyset(signals.as_mut_ptr());
        libc::sigaddset(signals.as_mut_ptr(), libc::SIGCHLD);
        if libc::sigprocmask(libc::SIG_BLOCK, signals.as_ptr(), std::ptr::null_mut()) == -1 {
            return Err(io::Error::last_os_error());
        }
        match libc::signalfd(-1, signals.as_ptr(), flags) {
            -1 => Err(io::Error::last_os_error()),
            descriptor => Ok(OwnedFd::from_raw_fd(descriptor)),
        }
    }
}

/// Removes the standard library's handlers for memory faults, which report stack overflows.
///
/// A signal for which init has no handler cannot be sent to it from inside.
pub(super) fn forget_handlers() -> io::Result<()> {
    for signal in [libc::SIGSEGV, libc::SIGBUS] {
        // SAFETY: the default action runs no code of this program.
        if unsafe { libc::signal(signal, libc::SIG_DFL) } == libc::SIG_ERR {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Closes every descriptor with which this process was started, except the three standard ones.
pub(super) fn close_inherited() -> io::Result<()> {
    // SAFETY: called first in this program, when nothing in it owns a descriptor above 2.
    if unsafe { libc::close_range(3, u32::MAX, 0) } == 0 {
        return Ok(());
    }
    Err(io::Error::last_os_error())
}
