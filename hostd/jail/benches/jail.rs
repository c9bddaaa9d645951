//! An empty step in a jail, compared with plain bubblewrap where that is installed.
//!
//! `cargo bench -p jail --bench jail`. Rounds are interleaved, so that a busy machine slows all contestants
//! alike; the median and the fastest of each count.

#![allow(clippy::print_stdout, reason = "printing is what a bench is for")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use jail::{How, Jail, Options, Slot, Spec, Streams};

/// The empty step.
const PROGRAM: &str = "/bin/true";

/// The file system, the devices and the namespaces of a jail, as far as bubblewrap can make them.
const BUBBLEWRAP: &[&str] = &[
    "--unshare-all",
    "--die-with-parent",
    "--ro-bind",
    "/usr",
    "/usr",
    "--symlink",
    "usr/bin",
    "/bin",
    "--symlink",
    "usr/lib",
    "/lib",
    "--symlink",
    "usr/lib64",
    "/lib64",
    "--dev",
    "/dev",
    "--proc",
    "/proc",
    "--tmpfs",
    "/tmp",
    "--chdir",
    "/job",
];

/// A jail should take at most this many times as long as bubblewrap.
const RATIO_AIM: f64 = 1.1;

/// One way to run the empty step.
struct Contestant<'a> {
    name: &'static str,
    step: Box<dyn Fn() + 'a>,
    times: Vec<Duration>,
}

impl Contestant<'_> {
    fn median(&mut self) -> Duration {
        self.times.sort_unstable();
        self.times[self.times.len() / 2]
    }
}

fn main() {
    jail::entry();
    // `cargo test --benches` runs this too, to see that it still works.
    let quick = std::env::args().any(|argument| argument == "--test");
    let rounds = if quick { 3 } else { 300 };
    let job = tempfile::tempdir().expect("a temporary folder");
    let slot = Slot::new(0).expect("the first slot");
    if Slot::are_users() {
        let uid = Some(slot.uid());
        std::os::unix::fs::chown(job.path(), uid, uid).expect("root may");
    }
    let spec = Spec::new(PROGRAM, job.path(), slot);
    let open = |groups| {
        let options = Options {
            groups,
            ..Options::default()
        };
        Jail::open(&options).expect("a nursery")
    };
    let (with_groups, without) = (open(true), open(false));
    println!("memory is held by {}", with_groups.bounds().memory);
    let mut contestants = vec![
        contestant("the program alone", bare),
        contestant("jail without groups", || run(&without, &spec)),
        contestant("jail", || run(&with_groups, &spec)),
    ];
    let bubblewrap = Path::new("/usr/bin/bwrap").exists();
    if bubblewrap {
        contestants.push(contestant("bubblewrap", || bubblewrapped(job.path())));
    } else {
        println!("bubblewrap is not installed: nothing to compare with");
    }
    // The first round reads programs from the disk and does not count.
    for round in 0..=rounds {
        for contestant in &mut contestants {
            let started = Instant::now();
            (contestant.step)();
            if 0 < round {
                contestant.times.push(started.elapsed());
            }
        }
    }
    report(&mut contestants);
    if bubblewrap {
        compare(&mut contestants);
    }
}

fn contestant<'a>(name: &'static str, step: impl Fn() + 'a) -> Contestant<'a> {
    Contestant {
        name,
        step: Box::new(step),
        times: Vec::new(),
    }
}

fn report(contestants: &mut [Contestant<'_>]) {
    println!("{:<22} {:>10} {:>10}", PROGRAM, "median ms", "fastest ms");
    for contestant in contestants {
        let median = contestant.median().as_secs_f64() * 1e3;
        let fastest = contestant.times[0].as_secs_f64() * 1e3;
        println!("{:<22} {median:>10.2} {fastest:>10.2}", contestant.name);
    }
}

/// How much longer a jail takes. Bubblewrap makes no groups, and joining one waits for every processor, so
/// they are compared separately.
fn compare(contestants: &mut [Contestant<'_>]) {
    let [_, jails @ .., bubblewrap] = contestants else {
        return;
    };
    let bubblewrap = bubblewrap.median().as_secs_f64();
    for jail in jails {
        let ratio = jail.median().as_secs_f64() / bubblewrap;
        println!("{} / bubblewrap: {ratio:.2}, aim {RATIO_AIM}", jail.name);
    }
}

fn bare() {
    wait(&mut Command::new(PROGRAM));
}

fn bubblewrapped(job: &Path) {
    let mut command = Command::new("/usr/bin/bwrap");
    command.args(BUBBLEWRAP).arg("--bind").arg(job).arg("/job");
    wait(command.arg(PROGRAM));
}

fn wait(command: &mut Command) {
    let command = command.env_clear().stdin(Stdio::null());
    let status = command.stdout(Stdio::null()).status().expect("it starts");
    assert!(status.success(), "{status}");
}

fn run(jail: &Jail, spec: &Spec) {
    let child = jail
        .spawn(spec, Streams::default())
        .expect("a jail can be made");
    let end = child.wait().expect("it ends by itself");
    assert_eq!(end.how, How::Exited(0));
}
