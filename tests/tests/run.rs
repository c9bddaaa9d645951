//! `hostd run`, `hostd check` with pipelines, and `hostd doctor`, as CI systems and people use them.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;
use tests::can_isolate;

fn command(args: &[&str], folder: &Path) -> Command {
    let mut command = Command::new(tests::server::binary().unwrap());
    command
        .args(args)
        .current_dir(folder)
        .env_remove("GITHUB_ACTIONS")
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .stdin(Stdio::null());
    command
}

fn hostd(args: &[&str], folder: &Path) -> Output {
    command(args, folder).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A folder with a pipeline of one build that has these steps.
fn folder(steps: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("version: 1\nbuilds:\n  - id: fw\n    steps:\n{steps}\n");
    fs::write(folder.path().join("pipeline.yml"), text).unwrap();
    folder
}

fn has_run(steps: &str, more: &[&str]) -> (TempDir, Output) {
    let folder = folder(steps);
    let args = [&["run", "pipeline.yml"], more].concat();
    let output = hostd(&args, folder.path());
    (folder, output)
}

#[test]
fn a_run_tells_and_leaves_what_it_came_to() {
    if !can_isolate() {
        return;
    }
    let steps = "      - { run: 'echo made > \"$HOSTD_OUT/fw\"; echo building', case: builds }
    packs: [{ id: a, artifacts: [fw] }]";
    let (folder, output) = has_run(steps, &[]);
    let told = text(&output.stdout);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{told}{}",
        text(&output.stderr)
    );
    let expected = "=== fw.a\n== builds\nbuilding\n=== fw.a: passed\n\nfw.a  passed, 1 artifact\n\nsuccess: All went as it should.\nLog, report and artifacts are in hostd-out.\n";
    assert_eq!(told, expected);
    let out = folder.path().join("hostd-out");
    for name in [
        "junit.xml",
        "report.html",
        "trace.json",
        "log.txt",
        "artifacts/fw.a/fw",
    ] {
        assert!(out.join(name).is_file(), "no {name}");
    }
    // Again, with what the first run left in the sources.
    let output = hostd(
        &["run", "pipeline.yml", "--json", "--only", "fw"],
        folder.path(),
    );
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["verdict"], "success");
    let run = &json["runs"][0];
    assert_eq!(
        (&run["id"], &run["outcome"]),
        (&"fw.a".into(), &"passed".into())
    );
    assert_eq!(run["steps"][0]["exit_code"], 0);
    assert_eq!(run["artifacts"][0]["bytes"], 5);
    assert!(text(&output.stderr).contains("building\n"));
}

