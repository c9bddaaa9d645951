//! Jails whose root is a tree that somebody else filled, in place of the host's programs.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use jail::{Error, How, Spec, TREE_FOLDERS};

use crate::Case;
use crate::attempts::{self, ATTEMPTS};
use crate::home::{Home, finish, piped, run};

pub(crate) const CASES: &[Case] = &[
    ("every_attempt_is_refused_in_a_tree", refused),
    ("a_tree_is_all_that_is_seen", seen),
    ("a_tree_cannot_be_written", read_only),
    ("a_setuid_program_of_a_tree_is_an_ordinary_one", setuid),
    ("links_of_a_tree_stay_inside", links),
    ("a_tree_that_is_no_root_is_refused", unfit),
    ("what_is_mounted_on_a_tree_is_seen_by_nobody", mounts),
];

/// Programs of the host that the trees of tests have, with their libraries.
const PROGRAMS: [&str; 7] = ["cat", "chmod", "id", "ls", "sh", "sleep", "touch"];

/// This program inside.
const OWN: &str = "/opt/jail-tests";

/// A tree below a folder that the slots' users cannot enter.
fn tree(home: &Home) -> PathBuf {
    let closed = home.path().join("closed");
    let tree = closed.join("tree");
    for folder in TREE_FOLDERS.iter().chain(&["bin", "etc", "opt"]) {
        fs::create_dir_all(tree.join(folder)).unwrap();
    }
    for name in PROGRAMS {
        let program = ["/bin", "/usr/bin"].map(|folder| Path::new(folder).join(name));
        let program = program.iter().find(|path| path.exists()).unwrap();
        take(program, &tree.join("bin").join(name), &tree);
    }
    take(&home.program(), &tree.join(&OWN[1..]), &tree);
    fs::write(tree.join("etc/release"), "of the tree\n").unwrap();
    let mode = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(&tree, 0o755);
    mode(&closed, 0o700);
    tree
}

/// Copies a program, and the libraries that it needs to where it looks for them.
fn take(program: &Path, to: &Path, tree: &Path) {
    fs::copy(program, to).unwrap();
    let needed = Command::new("ldd").arg(program).output().unwrap();
    let needed = String::from_utf8(needed.stdout).unwrap();
    for library in needed
        .split_whitespace()
        .filter(|word| word.starts_with('/'))
    {
        let inside = tree.join(&library[1..]);
        fs::create_dir_all(inside.parent().unwrap()).unwrap();
        fs::copy(library, inside).unwrap();
    }
}

fn in_tree(mut spec: Spec, tree: &Path) -> Spec {
    spec.binds.clear();
    spec.root = Some(tree.to_owned());
    spec
}

fn refused(home: &Home) {
    let (jail, tree) = (home.jail(), tree(home));
    let mut escaped = Vec::new();
    for attempt in ATTEMPTS {
        let spec = in_tree(home.spec(OWN, &[attempts::MARK, attempt.name]), &tree);
        let outcome = run(&jail, &spec).unwrap();
        if outcome.end.how != How::Exited(0) || !outcome.stdout.starts_with("refused") {
            escaped.push((attempt.name, outcome));
        }
    }
    assert!(escaped.is_empty(), "{escaped:#?}");
}

fn seen(home: &Home) {
    let tree = tree(home);
    let script = "ls /; echo; ls -A /dev; echo; ls -A /etc /tmp /job; cat /etc/release; echo hi > /tmp/a; echo hi > /job/a;
        echo hi > /dev/null; id -u; cat /proc/1/comm";
    let outcome = run(&home.jail(), &in_tree(home.shell(script), &tree)).unwrap();
    let parts: Vec<&str> = outcome.stdout.split("\n\n").collect();
    let words = |part: &str| part.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut own: Vec<String> = fs::read_dir(&tree)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    own.sort();
    assert_eq!(words(parts[0]), own.join(" "));
    let devices = "fd full null random shm stderr stdin stdout urandom zero";
    assert_eq!(words(parts[1]), devices);
    assert_eq!(words(parts[2]), "/etc: release");
    let rest = parts[3..].join("\n");
    assert_eq!(
        words(&rest),
        "/job: /tmp: of the tree 1000 jail-init",
        "{}",
        outcome.stderr
    );
    assert_eq!(fs::read_to_string(home.job(0).join("a")).unwrap(), "hi\n");
    assert_eq!(outcome.stderr, "");
}

