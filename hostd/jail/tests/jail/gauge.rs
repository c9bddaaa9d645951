//! What a jail takes of the disk: counted while it runs, wherever it is.
#![allow(
    unsafe_code,
    reason = "a file is mapped without a wrapper; this program is run by tests alone"
)]

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{BufRead, BufReader, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::process::{Command, Stdio};
use std::time::Duration;

use jail::{ENTRY_BYTES, Usage};
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
    sendmsg, socketpair,
};
use rustix::process::{DumpableBehavior, set_dumpable_behavior};

use crate::Case;
use crate::home::{Home, SOON, piped};

pub(crate) const CASES: &[Case] = &[
    ("what_a_jail_takes_is_counted_wherever_it_is", counted),
    ("what_is_held_where_it_cannot_be_counted_is_noticed", hidden),
    ("a_gauge_ends_with_its_jail", ended),
    ("a_jail_is_ended_while_it_is_counted", killed),
];

/// What each way to hold a file takes.
const BYTES: usize = 3 << 20;

/// Files of the one that has many.
const MANY: u64 = 3000;

/// Holds a file and prints a line when it does.
pub(crate) fn hold(how: &str) {
    let path = if how == "tmp" { "/tmp/x" } else { "/job/x" };
    let mut held: Vec<OwnedFd> = Vec::new();
    match how {
        "named" => drop(write(path)),
        "unlinked" | "tmp" => {
            held.push(write(path));
            fs::remove_file(path).unwrap();
        }
        "shared" => {
            let file = write(path);
            fs::remove_file(path).unwrap();
            // Without the flag that closes it.
            let shared = rustix::io::dup(&file).unwrap();
            for _ in 0..3 {
                let sleep = Command::new("sleep")
                    .arg("600")
                    .stdin(Stdio::null())
                    .spawn();
                // It ends with the jail.
                std::mem::forget(sleep.unwrap());
            }
            held.push(shared);
        }
        "nameless" => {
            let mut options = OpenOptions::new();
            options.write(true).custom_flags(libc::O_TMPFILE);
            held.push(fill(options.open("/job").unwrap()));
        }
        "undumpable" => {
            set_dumpable_behavior(DumpableBehavior::NotDumpable).unwrap();
            held.push(write(path));
            fs::remove_file(path).unwrap();
        }
        "closed" => {
            fs::create_dir_all("/job/closed/sub").unwrap();
            drop(write("/job/closed/sub/x"));
            for folder in ["/job/closed/sub", "/job/closed", "/job"] {
                fs::set_permissions(folder, Permissions::from_mode(0o000)).unwrap();
            }
        }
        "mapped" => {
            let file = write(path);
            fs::remove_file(path).unwrap();
            map(&file);
        }
        "sent" => {
            let file = write(path);
            fs::remove_file(path).unwrap();
            held.extend(send(&file));
        }
        "many" => {
            for n in 0..MANY {
                File::create(format!("/job/{n}")).unwrap();
            }
        }
        other => panic!("nothing like {other:?}"),
    }
    println!("held");
    std::thread::sleep(SOON);
}

fn write(path: &str) -> OwnedFd {
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create_new(true).open(path);
    fill(file.unwrap())
}

fn fill(mut file: File) -> OwnedFd {
    file.write_all(&vec![1; BYTES]).unwrap();
    file.into()
}

/// Maps a page of the file, which then needs no descriptor.
fn map(file: &OwnedFd) {
    let (read, shared) = (libc::PROT_READ, libc::MAP_SHARED);
    // SAFETY: nothing is at the new place, and nothing is read from it.
    let mapped = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            4096,
            read,
            shared,
            file.as_raw_fd(),
            0,
        )
    };
    assert_ne!(mapped, libc::MAP_FAILED);
}

/// Sends the file to a socket that nobody reads.
fn send(file: &OwnedFd) -> [OwnedFd; 2] {
    let none = SocketFlags::empty();
    let (from, to) = socketpair(AddressFamily::UNIX, SocketType::STREAM, none, None).unwrap();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut rights = SendAncillaryBuffer::new(&mut space);
    let files = [file.as_fd()];
    assert!(rights.push(SendAncillaryMessage::ScmRights(&files)));
    let text = [std::io::IoSlice::new(b"x")];
    sendmsg(&from, &text, &mut rights, SendFlags::empty()).unwrap();
    [from, to]
}

/// What is counted of a jail that holds something.
fn usage(home: &Home, how: &str) -> Usage {
    let jail = home.jail();
    // Nothing of the one before.
    let spec = home.own(&["inside", "disk", how]);
    let mut child = jail.spawn(&spec, piped()).unwrap();
    let mut line = String::new();
    let mut said = BufReader::new(child.stdout.take().unwrap());
    said.read_line(&mut line).unwrap();
    assert_eq!(line, "held\n", "{how}");
    let mut gauge = child.gauge.take().unwrap();
    let first = gauge.read(SOON).unwrap().unwrap();
    let again = gauge.read(SOON).unwrap().unwrap();
    assert_eq!(first, again, "{how}");
    child.killer().kill();
    child.wait().unwrap();
    // So that the test's folder can be removed.
    for folder in ["", "closed", "closed/sub"] {
        let _ = fs::set_permissions(spec.job.join(folder), Permissions::from_mode(0o700));
    }
    first
}

fn counted(home: &Home) {
    for how in ["named", "unlinked", "shared", "nameless", "closed"] {
        let home = Home::new();
        let usage = usage(&home, how);
        let bytes = BYTES as u64;
        assert!(
            (bytes..bytes + (1 << 20)).contains(&usage.bytes),
            "{how}: {usage:?}"
        );
        assert!(!usage.hides && !usage.is_too_much, "{how}: {usage:?}");
        let files = if how == "closed" { 3 } else { 1 };
        assert_eq!(usage.files, files, "{how}");
    }
    // What is in memory is bounded as such.
    assert_eq!(usage(home, "tmp").bytes, 0);
    let usage = usage(home, "many");
    assert_eq!((usage.files, usage.bytes), (MANY, MANY * ENTRY_BYTES));
}

fn hidden(_: &Home) {
    for how in ["mapped", "sent", "undumpable"] {
        let home = Home::new();
        assert!(usage(&home, how).hides, "{how}");
    }
}

fn ended(home: &Home) {
    let jail = home.jail();
    let mut child = jail.spawn(&home.shell("true"), piped()).unwrap();
    let mut gauge = child.gauge.take().unwrap();
    child.wait().unwrap();
    assert_eq!(gauge.read(SOON).unwrap(), None);
    // Whoever lets go of a gauge lets the jail be.
    let mut child = jail
        .spawn(&home.shell("sleep 0.3; exit 7"), piped())
        .unwrap();
    drop(child.gauge.take());
    assert_eq!(child.wait().unwrap().how, jail::How::Exited(7));
}

fn killed(home: &Home) {
    let jail = home.jail();
    let spec = home.own(&["inside", "disk", "many"]);
    let mut child = jail.spawn(&spec, piped()).unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap());
    said.read_line(&mut String::new()).unwrap();
    let mut gauge = child.gauge.take().unwrap();
    let killer = child.killer();
    std::thread::scope(|scope| {
        scope.spawn(
            || while matches!(gauge.read(Duration::from_millis(5)), Ok(Some(_)) | Err(_)) {},
        );
        killer.kill();
        assert_eq!(child.wait().unwrap().how, jail::How::Killed);
    });
}
