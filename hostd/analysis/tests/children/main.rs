//! Runs in real children: what comes back, what they may take, and that a stop ends them. This program is also the child.

#![allow(clippy::unwrap_used, reason = "a test may")]

use std::io::{PipeReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use analysis::{Children, Event, Made, Product, Runner, Unfinished, Work};
use base::config::EmiConfig;
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::{Map, Value, json};
use store::emi::runs::Kind;

/// The argument that makes this program a child, before what it does.
const CHILD: &str = "__child";

/// How soon a stopped run must be gone: 200 ms are wanted, and a machine with other work to do may take longer.
const STOP_MAX: Duration = Duration::from_secs(30);

/// A frame in which a child says how far it is.
const PROGRESS: &[u8] = b"\x01\x25\0\0\0{\"stage\":\"spin\",\"pct\":1,\"message\":\"\"}";

/// A small board with a slot in its plane.
const SLOT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../emi/testdata/slot.kicad_pcb"
);

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.get(1).is_some_and(|first| first == CHILD) {
        return child(&arguments[2], arguments.get(3));
    }
    let trials = [
        ("a_board_is_looked_at", a_board_is_looked_at as fn()),
        ("each_kind_has_its_results", each_kind_has_its_results),
        (
            "what_is_no_board_is_refused_with_its_place",
            what_is_no_board_is_refused_with_its_place,
        ),
        (
            "a_child_that_fails_fails_one_run",
            a_child_that_fails_fails_one_run,
        ),
        ("time_and_memory_are_bounded", time_and_memory_are_bounded),
        ("a_stop_ends_it_at_once", a_stop_ends_it_at_once),
        (
            "a_net_is_solved_by_a_program_of_others",
            a_net_is_solved_by_a_program_of_others,
        ),
        (
            "a_solver_that_fails_or_is_stopped_leaves_nothing",
            a_solver_that_fails_or_is_stopped_leaves_nothing,
        ),
        (
            "a_solver_ends_with_the_server",
            a_solver_ends_with_the_server,
        ),
    ];
    let trials = trials.into_iter().map(|(name, test)| {
        Trial::test(name, move || {
            test();
            Ok::<_, Failed>(())
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit();
}

#[expect(clippy::exit, reason = "it is a process of its own")]
fn child(what: &str, folder: Option<&String>) {
    let (mut input, mut output) = (std::io::stdin(), std::io::stdout());
    match what {
        "serve" => {
            jail::confine().unwrap();
            jail::only_compute().unwrap();
            analysis::serve(&mut input, &mut output).unwrap();
        }
        "babble" => {
            input.read_to_end(&mut Vec::new()).unwrap();
            output.write_all(b"no frame at all").unwrap();
        }
        "silent" => {}
        "abort" => std::process::abort(),
        "exit" => std::process::exit(3),
        "spin" => {
            output.write_all(PROGRESS).unwrap();
            output.flush().unwrap();
            loop {
                std::hint::black_box(0);
            }
        }
        "eat" => {
            let mut all = Vec::new();
            loop {
                all.push(vec![1_u8; 1 << 20]);
            }
        }
        "host" => {
            let folder = Path::new(folder.unwrap());
            let (children, _work) = solving(folder.join("solver").to_str().unwrap());
            let (stopped, _stop) = std::io::pipe().unwrap();
            let ended = children.run(&solve(folder), &mut |_| Ok(()), &stopped);
            panic!("the solver has ended: {ended:?}");
        }
        "open" => {
            jail::confine().unwrap();
            jail::only_compute().unwrap();
            // The kernel ends it here.
            let _ = std::net::TcpListener::bind("127.0.0.1:0");
        }
        other => panic!("{other} is nothing that a child does"),
    }
}

fn config() -> EmiConfig {
    EmiConfig {
        memory_mib_max: 1024,
        ..EmiConfig::default()
    }
}

fn work(kind: Kind, params: Value) -> Work {
    Work {
        kind,
        params: params.as_object().unwrap().clone(),
        file: PathBuf::from(SLOT),
        filename: "slot.kicad_pcb".to_owned(),
    }
}

fn run_with(
    what: &str,
    config: &EmiConfig,
    work: &Work,
    stopped: &PipeReader,
) -> (Vec<Event>, Result<Product, Unfinished>) {
    let own = std::env::current_exe().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let verb = vec![CHILD.into(), what.into()];
    let children = Children::open(own, verb, config, folder.path());
    let children = children.unwrap();
    let mut events = Vec::new();
    let mut tell = |event| {
        events.push(event);
        Ok(())
    };
    let ended = children.run(work, &mut tell, stopped);
    (events, ended)
}

fn run(what: &str, work: &Work) -> (Vec<Event>, Result<Product, Unfinished>) {
    let (stopped, _stop) = std::io::pipe().unwrap();
    run_with(what, &config(), work, &stopped)
}

fn files(events: Vec<Event>) -> Vec<Made> {
    let made = |event| match event {
        Event::Made(made) => Some(made),
        Event::Progress(_) => None,
    };
    events.into_iter().filter_map(made).collect()
}

fn code(ended: Result<Product, Unfinished>) -> (String, String) {
    match ended {
        Err(Unfinished::Failed(failure)) => (failure.code, failure.message),
        other => panic!("{other:?}"),
    }
}

fn a_board_is_looked_at() {
    let clock = json!({"clocks": [{"net": "SCK", "hz": 25e6, "rise_s": 1e-9}]});
    let (events, ended) = run("serve", &work(Kind::Ingest, clock));
    let product = ended.unwrap();
    assert!(product.summary["critical"].as_u64().unwrap() > 0);
    let facts = product.facts.unwrap();
    assert!(facts.layer_count >= 2 && facts.net_count > 0 && !facts.stackup.is_empty());
    assert!(
        facts
            .outline_mm
            .is_some_and(|[width, height]| width > 1.0 && height > 1.0)
    );
    let stages: Vec<String> = events
        .iter()
        .filter_map(|event| match event {
            Event::Progress(progress) => Some(progress.stage.clone()),
            Event::Made(_) => None,
        })
        .collect();
    assert_eq!(stages.first().map(String::as_str), Some("read"));
    assert!(stages.len() > 3, "{stages:?}");
    let files = files(events);
    let rules = files.iter().find(|made| made.name == "rules.json").unwrap();
    let rules: Value = serde_json::from_slice(&rules.bytes).unwrap();
    assert_eq!(rules["summary"]["critical"], product.summary["critical"]);
    assert_eq!(rules["format_version"], 1);
}

fn each_kind_has_its_results() {
    let (events, ended) = run("serve", &work(Kind::Compliance, json!({})));
    let product = ended.unwrap();
    assert_eq!(product.summary["complete"], false);
    assert!(!product.summary.contains_key("smallest_margins"));
    assert!(product.facts.is_none());
    let names: Vec<String> = files(events).into_iter().map(|made| made.name).collect();
    assert_eq!(names, ["compliance.json", "spectrum.csv"]);
    let (events, ended) = run("serve", &work(Kind::Cable, json!({})));
    assert_eq!(ended.unwrap().summary["complete"], false);
    let names: Vec<String> = files(events).into_iter().map(|made| made.name).collect();
    assert_eq!(names, ["cable.json", "cables.csv"]);
}

fn what_is_no_board_is_refused_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("board");
    let of = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        let work = Work {
            file: path.clone(),
            ..work(Kind::Ingest, json!({}))
        };
        code(run("serve", &work).1)
    };
    let (word, message) = of(b"(kicad_pcb (version 20221018)\n  (net 1 \"SCK\"");
    assert_eq!(word, "refused");
    assert!(message.contains("line 2"), "{message}");
    for bytes in [&b""[..], b"PK\x03\x04", &[0xff; 1000]] {
        assert_eq!(of(bytes).0, "refused");
    }
    let (word, message) = {
        std::fs::write(&path, vec![b' '; (1 << 20) + 1]).unwrap();
        let config = EmiConfig {
            upload_mib_max: 1,
            ..config()
        };
        let work = Work {
            file: path.clone(),
            ..work(Kind::Ingest, json!({}))
        };
        let (stopped, _stop) = std::io::pipe().unwrap();
        code(run_with("serve", &config, &work, &stopped).1)
    };
    assert_eq!(word, "refused");
    assert!(message.contains("1048576"), "{message}");
}

fn a_child_that_fails_fails_one_run() {
    let asked = work(Kind::Ingest, json!({}));
    for what in ["babble", "silent", "abort", "exit", "open"] {
        let (events, ended) = run(what, &asked);
        assert_eq!(code(ended).0, "crashed", "{what}");
        assert!(events.is_empty());
    }
    let work = tempfile::tempdir().unwrap();
    let program = PathBuf::from("/no/such/program");
    let absent = Children::open(program, Vec::new(), &config(), work.path()).unwrap();
    let (stopped, _stop) = std::io::pipe().unwrap();
    let ended = absent.run(&asked, &mut |_| Ok(()), &stopped);
    assert_eq!(code(ended).0, "internal");
    let gone = Work {
        file: PathBuf::from("/no/such/board"),
        params: Map::new(),
        ..asked
    };
    assert_eq!(code(run("serve", &gone).1).0, "internal");
}

fn time_and_memory_are_bounded() {
    let asked = work(Kind::Ingest, json!({}));
    let (stopped, _stop) = std::io::pipe().unwrap();
    let short = EmiConfig {
        run_s_max: 1,
        ..config()
    };
    let ended = run_with("spin", &short, &asked, &stopped).1;
    assert_eq!(ended, Err(Unfinished::TimedOut(1)));
    let small = EmiConfig {
        memory_mib_max: 256,
        ..config()
    };
    let (word, message) = code(run_with("eat", &small, &asked, &stopped).1);
    assert_eq!(word, "memory");
    assert!(message.contains("256 MiB"), "{message}");
}

fn a_stop_ends_it_at_once() {
    let (stopped, stop) = std::io::pipe().unwrap();
    let own = std::env::current_exe().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let verb = vec![CHILD.into(), "spin".into()];
    let children = Children::open(own, verb, &config(), folder.path()).unwrap();
    let mut stop = Some(stop);
    let mut asked = None;
    let mut tell = |event| {
        // It runs by then.
        if matches!(&event, Event::Progress(_)) && stop.take().is_some() {
            asked = Some(Instant::now());
        }
        Ok(())
    };
    let ended = children.run(&work(Kind::Ingest, json!({})), &mut tell, &stopped);
    let took = asked.unwrap().elapsed();
    assert_eq!(ended, Err(Unfinished::Stopped));
    assert!(took < STOP_MAX, "{took:?}");
}

/// Children with a solver at `program`, and the folder that it works in.
fn solving(program: &str) -> (Children, tempfile::TempDir) {
    let work = tempfile::tempdir().unwrap();
    let config = EmiConfig {
        openems: PathBuf::from(program),
        ..config()
    };
    let own = std::env::current_exe().unwrap();
    let verb = vec![CHILD.into(), "serve".into()];
    let children = Children::open(own, verb, &config, work.path()).unwrap();
    (children, work)
}

/// A program that leaves in its folder what probes would have written.
const SOLVER: &str = "#!/bin/sh\nset -e\ntest -s model.xml\n\
    for probe in port_1_voltage port_1_current port_2_voltage port_2_current; do\n\
    i=0; while [ $i -lt 400 ]; do echo \"${i}e-12 $((i % 7))e-3\"; i=$((i + 1)); done > $probe\ndone\n";

fn script(text: &str, folder: &tempfile::TempDir) -> String {
    use std::os::unix::fs::PermissionsExt as _;
    let path = folder.path().join("solver");
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

/// A solver asked about SCK, which ends at two pads.
fn solve(folder: &Path) -> Work {
    let mut board = std::fs::read_to_string(SLOT).unwrap();
    board.truncate(board.trim_end().len() - 1);
    for (reference, x) in [("U1", 10), ("U2", 50)] {
        board += &format!(
            "(footprint \"u\" (layer \"F.Cu\") (at {x} 20) (property \"Reference\" \"{reference}\" (at 0 0) (layer \"F.SilkS\"))\n\
             (pad \"1\" smd rect (at 0 0) (size 0.3 0.3) (layers \"F.Cu\") (net \"SCK\")))\n"
        );
    }
    board += ")\n";
    let file = folder.join("ended.kicad_pcb");
    std::fs::write(&file, board).unwrap();
    Work {
        file,
        ..work(Kind::Solve, json!({"net": "SCK", "highest_hz": 3e9}))
    }
}

fn a_net_is_solved_by_a_program_of_others() {
    let folder = tempfile::tempdir().unwrap();
    let (children, work) = solving(&script(SOLVER, &folder));
    assert!(children.kinds().contains(&Kind::Solve));
    let (stopped, _stop) = std::io::pipe().unwrap();
    let mut events = Vec::new();
    let mut tell = |event| {
        events.push(event);
        Ok(())
    };
    let ended = children
        .run(&solve(folder.path()), &mut tell, &stopped)
        .unwrap();
    assert_eq!(ended.summary["net"], "SCK");
    let names: Vec<String> = files(events).into_iter().map(|made| made.name).collect();
    assert_eq!(names, ["model.xml", "solve.json", "solve.csv"]);
    assert_eq!(std::fs::read_dir(work.path()).unwrap().count(), 0);
    let unknown = Work {
        params: json!({"net": "NO_SUCH_NET"}).as_object().unwrap().clone(),
        ..solve(folder.path())
    };
    let refused = children.run(&unknown, &mut |_| Ok(()), &stopped);
    assert_eq!(code(refused).0, "refused");
}

fn a_solver_that_fails_or_is_stopped_leaves_nothing() {
    let (stopped, stop) = std::io::pipe().unwrap();
    for text in ["#!/bin/sh\nexit 0\n", "#!/bin/sh\necho no >&2\nexit 3\n"] {
        let folder = tempfile::tempdir().unwrap();
        let (children, work) = solving(&script(text, &folder));
        let ended = children.run(&solve(folder.path()), &mut |_| Ok(()), &stopped);
        assert_eq!(code(ended).0, "solver", "{text}");
        assert_eq!(std::fs::read_dir(work.path()).unwrap().count(), 0);
    }
    let folder = tempfile::tempdir().unwrap();
    let (children, work) = solving(&script("#!/bin/sh\nsleep 600\n", &folder));
    let mut stop = Some(stop);
    let mut tell = |event| {
        if matches!(&event, Event::Progress(progress) if progress.stage == "solve") {
            stop.take();
        }
        Ok(())
    };
    let ended = children.run(&solve(folder.path()), &mut tell, &stopped);
    assert_eq!(ended, Err(Unfinished::Stopped));
    assert_eq!(std::fs::read_dir(work.path()).unwrap().count(), 0);
}

/// What there is at last; waits for it for at most a minute.
fn eventually<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether a process lives: one that nobody has waited for does not.
fn lives(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().unwrap_or_default();
    !state.is_empty() && !state.starts_with(" Z")
}

fn a_solver_ends_with_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let told = folder.path().join("pid");
    let told_path = told.display();
    let text = format!(
        "#!/bin/sh\necho $$ > {told_path}.new\nmv {told_path}.new {told_path}\nexec sleep 600\n"
    );
    script(&text, &folder);
    let mut host = Command::new(std::env::current_exe().unwrap())
        .args([CHILD, "host"])
        .arg(folder.path())
        .env("TMPDIR", folder.path())
        .spawn()
        .unwrap();
    let pid = eventually("the solver begins", || std::fs::read_to_string(&told).ok());
    let pid = pid.trim();
    assert!(lives(pid));
    host.kill().unwrap();
    host.wait().unwrap();
    eventually("the solver ends", || (!lives(pid)).then_some(()));
}