#[test]
fn a_run_that_fails_says_whose_fault_it_is() {
    if !can_isolate() {
        return;
    }
    let (_folder, output) = has_run("      - run: exit 7", &[]);
    assert_eq!(output.status.code(), Some(1));
    let told = text(&output.stdout);
    assert!(
        told.contains("failure: fw: the command ended with exit code 7;"),
        "{told}"
    );
    let unsupported = "      - run: 'true'\n    sandbox: { network: true }";
    let (_folder, output) = has_run(unsupported, &[]);
    assert_eq!(output.status.code(), Some(3));
    let told = text(&output.stdout);
    assert!(told.contains("`hostd run --network`"), "{told}");
    let image = "      - run: 'true'\n    sandbox: { image: 'localhost/none:1' }";
    let (folder, _) = has_run(image, &[]);
    let no_podman = command(&["run", "pipeline.yml"], folder.path())
        .env("PATH", folder.path())
        .output()
        .unwrap();
    assert_eq!(no_podman.status.code(), Some(3));
    let told = text(&no_podman.stdout);
    assert!(
        told.contains("infrastructure: fw: images are not"),
        "{told}"
    );
    let secret = "      - { run: 'echo $K', env: { K: { secret: KEY } } }";
    let (folder, output) = has_run(secret, &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("find the secret KEY, which builds[0].steps[0] needs"));
    let output = command(&["run", "pipeline.yml", "--secret", "KEY"], folder.path())
        .env("KEY", "open-sesame")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("[secret]\n"));
    fs::write(folder.path().join("key.txt"), "open-sesame\n").unwrap();
    let output = hostd(
        &["run", "pipeline.yml", "--secret", "KEY=key.txt"],
        folder.path(),
    );
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("[secret]\n"));
    let output = hostd(
        &["run", "pipeline.yml", "--secret", "KEY=none.txt"],
        folder.path(),
    );
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("read the secret KEY from none.txt"));
    let (_folder, output) = has_run("      - run: 'true'", &["--only", "other"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn benches_that_find_no_device_are_told_to_be_left_out() {
    if !can_isolate() {
        return;
    }
    let steps = "      - run: 'true'\nbenches:\n  - { id: smoke, device: { name: a }, steps: [{ reset: {} }] }";
    let (folder, output) = has_run(steps, &[]);
    let told = text(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{told}");
    assert!(told.contains("smoke  not run: no device fits"), "{told}");
    let junit = fs::read_to_string(folder.path().join("hostd-out/junit.xml")).unwrap();
    assert!(
        junit.contains("<skipped>not run: no device fits"),
        "{junit}"
    );
    let output = hostd(&["run", "pipeline.yml", "--builds-only"], folder.path());
    assert_eq!(output.status.code(), Some(0));
    let both = ["run", "pipeline.yml", "--builds-only", "--device", "sim:v3"];
    assert_eq!(hostd(&both, folder.path()).status.code(), Some(2));
}

#[test]
fn github_gets_groups_and_marks_and_obeys_no_build() {
    if !can_isolate() {
        return;
    }
    let folder = folder("      - { run: 'echo ::add-mask::x; exit 1', id: make }");
    let output = command(&["run", "pipeline.yml"], folder.path())
        .env("GITHUB_ACTIONS", "true")
        .env("GITHUB_STEP_SUMMARY", folder.path().join("summary"))
        .output()
        .unwrap();
    let told = text(&output.stdout);
    let lines: Vec<&str> = told.lines().collect();
    let at = |line: &str| lines.iter().position(|have| *have == line);
    let group = at("::group::fw: make").unwrap();
    let word = lines[group + 1].strip_prefix("::stop-commands::").unwrap();
    assert_eq!(lines[group + 2], "::add-mask::[secret]");
    let note = "-- ::add-mask:: was not followed: the value is shorter than 8 bytes";
    assert!(lines[group + 3].starts_with(note), "{told}");
    assert_eq!(lines[group + 4], format!("::{word}::"));
    assert_eq!(lines[group + 5], "::endgroup::");
    let error = "::error title=fw::the command ended with exit code 1; its output says why";
    assert!(at(error).is_some(), "{told}");
    let summary = fs::read_to_string(folder.path().join("summary")).unwrap();
    assert!(
        summary.contains("| fw | the command ended with exit code 1;"),
        "{summary}"
    );
}

#[test]
fn ctrl_c_cancels_a_run() {
    if !can_isolate() {
        return;
    }
    let folder = folder("      - run: echo here; sleep 1000");
    let mut child = command(&["run", "pipeline.yml"], folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == "here"));
    let interrupt = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(interrupt.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(4));
    assert!(folder.path().join("hostd-out/report.html").is_file());
    let places = folder.path().join("cache/hostd/places/0");
    assert_eq!(fs::read_dir(places).unwrap().count(), 0);
}

#[test]
fn a_wrong_pipeline_is_told_with_lines_and_carets() {
    let folder = folder("      - { run: make, tiemout: 5s }");
    for (verb, code) in [("check", 2), ("run", 2)] {
        let output = hostd(&[verb, "pipeline.yml"], folder.path());
        assert_eq!(output.status.code(), Some(code));
        let told = text(&output.stdout) + &text(&output.stderr);
        assert!(told.starts_with("pipeline.yml:5:"), "{told}");
        assert!(
            told.contains("did you mean `timeout`?") && told.contains("^^^^"),
            "{told}"
        );
    }
    let right = tempfile::tempdir().unwrap();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/example/pipeline.yml");
    let output = hostd(&["check", example, "none.yml"], right.path());
    assert_eq!(output.status.code(), Some(2), "a file that is not there");
    let output = hostd(&["check", example], right.path());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let output = hostd(&["check", "--schema"], right.path());
    let schema: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(schema["properties"]["builds"].is_object());
}

#[test]
fn a_doctor_says_what_there_is_and_what_to_do() {
    let output = hostd(&["doctor", "--json"], Path::new("/"));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let code = if json["isolated"] == true { 0 } else { 3 };
    assert_eq!(output.status.code(), Some(code));
    assert!(json["bounds"]["memory"]["by"].is_string());
    let told = text(&hostd(&["doctor"], Path::new("/")).stdout);
    for lack in json["lacks"].as_array().unwrap() {
        assert!(told.contains(lack["cure"].as_str().unwrap()), "{told}");
    }
}
