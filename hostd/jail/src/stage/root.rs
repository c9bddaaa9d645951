//! The file system of a jail, built next to the host's and then entered.
//!
//! Everything that is shown inside is a copy of its mount, taken before the new root covers anything,
//! restricted while it is visible nowhere, and then moved to its place: nothing below it stays writable that
//! should not be.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{AtFlags, CWD, FileType, Mode, mkdirat, mknodat, statat, symlinkat};
use rustix::mount::{
    MountFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags, mount, move_mount, open_tree, unmount,
};
use rustix::process::{chdir, pivot_root};

use super::interface::{RESOLVER_V4, RESOLVER_V6};
use super::kernel::{self, NO_DEV, NO_EXEC, NO_SUID, READ_ONLY};
use super::outer::write_at_once;
use super::uplink::Uplink;
use super::{At, Failure};
use crate::etc;
use crate::spec::{Limits, OWN_PROCESSES, PID_MAX_MIN, TREE_FOLDERS};
use crate::wire::{Blueprint, ProcessBound, Step};

/// Folders in the host's root that are links into `/usr` on most systems and separate folders on others.
const ROOT_FOLDERS: [&str; 4] = ["bin", "lib", "lib64", "sbin"];

/// The files of `/etc` that programs need to run: where libraries are, and which of several programs a name
/// means.
const ETC: [&str; 2] = ["etc/alternatives", "etc/ld.so.cache"];

/// Folders with the certificates by which programs tell servers apart, on various distributions. Only a jail with a
/// network has them.
const CERTIFICATES: [&str; 4] = [
    "etc/ca-certificates/extracted",
    "etc/pki/ca-trust/extracted",
    "etc/pki/tls/certs",
    "etc/ssl/certs",
];

/// Which servers programs ask for addresses.
const RESOLV_CONF: &str = "etc/resolv.conf";

/// The devices that exist inside.
const DEVICES: [&str; 5] = ["full", "null", "random", "urandom", "zero"];

/// Links in `/dev` that programs rely on. Shared memory consists of files in `/tmp`, and is bounded
/// with them.
const DEVICE_LINKS: [(&str, &str); 5] = [
    ("dev/fd", "/proc/self/fd"),
    ("dev/stdin", "/proc/self/fd/0"),
    ("dev/stdout", "/proc/self/fd/1"),
    ("dev/stderr", "/proc/self/fd/2"),
    ("dev/shm", "/tmp"),
];

/// The one folder that every host capable of jails has. The new root covers it for the moment until it
/// becomes the root.
const BESIDE: &str = "/proc";

/// Bounds of the root itself: folders and links, as many as binds may need, and a few one-line
/// files.
const ROOT_OPTIONS: &std::ffi::CStr = c"size=1m,nr_inodes=4096,mode=755";

/// Copies the mount of the tree that becomes the root, on the host's side and with the server's rights: the user that
/// the jail will be may not have access to it. None if it stays the server's user, whom [`build`] lets copy it.
pub(super) fn take_tree(blueprint: &Blueprint) -> Result<Option<OwnedFd>, Failure> {
    match &blueprint.root {
        Some(root) if blueprint.uid.is_some() => copy_of_tree(root).map(Some),
        _ => Ok(None),
    }
}

/// Builds the root and enters it. The current folder is the job's folder before, and the command's
/// after.
pub(super) fn build(
    blueprint: &Blueprint,
    tree: Option<OwnedFd>,
    uplink: Option<&Uplink>,
) -> Result<(), Failure> {
    let job = copy_of(Path::new("."), NO_SUID | NO_DEV).at(Step::JobFolder)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    if let Some(root) = &blueprint.root {
        let tree = tree.map_or_else(|| copy_of_tree(root), Ok)?;
        foreign(&tree, uplink).at(Step::Tree(root.clone()))?;
    } else {
        mount(c"tmpfs", BESIDE, c"tmpfs", flags, ROOT_OPTIONS).at(Step::Root)?;
        chdir(BESIDE).at(Step::Root)?;
        system()?;
        if let Some(uplink) = uplink {
            network(uplink)?;
        }
        devices().at(Step::Devices)?;
    }
    for bind in &blueprint.binds {
        let inside = bind.inside.strip_prefix("/").unwrap_or(&bind.inside);
        show(&bind.host, inside).at(Step::Bind(bind.host.clone()))?;
    }
    make_folder("job").at(Step::JobFolder)?;
    attach(&job, Path::new("job")).at(Step::JobFolder)?;
    make_folder("tmp").at(Step::Tmp)?;
    mount(c"tmpfs", c"tmp", c"tmpfs", flags, &*tmp(&blueprint.limits)).at(Step::Tmp)?;
    make_folder("proc").at(Step::Proc)?;
    let without_programs = flags | MountFlags::NOEXEC;
    mount(c"proc", c"proc", c"proc", without_programs, c"").at(Step::Proc)?;
    bound(blueprint).at(Step::Bounds)?;
    enter().at(Step::Pivot)?;
    chdir(Path::new("/job").join(&blueprint.folder)).at(Step::Folder)
}

