//! Programs that use resources up: each bound, with groups if there are any and without.

use std::io::Read;
use std::time::{Duration, Instant};

use jail::{Hold, How, Jail, Limits};

use crate::Case;
use crate::home::{Home, Outcome, SOON, eventually, piped, processes_with, run};

pub(crate) const CASES: &[Case] = &[
    ("memory_is_bounded", memory),
    ("tmp_counts_as_memory_of_a_group", tmp_is_memory),
    ("processes_are_bounded", processes),
    ("processor_time_is_bounded", cpu),
    ("tmp_is_bounded", tmp),
    ("files_of_a_process_are_bounded", files),
    ("wall_time_is_bounded", wall),
    ("endless_output_stops_with_its_reader", endless_output),
    ("orphans_end_with_the_command", orphans),
    ("a_killed_jail_says_so", killed),
];

const MIB: u64 = 1 << 20;

/// With groups if there are any, and without.
fn jails(home: &Home) -> [Jail; 2] {
    [true, false].map(|groups| Jail::open(&home.options(groups)).unwrap())
}

fn number(outcome: &Outcome) -> u64 {
    let first = outcome.stdout.split_whitespace().next();
    let number = first.and_then(|number| number.parse().ok());
    number.unwrap_or_else(|| panic!("no number: {outcome:?}"))
}

fn memory(home: &Home) {
    for jail in jails(home) {
        let mut spec = home.own(&["inside", "memory", "1024"]);
        spec.limits.memory_bytes = 64 * MIB;
        let outcome = run(&jail, &spec).unwrap();
        if jail.bounds().memory.is_hard() {
            assert_eq!(outcome.end.how, How::OutOfMemory, "{outcome:?}");
        } else {
            let held = number(&outcome);
            assert!(32 < held && held < 64, "{held} MiB were held");
        }
        assert_eq!(
            outcome.end.ran_out_of_memory,
            jail.bounds().memory.is_hard()
        );
        spec.limits.memory_bytes = 512 * MIB;
        spec.arguments[2] = "128".into();
        let outcome = run(&jail, &spec).unwrap();
        assert_eq!(number(&outcome), 128, "{outcome:?}");
        assert!(!outcome.end.ran_out_of_memory);
    }
}

fn tmp_is_memory(home: &Home) {
    let jail = home.jail();
    let mut spec = home.own(&["inside", "fill", "/tmp/x"]);
    spec.limits.memory_bytes = 32 * MIB;
    spec.limits.tmp_bytes = 64 * MIB;
    let outcome = run(&jail, &spec).unwrap();
    if jail.bounds().memory.is_hard() {
        assert_eq!(outcome.end.how, How::OutOfMemory, "{outcome:?}");
    } else {
        assert_eq!(number(&outcome), 64 * MIB, "the folder's own limit holds");
    }
}

fn processes(home: &Home) {
    for jail in jails(home) {
        // More than 301, the smallest bound that process ids can give.
        let most = 400;
        let mut spec = home.own(&["inside", "processes", "2000"]);
        spec.limits.processes = most;
        let outcome = run(&jail, &spec).unwrap();
        let started = number(&outcome);
        let most = u64::from(most);
        assert!(
            most - 8 <= started && started <= most,
            "{started} of {most}, {:?}",
            jail.bounds()
        );
        if matches!(jail.bounds().processes, Hold::GroupV1 | Hold::GroupV2) {
            assert_eq!(outcome.end.refused_processes, 1);
        }
        // A shell that multiplies until its time is up.
        let mut bomb = home.shell("b() { b | b & }; b; sleep 600");
        bomb.limits.processes = 64;
        bomb.limits.wall = Duration::from_millis(500);
        let started = Instant::now();
        let end = run(&jail, &bomb).unwrap().end;
        assert!(matches!(end.how, How::TimedOut | How::Exited(_)), "{end:?}");
        assert!(started.elapsed() < SOON);
    }
}

