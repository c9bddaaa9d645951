//! The server is killed while it carries out a command about a plugin, after ever more of it: afterwards it has carried out
//! all of it or nothing, and goes on.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tests::package::mark;
use tests::{Operator, Server};

use super::{Bench, ID, mark_of};

/// Kills of each command.
const ROUNDS: u32 = 16;

/// Each command is let go on for so much longer than in the round before.
const STEP: Duration = Duration::from_micros(700);

const PATIENCE: Duration = Duration::from_secs(60);

/// Give a command, kill the server after a while, and start it again; whether the command had been carried out before.
fn cut(bench: &mut Bench, command: &Value, after: Duration) -> bool {
    let operator = bench.operator();
    let command = command.clone();
    let ordered = thread::spawn(move || operator.command(&command).is_ok());
    thread::sleep(after);
    bench.server.kill().unwrap();
    let was_done = ordered.join().unwrap();
    bench.server = Server::demo_in(bench.dir.path()).unwrap();
    was_done
}

/// The version that answers; none if no plugin is there.
fn serving(bench: &Bench) -> Option<String> {
    let began = Instant::now();
    loop {
        let reply = bench.get("/mark");
        match reply.status {
            200 => return Some(mark_of(&reply)),
            404 => return None,
            503 => assert!(began.elapsed() < PATIENCE, "{}", reply.text),
            _ => panic!("{}", reply.text),
        }
        thread::sleep(Duration::from_millis(5));
    }
}

fn install(package: &Path) -> Value {
    json!({"install": {"package": package}})
}

#[test]
fn heavy_an_update_that_is_cut_off_was_made_or_not() {
    let mut bench = Bench::new();
    let packages = [bench.install("1.0.0"), bench.install("2.0.0")];
    let mut old = mark("2.0.0");
    for round in 0..ROUNDS {
        let target = if old == mark("2.0.0") { 0 } else { 1 };
        let new = mark(["1.0.0", "2.0.0"][target]);
        // By installing in every other round, by going back in the others.
        let command = match round % 2 {
            0 => install(&packages[target]),
            _ => json!({"roll_back": {"id": ID}}),
        };
        let was_done = cut(&mut bench, &command, STEP * round);
        let now = serving(&bench).expect("one of them");
        assert!(
            now == new || (now == old && !was_done),
            "{now} in round {round}"
        );
        old = now;
    }
}

#[test]
fn heavy_a_removal_that_is_cut_off_was_made_or_not() {
    let mut bench = Bench::new();
    let package = bench.install("1.0.0");
    for round in 0..ROUNDS {
        let remove = json!({"remove": {"id": ID, "data": true}});
        let was_done = cut(&mut bench, &remove, STEP * round);
        match serving(&bench) {
            Some(_) => assert!(!was_done, "in round {round}"),
            None => {
                let listed = bench.operator().command(&json!("list")).unwrap();
                assert_eq!(listed["plugins"][0], json!([]));
                again(&bench.operator(), &package);
                assert_eq!(serving(&bench), Some(mark("1.0.0")));
            }
        }
    }
}

fn again(operator: &Operator, package: &Path) {
    operator.command(&install(package)).unwrap();
    operator.approve(ID).unwrap();
}