/// The host's programs and libraries, and as much of `/etc` as they need.
fn system() -> Result<(), Failure> {
    show(Path::new("/usr"), Path::new("usr")).at(Step::Bind("/usr".into()))?;
    for name in ROOT_FOLDERS {
        let host = Path::new("/").join(name);
        let shown = match std::fs::read_link(&host) {
            Ok(target) => symlinkat(&target, CWD, name).map_err(io::Error::from),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(_) => show(&host, Path::new(name)),
        };
        shown.at(Step::Bind(host))?;
    }
    make_folder("etc").at(Step::Root)?;
    show_if_there(&ETC)?;
    for (name, text) in etc::own_files() {
        std::fs::write(Path::new("etc").join(name), text).at(Step::Root)?;
    }
    Ok(())
}

fn copy_of_tree(root: &Path) -> Result<OwnedFd, Failure> {
    let restricted = mount_of(root).and_then(|tree| {
        kernel::restrict_apart(tree.as_fd(), READ_ONLY | NO_SUID | NO_DEV)?;
        Ok(tree)
    });
    restricted.at(Step::Tree(root.to_owned()))
}

/// A tree that somebody else filled. Nothing is created in it, and no link of it is followed.
fn foreign(tree: &OwnedFd, uplink: Option<&Uplink>) -> io::Result<()> {
    attach(tree, Path::new(BESIDE))?;
    chdir(BESIDE)?;
    for name in TREE_FOLDERS {
        let stat = statat(CWD, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
            return Err(rustix::io::Errno::NOTDIR.into());
        }
    }
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    mount(c"tmpfs", c"dev", c"tmpfs", flags, ROOT_OPTIONS)?;
    devices()?;
    if let Some(uplink) = uplink {
        foreign_network(uplink)?;
    }
    let devices = open_tree(CWD, "dev", OpenTreeFlags::OPEN_TREE_CLOEXEC)?;
    kernel::restrict_alone(devices.as_fd(), READ_ONLY | NO_SUID | NO_DEV)
}

/// What programs need to find and to trust servers.
fn network(uplink: &Uplink) -> Result<(), Failure> {
    show_if_there(&CERTIFICATES)?;
    std::fs::write(RESOLV_CONF, resolv_conf(uplink)).at(Step::Root)
}

