//! Jails that are ended while their network is made: at once, and nothing is left of them.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use jail::{How, Jail, Reach, Stream, Streams};

use crate::Case;
use crate::home::{Home, eventually, finish, piped, processes_with};

pub(crate) const CASES: &[Case] = &[
    ("a_jail_ends_while_slirp4netns_starts", slow_slirp4netns),
    ("a_jail_ends_at_any_moment_of_its_start", any_moment),
];

/// Less than slirp4netns may take to start.
const AT_ONCE: Duration = Duration::from_secs(3);

/// A time to sleep that is in no command of another test: each is a process of its own.
fn mark() -> String {
    format!("1000.95{}", std::process::id())
}

/// Moments that are tried, and the time between two of them: together more than a start takes.
const MOMENTS: u32 = 60;
const MOMENT: Duration = Duration::from_micros(500);

/// One that does not come to listen.
fn slow_slirp4netns(home: &Home) {
    let mark = mark();
    let slow = home.path().join("slow");
    fs::write(&slow, format!("#!/bin/sh\nexec sleep {mark}\n")).unwrap();
    fs::set_permissions(&slow, Permissions::from_mode(0o755)).unwrap();
    // With groups it is ended in them, and without by who waits for it.
    for groups in [true, false] {
        for is_dropped in [false, true] {
            let mut options = home.options(groups);
            options.slirp4netns = Some(slow.clone());
            let jail = Jail::open(&options).unwrap();
            let mut spec = home.shell("touch /job/begun");
            spec.network = Some(Reach::All);
            let streams = Streams {
                stdout: Stream::Null,
                ..piped()
            };
            let child = jail.spawn(&spec, streams).unwrap();
            eventually("a slirp4netns that starts", || {
                !processes_with(&mark).is_empty()
            });
            let began = Instant::now();
            if is_dropped {
                drop(child);
            } else {
                child.killer().kill();
                assert_eq!(child.wait().unwrap().how, How::Killed);
            }
            let took = began.elapsed();
            assert!(took < AT_ONCE, "{groups} {is_dropped}: {took:?}");
            assert_eq!(
                processes_with(&mark),
                Vec::<u32>::new(),
                "{groups} {is_dropped}"
            );
            assert!(!home.job(0).join("begun").exists());
        }
    }
}

fn any_moment(home: &Home) {
    let slirp4netns = home.slirp4netns();
    let slirp4netns = slirp4netns.to_str().unwrap();
    let mark = mark();
    for groups in [true, false] {
        let jail = Jail::open(&home.options(groups)).unwrap();
        for moment in 0..MOMENTS {
            let mut spec = home.shell(&format!("exec sleep {mark}"));
            spec.network = Some(Reach::All);
            let child = jail.spawn(&spec, piped()).unwrap();
            std::thread::sleep(MOMENT * moment);
            child.killer().kill();
            let ended = finish(child).unwrap();
            assert_eq!(ended.end.how, How::Killed, "{groups} {moment}: {ended:?}");
            assert_eq!(
                processes_with(slirp4netns),
                Vec::<u32>::new(),
                "{groups} {moment}"
            );
            assert_eq!(
                processes_with(&mark),
                Vec::<u32>::new(),
                "{groups} {moment}"
            );
        }
    }
}
