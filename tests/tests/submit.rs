//! `hostd submit` against a server, as CI systems and people use it.

mod barred;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use serde_json::Value;
use tempfile::TempDir;
use tests::{Server, can_isolate, own_port, until};

/// A folder with sources and a pipeline of one build that has these steps.
fn folder(steps: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("version: 1\nbuilds:\n  - id: fw\n    steps:\n{steps}\n");
    fs::write(folder.path().join("pipeline.yml"), text).unwrap();
    fs::write(folder.path().join("source.txt"), "from the sources\n").unwrap();
    folder
}

fn command(url: &str, key: &str, folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(tests::server::binary().unwrap());
    command
        .arg("submit")
        .args(args)
        .current_dir(folder)
        .env("HOSTD_URL", url)
        .env("HOSTD_KEY", key)
        .stdin(Stdio::null());
    for name in ["GITHUB_ACTIONS", "GITHUB_SHA", "CI_COMMIT_SHA"] {
        command.env_remove(name);
    }
    command
}

fn submit(server: &Server, folder: &Path, args: &[&str]) -> Output {
    let output = command(&server.url, &server.api_key, folder, args)
        .output()
        .unwrap();
    let told = text(&output.stdout) + &text(&output.stderr);
    assert!(!told.contains(&server.api_key), "the key is told");
    output
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn jobs(server: &Server) -> Vec<Value> {
    let listed = server.client().get("/api/jobs").unwrap().expect(200);
    listed["jobs"].as_array().unwrap().clone()
}

#[test]
fn a_job_is_followed_and_its_results_are_fetched() {
    if !can_isolate() {
        return;
    }
    let server = Server::demo().unwrap();
    let steps = "      - { run: 'cat source.txt; echo made > \"$HOSTD_OUT/f w\"', case: builds }
    packs: [{ id: a, artifacts: ['f w'] }]";
    let folder = folder(steps);
    let args = [
        "pipeline.yml",
        "--wait",
        "--out",
        "out",
        "--ref",
        "main",
        "--commit",
        "0a1b2c3",
    ];
    let output = submit(&server, folder.path(), &args);
    let told = text(&output.stdout);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{told}{}",
        text(&output.stderr)
    );
    // News of the job may come between any two of them.
    let wanted = ["\n== builds\n", "\nfrom the sources\n", "\n=== fw.a: "];
    let places = wanted.map(|part| told.find(part));
    assert!(places.is_sorted() && places[0].is_some(), "{told}");
    assert!(
        told.ends_with("Log, report and artifacts are in out.\n"),
        "{told}"
    );
    let out = folder.path().join("out");
    for (name, part) in [
        ("log.txt", "from the sources\n"),
        ("report.html", "<html"),
        ("junit.xml", "name=\"builds\""),
        ("trace.json", "fw.a"),
        ("artifacts/fw.a/f w", "made\n"),
    ] {
        let file = fs::read_to_string(out.join(name)).unwrap();
        assert!(file.contains(part), "{name}: {file}");
    }
    let job = &jobs(&server)[0];
    assert_eq!(
        (&job["ref"], &job["commit"]),
        (&"main".into(), &"0a1b2c3".into())
    );
    assert_eq!(job["name"], "pipeline");

    // What was fetched is no source of the next job.
    let args = ["pipeline.yml", "--wait", "--json", "--out", "out"];
    let output = submit(&server, folder.path(), &args);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&json["verdict"], &json["exit_code"]),
        (&"success".into(), &0.into())
    );
    assert_eq!(json["job"]["archive"]["entries"], 2);
    assert!(text(&output.stderr).contains("from the sources\n"));
}