/// The same in a tree that somebody else filled, which has an empty file to mount upon. What it trusts is its own.
fn foreign_network(uplink: &Uplink) -> io::Result<()> {
    const MADE: &str = "dev/resolv.conf";
    for (name, kind) in [
        ("etc", FileType::Directory),
        (RESOLV_CONF, FileType::RegularFile),
    ] {
        let stat = statat(CWD, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if FileType::from_raw_mode(stat.st_mode) != kind {
            return Err(rustix::io::Errno::NOTDIR.into());
        }
    }
    std::fs::write(MADE, resolv_conf(uplink))?;
    let file = copy_of(Path::new(MADE), READ_ONLY | NO_SUID | NO_DEV)?;
    attach(&file, Path::new(RESOLV_CONF))?;
    std::fs::remove_file(MADE)
}

fn resolv_conf(uplink: &Uplink) -> String {
    let resolvers = uplink.resolvers;
    let v4 = (resolvers.v4 && uplink.families.v4).then(|| format!("nameserver {RESOLVER_V4}\n"));
    let v6 = (resolvers.v6 && uplink.families.v6).then(|| format!("nameserver {RESOLVER_V6}\n"));
    v4.into_iter().chain(v6).collect()
}

fn show_if_there(paths: &[&str]) -> Result<(), Failure> {
    for path in paths {
        let host = Path::new("/").join(path);
        match show(&host, Path::new(path)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            shown => shown.at(Step::Bind(host))?,
        }
    }
    Ok(())
}

fn devices() -> io::Result<()> {
    make_folder("dev")?;
    for name in DEVICES {
        let device = copy_of(&Path::new("/dev").join(name), NO_SUID | NO_EXEC)?;
        let inside = Path::new("dev").join(name);
        make_file(&inside)?;
        attach(&device, &inside)?;
    }
    for (link, target) in DEVICE_LINKS {
        symlinkat(target, CWD, link)?;
    }
    Ok(())
}

/// Makes a folder or file of the host readable inside.
fn show(host: &Path, inside: &Path) -> io::Result<()> {
    let copy = copy_of(host, READ_ONLY | NO_SUID | NO_DEV)?;
    let stat = rustix::fs::fstat(&copy)?;
    if let Some(above) = inside.parent() {
        make_folders(above)?;
    }
    if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
        make_folder(inside)?;
    } else {
        make_file(inside)?;
    }
    attach(&copy, inside)
}

fn copy_of(host: &Path, attributes: u64) -> io::Result<OwnedFd> {
    let copy = mount_of(host)?;
    kernel::restrict(copy.as_fd(), attributes)?;
    Ok(copy)
}

/// A copy of the mount at a path, which is visible nowhere yet.
fn mount_of(host: &Path) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE;
    Ok(open_tree(CWD, host, flags)?)
}

fn attach(copy: &OwnedFd, inside: &Path) -> io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    Ok(move_mount(copy, c"", CWD, inside, flags)?)
}

fn make_folders(path: &Path) -> io::Result<()> {
    let mut above = std::path::PathBuf::new();
    for part in path.components() {
        if let Component::Normal(name) = part {
            above.push(name);
            make_folder(&above)?;
        }
    }
    Ok(())
}

fn make_folder(path: impl rustix::path::Arg) -> io::Result<()> {
    match mkdirat(CWD, path, Mode::from_raw_mode(0o755)) {
        Err(rustix::io::Errno::EXIST) => Ok(()),
        made => Ok(made?),
    }
}

fn make_file(path: &Path) -> io::Result<()> {
    match mknodat(
        CWD,
        path,
        FileType::RegularFile,
        Mode::from_raw_mode(0o644),
        0,
    ) {
        Err(rustix::io::Errno::EXIST) => Ok(()),
        made => Ok(made?),
    }
}

/// Options of `/tmp`.
fn tmp(limits: &Limits) -> std::ffi::CString {
    let (size, inodes) = (limits.tmp_bytes, limits.tmp_inodes);
    let options = format!("size={size},nr_inodes={inodes},mode=1777");
    std::ffi::CString::new(options).unwrap_or_default()
}

/// Bounds that are written through the jail's own `/proc`, while this process may still do that.
fn bound(blueprint: &Blueprint) -> io::Result<()> {
    // No namespaces inside this one, whichever system call asks for them.
    write_at_once("proc/sys/user/max_user_namespaces", "0")?;
    if blueprint.makeshift.processes == Some(ProcessBound::PidMax) {
        let most = (blueprint.limits.processes + OWN_PROCESSES).max(PID_MAX_MIN);
        write_at_once("proc/sys/kernel/pid_max", &most.to_string())?;
    }
    Ok(())
}

/// Makes the current folder the root, to which nobody can write, and lets go of the host's root.
fn enter() -> io::Result<()> {
    let root = open_tree(CWD, ".", OpenTreeFlags::OPEN_TREE_CLOEXEC)?;
    kernel::restrict_alone(root.as_fd(), READ_ONLY | NO_SUID | NO_DEV)?;
    // The old root ends up on top of the new one, and is unmounted there: pivot_root(2).
    pivot_root(".", ".")?;
    unmount(".", UnmountFlags::DETACH)?;
    Ok(())
}
