//! Well-behaved programs: their exit codes, streams, folders and environment.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::process::{Command, ExitCode};

use jail::{Bind, Error, How, Jail, Lack, Options, Slot, Spec, Stream, Streams};

use crate::Case;
use crate::home::{Home, eventually, processes_with, run};

pub(crate) const CASES: &[Case] = &[
    ("a_program_s_code_comes_back", codes),
    ("a_signal_comes_back", signals),
    ("what_cannot_be_executed_is_named", not_executable),
    ("what_cannot_be_shown_is_named", not_shown),
    ("streams_are_passed_through", streams),
    ("the_environment_is_what_was_given", environment),
    ("a_job_writes_to_its_own_folder_alone", folders),
    ("a_tool_folder_is_shown_and_read_only", tools),
    ("many_jails_at_once_leave_no_descriptor", many),
    ("a_machine_is_told_what_it_offers", probe),
    ("a_machine_that_refuses_jails_is_named", lacks),
    ("a_job_of_usual_tools_works", usual),
];

fn codes(home: &Home) {
    let jail = home.jail();
    for code in [0, 1, 7, 255] {
        let outcome = run(&jail, &home.shell(&format!("exit {code}"))).unwrap();
        assert_eq!(outcome.end.how, How::Exited(code));
    }
}

fn signals(home: &Home) {
    let jail = home.jail();
    for signal in [6, 9, 11, 15] {
        let outcome = run(&jail, &home.shell(&format!("kill -{signal} $$"))).unwrap();
        assert_eq!(outcome.end.how, How::Signaled(signal));
    }
}

fn not_executable(home: &Home) {
    let jail = home.jail();
    for (program, kind) in [
        ("no-such-program", std::io::ErrorKind::NotFound),
        ("/etc/passwd", std::io::ErrorKind::PermissionDenied),
    ] {
        let Err(Error::Command {
            program: named,
            source,
        }) = run(&jail, &home.spec(program, &[]))
        else {
            panic!("{program} was executed");
        };
        assert_eq!((&*named, source.kind()), (program, kind));
    }
    let options = Options {
        program: "/no/such/server".into(),
        groups: false,
        slirp4netns: None,
    };
    let error = Jail::open(&options).unwrap_err();
    assert_eq!(error.kind(), "not_started");
    let mut spec = home.shell("true");
    spec.folder = "none".into();
    let error = run(&jail, &spec).unwrap_err();
    assert_eq!(error.kind(), "not_started");
    assert!(
        error.to_string().contains("the command's folder"),
        "{error}"
    );
}

fn not_shown(home: &Home) {
    let jail = home.jail();
    let mut spec = home.shell("true");
    spec.binds = vec![Bind::same("/no/such/folder")];
    let error = run(&jail, &spec).unwrap_err();
    assert!(error.to_string().contains("/no/such/folder"), "{error}");
    let mut spec = home.shell("true");
    spec.job = home.path().join("none");
    let error = run(&jail, &spec).unwrap_err();
    assert!(error.to_string().contains("the job's folder"), "{error}");
}

fn streams(home: &Home) {
    let jail = home.jail();
    let streams = Streams {
        stdin: Stream::Pipe,
        stdout: Stream::Pipe,
        stderr: Stream::Pipe,
    };
    let spec = home.shell("cat; echo done >&2");
    let mut child = jail.spawn(&spec, streams).unwrap();
    child.stdin.take().unwrap().write_all(b"through").unwrap();
    let (mut out, mut err) = (String::new(), String::new());
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut out)
        .unwrap();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut err)
        .unwrap();
    assert_eq!((&*out, &*err), ("through", "done\n"));
    assert_eq!(child.wait().unwrap().how, How::Exited(0));

    let file = home.path().join("log");
    let streams = Streams {
        stdout: Stream::Descriptor(fs::File::create(&file).unwrap().into()),
        ..Streams::default()
    };
    let child = jail.spawn(&home.shell("cat; echo kept"), streams).unwrap();
    assert_eq!(child.wait().unwrap().how, How::Exited(0));
    assert_eq!(fs::read_to_string(file).unwrap(), "kept\n");
}

fn environment(home: &Home) {
    let jail = home.jail();
    let mut spec = home.spec("/usr/bin/env", &[]);
    spec.environment = vec![("ONE".into(), "1 2\n3".into())];
    assert_eq!(run(&jail, &spec).unwrap().stdout, "ONE=1 2\n3\n");
    spec.environment.clear();
    assert_eq!(run(&jail, &spec).unwrap().stdout, "");
    spec.environment = vec![("LONG".into(), "x".repeat(120_000))];
    assert_eq!(run(&jail, &spec).unwrap().stdout.len(), 120_006);
    spec.arguments = vec!["x".repeat(200_000)];
    let error = run(&jail, &spec).unwrap_err();
    assert_eq!(error.kind(), "bad_spec");
}

fn folders(home: &Home) {
    let jail = home.jail();
    let job = home.job(0);
    fs::create_dir(job.join("sub")).unwrap();
    let mut spec =
        home.shell("pwd; id -u; id -un; touch ../made; touch /x /usr/x /etc/x /dev/x; true");
    spec.folder = "sub".into();
    let outcome = run(&jail, &spec).unwrap();
    assert_eq!(outcome.stdout, "/job/sub\n1000\njob\n");
    assert_eq!(
        outcome.stderr.matches("Read-only file system").count(),
        4,
        "{}",
        outcome.stderr
    );
    let made = fs::metadata(job.join("made")).unwrap();
    let owner = if Slot::are_users() {
        Slot::new(0).unwrap().uid()
    } else {
        rustix::process::geteuid().as_raw()
    };
    assert_eq!(made.uid(), owner);
}