#[test]
fn a_wait_says_why_and_so_does_hostd_why() {
    if !can_isolate() {
        return;
    }
    let server = Server::demo().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let pipeline = "version: 1
timeouts: { queue: 3s }
benches:
  - { id: b, device: { select: { la_channels: '>=400' } }, steps: [{ reset: {} }] }
";
    fs::write(folder.path().join("pipeline.yml"), pipeline).unwrap();
    let output = submit(&server, folder.path(), &["pipeline.yml", "--wait"]);
    let told = text(&output.stdout);
    let waits = "-- queued: No device of the organisation is what the pipeline asks for.";
    assert_eq!(told.matches(waits).count(), 1, "{told}");
    assert_eq!(told.matches("demo: la_channels is ").count(), 1, "{told}");
    assert!(told.contains("\ninfrastructure: b: No device "), "{told}");
    assert_eq!(output.status.code(), Some(3), "{told}");
    let job = jobs(&server)[0]["id"].as_str().unwrap().to_owned();
    let why = |args: &[&str]| {
        Command::new(tests::server::binary().unwrap())
            .arg("why")
            .args(args)
            .env("HOSTD_URL", &server.url)
            .env("HOSTD_KEY", &server.api_key)
            .output()
            .unwrap()
    };
    let output = why(&[&job]);
    let told = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{told}");
    let first = format!("Job {job} is finished.\nb: No device of the organisation");
    assert!(told.starts_with(&first), "{told}");
    let json: Value = serde_json::from_slice(&why(&[&job, "--json"]).stdout).unwrap();
    assert_eq!(json["job"]["ended_because"], "no_matching_device");
    for (wrong, part) in [
        ("01ARZ3NDEKTSV4RRFFQ69G5FAV", "(404 Not Found)"),
        ("../users", "an id has letters and digits"),
    ] {
        let output = why(&[wrong]);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains(part), "{told}");
    }
}

#[test]
fn a_job_that_fails_says_whose_fault_it_is() {
    if !can_isolate() {
        return;
    }
    let server = Server::demo().unwrap();
    let folder = folder("      - { run: 'echo ::add-mask::x; exit 7', id: make }");
    let output = command(
        &server.url,
        &server.api_key,
        folder.path(),
        &["pipeline.yml", "--wait"],
    )
    .env("GITHUB_ACTIONS", "true")
    .env("GITHUB_SHA", "feedbee")
    .env("GITHUB_STEP_SUMMARY", folder.path().join("summary"))
    .output()
    .unwrap();
    let told = text(&output.stdout);
    assert_eq!(
        output.status.code(),
        Some(1),
        "{told}{}",
        text(&output.stderr)
    );
    assert!(
        told.contains("::group::fw: make\n::stop-commands::"),
        "{told}"
    );
    assert!(told.contains("\n::error title=fw::"), "{told}");
    assert!(told.contains("\nfailure: "), "{told}");
    let summary = fs::read_to_string(folder.path().join("summary")).unwrap();
    assert!(summary.contains("| fw | "), "{summary}");
    assert_eq!(jobs(&server)[0]["commit"], "feedbee");
    // A device that nobody has.
    let nowhere = "version: 1\ntimeouts: { queue: 1s }\nbenches:\n  - { id: b, device: { name: none }, steps: [{ wait: 1s }] }\n";
    fs::write(folder.path().join("pipeline.yml"), nowhere).unwrap();
    let output = submit(&server, folder.path(), &["pipeline.yml", "--wait"]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stdout));
}

#[test]
fn a_key_of_its_own_makes_one_job_of_two_submissions() {
    if !can_isolate() {
        return;
    }
    let server = Server::demo().unwrap();
    let folder = folder("      - run: 'true'");
    let args = ["pipeline.yml", "--json", "--idempotency-key", "nightly-1"];
    let ids: Vec<Value> = (0..2)
        .map(|_| {
            let output = submit(&server, folder.path(), &args);
            assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
            let json: Value = serde_json::from_slice(&output.stdout).unwrap();
            json["id"].clone()
        })
        .collect();
    assert_eq!(ids[0], ids[1]);
    // A pipeline alone, from standard input.
    let mut child = command(
        &server.url,
        &server.api_key,
        folder.path(),
        &["-", "--name", "alone"],
    )
    .stdin(Stdio::piped())
    .stdout(Stdio::piped())
    .spawn()
    .unwrap();
    let pipeline = fs::read(folder.path().join("pipeline.yml")).unwrap();
    child.stdin.take().unwrap().write_all(&pipeline).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let told = text(&output.stdout);
    let id = told.lines().next().unwrap().strip_prefix("Job ").unwrap();
    assert_eq!(told, format!("Job {id}\n{}/api/jobs/{id}\n", server.url));
    let alone = server
        .client()
        .get(&format!("/api/jobs/{id}"))
        .unwrap()
        .expect(200);
    assert_eq!(
        (&alone["name"], &alone["archive"]),
        (&"alone".into(), &Value::Null)
    );
    assert_eq!(jobs(&server).len(), 2);
}

