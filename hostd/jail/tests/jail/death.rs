//! Deaths without warning: of the server at any moment, of the nursery, and of a jail.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

use jail::{Error, How, Jail, Options, Slot, Spec, Streams};
use rustix::process::{Pid, Signal, kill_process};

use crate::Case;
use crate::home::{Home, eventually, finish, piped, processes_with, run};

/// The argument that makes this program a server for a test to kill.
pub(crate) const SERVER: &str = "server";

pub(crate) const CASES: &[Case] = &[
    ("a_killed_server_leaves_nothing", server_killed),
    ("a_killed_nursery_is_replaced", nursery_killed),
    ("a_killed_jail_is_lost_and_leaves_nothing", outer_killed),
    ("a_dropped_server_leaves_nothing", dropped),
];

/// Jails that the server has at the same time.
const JAILS: u16 = 3;

/// Makes jails endlessly, each with several processes, some that end soon and some that stay.
pub(crate) fn serve(arguments: &[&str]) -> ExitCode {
    let [mark] = arguments else {
        panic!("a mark is needed");
    };
    let home = Home::new();
    let jail = Jail::open(&Options {
        program: mark.into(),
        groups: true,
        slirp4netns: None,
    })
    .unwrap();
    println!("ready");
    std::thread::scope(|scope| {
        for slot in 0..JAILS {
            let (jail, home) = (&jail, &home);
            scope.spawn(move || {
                for round in 0.. {
                    let script = if round % 2 == 0 {
                        "true"
                    } else {
                        "setsid sh -c 'sleep 100' & sh -c 'sleep 0.05'"
                    };
                    let slot_of = Slot::new(slot).unwrap();
                    let spec = Spec::new("/bin/sh", home.job(slot), slot_of)
                        .arguments(["-c", script, mark]);
                    let end = jail.spawn(&spec, Streams::default()).unwrap().wait();
                    assert_eq!(end.unwrap().how, How::Exited(0));
                }
            });
        }
    });
    ExitCode::SUCCESS
}

fn start_server(home: &Home) -> Child {
    let mark = home.program();
    let mut server = Command::new(home.program())
        .args([SERVER, mark.to_str().unwrap()])
        // The server's folders, so that they are removed with this test's.
        .env("TMPDIR", home.path().join("tmp"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let stdout = server.stdout.take().unwrap();
    BufReader::new(stdout).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    server
}

fn mounts() -> String {
    std::fs::read_to_string("/proc/self/mounts").unwrap()
}

fn server_killed(home: &Home) {
    let temporary = home.path().join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let mark = home.program();
    let mark = mark.to_str().unwrap();
    let before = mounts();
    // Of servers in groups that no server of this test looks into.
    let foreign = orphaned_groups();
    let mut random = fastrand::Rng::with_seed(12);
    for _ in 0..12 {
        let mut server = start_server(home);
        std::thread::sleep(Duration::from_micros(random.u64(..60_000)));
        server.kill().unwrap();
        server.wait().unwrap();
        eventually("the end of all that the server started", || {
            processes_with(mark).is_empty()
        });
    }
    assert_eq!(mounts(), before);
    // The next server removes the groups: these, and not those of servers that are killed meanwhile.
    let mut left = orphaned_groups();
    let jail = home.jail();
    left.retain(|group| group.exists() && !foreign.contains(group));
    assert_eq!(left, Vec::<std::path::PathBuf>::new());
    assert_eq!(
        run(&jail, &home.shell("true")).unwrap().end.how,
        How::Exited(0)
    );
}

/// Group folders of this user whose server is gone, in all hierarchies of this machine.
fn orphaned_groups() -> Vec<std::path::PathBuf> {
    let mut orphaned = Vec::new();
    let mut folders = vec![std::path::PathBuf::from("/sys/fs/cgroup")];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
            let name = entry.file_name();
            if !name.to_string_lossy().starts_with("hostd-jails-") {
                folders.push(entry.path());
                continue;
            }
            let Ok(folder) = std::fs::File::open(entry.path()) else {
                continue;
            };
            let owner = folder.metadata().map(|found| found.uid());
            if owner.ok() != Some(rustix::process::geteuid().as_raw()) {
                continue;
            }
            let lock = rustix::fs::FlockOperation::NonBlockingLockExclusive;
            if rustix::fs::flock(&folder, lock).is_ok() && entry.path().exists() {
                orphaned.push(entry.path());
            }
        }
    }
    orphaned
}

fn kill(process: u32) {
    let process = Pid::from_raw(process.cast_signed()).unwrap();
    kill_process(process, Signal::KILL).unwrap();
}

fn parent(process: u32) -> u32 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("PPid:"));
    line.and_then(|number| number.trim().parse().ok())
        .unwrap_or_default()
}

/// The child of this process among the processes with its copy of the program.
fn nursery(home: &Home) -> u32 {
    let this = std::process::id();
    let mut found = None;
    // A program that has just been executed has no arguments for a moment.
    eventually("a nursery", || {
        let named = processes_with(home.program().to_str().unwrap());
        found = named.into_iter().find(|process| parent(*process) == this);
        found.is_some()
    });
    found.unwrap()
}

fn holding(home: &Home, jail: &Jail) -> jail::Child {
    let mut child = jail.spawn(&home.own(&["inside", "hold"]), piped()).unwrap();
    let mut line = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut line).unwrap();
    assert_eq!(line, "holding\n");
    child.stdout = Some(stdout.into_inner());
    child
}

fn nursery_killed(home: &Home) {
    let jail = home.jail();
    let child = holding(home, &jail);
    let killed = nursery(home);
    kill(killed);
    assert!(matches!(finish(child), Err(Error::Lost)));
    eventually("another nursery", || {
        match run(&jail, &home.shell("true")) {
            Ok(outcome) => outcome.end.how == How::Exited(0),
            Err(error) => {
                assert!(matches!(error, Error::Lost), "{error}");
                false
            }
        }
    });
    eventually("the end of the first one's jails", || {
        processes_with(home.program().to_str().unwrap()).len() == 1
    });
    assert_ne!(nursery(home), killed);
}

fn outer_killed(home: &Home) {
    let jail = home.jail();
    let nursery = nursery(home);
    for above in [false, true] {
        let child = holding(home, &jail);
        let found = processes_with(home.program().to_str().unwrap());
        let outer = found
            .iter()
            .copied()
            .find(|process| parent(*process) == nursery);
        let outer = outer.unwrap();
        let init = found
            .iter()
            .copied()
            .find(|process| parent(*process) == outer);
        kill(if above { outer } else { init.unwrap() });
        assert!(matches!(finish(child), Err(Error::Lost)));
        eventually("the end of the rest", || {
            processes_with(home.program().to_str().unwrap()) == [nursery]
        });
    }
}

fn dropped(home: &Home) {
    let jail = home.jail();
    let child = holding(home, &jail);
    drop(jail);
    assert!(matches!(finish(child), Err(Error::Lost)));
    eventually("the end of all", || {
        processes_with(home.path().to_str().unwrap()).is_empty()
    });
}
