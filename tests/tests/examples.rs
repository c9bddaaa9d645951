//! The first pipeline of the guide, as it stands, on the demo bench of this machine and on the demo server.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;
use tests::{Server, can_isolate};

/// Where the pipeline leaves its artifacts.
const MAKEFILE: &str = "all:\n\tcp demo.elf $(OUT)/fw.elf\n\techo $(BOARD) > $(OUT)/fw.map\n";

/// Stands in for pytest, which a machine may lack: `python3 -m` looks in the job's folder first.
const PYTEST: &str = r#"
import os, sys
report = next(word for word in sys.argv if word.startswith("--junitxml="))
case = '<testsuite><testcase classname="tests" name="on %s"/></testsuite>'
with open(report.split("=")[1], "w") as out:
    out.write(case % os.environ["BENCHPOD_CONNECTION"])
"#;

fn sources() -> TempDir {
    let page = include_str!("../../docs/pipelines.md");
    let (_, rest) = page.split_once("```yaml\n").unwrap();
    let (pipeline, _) = rest.split_once("```").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let files: [(&str, &[u8]); 4] = [
        ("pipeline.yml", pipeline.as_bytes()),
        ("Makefile", MAKEFILE.as_bytes()),
        ("pytest.py", PYTEST.as_bytes()),
        ("demo.elf", &tests::demo_elf()),
    ];
    for (name, content) in files {
        fs::write(folder.path().join(name), content).unwrap();
    }
    folder
}

fn expect_green(folder: &Path, command: &mut Command) {
    let output = command
        .current_dir(folder)
        .env_remove("GITHUB_ACTIONS")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(
        told.contains("-- the serial line: LA3, 115200 baud"),
        "{told}"
    );
    let cases = fs::read_to_string(folder.join("out/junit.xml")).unwrap();
    for run in ["debug.a", "debug.b", "release.a", "release.b"] {
        for case in ["banner", "sensor answers", "on embeddedci:demo"] {
            let is_it = |line: &&str| line.contains(run) && line.contains(case);
            assert!(
                cases.lines().any(|line| is_it(&line)),
                "{run} {case}: {cases}"
            );
        }
    }
}

#[test]
fn the_first_pipeline_of_the_guide_is_green_here_and_on_the_demo_server() {
    if !can_isolate() {
        return;
    }
    let (folder, cache) = (sources(), tempfile::tempdir().unwrap());
    let binary = tests::server::binary().unwrap();
    let mut run = Command::new(&binary);
    run.args(["run", "pipeline.yml", "--out", "out"])
        .env("XDG_CACHE_HOME", cache.path());
    expect_green(folder.path(), &mut run);
    let server = Server::demo().unwrap();
    let mut submit = Command::new(&binary);
    submit
        .args(["submit", "pipeline.yml", "--wait", "--out", "out"])
        .env("HOSTD_URL", &server.url)
        .env("HOSTD_KEY", &server.api_key);
    expect_green(folder.path(), &mut submit);
}