#[test]
fn ctrl_c_cancels_the_job_on_the_server() {
    if !can_isolate() {
        return;
    }
    let server = Server::demo().unwrap();
    let folder = folder("      - run: echo here; sleep 1000");
    let mut child = command(
        &server.url,
        &server.api_key,
        folder.path(),
        &["pipeline.yml", "--wait"],
    )
    .stdout(Stdio::piped())
    .spawn()
    .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == "here"));
    let interrupt = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(interrupt.unwrap().success());
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert_eq!(child.wait().unwrap().code(), Some(4), "{rest:?}");
    assert!(
        rest.iter().any(|line| line.starts_with("cancelled: ")),
        "{rest:?}"
    );
    let ended = until(
        || jobs(&server)[0].clone(),
        |job| job["state"] == "finished",
    );
    assert_eq!(ended.unwrap()["ended_because"], "cancelled");
}

/// Passes connections on to the server, but of the first one no answer: it is cut when told so. With the second channel
/// whoever listens learns that the answer has come.
fn silent(server: &Server, cut: Receiver<()>, answered: Sender<()>) -> String {
    let to = server.url.strip_prefix("http://").unwrap().to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for count in 0.. {
            let (client, _) = listener.accept().unwrap();
            let server = TcpStream::connect(&to).unwrap();
            let (mut from, mut into) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            thread::spawn(move || std::io::copy(&mut from, &mut into));
            if count > 0 {
                thread::spawn(move || std::io::copy(&mut &server, &mut &client));
                continue;
            }
            (&server).read_exact(&mut [0]).unwrap();
            answered.send(()).unwrap();
            cut.recv().unwrap();
            client.shutdown(Shutdown::Both).unwrap();
        }
    });
    url
}

/// How often the threads of a command have gone to sleep, without its first one.
fn sleeps(child: &Child) -> u64 {
    let id = child.id().to_string();
    let tasks = fs::read_dir(format!("/proc/{id}/task")).unwrap();
    let others = tasks
        .map(|task| task.unwrap().path())
        .filter(|task| !task.ends_with(&id));
    let count = |task: PathBuf| {
        // One that has just ended has none.
        let status = fs::read_to_string(task.join("status")).unwrap_or_default();
        let count = |line: &str| {
            line.strip_prefix("voluntary_ctxt_switches:")?
                .trim()
                .parse()
                .ok()
        };
        status.lines().find_map(count).unwrap_or(0)
    };
    others.map(count).sum()
}

#[test]
fn ctrl_c_cancels_a_job_whose_submission_was_never_answered() {
    if !can_isolate() {
        return;
    }
    let server = Server::demo().unwrap();
    let folder = folder("      - run: sleep 1000");
    let ((cut, is_cut), (answered, has_answered)) = (channel(), channel());
    let url = silent(&server, is_cut, answered);
    let args = ["pipeline.yml", "--source", "-", "--wait"];
    let child = command(&url, &server.api_key, folder.path(), &args)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    has_answered.recv().unwrap();
    let before = sleeps(&child);
    let interrupt = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(interrupt.unwrap().success());
    // It has to be heard before the connection breaks, or it interrupts the pause before the next try. The thread that
    // listens for signals goes to sleep again once it has heard one; the first one waits for the answer.
    until(|| sleeps(&child), |after| *after > before).unwrap();
    cut.send(()).unwrap();
    let output = child.wait_with_output().unwrap();
    let notes = text(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{notes}");
    assert!(notes.contains(" was cancelled"), "{notes}");
    let found = jobs(&server);
    assert_eq!(found.len(), 1, "{notes}");
    let ended = until(
        || jobs(&server)[0].clone(),
        |job| job["state"] == "finished",
    );
    assert_eq!(ended.unwrap()["ended_because"], "cancelled");
}

/// Passes connections on to the server, but cuts the first ones: each lets through four times as many bytes of answers
/// as the one before.
fn cutting(server: &Server) -> String {
    let to = server.url.strip_prefix("http://").unwrap().to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for count in 0.. {
            let (client, _) = listener.accept().unwrap();
            let server = TcpStream::connect(&to).unwrap();
            let (mut from, mut into) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            thread::spawn(move || std::io::copy(&mut from, &mut into));
            thread::spawn(move || {
                let most = 256_u64 << (2 * count).min(48);
                // Whoever was cut off notices.
                let _ = std::io::copy(&mut (&server).take(most), &mut &client);
                let _ = client.shutdown(Shutdown::Both);
                let _ = server.shutdown(Shutdown::Both);
            });
        }
    });
    url
}

