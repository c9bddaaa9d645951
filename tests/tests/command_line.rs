//! What holds for commands of any kind: pipes that nobody reads, files that are not there.

use std::io::pipe;
use std::process::{Command, Output, Stdio};

use tests::Server;

fn hostd(words: &[&str]) -> Command {
    let mut command = Command::new(tests::server::binary().unwrap());
    command.args(words).stdin(Stdio::null());
    command
}

/// With standard output that nobody reads from the beginning.
fn unread(words: &[&str]) -> Output {
    let (reader, writer) = pipe().unwrap();
    drop(reader);
    let mut command = hostd(words);
    command.stdout(writer).stderr(Stdio::piped());
    command.spawn().unwrap().wait_with_output().unwrap()
}

#[test]
fn a_command_whose_output_nobody_reads_ends_without_a_word() {
    let server = Server::demo().unwrap();
    let data = server.dir().join("data");
    let data = data.to_str().unwrap();
    for words in [
        &["config", "keys"][..],
        &["config", "check"],
        &["key", "list", "--data-dir", data],
        &["plugin", "list", "--data-dir", data],
        &["check", "--schema"],
        &["doctor"],
    ] {
        let output = unread(words);
        let told = String::from_utf8_lossy(&output.stderr);
        // As if SIGPIPE had ended it.
        assert_eq!(output.status.code(), Some(141), "{words:?}: {told}");
        let complaints = told
            .lines()
            .filter(|line| !line.starts_with("hostd: the data folder is"));
        assert_eq!(complaints.count(), 0, "{words:?}: {told}");
    }
}

#[test]
fn a_pipeline_that_is_not_there_is_a_wrong_command_line() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("missing.yml");
    let output = hostd(&["check"]).arg(&missing).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(
        told.contains("failed to read") && told.contains("missing.yml"),
        "{told}"
    );
    // What can be read is checked all the same.
    let good = dir.path().join("good.yml");
    let text = "version: 1\nbenches: [{ id: b, device: { name: d }, steps: [{ wait: 1ms }] }]\n";
    std::fs::write(&good, text).unwrap();
    let output = hostd(&["check"]).args([&missing, &good]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(
        printed.contains("good.yml: 0 runs of builds, 1 of benches"),
        "{printed}"
    );
}
