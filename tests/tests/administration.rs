//! What the owner of a data folder orders on the command line about keys, people, trust, secrets and devices: the same
//! beside a server that runs there and without one.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::json;
use tests::Server;

/// A user who owns nothing here.
const SOMEBODY: u32 = 65_534;

const OTHER: u32 = 65_533;

/// Words that differ from folder to folder: credentials, ids, times.
const CODED: [&str; 2] = ["user add", "user code"];

fn command(data: &Path, line: &str) -> Command {
    let mut command = Command::new(tests::server::binary().unwrap());
    command
        .args(line.split(' '))
        .arg("--data-dir")
        .arg(data)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn run(data: &Path, line: &str, input: &str) -> Output {
    let mut child = command(data, line).spawn().unwrap();
    // A command that reads no input may have ended already.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

/// What a command that succeeds prints.
fn says(data: &Path, line: &str, input: &str) -> String {
    let output = run(data, line, input);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {complaint}");
    let named = format!("hostd: the data folder is {}", data.display());
    assert!(complaint.contains(&named), "{complaint}");
    String::from_utf8(output.stdout).unwrap()
}

/// Exit code and all lines, without what differs from folder to folder.
fn masked(line: &str, output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    let mut lines: Vec<String> = text
        .lines()
        .filter(|line| !line.starts_with("hostd: the data folder is"))
        .map(|line| {
            let words = line.split_whitespace().map(mask);
            words.collect::<Vec<_>>().join(" ")
        })
        .collect();
    if CODED.iter().any(|coded| line.starts_with(coded)) && output.status.success() {
        lines[0] = "CODE".to_owned();
    }
    format!("{:?}: {}", output.status.code(), lines.join("\n"))
}

fn mask(word: &str) -> &str {
    let bare = word.trim_matches(['(', ')']);
    let is_time = bare.len() == 20 && bare.ends_with('Z') && bare.starts_with("20");
    let is_alphanumeric = bare.bytes().all(|b| b.is_ascii_alphanumeric());
    let is_id = bare.len() == 26 && is_alphanumeric;
    let is_kid = bare.len() == 12
        && is_alphanumeric
        && bare
            .bytes()
            .any(|b| b.is_ascii_digit() || b.is_ascii_uppercase());
    match () {
        () if bare.starts_with("bk_") => "KEY",
        // A running server notes that a device was there.
        () if is_time || bare == "never" => "TIME",
        () if is_id => "ID",
        () if is_kid => "KID",
        () => word,
    }
}

/// Every command, what it refuses included, with its input.
const LINES: [(&str, &str); 30] = [
    ("org add acme", ""),
    ("org add acme", ""),
    ("org trust acme --ref main --ref v*", ""),
    ("org trust nobody --none", ""),
    ("org list", ""),
    ("user add mia --role admin", ""),
    ("user add mia", ""),
    ("user add eve --org acme --role owner", ""),
    ("user password mia", "correct horse battery\n"),
    ("user password mia", "short\n"),
    ("user password bob", "correct horse battery\n"),
    ("user code mia", ""),
    ("user disable eve", ""),
    ("user disable mia", ""),
    ("user enable mia", ""),
    ("user list", ""),
    ("key create --user mia --name ci --scope bench:admin", ""),
    ("key create --user bob", ""),
    ("key revoke 000000000000", ""),
    ("key list", ""),
    ("trust add acme/blinky --ref refs/heads/*", ""),
    ("trust add acme", ""),
    ("trust remove 01ARZ3NDEKTSV4RRFFQ69G5FAV", ""),
    ("trust list", ""),
    ("secret set CAL --ref main", "correct horse battery\n"),
    ("secret set CAL", "short"),
    ("secret list", ""),
    ("device remove nobody", ""),
    ("device admit demo", ""),
    ("device list", ""),
];

#[test]
fn each_command_says_the_same_beside_a_server_and_without_one() {
    let dir = tempfile::tempdir().unwrap();
    let mut stopped = Server::demo_in(dir.path()).unwrap();
    assert!(stopped.stop().unwrap());
    let server = Server::demo().unwrap();
    let (running, idle) = (server.dir().join("data"), dir.path().join("data"));
    for (line, input) in LINES {
        let beside = run(&running, line, input);
        let without = run(&idle, line, input);
        assert_eq!(masked(line, &beside), masked(line, &without), "{line}");
    }
    // Something was printed where something was asked for.
    let listed = says(&running, "key list", "");
    assert!(listed.contains("mia") && listed.contains("bench:admin"));
    assert!(says(&running, "org list", "").contains("main v*"));
    let _ = server.logged("carrying out an order");
    let log = server.log();
    assert!(!log.contains("correct horse"), "{log}");
}

#[test]
fn a_running_server_follows_at_once() {
    let server = Server::demo().unwrap();
    let data = server.dir().join("data");
    let key = says(&data, "key create --name ci --scope bench:control", "");
    let client = server
        .anonymous()
        .with_authorization(&format!("ApiKey {}", key.trim()));
    client.get("/api/bench/devices").unwrap().expect(200);
    let kid = key.split('_').nth(1).unwrap();
    says(&data, &format!("key revoke {kid}"), "");
    client
        .get("/api/bench/devices")
        .unwrap()
        .expect_error(401, "revoked_credential");

    let added = says(&data, "user add mia", "");
    let code = added.lines().next().unwrap();
    let session = server.session(&json!(code));
    let mia = server.anonymous().with_authorization(&session);
    mia.get("/api/auth/session").unwrap().expect(200);
    says(&data, "user disable mia", "");
    mia.get("/api/auth/session")
        .unwrap()
        .expect_error(401, "revoked_credential");

    says(&data, "secret set CAL", "correct horse battery\n");
    let secrets = server.client().get("/api/secrets").unwrap().expect(200);
    assert_eq!(secrets["secrets"][0]["name"], "CAL");
    says(&data, "secret remove CAL", "");
    let rule = says(&data, "trust add acme/blinky", "");
    says(&data, &format!("trust remove {}", rule.trim()), "");
}

#[test]
fn a_device_is_made_safe_and_removed_and_a_held_one_by_overriding_alone() {
    let server = Server::demo().unwrap();
    let (client, data) = (server.client(), server.dir().join("data"));
    let devices = || client.get("/api/bench/devices").unwrap().expect(200);
    let id = server.device();
    let token = client.post("/api/auth/token", &json!({})).unwrap();
    let token = token.expect(200)["token"].as_str().unwrap().to_owned();
    let holder = server
        .anonymous()
        .with_authorization(&format!("Bearer {token}"))
        .with_header("x-bench-device", "demo");
    let lease = json!({"lease_id": "run-7-lease", "run_label": "run 7"});
    let taken = holder.post("/api/cloud/devices/lease", &lease).unwrap();
    taken.expect(200);
    let refused = run(&data, "device remove demo", "");
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        !refused.status.success() && told.contains("run 7 holds it"),
        "{told}"
    );
    assert_eq!(devices()["devices"][0]["id"], id);
    says(&data, "device remove demo --override", "");
    assert_eq!(devices()["devices"], json!([]));
    assert!(says(&data, "device list", "").contains("removed"));
    assert!(says(&data, "device admit demo", "").contains(id));
    assert_eq!(devices()["devices"][0]["id"], id);
    // Nobody has it now.
    assert!(says(&data, "device remove demo", "").contains(id));
    assert_eq!(devices()["devices"], json!([]));
}

#[test]
fn a_server_that_is_killed_meanwhile_is_taken_for_none() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::demo_in(dir.path()).unwrap();
    let data = dir.path().join("data");
    let pid = server.pid().to_string();
    let stopped = Command::new("kill").args(["-STOP", &pid]).status().unwrap();
    assert!(stopped.success());
    let mut child = command(&data, "key create --scope bench:control")
        .spawn()
        .unwrap();
    // It has begun; whether it asks the server before or after its end makes no difference to what it prints.
    let mut begun = String::new();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    stderr.read_line(&mut begun).unwrap();
    server.kill().unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let key = String::from_utf8(output.stdout).unwrap();
    let server = Server::demo_in(dir.path()).unwrap();
    let client = server
        .anonymous()
        .with_authorization(&format!("ApiKey {}", key.trim()));
    client.get("/api/bench/devices").unwrap().expect(200);
}

