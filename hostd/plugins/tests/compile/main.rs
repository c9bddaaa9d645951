//! Compiling in a child: what it may take, and that nothing of it is left. This program is also the child.

#![allow(clippy::unwrap_used, reason = "a test may")]

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jail::confine;
use libtest_mimic::{Arguments, Failed, Trial};
use plugins::compile::{CompileError, Compiler, LIMITS, LimitHit, WAITING_MAX, WorkerLimits};

/// The argument that makes this program a child, before what it does.
const CHILD: &str = "__compile";

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.get(1).is_some_and(|first| first == CHILD) {
        return child(&arguments[2]);
    }
    let trials = [
        ("code_comes_back", code_comes_back as fn()),
        ("a_refusal_says_why", a_refusal_says_why),
        ("each_limit_is_named", each_limit_is_named),
        (
            "a_child_that_does_not_read_or_end_is_ended",
            a_child_that_does_not_read_or_end_is_ended,
        ),
        (
            "it_has_no_environment_and_a_low_priority",
            it_has_no_environment_and_a_low_priority,
        ),
        (
            "a_confined_child_writes_no_file",
            a_confined_child_writes_no_file,
        ),
        ("nobody_waits_in_a_full_queue", nobody_waits_in_a_full_queue),
        (
            "dropping_the_future_ends_the_child_and_its_group",
            dropping_the_future_ends_the_child_and_its_group,
        ),
        (
            "a_confined_child_dies_with_the_server",
            a_confined_child_dies_with_the_server,
        ),
        (
            "a_program_that_is_not_there_is_told",
            a_program_that_is_not_there_is_told,
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

#[expect(
    clippy::exit,
    clippy::print_stderr,
    reason = "it is a process of its own"
)]
fn child(what: &str) {
    let read = || {
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes).unwrap();
        bytes
    };
    let mut out = std::io::stdout();
    match what {
        "reverse" => {
            confine().unwrap();
            let mut bytes = read();
            bytes.reverse();
            out.write_all(&bytes).unwrap();
        }
        "refuse" => {
            eprintln!("no component\u{1b}[31m\n{}", "x".repeat(100_000));
            std::process::exit(1);
        }
        "silent" => std::process::exit(3),
        "spin" => loop {
            std::hint::black_box(0);
        },
        "eat" => {
            read();
            let mut all = Vec::new();
            loop {
                all.push(vec![1_u8; 1 << 20]);
            }
        }
        "flood" => loop {
            if out.write_all(&[0; 1 << 16]).is_err() {
                break;
            }
        },
        "sleep" => {
            confine().unwrap();
            std::thread::sleep(Duration::from_secs(600));
        }
        "write" => {
            confine().unwrap();
            let path = String::from_utf8(read()).unwrap();
            let mut file = std::fs::File::create(path).unwrap();
            // The kernel ends it here.
            file.write_all(b"x").unwrap();
        }
        "about" => {
            // All is set before there is anything to read, not before it starts.
            read();
            let nice = std::fs::read_to_string("/proc/self/stat").unwrap();
            let nice = nice
                .rsplit(')')
                .next()
                .unwrap()
                .split(' ')
                .nth(17)
                .unwrap()
                .to_owned();
            let limits = std::fs::read_to_string("/proc/self/limits").unwrap();
            write!(out, "{} {nice} {limits}", std::env::vars().count()).unwrap();
        }
        "host" => {
            let compiler = compiler("sleep", limits());
            block_on(compiler.compile(vec![1].into())).unwrap();
        }
        other => panic!("{other} is nothing that a child does"),
    }
}

fn limits() -> WorkerLimits {
    WorkerLimits {
        cpu_s: 20,
        memory_bytes: 512 << 20,
        wall: Duration::from_secs(60),
        output_bytes: 64 << 20,
        ..LIMITS
    }
}

fn compiler(what: &str, limits: WorkerLimits) -> Compiler {
    let own = std::env::current_exe().unwrap();
    Compiler::new(own, vec![CHILD.into(), what.into()], limits)
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(work)
}

fn compile(what: &str, limits: WorkerLimits, component: Vec<u8>) -> Result<Vec<u8>, CompileError> {
    block_on(compiler(what, limits).compile(component.into()))
}

fn script(text: &str) -> Compiler {
    let arguments = ["-c", text].map(Into::into).to_vec();
    Compiler::new(PathBuf::from("/bin/sh"), arguments, limits())
}

/// Waits for something, for at most a minute.
fn eventually(what: &str, mut is: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is() {
        assert!(began.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::yield_now();
    }
}

/// Whether a process lives: one that nobody has waited for does not.
fn lives(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')')
        .next()
        .is_some_and(|rest| !rest.is_empty() && !rest.starts_with(" Z"))
}

fn code_comes_back() {
    let component: Vec<u8> = (0..5_000_000_u32).map(|n| n.to_le_bytes()[1]).collect();
    let mut wanted = component.clone();
    wanted.reverse();
    assert!(compile("reverse", limits(), component).unwrap() == wanted);
    assert_eq!(compile("reverse", limits(), Vec::new()).unwrap(), b"");
}

