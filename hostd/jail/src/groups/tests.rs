//! Tests of groups, with the files of a kernel, and in a hierarchy of version 2 if root may use one.

use std::fs;
use std::path::Path;

use super::{Base, counter, lists, mounted_at, own_path, sweep, v2};
use crate::spec::Limits;

#[test]
fn the_own_group_is_found_among_those_of_both_versions() {
    let text = "9:name=systemd:/\n4:memory:/a:b\n2:cpu,cpuacct:/c\n0::/user.slice/d\n";
    assert_eq!(own_path(text, |list| lists(list, "memory")), Some("/a:b"));
    assert_eq!(own_path(text, |list| lists(list, "cpu")), Some("/c"));
    assert_eq!(own_path(text, |list| lists(list, "pids")), None);
    assert_eq!(own_path(text, str::is_empty), Some("/user.slice/d"));
}

#[test]
fn a_hierarchy_is_found_by_its_controller() {
    let mounts = "tmpfs /sys/fs/cgroup tmpfs rw 0 0\n\
        cgroup /sys/fs/cgroup/cpu cgroup rw,cpu,cpuacct 0 0\n\
        cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";
    let cpu = mounted_at(mounts, "cgroup", |options| lists(options, "cpu"));
    assert_eq!(cpu.as_deref(), Some(Path::new("/sys/fs/cgroup/cpu")));
    let v2 = mounted_at(mounts, "cgroup2", |_| true);
    assert_eq!(v2.as_deref(), Some(Path::new("/sys/fs/cgroup/unified")));
    assert_eq!(mounted_at(mounts, "cgroup", |o| lists(o, "acct")), None);
}

#[test]
fn a_counter_is_the_number_behind_its_whole_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memory.events");
    fs::write(&file, "oom 7\noom_kill 3\noom_kill_disable 0\n").unwrap();
    assert_eq!(counter(&file, "oom_kill"), 3);
    assert_eq!(counter(&file, "max"), 0);
    assert_eq!(counter(&folder.path().join("none"), "max"), 0);
}

#[test]
fn a_group_of_version_2_gets_what_its_controllers_take() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits {
        memory_bytes: 64 << 20,
        processes: 10,
        cpu_millis: 1500,
        ..Limits::default()
    };
    let settings = |controllers: &[&'static str]| {
        let hierarchy = v2::Hierarchy::below(folder.path(), controllers).unwrap();
        hierarchy.settings(&limits)
    };
    let all = [
        ("memory.max", "67108864".to_owned()),
        ("memory.oom.group", "1".to_owned()),
        ("pids.max", "12".to_owned()),
        ("cpu.max", "150000 100000".to_owned()),
    ];
    assert_eq!(settings(&["memory", "pids", "cpu"]), all);
    assert_eq!(settings(&["pids"]), all[2..3]);
}

/// A plain folder stands in for the kernel's, and shows what is written to it.
#[test]
fn a_delegated_group_is_left_by_the_server_and_passed_on() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path();
    let write = |file: &str, text: &str| fs::write(own.join(file), text).unwrap();
    let this = std::process::id().to_string();
    write("cgroup.controllers", "cpuset cpu memory");
    write("cgroup.subtree_control", "");
    write("cgroup.procs", &format!("{this}\n1\n"));
    let open = || v2::Hierarchy::open_at(own);
    assert!(
        open().unwrap().is_none(),
        "somebody else is in the group too"
    );
    write("cgroup.procs", &this);
    fs::create_dir(own.join("hostd-server")).unwrap();
    write("hostd-server/cgroup.procs", "");
    // The base has no file for passing on controllers, since no kernel made it.
    assert!(open().is_err());
    let read = |file: &str| fs::read_to_string(own.join(file)).unwrap();
    assert_eq!(read("hostd-server/cgroup.procs"), this);
    assert_eq!(read("cgroup.subtree_control"), "+memory +cpu");
    write("cgroup.controllers", "");
    assert!(open().unwrap().is_none(), "nothing could be bounded");
}

#[test]
fn all_jails_together_have_a_tenth_of_what_the_server_has() {
    let folder = tempfile::tempdir().unwrap();
    let base = Base::make(folder.path()).unwrap();
    for ((file, whole), share) in [(super::v1::CPU_SHARES, "102"), (v2::CPU_WEIGHT, "10")] {
        let path = base.folder.join(file);
        fs::write(&path, "").unwrap();
        base.share(file, whole);
        assert_eq!(fs::read_to_string(&path).unwrap(), share, "{file}");
        fs::remove_file(path).unwrap();
    }
}

#[test]
fn only_what_a_server_left_behind_is_swept() {
    let folder = tempfile::tempdir().unwrap();
    let alive = Base::make(folder.path()).unwrap();
    let gone = folder.path().join("hostd-jails-0123");
    fs::create_dir_all(gone.join("7")).unwrap();
    fs::create_dir(folder.path().join("system.slice")).unwrap();
    sweep(folder.path());
    assert!(!gone.exists());
    assert!(alive.folder.exists());
    assert!(folder.path().join("system.slice").exists());
    let place = alive.folder.clone();
    drop(alive);
    assert!(!place.exists());
}

/// The kernel's own files, in a hierarchy of version 2 without controllers, as it exists next to version
/// 1.
#[test]
fn a_real_group_is_joined_killed_and_removed() {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    let root = mounted_at(&mounts, "cgroup2", |_| true);
    let is_root = rustix::process::geteuid().is_root();
    let Some(root) = root.filter(|_| is_root) else {
        println!("left out: needs root and a hierarchy of version 2");
        return;
    };
    let hierarchy = v2::Hierarchy::below(&root, &[]).unwrap();
    let group = hierarchy.make("0", &Limits::default()).unwrap();
    let [join] = &group.joins()[..] else {
        panic!("one file to join by");
    };
    let mut child = std::process::Command::new("sleep")
        .arg("600")
        .spawn()
        .unwrap();
    fs::write(join, child.id().to_string()).unwrap();
    group.kill();
    let status = child.wait().unwrap();
    assert_eq!(
        std::os::unix::process::ExitStatusExt::signal(&status),
        Some(9)
    );
    let folder = join.parent().unwrap().to_owned();
    assert!(folder.exists());
    drop(group);
    drop(hierarchy);
    assert!(!folder.exists() && !folder.parent().unwrap().exists());
}
