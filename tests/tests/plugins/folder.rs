//! Packages in a folder: dropped in, replaced, removed, put back, and what is none.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use tests::Server;
use tests::server::binary;

use super::admin::{pack, packed};
use super::{Bench, ID, MARK, WANTS, mark_of};

/// Far longer than anything here takes.
const WAIT: Duration = Duration::from_secs(60);

/// Pause between looks.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// A server that watches a folder.
fn watching() -> Bench {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("drop")).unwrap();
    let folder = dir.path().join("drop");
    let text = format!("[http]\nrate_per_s = 0\n[plugins]\nfolder = {folder:?}\n");
    fs::write(dir.path().join("hostd.toml"), text).unwrap();
    let server = started(&dir);
    Bench { dir, server }
}

fn started(dir: &tempfile::TempDir) -> Server {
    let config = dir.path().join("hostd.toml");
    Server::demo_in_with(dir.path(), &["--config", config.to_str().unwrap()]).unwrap()
}

impl Bench {
    fn dropped(&self, name: &str) -> PathBuf {
        self.dir.path().join("drop").join(name)
    }

    /// Put a file into the folder as one does who knows how.
    fn put(&self, name: &str, bytes: &[u8]) {
        let work = self.dir.path().join("work");
        fs::write(&work, bytes).unwrap();
        fs::rename(work, self.dropped(name)).unwrap();
    }

    fn eventually(&self, what: &str, is_so: impl Fn() -> bool) -> Duration {
        let begun = Instant::now();
        while !is_so() {
            assert!(begun.elapsed() < WAIT, "{what}: {}", self.server.log());
            std::thread::sleep(LOOK_EVERY);
        }
        begun.elapsed()
    }

    fn restart(&mut self) {
        assert!(self.server.stop().unwrap());
        self.server = started(&self.dir);
    }
}

#[test]
fn what_is_dropped_in_serves_and_what_is_removed_does_not() {
    let bench = watching();
    bench.put("x.tar", &packed(&bench, "1.0.0", WANTS));
    // Installed is not approved.
    bench.eventually("installed", || bench.get("/mark").status == 403);
    bench.plugin(&["approve", ID]).ok();
    bench.until_serving(MARK);
    bench.put("x.tar", &packed(&bench, "2.0.0", WANTS));
    bench.until_serving("MARK:version-2.0.0:");
    fs::remove_file(bench.dropped("x.tar")).unwrap();
    bench.eventually("off", || bench.get("/mark").status == 503);
    assert!(bench.plugin(&["list"]).ok().contains("disabled"));
    bench.put("x.tar", &packed(&bench, "2.0.0", WANTS));
    bench.until_serving("MARK:version-2.0.0:");
    // A folder, in place of the file.
    let folder = bench.version("3.0.0", WANTS, "");
    fs::rename(folder, bench.dropped("x")).unwrap();
    bench.until_serving("MARK:version-3.0.0:");
}

#[test]
fn an_update_that_wants_more_waits_like_any_other() {
    let bench = watching();
    bench.put(
        "x.tar",
        &packed(&bench, "1.0.0", "interfaces = [\"store\"]\npublic = true\n"),
    );
    bench.eventually("installed", || bench.get("/mark").status == 403);
    bench.plugin(&["approve", ID]).ok();
    bench.until_serving(MARK);
    bench.put("x.tar", &packed(&bench, "2.0.0", WANTS));
    bench.eventually("waits", || {
        bench.plugin(&["list"]).ok().contains("version 2.0.0 waits")
    });
    bench.until_serving(MARK);
    // Withdrawn while it waits, it does not come with the next approval.
    fs::remove_file(bench.dropped("x.tar")).unwrap();
    bench.eventually("withdrawn", || {
        !bench.plugin(&["list"]).ok().contains("2.0.0")
    });
    bench.plugin(&["approve", ID]).ok();
    assert_eq!(mark_of(&bench.get("/mark")), MARK);
}

#[test]
fn what_is_no_plugin_is_listed_and_tried_again_when_it_changes() {
    let bench = watching();
    bench.put("x.tar", b"not a package");
    let listed = || bench.plugin(&["list"]).ok();
    bench.eventually("listed", || listed().contains("x.tar  not installed"));
    assert!(listed().contains("no tar"), "{}", listed());
    let told = "not installed from plugins.folder";
    assert_eq!(bench.server.logged(told).matches(told).count(), 1);
    bench.put("x.tar", &packed(&bench, "1.0.0", WANTS));
    bench.eventually("installed", || bench.get("/mark").status == 403);
    bench.eventually("mended", || !listed().contains("not installed"));
}

#[test]
fn a_restart_repeats_nothing_and_an_operators_removal_stays() {
    let mut bench = watching();
    bench.put("x.tar", &packed(&bench, "1.0.0", WANTS));
    bench.eventually("installed", || bench.get("/mark").status == 403);
    bench.plugin(&["approve", ID]).ok();
    bench.put("x.tar", &packed(&bench, "2.0.0", WANTS));
    bench.until_serving("MARK:version-2.0.0:");
    bench.plugin(&["rollback", ID]).ok();
    bench.restart();
    bench.until_serving(MARK);
    bench.plugin(&["remove", ID]).ok();
    bench.restart();
    // It is known, so what comes after it in the folder is a proof that it was looked at.
    bench.put("y.tar", b"no package");
    bench.eventually("looked", || {
        bench
            .plugin(&["list"])
            .ok()
            .contains("y.tar  not installed")
    });
    bench.get("/mark").expect_error(404, "not_found");
    // Another version is news.
    bench.put("x.tar", &packed(&bench, "3.0.0", WANTS));
    bench.eventually("installed", || bench.get("/mark").status == 403);
}

/// How long the example in Rust takes from the folder to its first answer: printed, to be read.
#[test]
#[allow(clippy::print_stdout, reason = "numbers for people to read")]
fn how_long_the_example_takes_to_answer() {
    let bench = watching();
    let example = binary()
        .unwrap()
        .parent()
        .unwrap()
        .join("../handlers/plugins/rail-report");
    let package = pack(bench.dir.path(), &example);
    let get = || {
        bench
            .client()
            .get("/api/x/hostd.rail-report/report")
            .unwrap()
    };
    bench.put("rail-report.tar", &package);
    // The first makes the engine of plugins and compiles.
    let first = bench.eventually("installed", || get().status == 403);
    bench.plugin(&["approve", "hostd.rail-report"]).ok();
    get().expect(200);
    bench.plugin(&["remove", "hostd.rail-report"]).ok();
    bench.put("again.tar", &package);
    let again = bench.eventually("installed", || get().status != 404);
    println!(
        "dropped in to first answer: {} ms, {} ms when it was compiled before",
        first.as_millis(),
        again.as_millis()
    );
}
