//! `hostd plugin dev`: builds, installs and follows, until it is interrupted.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use tests::package::{ID, MARK, write_version};
use tests::server::binary;
use tests::until;

use super::{Bench, WANTS, mark_of};

/// The longest wait for a line.
const WAIT: Duration = Duration::from_secs(60);

/// A command under way, and what it prints.
struct Dev {
    child: Child,
    lines: Receiver<String>,
    seen: Vec<String>,
}

impl Dev {
    fn start(bench: &Bench, folder: &Path) -> Self {
        let mut child = Command::new(binary().unwrap())
            .args(["plugin", "dev"])
            .arg(folder)
            .arg("--data-dir")
            .arg(bench.dir.path().join("data"))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (line, lines) = channel();
        let printed = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for text in printed.lines() {
                if line.send(text.unwrap()).is_err() {
                    return;
                }
            }
        });
        Self {
            child,
            lines,
            seen: Vec::new(),
        }
    }

    /// Wait for a line with this text.
    fn expect(&mut self, text: &str) {
        loop {
            let line = self.lines.recv_timeout(WAIT);
            let line = line.unwrap_or_else(|_| panic!("no {text} in {:?}", self.seen));
            let is_it = line.contains(text);
            self.seen.push(line);
            if is_it {
                return;
            }
        }
    }

    fn interrupt(mut self) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args(["-INT", &pid]).status().unwrap();
        assert!(sent.success());
        assert!(self.child.wait().unwrap().success(), "{:?}", self.seen);
    }
}

impl Drop for Dev {
    fn drop(&mut self) {
        // Both fail where it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A plugin whose build copies a component that lies beside it.
fn folder(bench: &Bench) -> std::path::PathBuf {
    let folder = bench.dir.path().join("dev");
    write_version(&folder, "1.0.0", WANTS, "").unwrap();
    fs::rename(folder.join("plugin.wasm"), folder.join("source.bin")).unwrap();
    let manifest = folder.join("plugin.toml");
    let mut text = fs::read_to_string(&manifest).unwrap();
    text.push_str("[dev]\nbuild = \"cp source.bin plugin.wasm\"\n");
    fs::write(manifest, text).unwrap();
    folder
}

#[test]
fn each_change_is_built_and_installed_and_the_log_is_shown() {
    let bench = Bench::new();
    let folder = folder(&bench);
    let mut dev = Dev::start(&bench, &folder);
    dev.expect("building test.plugin 1.0.0");
    dev.expect("hostd plugin approve test.plugin");
    dev.expect("waiting for changes");
    dev.expect("version 1.0.0 serves");
    bench.plugin(&["approve", ID]).ok();
    assert_eq!(mark_of(&bench.get("/mark")), MARK);

    assert_eq!(bench.get("/crime/log").status, 200);
    dev.expect(" line ");

    let before = fs::read(folder.join("source.bin")).unwrap();
    let old = MARK.as_bytes();
    let at = before.windows(old.len()).position(|w| w == old).unwrap();
    let mut after = before.clone();
    after[at..at + old.len()].copy_from_slice(b"MARK:version-1.0.1:");
    fs::write(folder.join("source.bin"), after).unwrap();
    dev.expect("building test.plugin 1.0.0");
    dev.expect("version 1.0.0 serves");
    assert_eq!(mark_of(&bench.get("/mark")), "MARK:version-1.0.1:");
    dev.interrupt();
    assert_eq!(mark_of(&bench.get("/mark")), "MARK:version-1.0.1:");
}

#[test]
fn what_does_not_build_or_load_is_told_and_the_next_change_is_tried() {
    let bench = Bench::new();
    let folder = folder(&bench);
    let manifest = folder.join("plugin.toml");
    let good = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, good.replace("cp source.bin", "false &&")).unwrap();
    let mut dev = Dev::start(&bench, &folder);
    dev.expect("failed to build it: the command ended with exit status: 1");
    dev.expect("waiting for changes");
    fs::write(&manifest, "[plugin]\n").unwrap();
    dev.expect("plugin.toml:1: plugin.id");
    dev.expect("waiting for changes");
    fs::write(&manifest, good.replace("cp source.bin", "echo no > ")).unwrap();
    dev.expect("failed to read");
    dev.expect("waiting for changes");
    fs::write(&manifest, good).unwrap();
    dev.expect("version 1.0.0 serves");
    dev.interrupt();
}

#[test]
fn a_build_that_goes_on_ends_with_the_command() {
    let bench = Bench::new();
    let folder = folder(&bench);
    let manifest = folder.join("plugin.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    let endless = text.replace(
        "cp source.bin plugin.wasm",
        "sh -c 'echo $$ > pid.wasm; tail -f plugin.toml'",
    );
    fs::write(&manifest, endless).unwrap();
    let mut dev = Dev::start(&bench, &folder);
    dev.expect("building");
    let pid = folder.join("pid.wasm");
    let told = || fs::read_to_string(&pid).unwrap_or_default();
    let pid = until(told, |text| text.ends_with('\n')).unwrap();
    dev.interrupt();
    let stat = || fs::read_to_string(format!("/proc/{}/stat", pid.trim())).ok();
    // Whoever adopts it may not have buried it yet.
    let is_over = |stat: &Option<String>| stat.as_ref().is_none_or(|stat| stat.contains(") Z "));
    until(stat, is_over).unwrap();
}