fn tools(home: &Home) {
    let jail = home.jail();
    let tools = home.path().join("arm");
    fs::create_dir(&tools).unwrap();
    fs::write(tools.join("version"), "13.2").unwrap();
    let mut spec = home.shell("cat /srv/arm/bin/version; echo x > /srv/arm/bin/version");
    spec.binds = vec![Bind {
        host: tools.clone(),
        inside: "/srv/arm/bin".into(),
    }];
    let outcome = run(&jail, &spec).unwrap();
    assert_eq!(outcome.stdout, "13.2");
    assert!(outcome.stderr.contains("Read-only"), "{}", outcome.stderr);
    // A single file, and a file that only the server may write.
    spec.binds[0].host = tools.join("version");
    spec.arguments[1] = "cat /srv/arm/bin".into();
    assert_eq!(run(&jail, &spec).unwrap().stdout, "13.2");
}

fn many(home: &Home) {
    const THREADS: usize = 8;
    const EACH: usize = 12;
    let jail = home.jail();
    let descriptors = |process: &str| {
        let folder = fs::read_dir(format!("/proc/{process}/fd"));
        folder.unwrap().count()
    };
    run(&jail, &home.shell("true")).unwrap();
    let mut nursery = Vec::new();
    eventually("the end of all but the nursery", || {
        nursery = processes_with(home.program().to_str().unwrap());
        nursery.len() == 1
    });
    let nursery = nursery[0].to_string();
    // The nursery's own streams, and none of any jail.
    let is_idle = || descriptors(&nursery) == 3;
    eventually("an idle nursery", is_idle);
    std::thread::scope(|scope| {
        for slot in 0..THREADS {
            let jail = &jail;
            scope.spawn(move || {
                for code in 0..EACH {
                    let mut spec = home.shell(&format!("exit {code}"));
                    let slot = u16::try_from(slot).unwrap();
                    spec.slot = Slot::new(slot).unwrap();
                    spec.job = home.job(slot);
                    let outcome = run(jail, &spec).unwrap();
                    assert_eq!(outcome.end.how, How::Exited(i32::try_from(code).unwrap()));
                }
            });
        }
    });
    eventually("an idle nursery again", is_idle);
}

fn probe(home: &Home) {
    let report = jail::probe(&home.options(true)).unwrap();
    assert_eq!(report.isolation, Ok(()));
    assert_eq!(report.has_slot_users, Slot::are_users());
    assert_eq!(report.bounds, home.jail().bounds());
    let without = jail::probe(&home.options(false)).unwrap();
    assert!(without.lacks().contains(&jail::Lack::NoGroups));
    for lack in without.lacks() {
        assert!(!lack.cure().is_empty() && !lack.to_string().is_empty());
    }
}

/// The argument that makes this program print what its machine lacks.
pub(crate) const PROBE: &str = "probe";

pub(crate) fn print_lack(arguments: &[&str]) -> ExitCode {
    let [program] = arguments else {
        panic!("a program is needed");
    };
    let options = Options {
        program: program.into(),
        groups: false,
        slirp4netns: None,
    };
    let report = jail::probe(&options).unwrap();
    println!("{:?}", report.isolation);
    let spec = Spec::new("true", "/usr", Slot::new(0).unwrap());
    let jail = Jail::open(&options).unwrap();
    let child = jail.spawn(&spec, Streams::default()).unwrap();
    let error = child.wait().unwrap_err();
    println!("{} {error}", error.kind());
    ExitCode::SUCCESS
}

/// Machines as restricted by containers and sysctls, imitated in namespaces of this one.
fn lacks(home: &Home) {
    let program = home.program();
    let program = program.to_str().unwrap();
    let off = "echo 0 > /proc/sys/user/max_user_namespaces";
    let masked = "mount --bind /dev/null /proc/version";
    for (change, lack) in [(off, Lack::UserNamespacesOff), (masked, Lack::ProcMasked)] {
        let script = format!("{change} && exec {program} {PROBE} {program}");
        let output = Command::new("unshare")
            .args(["--user", "--map-root-user", "--mount", "sh", "-c", &script])
            .output()
            .unwrap();
        let told = String::from_utf8(output.stdout).unwrap();
        let expected = format!(
            "Err({lack:?})\nno_isolation failed to isolate: {lack}; {}\n",
            lack.cure()
        );
        assert_eq!(
            told,
            expected,
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

/// What programs in a build rely on: temporary files, pipes, shared memory, locks, random numbers, a local
/// server.
fn usual(home: &Home) {
    let script = "set -e
        f=$(mktemp); echo a b | tr ' ' '\\n' | sort -r > $f; cat $f
        echo x > /dev/shm/s; cat /tmp/s; echo > /dev/null
        head -c4 /dev/urandom | wc -c; getent hosts localhost > /dev/null
        (sleep 0 & wait); flock /job/lock true; test -r /proc/cpuinfo; nproc > /dev/null";
    let outcome = run(&home.jail(), &home.shell(script)).unwrap();
    assert_eq!(outcome.end.how, How::Exited(0), "{}", outcome.stderr);
    assert_eq!(outcome.stdout, "b\na\nx\n4\n");
}