fn read_only(home: &Home) {
    let tree = tree(home);
    // Even what anybody may write.
    let open = tree.join("opt/open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
    fs::write(open.join("file"), "kept").unwrap();
    fs::set_permissions(open.join("file"), fs::Permissions::from_mode(0o666)).unwrap();
    let script = "for path in /a /etc/a /etc/release /opt/open/a /opt/open/file /dev/a /bin/cat; do
            touch $path 2>&1; (echo x > $path) 2>&1; done
        chmod 777 /etc /dev /opt/open/file 2>&1";
    let outcome = run(&home.jail(), &in_tree(home.shell(script), &tree)).unwrap();
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    assert_eq!(lines.len(), 17, "{lines:#?}");
    // Neither opens what belongs to another user, nor what nobody can write.
    let refusals = ["Read-only file system", "Permission denied"];
    let is_refused = |line: &&str| refusals.iter().any(|refusal| line.ends_with(refusal));
    assert!(lines.iter().all(is_refused), "{lines:#?}");
    assert_eq!(fs::read_to_string(open.join("file")).unwrap(), "kept");
}

fn setuid(home: &Home) {
    let tree = tree(home);
    let setuid = fs::Permissions::from_mode(0o6755);
    fs::set_permissions(tree.join("bin/id"), setuid).unwrap();
    let script = "id -u; id -g; while read -r _ place _ flags _; do
        case $flags in *nosuid*) ;; *) echo $place $flags ;; esac; done < /proc/self/mounts";
    let outcome = run(&home.jail(), &in_tree(home.shell(script), &tree)).unwrap();
    assert_eq!(outcome.stdout, "1000\n1000\n", "{}", outcome.stderr);
}

fn links(home: &Home) {
    let tree = tree(home);
    fs::write(home.path().join("secret"), "of the host").unwrap();
    symlink(home.path().join("secret"), tree.join("opt/whole")).unwrap();
    let above = format!("{}{}", "../".repeat(20), "etc");
    symlink(above, tree.join("opt/above")).unwrap();
    symlink("/proc/1/root/etc", tree.join("opt/init")).unwrap();
    let script = "cat /opt/whole; ls /opt/above; ls /opt/init";
    let outcome = run(&home.jail(), &in_tree(home.shell(script), &tree)).unwrap();
    assert_eq!(outcome.stdout, "release\n");
    assert_eq!(outcome.stderr.lines().count(), 2, "{}", outcome.stderr);
}

fn unfit(home: &Home) {
    let (jail, tree) = (home.jail(), tree(home));
    let target = home.path().join("target");
    fs::create_dir(&target).unwrap();
    for name in TREE_FOLDERS {
        let path = tree.join(name);
        let attempt = || run(&jail, &in_tree(home.shell("true"), &tree));
        fs::remove_dir(&path).unwrap();
        let missing = attempt();
        fs::write(&path, "").unwrap();
        let file = attempt();
        fs::remove_file(&path).unwrap();
        symlink(&target, &path).unwrap();
        let link = attempt();
        fs::remove_file(&path).unwrap();
        for ended in [missing, file, link] {
            let is_told =
                matches!(&ended, Err(Error::Start { step, .. }) if step.contains("the root"));
            assert!(is_told, "{name}: {ended:?}");
        }
        fs::create_dir(&path).unwrap();
    }
    assert_eq!(fs::read_dir(&target).unwrap().count(), 0);
    assert!(run(&jail, &in_tree(home.shell("true"), &tree)).is_ok());
}

fn mounts(home: &Home) {
    let (jail, tree) = (home.jail(), tree(home));
    let spec = in_tree(home.shell("echo up; sleep 600"), &tree);
    let mut held = jail.spawn(&spec, piped()).unwrap();
    let mut byte = [0];
    let stdout = held.stdout.as_mut().unwrap();
    std::io::Read::read_exact(stdout, &mut byte).unwrap();
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!mounts.contains(tree.to_str().unwrap()), "{mounts}");
    held.killer().kill();
    assert_eq!(finish(held).unwrap().end.how, How::Killed);
}
