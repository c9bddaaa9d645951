//! Somebody swaps files and folders while they are being worked on.

use std::fs;
use std::io::{Cursor, Read};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::{Tar, open};
use crate::{CollectLimits, Limits, collect, unpack};

/// Shortest time that each race runs.
const TRIED_FOR: Duration = Duration::from_millis(500);

/// How long a race may take to show everything that it must show; a busy machine rarely switches
/// threads.
const TRIED_FOR_MAX: Duration = Duration::from_secs(20);

/// Calls `work` repeatedly while another thread calls `interfere`, until `work` has seen everything that it
/// must see.
fn race(interfere: impl Fn() + Sync, mut work: impl FnMut() -> bool) {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // This also runs when `work` panics.
        let _over = Over(&is_over);
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                interfere();
            }
        });
        let began = Instant::now();
        while !work() || began.elapsed() < TRIED_FOR {
            assert!(
                began.elapsed() < TRIED_FOR_MAX,
                "nothing was swapped in time"
            );
        }
    });
}

/// Ends the other thread when dropped.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Exchanges the two in one step.
fn swap(a: &Path, b: &Path) {
    let _ = renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE);
}

#[test]
fn a_folder_swapped_for_a_link_leads_nowhere() {
    let around = tempfile::tempdir().unwrap();
    let path = |name: &str| around.path().join(name);
    let (inside, outside, trap) = (path("inside"), path("outside"), path("trap"));
    // The folder that an entry's path leads to through the link.
    let target = outside.join("sub");
    fs::create_dir_all(&target).unwrap();
    symlink(&outside, &trap).unwrap();
    let mut tar = Tar::default().folder("a/sub/");
    for n in 0..60 {
        // Alternating, so that the folder is entered anew for each entry.
        tar = tar
            .file(&format!("a/sub/{n}"), b"x")
            .file(&format!("b/{n}"), b"x");
        tar = tar
            .link(&format!("a/sub/l{n}"), "0")
            .hard(&format!("a/sub/h{n}"), "b/0");
    }
    let bytes = tar.gz();
    let (mut is_hit, mut rounds) = (false, 0);
    race(
        || swap(&inside.join("a"), &trap),
        || {
            fs::create_dir(&inside).unwrap();
            let unpacked = unpack(Cursor::new(&bytes), &Limits::default(), open(&inside));
            is_hit |= unpacked.is_err();
            assert_eq!(
                fs::read_dir(&target).unwrap().count(),
                0,
                "it wrote outside"
            );
            // The swapping continues meanwhile, so leftovers are moved away with the round.
            rounds += 1;
            let _ = fs::rename(&inside, path(&format!("round{rounds}")));
            if !trap.is_symlink() {
                let _ = fs::rename(&trap, path(&format!("trap{rounds}")));
                symlink(&outside, &trap).unwrap();
            }
            is_hit
        },
    );
}

#[test]
fn a_file_swapped_for_a_link_gives_nothing_of_what_it_leads_to() {
    let around = tempfile::tempdir().unwrap();
    let path = |name: &str| around.path().join(name);
    let (folder, secret, trap) = (path("job"), path("secret"), path("trap"));
    fs::create_dir(&folder).unwrap();
    // As long as the file that it stands in for.
    fs::write(&secret, "secret").unwrap();
    fs::write(folder.join("out"), "result").unwrap();
    symlink(&secret, &trap).unwrap();
    let (mut read, mut refused) = (0, 0);
    race(
        || swap(&folder.join("out"), &trap),
        || {
            let artifacts = collect(
                open(&folder),
                &|path| path == "out",
                &CollectLimits::default(),
            )
            .unwrap();
            for file in &artifacts.files {
                let Ok(mut content) = artifacts.open(file) else {
                    refused += 1;
                    continue;
                };
                let mut text = String::new();
                if content.read_to_string(&mut text).is_ok() {
                    assert_eq!(text, "result");
                    read += 1;
                }
            }
            read > 0 && refused > 0
        },
    );
}

#[test]
fn a_folder_on_the_way_swapped_for_a_link_gives_nothing_either() {
    let around = tempfile::tempdir().unwrap();
    let path = |name: &str| around.path().join(name);
    let (folder, outside, trap) = (path("job"), path("outside"), path("trap"));
    fs::create_dir_all(folder.join("d")).unwrap();
    fs::write(folder.join("d/out"), "result").unwrap();
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("out"), "secret").unwrap();
    symlink(&outside, &trap).unwrap();
    let mut read = 0;
    race(
        || swap(&folder.join("d"), &trap),
        || {
            let artifacts = collect(open(&folder), &|_| true, &CollectLimits::default()).unwrap();
            for file in &artifacts.files {
                let mut text = String::new();
                let content = artifacts.open(file);
                if content.is_ok_and(|mut content| content.read_to_string(&mut text).is_ok()) {
                    assert_eq!(text, "result");
                    read += 1;
                }
            }
            read > 0
        },
    );
}
