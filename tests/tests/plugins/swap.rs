//! Versions are replaced while requests are on their way: none is lost, and none is answered by a mix.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use super::{Bench, ID, mark_of};

/// Callers at once.
const CALLERS: usize = 8;

/// Versions that follow one another.
const SWAPS: usize = 10;

#[test]
fn no_request_is_lost_while_versions_follow_one_another() {
    let bench = Bench::unlimited();
    let folders = [bench.install("1.0.0"), bench.install("2.0.0")];
    let paths = folders.map(|folder| folder.display().to_string());
    let (stop, answers) = (AtomicBool::new(false), AtomicU64::new(0));
    let body = vec![7_u8; 512 << 10];
    thread::scope(|scope| {
        for caller in 0..CALLERS {
            let (bench, stop, answers, body) = (&bench, &stop, &answers, &body);
            scope.spawn(move || {
                let client = bench.client();
                while !stop.load(Ordering::Relaxed) {
                    if caller == 0 {
                        let path = format!("/api/x/{ID}/echo");
                        let echoed = client.send_typed(
                            "POST",
                            &path,
                            Some(("application/octet-stream", body)),
                        );
                        let echoed = echoed.unwrap();
                        assert_eq!((echoed.status, echoed.text.as_bytes()), (200, &body[..]));
                    } else {
                        let mark = mark_of(&client.get(&format!("/api/x/{ID}/mark")).unwrap());
                        assert!(
                            mark == "MARK:version-1.0.0:" || mark == "MARK:version-2.0.0:",
                            "{mark}"
                        );
                    }
                    answers.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for swap in 0..SWAPS {
            bench.plugin(&["install", &paths[swap % 2]]).ok();
            let mark = mark_of(&bench.get("/mark"));
            assert_eq!(
                mark,
                format!("MARK:version-{}.0.0:", swap % 2 + 1),
                "after its installation"
            );
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(answers.load(Ordering::Relaxed) > 100);
}
