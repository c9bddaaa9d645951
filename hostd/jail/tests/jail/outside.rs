//! The network that jails of these tests reach: a namespace of its own, in which the machine has addresses of all
//! kinds, so that nothing depends on the network of whoever runs the tests, and nothing is sent there.

#![allow(unsafe_code, reason = "unshare has no safe wrapper")]

use std::fs::File;
use std::io;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::process::Command;

use rustix::thread::UnshareFlags;

/// An address of an interface, as on a private network.
pub(crate) const OWN: &str = "10.1.2.3";
pub(crate) const OWN_V6: &str = "fd00:1::3";

/// Addresses that are not public, and are no interface's. Something listens there nevertheless.
pub(crate) const PRIVATE: [&str; 5] = [
    "169.254.169.254",
    "172.16.5.5",
    "192.168.7.7",
    "100.64.1.1",
    "fd12::7",
];

/// Public addresses.
pub(crate) const PUBLIC: [&str; 2] = ["9.9.9.9", "2600:9::9"];

/// Where names are resolved, and to what.
const RESOLVER: &str = "127.0.0.9";
const RESOLVED: [u8; 4] = [9, 9, 9, 9];

/// Makes it, for this process and all that it will start. Users may make network interfaces there, as on machines where
/// udev runs.
const SETUP: &str = "set -e
mount --make-rprivate /
mount -t tmpfs none /mnt
mknod -m 666 /mnt/tun c 10 200
mount --bind /mnt/tun /dev/net/tun
echo nameserver $RESOLVER >/mnt/resolv.conf
mount --bind /mnt/resolv.conf /etc/resolv.conf
ip link set lo up
ip link set out0 up
ip addr add $OWN/24 dev out0
ip addr add $OWN_V6/64 dev out0 nodad
ip route add default via 10.1.2.1
ip route add default via fd00:1::1
for address in $LOCAL; do ip route add local $address dev lo; done";

/// Leaves this process in that network, before it has any thread. An error says what is missing.
pub(crate) fn enter() -> Result<(), String> {
    if !rustix::process::geteuid().is_root() {
        return Err("only root makes the network that they need".to_owned());
    }
    let slirp4netns = jail::Options::default().slirp4netns;
    slirp4netns.ok_or("slirp4netns is not installed")?;
    let flags = UnshareFlags::NEWNS | UnshareFlags::NEWNET;
    // SAFETY: descriptors stay shared.
    unsafe { rustix::thread::unshare_unsafe(flags) }.map_err(|error| error.to_string())?;
    let interface = plug("out0").map_err(|error| format!("{}: {error}", "/dev/net/tun"))?;
    // For as long as this process lives.
    std::mem::forget(interface);
    let local = PRIVATE.iter().chain(&PUBLIC);
    let local: Vec<&str> = local.copied().collect();
    let made = Command::new("sh")
        .args(["-c", SETUP])
        .env("RESOLVER", RESOLVER)
        .env("OWN", OWN)
        .env("OWN_V6", OWN_V6)
        .env("LOCAL", local.join(" "))
        .output()
        .map_err(|error| error.to_string())?;
    if made.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&made.stderr).into_owned())
}

/// An interface that somebody listens to, who answers nothing.
fn plug(name: &str) -> io::Result<File> {
    let tun = File::options()
        .read(true)
        .write(true)
        .open("/dev/net/tun")?;
    let mut request = [0_u8; 40];
    request[..name.len()].copy_from_slice(name.as_bytes());
    let kind = u16::try_from(libc::IFF_TAP | libc::IFF_NO_PI).unwrap();
    request[16..18].copy_from_slice(&kind.to_ne_bytes());
    // SAFETY: the request is a `struct ifreq`, of 40 bytes.
    match unsafe { libc::ioctl(tun.as_raw_fd(), libc::TUNSETIFF, request.as_mut_ptr()) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(tun),
    }
}

/// Resolves every name, for as long as this process lives.
pub(crate) fn resolve_names() {
    let socket = UdpSocket::bind((RESOLVER, 53)).unwrap();
    std::thread::spawn(move || {
        let mut question = [0; 512];
        loop {
            let (bytes, from) = socket.recv_from(&mut question).unwrap();
            // The same with the bits of an answer, its count, and one address for the name at the beginning.
            let mut answer = question[..bytes].to_vec();
            answer[2..4].copy_from_slice(&[0x81, 0x80]);
            // Neither more names nor options.
            answer[8..12].fill(0);
            let end = 12 + answer[12..].iter().position(|byte| *byte == 0).unwrap() + 5;
            let is_v4 = answer[end - 4..end - 2] == [0, 1];
            answer.truncate(end);
            answer[6..8].copy_from_slice(&[0, u8::from(is_v4)]);
            if is_v4 {
                answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4]);
                answer.extend(RESOLVED);
            }
            socket.send_to(&answer, from).unwrap();
        }
    });
}
