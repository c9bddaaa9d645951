//! Whether a program can get out: each attempt, and what it can see and touch from inside.

use std::fs::{self, File};
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::process::Command;

use jail::{How, Slot};

use crate::Case;
use crate::attempts::{self, ATTEMPTS};
use crate::home::{Home, finish, piped, run};

pub(crate) const CASES: &[Case] = &[
    ("every_attempt_is_refused", refused),
    ("the_attempts_work_outside", work_outside),
    ("nothing_of_the_host_is_seen", seen),
    ("other_jobs_are_out_of_reach", other_jobs),
    ("the_network_is_out_of_reach", network),
    ("no_descriptor_is_inherited", descriptors),
    ("signals_reach_nobody_outside", signals),
    ("a_setuid_program_is_an_ordinary_one", setuid),
    ("a_job_has_no_rights", rights),
];

fn refused(home: &Home) {
    let jail = home.jail();
    let mut escaped = Vec::new();
    for attempt in ATTEMPTS {
        let outcome = run(&jail, &home.own(&[attempts::MARK, attempt.name])).unwrap();
        if outcome.end.how != How::Exited(0) || !outcome.stdout.starts_with("refused") {
            escaped.push((attempt.name, outcome));
        }
    }
    assert!(escaped.is_empty(), "{escaped:#?}");
}

/// An attempt that is refused everywhere would prove nothing about jails.
fn work_outside(home: &Home) {
    if !rustix::process::geteuid().is_root() {
        // Only root can make all of them. The test tries the same attempts when it runs as root.
        return;
    }
    let mut wrong = Vec::new();
    for attempt in ATTEMPTS.iter().filter(|attempt| attempt.works_outside) {
        let output = Command::new(home.program())
            .args([attempts::MARK, attempt.name])
            .output()
            .unwrap();
        if output.status.code() != Some(1) {
            wrong.push((attempt.name, output));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn seen(home: &Home) {
    let script = "ls -A /; echo; ls -A /dev; echo; ls -A /etc; echo; ls -dA /tmp/* /job/* 2>&1 | wc -l; echo;
        set -- /proc/[0-9]*; echo $#; hostname; cat /proc/self/cgroup; tty; cat /proc/net/dev | wc -l";
    let outcome = run(&home.jail(), &home.shell(script)).unwrap();
    let parts: Vec<&str> = outcome.stdout.split("\n\n").collect();
    let words =
        |part: &str| -> Vec<String> { part.split_whitespace().map(str::to_owned).collect() };
    let mut root = words(parts[0]);
    // Links into /usr, or folders, if the host has them.
    root.retain(|name| !["bin", "lib", "lib64", "sbin"].contains(&&**name));
    assert_eq!(root, ["dev", "etc", "job", "proc", "tmp", "usr"]);
    let devices = "fd full null random shm stderr stdin stdout urandom zero";
    assert_eq!(words(parts[1]).join(" "), devices);
    let mut etc = words(parts[2]);
    etc.retain(|name| !["alternatives", "ld.so.cache"].contains(&&**name));
    assert_eq!(etc, ["group", "hosts", "passwd"]);
    // Both are empty, and `ls` complains about both.
    assert_eq!(words(parts[3]), ["2"]);
    let rest: Vec<&str> = parts[4].lines().collect();
    // Init and the shell.
    assert_eq!(rest[0], "2");
    assert_eq!(outcome.stderr, "");
    assert!(outcome.stdout.contains("not a tty"));
    // Two heading lines, and loopback.
    assert_eq!(rest.last(), Some(&"3"));
}

fn other_jobs(home: &Home) {
    let jail = home.jail();
    let mut first = home.own(&["inside", "hold"]);
    let job = home.job(1);
    first.job.clone_from(&job);
    first.slot = Slot::new(1).unwrap();
    fs::write(job.join("secret"), "s").unwrap();
    let held = jail.spawn(&first, piped()).unwrap();
    let job = job.to_str().unwrap();
    let script = format!(
        "ls {job} {job}/secret; cat /proc/*/cmdline | tr '\\0' ' ' | grep -c hold; ls /job /tmp"
    );
    let outcome = run(&jail, &home.shell(&script)).unwrap();
    assert!(!outcome.stdout.contains("secret"), "{}", outcome.stdout);
    // The search finds its own text and nothing else.
    assert!(
        outcome.stdout.lines().any(|line| line == "1"),
        "{}",
        outcome.stdout
    );
    assert_eq!(outcome.stderr.matches("No such file").count(), 2);
    held.killer().kill();
    assert_eq!(finish(held).unwrap().end.how, How::Killed);
}

fn network(home: &Home) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    listener.set_nonblocking(true).unwrap();
    let name = format!("jail-test-{port}");
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let _local = UnixListener::bind_addr(&address).unwrap();
    let script = format!(
        "import socket
def attempt(family, address):
    s = socket.socket(family)
    s.settimeout(3)
    try:
        s.connect(address)
        print('reached')
    except OSError as e:
        print(e.errno)
attempt(socket.AF_INET, ('127.0.0.1', {port}))
attempt(socket.AF_INET6, ('::1', {port}))
attempt(socket.AF_INET, ('192.0.2.1', 80))
attempt(socket.AF_UNIX, '\\0{name}')
attempt(socket.AF_INET, ('127.0.0.1', 8099))"
    );
    let outcome = run(&home.jail(), &home.spec("python3", &["-c", &script])).unwrap();
    let (refused, unreachable) = (libc::ECONNREFUSED, libc::ENETUNREACH);
    let expected = format!("{refused}\n{refused}\n{unreachable}\n{refused}\n{refused}\n");
    assert_eq!(outcome.stdout, expected, "{}", outcome.stderr);
    assert!(listener.accept().is_err());
}

fn descriptors(home: &Home) {
    // A descriptor that is not closed when a program is executed, opened before the nursery and before the
    // jail.
    let leak = || {
        let file = File::open("/proc/self/status").unwrap();
        rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty()).unwrap();
        file
    };
    let _before = leak();
    let jail = home.jail();
    let _after = leak();
    let outcome = run(&jail, &home.spec("ls", &["/proc/self/fd"])).unwrap();
    // The fourth is the folder being listed.
    assert_eq!(outcome.stdout, "0\n1\n2\n3\n");
}

fn signals(home: &Home) {
    let script = "
        s=1; while [ $s -lt 65 ]; do kill -$s 1 2>/dev/null; s=$((s+1)); done
        echo alive; trap 'echo mine' TERM; kill -TERM 0; kill -KILL -1; echo still";
    let jail = home.jail();
    // Repeated, since a signal that is sent while init is still starting may not be ignored.
    for _ in 0..40 {
        let outcome = run(&jail, &home.shell(script)).unwrap();
        // A signal to everybody is not sent to its sender, and nobody else is there.
        assert_eq!(outcome.stdout, "alive\nmine\nstill\n");
        assert_eq!(outcome.end.how, How::Exited(0));
    }
}

fn setuid(home: &Home) {
    if !rustix::process::geteuid().is_root() {
        // Only root can make a program that becomes another user; `a_job_has_no_rights` covers everybody.
        return;
    }
    let program = home.tools().join("id");
    fs::copy("/usr/bin/id", &program).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o4755)).unwrap();
    let mut spec = home.own(&[]);
    spec.program = "/opt/tools/id".into();
    spec.arguments = vec!["-u".into()];
    let outcome = run(&home.jail(), &spec).unwrap();
    assert_eq!(outcome.stdout, "1000\n");
}