#[test]
fn connections_that_break_neither_double_nor_lose_anything() {
    if !can_isolate() {
        return;
    }
    let server = Server::demo().unwrap();
    let folder = folder("      - run: for i in $(seq 2000); do echo \"line $i of many\"; done");
    let url = cutting(&server);
    let output = command(
        &url,
        &server.api_key,
        folder.path(),
        &["pipeline.yml", "--wait"],
    )
    .output()
    .unwrap();
    let (told, notes) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{told}{notes}");
    assert!(notes.matches("trying again").count() >= 3, "{notes}");
    let lines: Vec<&str> = told
        .lines()
        .filter(|line| line.ends_with(" of many"))
        .collect();
    let expected: Vec<String> = (1..=2000).map(|i| format!("line {i} of many")).collect();
    assert!(lines == expected, "{told}");
    assert_eq!(jobs(&server).len(), 1, "{notes}");
}

#[test]
fn what_is_wrong_before_a_job_is_there_has_exit_codes_too() {
    let server = Server::demo().unwrap();
    let wrong = folder("      - { run: make, tiemout: 5s }");
    let output = submit(&server, wrong.path(), &["pipeline.yml", "--wait"]);
    assert_eq!(output.status.code(), Some(2));
    let told = text(&output.stderr);
    assert!(
        told.starts_with("pipeline.yml:5:") && told.contains("did you mean `timeout`?"),
        "{told}"
    );
    let right = folder("      - run: 'true'");
    let run = |url: &str, key: &str, args: &[&str]| {
        let output = command(url, key, right.path(), args).output().unwrap();
        (output.status.code(), text(&output.stderr))
    };
    let (code, told) = run(&server.url, "bk_none", &["pipeline.yml"]);
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("401") && !told.contains("bk_none"), "{told}");
    // Only this server knows how long it lets a job wait.
    let long = folder("      - run: 'true'\ntimeouts: { queue: 9000h }");
    let output = submit(&server, long.path(), &["pipeline.yml"]);
    let told = text(&output.stderr);
    if can_isolate() {
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.starts_with("pipeline.yml:6:"), "{told}");
    }
    let nobody = format!("http://127.0.0.1:{}", own_port());
    let (code, told) = run(&nobody, "bk_x", &["pipeline.yml", "--patience", "0s"]);
    assert_eq!(code, Some(3), "{told}");
    assert!(jobs(&server).is_empty());
}

/// Tells what steps see of the sources.
const LISTS: &str = "version: 1
builds:
  - id: fw
    steps:
      - { run: 'find . -path ./.hostd -prune -o -print | sort > \"$HOSTD_OUT/list\"' }
    packs: [{ id: a, artifacts: [list] }]
";