fn a_refusal_says_why() {
    let error = compile("refuse", limits(), vec![0; 1 << 20]).unwrap_err();
    let CompileError::Refused(reason) = &error else {
        panic!("{error}")
    };
    assert!(
        reason.starts_with("no component[31m\nxxx") && reason.len() <= 4096,
        "{reason}"
    );
    let error = compile("silent", limits(), Vec::new())
        .unwrap_err()
        .to_string();
    assert!(
        error.ends_with("ended with code 3 and said nothing"),
        "{error}"
    );
    let error = block_on(script("kill -SEGV $$").compile(vec![].into())).unwrap_err();
    assert!(
        matches!(error, CompileError::Killed { signal: 11, .. }),
        "{error}"
    );
}

fn each_limit_is_named() {
    let hit = |what, limits| match compile(what, limits, vec![1]) {
        Err(CompileError::Limit(hit)) => hit,
        other => panic!("{what}: {other:?}"),
    };
    assert_eq!(
        hit(
            "spin",
            WorkerLimits {
                cpu_s: 1,
                ..limits()
            }
        ),
        LimitHit::Cpu(1)
    );
    assert_eq!(
        hit(
            "eat",
            WorkerLimits {
                memory_bytes: 128 << 20,
                ..limits()
            }
        ),
        LimitHit::Memory(128)
    );
    let wall = Duration::from_millis(1200);
    assert_eq!(
        hit("sleep", WorkerLimits { wall, ..limits() }),
        LimitHit::Wall(1)
    );
    assert_eq!(
        hit(
            "flood",
            WorkerLimits {
                output_bytes: 3 << 20,
                ..limits()
            }
        ),
        LimitHit::Output(3)
    );
    let error = CompileError::Limit(LimitHit::Memory(1536)).to_string();
    assert!(
        error.ends_with("its limit of 1536 MiB of memory"),
        "{error}"
    );
}

fn a_child_that_does_not_read_or_end_is_ended() {
    // It has ended, but something that it has started holds its output open.
    let began = Instant::now();
    let code = block_on(script("sleep 600 & echo code").compile(vec![0; 1 << 20].into()));
    assert_eq!(code.unwrap(), b"code\n");
    assert!(began.elapsed() < Duration::from_secs(20));
}

fn it_has_no_environment_and_a_low_priority() {
    let about = String::from_utf8(compile("about", limits(), vec![]).unwrap()).unwrap();
    assert!(about.starts_with("0 10 "), "{about}");
    let has = |name: &str, value: &str| {
        about
            .lines()
            .any(|line| line.starts_with(name) && line.split_whitespace().any(|word| word == value))
    };
    assert!(
        has("Max core file size", "0") && has("Max open files", "32"),
        "{about}"
    );
    assert!(
        has("Max address space", &(512 << 20).to_string()) && has("Max cpu time", "20"),
        "{about}"
    );
}

fn a_confined_child_writes_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    let component = path.to_str().unwrap().as_bytes().to_vec();
    let error = compile("write", limits(), component).unwrap_err();
    assert!(
        matches!(
            error,
            CompileError::Killed { .. } | CompileError::Refused(_)
        ),
        "{error}"
    );
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 0);
}

fn nobody_waits_in_a_full_queue() {
    block_on(async {
        let compiler = Arc::new(compiler("sleep", limits()));
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..=WAITING_MAX {
            let compiler = compiler.clone();
            tasks.spawn(async move { compiler.compile(vec![].into()).await });
            tokio::task::yield_now().await;
        }
        let more = compiler.compile(vec![].into()).await;
        assert!(matches!(more, Err(CompileError::Busy)), "{more:?}");
        // Whoever leaves the queue leaves room.
        tasks.shutdown().await;
        let waits =
            tokio::time::timeout(Duration::from_millis(50), compiler.compile(vec![].into())).await;
        assert!(waits.is_err());
    });
}

fn dropping_the_future_ends_the_child_and_its_group() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("pids");
    // It may write no file.
    let made = Command::new("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    let text = format!("sleep 600 & echo $$ $! > {}; wait", path.display());
    let pids = block_on(async {
        let compiler = script(&text);
        let work = compiler.compile(vec![].into());
        let has_started = tokio::task::spawn_blocking(move || std::fs::read_to_string(path));
        tokio::select! {
            done = work => panic!("{done:?}"),
            pids = has_started => pids.unwrap().unwrap(),
        }
    });
    for pid in pids.split_whitespace() {
        eventually(pid, || !lives(pid));
    }
}

fn a_confined_child_dies_with_the_server() {
    let own = std::env::current_exe().unwrap();
    let mut command = Command::new(own);
    let mut host = command
        .args([CHILD, "host"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let of_host = |field: &str| {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let mut pids = processes.filter_map(|entry| entry.file_name().into_string().ok());
        pids.find(|pid| {
            let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let parent = stat
                .rsplit(')')
                .next()
                .unwrap_or_default()
                .split(' ')
                .nth(2)
                .unwrap_or_default()
                .to_owned();
            let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
            parent == field && command.ends_with(b"sleep\0") && status.contains("NoNewPrivs:\t1")
        })
    };
    let parent = host.id().to_string();
    let mut found = None;
    eventually("the child starts", || {
        found = of_host(&parent);
        found.is_some()
    });
    let pid = found.unwrap();
    host.kill().unwrap();
    host.wait().unwrap();
    eventually("the child ends", || !lives(&pid));
}

fn a_program_that_is_not_there_is_told() {
    let compiler = Compiler::new("/nowhere/hostd".into(), Vec::new(), limits());
    let error = block_on(compiler.compile(vec![].into())).unwrap_err();
    assert!(matches!(error, CompileError::Start(_)), "{error}");
}
