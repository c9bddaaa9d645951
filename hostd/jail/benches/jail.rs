//! An empty step in a jail, with the host's programs and in a tree of its own, compared with plain bubblewrap where
//! that is installed.
//!
//! `cargo bench -p jail --bench jail`. Rounds are interleaved, so that a busy machine slows all contestants
//! alike; the median and the fastest of each count.

#![allow(clippy::print_stdout, reason = "printing is what a bench is for")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[path = "support/bubblewrap.rs"]
mod bubblewrap;

use bubblewrap::BUBBLEWRAP;
use jail::{How, Jail, Options, Reach, Slot, Spec, Streams, TREE_FOLDERS};

/// The empty step.
const PROGRAM: &str = "/bin/true";

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
    let tree = tempfile::tempdir().expect("a temporary folder");
    fill(tree.path());
    let mut in_tree = spec.clone();
    in_tree.root = Some(tree.path().to_owned());
    let open = |groups| {
        let options = Options {
            groups,
            ..Options::default()
        };
        Jail::open(&options).expect("a nursery")
    };
    let (with_groups, without) = (open(true), open(false));
    println!("memory is held by {}", with_groups.bounds().memory);
    let machine = jail::probe(&Options::default()).expect("a probe");
    let mut networked = spec.clone();
    networked.network = Some(Reach::Public);
    let mut contestants = vec![
        contestant("the program alone", bare),
        contestant("jail without groups", || run(&without, &spec)),
        contestant("jail", || run(&with_groups, &spec)),
        contestant("jail in a tree", || run(&with_groups, &in_tree)),
    ];
    if machine.slirp4netns.is_some() && machine.has_tun {
        contestants.push(contestant("jail with a network", || {
            run(&with_groups, &networked);
        }));
    } else {
        println!(
            "no jail with a network can be made here: {:?}",
            machine.lacks()
        );
    }
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

/// Makes a tree with the program and its libraries.
fn fill(tree: &Path) {
    let open = fs::Permissions::from_mode(0o755);
    fs::set_permissions(tree, open).expect("it is ours");
    for folder in TREE_FOLDERS {
        fs::create_dir(tree.join(folder)).expect("it is empty");
    }
    let needed = Command::new("ldd").arg(PROGRAM).output().expect("ldd");
    let needed = String::from_utf8_lossy(&needed.stdout).into_owned();
    let libraries = needed
        .split_whitespace()
        .filter(|word| word.starts_with('/'));
    for file in libraries.chain([PROGRAM]) {
        let inside = tree.join(file.trim_start_matches('/'));
        fs::create_dir_all(inside.parent().expect("a folder")).expect("a folder");
        fs::copy(file, inside).expect("a copy");
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