#[test]
fn a_folder_without_a_store_is_refused_and_left_empty() {
    let dir = tempfile::tempdir().unwrap();
    for line in [
        "key create",
        "user add mia",
        "org add acme",
        "trust add acme/blinky",
        "secret set CAL",
        "device list",
    ] {
        let refused = run(dir.path(), line, "correct horse battery\n");
        let told = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(1), "{line}: {told}");
        let named = dir.path().to_string_lossy().into_owned();
        assert!(
            told.contains("find a store in") && told.contains(&named),
            "{told}"
        );
        assert!(refused.stdout.is_empty(), "{line}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "{line}");
    }
}

/// Only root may be somebody else.
fn is_root(dir: &Path) -> bool {
    let is_root = fs::metadata(dir).unwrap().uid() == 0;
    if !is_root {
        #[expect(clippy::print_stderr, reason = "a test that is left out says so")]
        {
            eprintln!("left out: a folder of another user needs root");
        }
    }
    is_root
}

#[test]
fn another_users_folder_and_socket_are_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    if !is_root(dir.path()) {
        return;
    }
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    // A copy, since others may not reach the one that was built.
    let copy = dir.path().join("hostd");
    fs::copy(tests::server::binary().unwrap(), &copy).unwrap();
    let ask = |data: &Path| {
        let mut command = Command::new(&copy);
        command
            .args(["key", "list", "--data-dir"])
            .arg(data)
            .current_dir("/")
            .stdin(Stdio::null())
            .uid(SOMEBODY)
            .gid(SOMEBODY);
        let output = command.output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success() && output.stdout.is_empty(),
            "{told}"
        );
        told
    };
    // A server's folder, private to its user.
    let server = Server::demo_in(dir.path()).unwrap();
    let told = ask(&dir.path().join("data"));
    assert!(told.contains("belongs to the user with number 0"), "{told}");
    drop(server);
    // A folder that anybody may open, with a socket that anybody may write to: nothing is sent there.
    let bait = dir.path().join("bait");
    fs::create_dir(&bait).unwrap();
    let listener = UnixListener::bind(bait.join("admin.sock")).unwrap();
    for path in [bait.join("admin.sock"), bait.clone()] {
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
        std::os::unix::fs::chown(&path, Some(OTHER), Some(OTHER)).unwrap();
    }
    let told = ask(&bait);
    assert!(told.contains("belongs to the user with number"), "{told}");
    listener.set_nonblocking(true).unwrap();
    let asked = listener.accept().map(drop).map_err(|e| e.kind());
    assert_eq!(asked, Err(std::io::ErrorKind::WouldBlock));
}
