//! A process that only computes: it can, and everything else ends it or is refused.
#![allow(
    unsafe_code,
    reason = "an attack is a raw system call; this program is run by tests alone"
)]

use std::ffi::c_long;
use std::fs;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitCode, Output, Stdio};
use std::thread;

use crate::Case;
use crate::home::Home;

/// The argument that makes this program confine itself and then do something.
pub(crate) const MARK: &str = "compute";

pub(crate) const CASES: &[Case] = &[
    ("threads_and_memory_and_pipes_work", computes),
    ("files_are_refused", without_files),
    ("anything_else_ends_it", without_anything_else),
    ("the_attempts_are_made", attempted_outside),
];

/// What must end a process that only computes.
const FATAL: &[(&str, fn())] = &[
    ("socket", || drop(TcpStream::connect("127.0.0.1:9"))),
    ("execve", || drop(Command::new("/bin/true").exec())),
    ("fork", || {
        // SAFETY: the copy ends at once.
        if unsafe { libc::syscall(libc::SYS_clone, c_long::from(libc::SIGCHLD), 0, 0, 0, 0) } == 0 {
            // SAFETY: nothing of it is needed.
            unsafe { libc::_exit(0) }
        }
    }),
    ("kill", || {
        raw(libc::SYS_kill, [c_long::from(i32::MAX), 0, 0])
    }),
    ("a signal to a thread of another process", || {
        raw(libc::SYS_tgkill, [1, 1, 0])
    }),
    ("ptrace", || raw(libc::SYS_ptrace, [0, 0, 0])),
    ("io_uring_setup", || {
        raw(libc::SYS_io_uring_setup, [1, 0, 0])
    }),
    ("unlink", || drop(fs::remove_file("/job/nothing"))),
    ("chdir", || drop(std::env::set_current_dir("/"))),
    ("code of its own", || {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let prot = libc::PROT_EXEC | libc::PROT_READ;
        // SAFETY: new memory, which nothing uses.
        unsafe { libc::mmap(std::ptr::null_mut(), 4096, prot, flags, -1, 0) };
    }),
    ("dumpable", || {
        raw(libc::SYS_prctl, [c_long::from(libc::PR_SET_DUMPABLE), 1, 0])
    }),
];

fn raw(number: c_long, [a, b, c]: [c_long; 3]) {
    // SAFETY: whatever it does, this process is gone afterwards.
    let _ = unsafe { libc::syscall(number, a, b, c) };
}

/// Do what `rest` names, confined unless it says otherwise.
pub(crate) fn run(rest: &[&str]) -> ExitCode {
    if !rest.contains(&"free") {
        jail::only_compute().unwrap();
    }
    match rest.first() {
        Some(&"work") => work(),
        Some(&"files") => files(),
        Some(name) => {
            let (_, attempt) = FATAL.iter().find(|(known, _)| known == name).unwrap();
            attempt();
        }
        None => {}
    }
    ExitCode::SUCCESS
}

/// What comes in goes out turned round, by way of several threads and much memory.
fn work() {
    let mut bytes = Vec::new();
    io::stdin().read_to_end(&mut bytes).unwrap();
    let halves = bytes.len() / 2;
    let turned = |half: &[u8]| {
        let big = vec![1_u8; 8 << 20];
        let sum: u64 = big.iter().map(|&b| u64::from(b)).sum();
        assert_eq!(sum, 8 << 20);
        half.iter().rev().copied().collect::<Vec<u8>>()
    };
    assert!(thread::available_parallelism().is_ok());
    let own = c_long::from(std::process::id().cast_signed());
    // SAFETY: signal 0 is none; this asks whether the thread is there.
    let signalled = unsafe { libc::syscall(libc::SYS_tgkill, own, own, 0) };
    assert_eq!(signalled, 0);
    let (first, second) = thread::scope(|scope| {
        let first = scope.spawn(|| turned(&bytes[..halves]));
        let second = scope.spawn(|| turned(&bytes[halves..]));
        (first.join().unwrap(), second.join().unwrap())
    });
    io::stdout().write_all(&[second, first].concat()).unwrap();
}

fn files() {
    for path in ["/etc/passwd", "/proc/self/maps"] {
        let opened = fs::File::open(path).map(drop).unwrap_err();
        assert_eq!(opened.kind(), io::ErrorKind::PermissionDenied, "{path}");
    }
    let made = fs::write("/tmp/made-by-a-compiler", "x").unwrap_err();
    assert_eq!(made.kind(), io::ErrorKind::PermissionDenied);
    assert!(fs::metadata("/").is_err());
}

fn ran(home: &Home, arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(home.program())
        .arg(MARK)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It may be gone before it has read.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

fn computes(home: &Home) {
    let done = ran(home, &["work"], b"abcdef");
    assert!(done.status.success(), "{done:?}");
    assert_eq!(done.stdout, b"fedcba");
}

fn without_files(home: &Home) {
    let done = ran(home, &["files"], b"");
    assert!(done.status.success(), "{done:?}");
}

fn without_anything_else(home: &Home) {
    for (name, _) in FATAL {
        let done = ran(home, &[name], b"");
        assert_eq!(done.status.signal(), Some(libc::SIGSYS), "{name}: {done:?}");
    }
}

/// None of them ends a process that is not confined.
fn attempted_outside(home: &Home) {
    for (name, _) in FATAL {
        let done = ran(home, &[name, "free"], b"");
        assert!(done.status.success(), "{name}: {done:?}");
    }
}