fn cpu(home: &Home) {
    for jail in jails(home) {
        let mut spec = home.own(&["inside", "spin", "2"]);
        spec.limits.cpu_millis = 200;
        if jail.bounds().cpu.is_hard() {
            let spent = number(&run(&jail, &spec).unwrap());
            assert!(50 < spent && spent < 500, "{spent} ms in a second");
        } else {
            let nice = run(&jail, &home.spec("nice", &[])).unwrap();
            assert_eq!(number(&nice), 19);
        }
    }
}

fn tmp(home: &Home) {
    let jail = home.jail();
    let limits = Limits {
        tmp_bytes: 4 * MIB,
        tmp_inodes: 100,
        ..home.shell("").limits
    };
    for path in ["/tmp/x", "/dev/shm/x"] {
        let mut spec = home.own(&["inside", "fill", path]);
        spec.limits = limits.clone();
        let outcome = run(&jail, &spec).unwrap();
        let no_space = format!("{} {}\n", 4 * MIB, libc::ENOSPC);
        assert_eq!(outcome.stdout, no_space);
    }
    let mut spec = home.own(&["inside", "files", "/tmp"]);
    spec.limits = limits;
    // The folder is one of the inodes.
    assert_eq!(number(&run(&jail, &spec).unwrap()), 99);
}

fn files(home: &Home) {
    let jail = home.jail();
    let mut spec = home.own(&["inside", "fill", "/job/x"]);
    spec.limits.file_bytes = 3 * MIB;
    let outcome = run(&jail, &spec).unwrap();
    // Without a handler for the signal that comes first, the signal ends the process.
    assert_eq!(outcome.end.how, How::Signaled(libc::SIGXFSZ));
    let written = std::fs::metadata(home.job(0).join("x")).unwrap().len();
    assert_eq!(written, 3 * MIB);
    let mut spec = home.own(&["inside", "open"]);
    spec.limits.open_files = 64;
    // Three descriptors are open already.
    assert_eq!(number(&run(&jail, &spec).unwrap()), 61);
}

fn wall(home: &Home) {
    for jail in jails(home) {
        let mut spec = home.shell("trap '' TERM INT HUP; while :; do sleep 1; done");
        spec.limits.wall = Duration::from_millis(300);
        let started = Instant::now();
        assert_eq!(run(&jail, &spec).unwrap().end.how, How::TimedOut);
        let took = started.elapsed();
        assert!(
            Duration::from_millis(300) <= took && took < SOON / 4,
            "{took:?}"
        );
    }
}

fn endless_output(home: &Home) {
    let jail = home.jail();
    let spec = home.spec("yes", &[]);
    let mut child = jail.spawn(&spec, piped()).unwrap();
    let mut some = vec![0; 1 << 20];
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut some).unwrap();
    child.killer().kill();
    assert_eq!(child.wait().unwrap().how, How::Killed);
}

fn orphans(home: &Home) {
    for jail in jails(home) {
        let mark = home.path().to_str().unwrap();
        let mut spec = home.own(&["inside", "orphans", "60", mark]);
        spec.arguments.pop();
        let started = Instant::now();
        let outcome = run(&jail, &spec).unwrap();
        assert_eq!(number(&outcome), 60);
        assert_eq!(outcome.end.how, How::Exited(0));
        assert!(started.elapsed() < SOON);
    }
    eventually("the end of all but the nursery", || {
        processes_with(home.path().to_str().unwrap()).is_empty()
    });
}

fn killed(home: &Home) {
    for jail in jails(home) {
        let mut child = jail.spawn(&home.own(&["inside", "hold"]), piped()).unwrap();
        let mut said = [0; 8];
        child
            .stdout
            .as_mut()
            .unwrap()
            .read_exact(&mut said)
            .unwrap();
        let killer = child.killer();
        let ending = std::thread::spawn(move || killer.kill());
        assert_eq!(child.wait().unwrap().how, How::Killed);
        ending.join().unwrap();
        // Dropped at once, before it can even start.
        for _ in 0..10 {
            drop(jail.spawn(&home.shell("sleep 600"), piped()).unwrap());
        }
    }
    eventually("the end of all", || {
        processes_with(home.path().to_str().unwrap()).is_empty()
    });
}
