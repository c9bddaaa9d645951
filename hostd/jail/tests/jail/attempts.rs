//! Attempts to get out of a jail: each is a system call or an access that must be refused.
//!
//! Most of them succeed outside, as root: a test tries that too, so that none is refused because it is
//! wrong.
#![allow(
    unsafe_code,
    reason = "an attack is a raw system call; this program is run by tests alone"
)]

use std::ffi::{CString, c_long};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process::ExitCode;

/// The argument that makes this program run an attempt.
pub(crate) const MARK: &str = "attempt";

/// An attempt, and whether root outside a jail can make it without harm to the machine.
pub(crate) struct Attempt {
    pub(crate) name: &'static str,
    pub(crate) works_outside: bool,
    attack: fn() -> io::Result<()>,
}

const fn works(name: &'static str, attack: fn() -> io::Result<()>) -> Attempt {
    Attempt {
        name,
        works_outside: true,
        attack,
    }
}

/// An attempt that does harm outside, or needs something that a machine may not have.
const fn harms(name: &'static str, attack: fn() -> io::Result<()>) -> Attempt {
    Attempt {
        name,
        works_outside: false,
        attack,
    }
}

pub(crate) const ATTEMPTS: &[Attempt] = &[
    // Namespaces inside this one, by each call that makes them.
    works("unshare a user namespace", || unshare(libc::CLONE_NEWUSER)),
    works("unshare a mount namespace", || unshare(libc::CLONE_NEWNS)),
    works("unshare a network namespace", || {
        unshare(libc::CLONE_NEWNET)
    }),
    works("clone into a user namespace", || clone(libc::CLONE_NEWUSER)),
    works("clone into a process namespace", || {
        clone(libc::CLONE_NEWPID)
    }),
    works("clone3 into a user namespace", || {
        clone3(libc::CLONE_NEWUSER)
    }),
    works("enter a namespace", || {
        let namespace = File::open("/proc/self/ns/uts")?;
        call(libc::SYS_setns, [fd(&namespace), 0, 0, 0, 0])
    }),
    // Mounts.
    harms("mount a file system", || {
        let (kind, place) = (c"tmpfs".as_ptr() as c_long, c"/job".as_ptr() as c_long);
        call(libc::SYS_mount, [kind, place, kind, 0, 0])
    }),
    harms("make the root writable", || {
        let flags = (libc::MS_REMOUNT | libc::MS_BIND).cast_signed();
        call(libc::SYS_mount, [0, c"/".as_ptr() as c_long, 0, flags, 0])
    }),
    harms("unmount /usr", || {
        let detach = c_long::from(libc::MNT_DETACH);
        call(
            libc::SYS_umount2,
            [c"/usr".as_ptr() as c_long, detach, 0, 0, 0],
        )
    }),
    harms("change the root", || {
        call(libc::SYS_chroot, [c"/job".as_ptr() as c_long, 0, 0, 0, 0])
    }),
    harms("swap the root", || {
        let here = c".".as_ptr() as c_long;
        call(libc::SYS_pivot_root, [here, here, 0, 0, 0])
    }),
    works("open a file system", || {
        call(libc::SYS_fsopen, [c"tmpfs".as_ptr() as c_long, 0, 0, 0, 0])
    }),
    works("copy a mount", || {
        let here = c_long::from(libc::AT_FDCWD);
        let root = c"/".as_ptr() as c_long;
        call(libc::SYS_open_tree, [here, root, 1, 0, 0])
    }),
    // Other processes.
    works("be traced", || call(libc::SYS_ptrace, [0; 5])),
    harms("trace init", || {
        const SEIZE: c_long = 0x4206;
        call(libc::SYS_ptrace, [SEIZE, 1, 0, 0, 0])
    }),
    harms("read init's memory", || {
        let mut byte = [0_u8];
        let slice = [byte.as_mut_ptr() as usize, 1];
        let slice = slice.as_ptr() as c_long;
        call(libc::SYS_process_vm_readv, [1, slice, 1, slice, 1])
    }),
    harms("open init's memory", || opens("/proc/1/mem", true)),
    harms("list init's root", || lists("/proc/1/root/")),
    harms("list init's descriptors", || lists("/proc/1/fd")),
    harms("read init's environment", || {
        opens("/proc/1/environ", false)
    }),
    harms("find the server's program", || {
        fs::read_link("/proc/1/exe").map(drop)
    }),
    harms("take init's descriptor", || {
        // SAFETY: a plain call.
        let process = unsafe { libc::syscall(libc::SYS_pidfd_open, 1, 0) };
        call(libc::SYS_pidfd_getfd, [process, 3, 0, 0, 0])
    }),
    // The kernel.
    works("make a ring", || {
        let mut settings = [0_u8; 256];
        let settings = settings.as_mut_ptr() as c_long;
        call(libc::SYS_io_uring_setup, [1, settings, 0, 0, 0])
    }),
    works("use a keyring", || {
        const SESSION: c_long = -3;
        call(libc::SYS_keyctl, [0, SESSION, 1, 0, 0])
    }),
    harms("add a key", || {
        const PROCESS: c_long = -2;
        let (user, name) = (c"user".as_ptr() as c_long, c"jail".as_ptr() as c_long);
        call(libc::SYS_add_key, [user, name, name, 1, PROCESS])
    }),
    works("load a table for programs in the kernel", || {
        // An array of one number.
        let map: [u32; 16] = [2, 4, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        call(libc::SYS_bpf, [0, map.as_ptr() as c_long, 64, 0, 0])
    }),
    works("count events of the kernel", || {
        // A clock in software: 128 bytes, of which the first two numbers are kind and size.
        let mut event = [0_u32; 32];
        (event[0], event[1]) = (1, 128);
        call(
            libc::SYS_perf_event_open,
            [event.as_ptr() as c_long, 0, -1, -1, 0],
        )
    }),
    works("handle faults", || call(libc::SYS_userfaultfd, [0; 5])),
    harms("load a module", || {
        call(libc::SYS_init_module, [0, 0, c"".as_ptr() as c_long, 0, 0])
    }),
    harms("load a module's file", || {
        call(libc::SYS_finit_module, [0, c"".as_ptr() as c_long, 0, 0, 0])
    }),
    harms("remove a module", || {
        call(
            libc::SYS_delete_module,
            [c"none".as_ptr() as c_long, 0, 0, 0, 0],
        )
    }),
    harms("load another kernel", || call(libc::SYS_kexec_load, [0; 5])),
    harms("restart the machine", || {
        call(
            libc::SYS_reboot,
            [0xfee1_dead, 0x2812_1969, 0x0123_4567, 0, 0],
        )
    }),
    works("read the kernel's log", || {
        let mut bytes = [0_u8; 64];
        call(
            libc::SYS_syslog,
            [3, bytes.as_mut_ptr() as c_long, 64, 0, 0],
        )
    }),
    harms("name the machine", || {
        call(libc::SYS_sethostname, [c"x".as_ptr() as c_long, 1, 0, 0, 0])
    }),
    harms("set the clock", || {
        let time = [1_u64, 0];
        call(
            libc::SYS_clock_settime,
            [0, time.as_ptr() as c_long, 0, 0, 0],
        )
    }),
    works("get a handle of a file", || {
        let mut handle = [0_u8; 256];
        handle[0] = 128;
        let mut mount = 0_i32;
        let (handle, mount) = (handle.as_mut_ptr() as c_long, (&raw mut mount) as c_long);
        let here = c_long::from(libc::AT_FDCWD);
        let path = c"/usr".as_ptr() as c_long;
        call(libc::SYS_name_to_handle_at, [here, path, handle, mount, 0])
    }),
    harms("open a file by a handle", || {
        let handle = [8_u32, 1, 2, 0];
        call(
            libc::SYS_open_by_handle_at,
            [0, handle.as_ptr() as c_long, 0, 0, 0],
        )
    }),
    // Sockets that belong to no network namespace.
    harms("reach a virtual machine's host", || {
        socket(libc::AF_VSOCK, libc::SOCK_STREAM, 0)
    }),
    harms("use the kernel's ciphers", || {
        socket(libc::AF_ALG, libc::SOCK_SEQPACKET, 0)
    }),
    works("see raw packets", || {
        socket(libc::AF_PACKET, libc::SOCK_RAW, 0)
    }),
    works("send raw packets", || {
        socket(libc::AF_INET, libc::SOCK_RAW, libc::IPPROTO_ICMP)
    }),
    // Devices and rights.
    works("make a device", || {
        let path = CString::new(format!("/tmp/jail-device-{}", std::process::id())).unwrap();
        let null = libc::makedev(1, 3).cast_signed();
        let mode = c_long::from(libc::S_IFCHR | 0o600);
        let here = c_long::from(libc::AT_FDCWD);
        let made = call(
            libc::SYS_mknodat,
            [here, path.as_ptr() as c_long, mode, null, 0],
        );
        let _ = fs::remove_file(path.to_str().unwrap());
        made
    }),
    works("become root", || call(libc::SYS_setuid, [0; 5])),
    works("raise the own limit", || {
        let limit = [libc::RLIM_INFINITY; 2];
        let core = c_long::from(libc::RLIMIT_CORE.cast_signed());
        call(
            libc::SYS_prlimit64,
            [0, core, limit.as_ptr() as c_long, 0, 0],
        )
    }),
    works("be first", || {
        call(libc::SYS_setpriority, [0, 0, -20, 0, 0])
    }),
    // Files of the host and of the kernel.
    works("read passwords", || opens("/etc/shadow", false)),
    works("write the system's programs", || {
        OpenOptions::new()
            .append(true)
            .open("/usr/bin/env")
            .map(drop)
    }),
    harms("press a magic key", || opens("/proc/sysrq-trigger", true)),
    harms("read the kernel's memory", || opens("/proc/kcore", false)),
    harms("write a setting of the kernel", write_settings),
    harms("see a control group", || lists("/sys/fs/cgroup")),
];

/// Runs the attempt of this name. The exit code is 0 if it was refused.
pub(crate) fn run(arguments: &[&str]) -> ExitCode {
    let found = ATTEMPTS.iter().find(|attempt| arguments == [attempt.name]);
    match (found.expect("a name of an attempt").attack)() {
        Err(error) => {
            println!("refused: {error}");
            ExitCode::SUCCESS
        }
        Ok(()) => {
            println!("done");
            ExitCode::FAILURE
        }
    }
}

fn call(number: c_long, with: [c_long; 5]) -> io::Result<()> {
    let [a, b, c, d, e] = with;
    // SAFETY: none: whatever it does to this process, the process ends after it.
    match unsafe { libc::syscall(number, a, b, c, d, e) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

fn fd(file: &File) -> c_long {
    c_long::from(file.as_raw_fd())
}

fn unshare(flag: i32) -> io::Result<()> {
    call(libc::SYS_unshare, [c_long::from(flag), 0, 0, 0, 0])
}

fn clone(flag: i32) -> io::Result<()> {
    let flags = c_long::from(flag | libc::SIGCHLD);
    // SAFETY: without a separate stack the child continues in a copy of this one, as after a fork.
    end_child(unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) })
}

fn clone3(flag: i32) -> io::Result<()> {
    let mut arguments = [0_u64; 11];
    arguments[0] = u64::from(flag.cast_unsigned());
    arguments[4] = u64::from(libc::SIGCHLD.cast_unsigned());
    // SAFETY: as above.
    end_child(unsafe {
        libc::syscall(
            libc::SYS_clone3,
            arguments.as_ptr(),
            size_of_val(&arguments),
        )
    })
}

fn end_child(cloned: c_long) -> io::Result<()> {
    match cloned {
        -1 => Err(io::Error::last_os_error()),
        // SAFETY: nothing of this process needs cleaning up in the copy.
        0 => unsafe { libc::_exit(0) },
        _ => Ok(()),
    }
}

fn socket(family: i32, kind: i32, protocol: i32) -> io::Result<()> {
    // SAFETY: the descriptor belongs to nobody else.
    match unsafe { libc::socket(family, kind, protocol) } {
        -1 => Err(io::Error::last_os_error()),
        socket => {
            // SAFETY: as above.
            drop(unsafe { OwnedFd::from_raw_fd(socket) });
            Ok(())
        }
    }
}

fn opens(path: &str, to_write: bool) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.read(!to_write).write(to_write).open(path).map(drop)
}

fn lists(folder: &str) -> io::Result<()> {
    fs::read_dir(folder).map(drop)
}

/// Writes every setting that exists, with its present value. The settings of a process itself are left
/// out.
fn write_settings() -> io::Result<()> {
    let mut folders = vec![std::path::PathBuf::from("/proc/sys")];
    let mut refused = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
                continue;
            }
            let value = fs::read(entry.path()).unwrap_or_else(|_| b"1".to_vec());
            let opened = OpenOptions::new().write(true).open(entry.path());
            // Anybody may open some of them, but only some users may write.
            if opened.and_then(|mut file| file.write_all(&value)).is_ok() {
                println!("{} was written", entry.path().display());
                return Ok(());
            }
            refused += 1;
        }
    }
    assert!(100 < refused, "only {refused} settings were found");
    Err(io::ErrorKind::PermissionDenied.into())
}