#[test]
fn steps_see_the_same_files_here_and_on_a_server() {
    if !can_isolate() {
        return;
    }
    let server = Server::demo().unwrap();
    let (folder, cache) = (folder(""), tempfile::tempdir().unwrap());
    for (name, content) in [
        ("pipeline.yml", LISTS),
        (".gitignore", "sdk/\n*.o\n/here\n/there\n"),
        (".git/HEAD", "ref: refs/heads/main\n"),
        ("sdk/pytest.py", ""),
        ("src/main.c", ""),
        ("src/main.o", ""),
        ("hostd-out/log.txt", ""),
    ] {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    let sent = submit(
        &server,
        folder.path(),
        &["pipeline.yml", "--wait", "--out", "there"],
    );
    assert_eq!(sent.status.code(), Some(0), "{}", text(&sent.stdout));
    let ran = Command::new(tests::server::binary().unwrap())
        .args(["run", "pipeline.yml", "--out", "here"])
        .current_dir(folder.path())
        .env("XDG_CACHE_HOME", cache.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let told = text(&ran.stdout);
    assert_eq!(ran.status.code(), Some(0), "{told}{}", text(&ran.stderr));
    assert!(told.contains("since git ignores it"), "{told}");
    assert!(told.contains(": sdk, src/main.o, there\n"), "{told}");
    let list = |out: &str| {
        let file = folder.path().join(out).join("artifacts/fw.a/list");
        fs::read_to_string(file).unwrap()
    };
    let here = list("here");
    assert_eq!(list("there"), here);
    assert!(here.contains("./src/main.c\n"), "{here}");
    assert!(!here.contains("sdk") && !here.contains("main.o"), "{here}");
}

/// Fails after it has recorded and decoded, in a test that says why.
const FAILING: &str = "version: 1
builds:
  - id: fw
    steps:
      - { run: 'echo half > \"$HOSTD_OUT/half.txt\"; exit 2' }
    packs: [{ id: a, artifacts: [half.txt, whole.txt] }]
benches:
  - id: b
    device: { name: demo }
    steps:
      - capture: { kind: la, channels: { scl: 1, sda: 2 }, rate: 1MHz, samples: 100000 }
        id: the-bus
      - decode: { on: the-bus, decoder: i2c }
        id: seen
      - { run: 'true', junit: cases.xml }
";

/// A key of the owner that may do this and nothing else.
fn key(server: &Server, scope: &str) -> String {
    let body = serde_json::json!({"name": "ci", "scopes": [scope]});
    let made = server.client().post("/api/keys", &body);
    let made = made.unwrap().expect(201);
    made["secret"].as_str().unwrap().to_owned()
}

#[test]
fn what_a_job_that_fails_leaves_is_named_listed_and_fetched() {
    if !can_isolate() {
        return;
    }
    let server = Server::demo().unwrap();
    let folder = folder("");
    fs::write(folder.path().join("pipeline.yml"), FAILING).unwrap();
    let cases = "<testsuite><testcase classname='test_rail' name='test_voltage'>\
                 <failure message='rail says 4.2 V'>assert</failure></testcase></testsuite>";
    fs::write(folder.path().join("cases.xml"), cases).unwrap();
    let args = ["pipeline.yml", "--wait", "--out", "out"];
    let key = key(&server, "jobs:submit");
    let output = command(&server.url, &key, folder.path(), &args).output();
    let output = output.unwrap();
    let told = text(&output.stdout) + &text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{told}");
    let sentence = "The test test_rail::test_voltage failed: rail says 4.2 V.";
    let is_told = |line: &str| line.starts_with("b ") && line.contains(sentence);
    assert!(told.lines().any(is_told), "{told}");
    assert!(!told.contains("the report says which"), "{told}");

    let id = jobs(&server)[0]["id"].as_str().unwrap().to_owned();
    let job = server.client().get(&format!("/api/jobs/{id}"));
    let job = job.unwrap().expect(200);
    let run = job["runs"].as_array().unwrap().iter();
    let run = run.clone().find(|run| run["id"] == "b").unwrap();
    assert_eq!(
        (&run["message"], &run["code"]),
        (&sentence.into(), &"tests".into())
    );
    let [capture] = job["captures"].as_array().unwrap().as_slice() else {
        panic!("{job}");
    };
    let name = format!("{id} b: the-bus");
    assert_eq!(
        (&capture["run"], &capture["step"], &capture["name"]),
        (&"b".into(), &"the-bus".into(), &name.as_str().into()),
        "{job}"
    );
    let listed = server.client().get("/api/captures").unwrap().expect(200);
    let record = &listed["captures"][0];
    assert_eq!(
        (&record["id"], &record["name"]),
        (&capture["id"], &capture["name"])
    );
    assert_eq!(
        record["job"],
        serde_json::json!({"id": id, "run": "b", "attempt": capture["attempt"], "step": "the-bus"})
    );

    let out = folder.path().join("out");
    let read =
        |name: &str| fs::read(out.join(name)).unwrap_or_else(|e| panic!("{name}: {e}: {told}"));
    assert!(read("captures/b/the-bus.sr").starts_with(b"PK"));
    read("artifacts/b/decoded/seen.txt");
    assert_eq!(read("artifacts/fw.a/half.txt"), b"half\n");
    let report = text(&read("report.html"));
    let first = report.find("What failed").unwrap();
    assert!(first < report.find("<h2>Timeline</h2>").unwrap());
    assert!(!report.contains("the report says which"), "{report}");
    let named = "test_rail::test_voltage</a>: rail says 4.2 V";
    assert!(report[first..].contains(named), "{report}");
    let path = format!(
        "/api/jobs/{id}/captures/{}",
        capture["id"].as_str().unwrap()
    );
    for path in [&path, &format!("/api/jobs/{id}/artifacts/fw.a/half.txt")] {
        assert!(report.contains(&format!("href=\"{path}\"")), "{report}");
    }
    assert_who_fetches(&server, &path, &key);
}

/// What a run left that failed is no firmware to flash. Whoever may submit fetches what was recorded, and nobody else.
fn assert_who_fetches(server: &Server, path: &str, key: &str) {
    let flashable = format!("/api/bench/devices/{}/flashable-artifacts", server.device());
    let found = server.client().get(&flashable).unwrap().expect(200);
    assert_eq!(found["artifacts"], serde_json::json!([]));

    let with = |key: &str| {
        server
            .anonymous()
            .with_authorization(&format!("ApiKey {key}"))
    };
    assert_eq!(with(key).get(path).unwrap().status, 200);
    let unknown = server.anonymous().get(path).unwrap();
    assert_eq!(unknown.status, 401, "{}", unknown.text);
    let driver = with(&self::key(server, "bench:control")).get(path);
    let driver = driver.unwrap();
    driver.expect_error(403, "missing_scope");
}