fn rights(home: &Home) {
    let script =
        "grep -E '^(Cap|NoNewPrivs|Seccomp:|Groups)' /proc/self/status; cat /proc/self/uid_map;
        grep -vE 'nosuid' /proc/self/mounts";
    let outcome = run(&home.jail(), &home.shell(script)).unwrap();
    let mut lines = outcome
        .stdout
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>());
    let mut next = || lines.next().unwrap_or_default();
    // Groups of a user without rights cannot be given up, only made nobody's. One may be the user's own, which is
    // the job's inside.
    let groups = next();
    let is_harmless = |group: &&str| ["65534", "1000"].contains(group);
    assert!(groups.iter().skip(1).all(is_harmless), "{groups:?}");
    for _ in 0..5 {
        let line = next();
        assert_eq!(line[1], "0000000000000000", "{line:?}");
    }
    assert_eq!(next(), ["NoNewPrivs:", "1"]);
    assert_eq!(next(), ["Seccomp:", "2"]);
    let map = next();
    assert_eq!((map[0], map[2]), ("1000", "1"));
    let owner = if Slot::are_users() {
        1_900_000_000
    } else {
        rustix::process::geteuid().as_raw()
    };
    // From inside, the host's id is not visible: the middle of the map is the id in the namespace above.
    assert!(map[1] == "1000" || map[1] == owner.to_string(), "{map:?}");
    assert_eq!(
        next(),
        Vec::<&str>::new(),
        "every mount ignores setuid bits"
    );
}
