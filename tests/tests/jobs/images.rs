//! Jobs in images of containers.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use tempfile::TempDir;
use tests::can_isolate;

use super::network::greeter;
use super::{Jobs, id};

/// A pipeline with one step in an image.
fn in_image(image: &str, script: &str) -> String {
    format!(
        "version: 1\nbuilds:\n  - id: fw\n    sandbox:\n      image: {image}\n    steps: [{{ run: '{script}' }}]\n"
    )
}

/// What is told of a refused image.
fn refusal(jobs: &Jobs, image: &str) -> String {
    let body = json!({"definition": in_image(image, "true")});
    let reply = jobs.client().post("/api/jobs/submit", &body).unwrap();
    reply.expect_error(422, "invalid_definition");
    let problem = reply.json()["problems"][0].clone();
    assert_eq!(problem["code"], "image_refused", "{problem}");
    assert_eq!(problem["path"], "builds[0].sandbox.image");
    assert_eq!(
        (&problem["line"], &problem["column"]),
        (&5.into(), &14.into())
    );
    problem["message"].as_str().unwrap().to_owned()
}

#[test]
fn images_that_cannot_be_had_are_refused_where_they_are_named() {
    if !can_isolate() {
        return;
    }
    let jobs = Jobs::start("podman = '/no/podman'\nimages = 'localhost/ok*, localhost/own:1'");
    let named = refusal(&jobs, "localhost/other:1");
    assert!(named.contains("localhost/ok*, localhost/own:1"), "{named}");
    assert!(refusal(&jobs, "localhost/own:12").contains("`jobs.images`"));
    assert!(refusal(&jobs, "localhost/ok:1").contains("no Podman"));
}

/// Podman with a storage of its own in a folder, which it leaves with the test.
struct Podman {
    folder: TempDir,
}

impl Podman {
    /// With the driver that works everywhere. None if it is not installed.
    #[allow(clippy::print_stderr, reason = "a test that is left out says why")]
    fn installed() -> Option<Self> {
        let version = Command::new("podman").arg("--version").output();
        if !version.is_ok_and(|output| output.status.success()) {
            eprintln!("Podman is not installed, so this test is left out");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let text = format!(
            "#!/bin/sh\nexec podman --root {0}/root --runroot {0}/run --storage-driver vfs \"$@\"\n",
            folder.path().display()
        );
        let podman = Self { folder };
        fs::write(podman.program(), text).unwrap();
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(podman.program(), executable).unwrap();
        Some(podman)
    }

    fn program(&self) -> PathBuf {
        self.folder.path().join("podman")
    }

    fn ask(&self, arguments: &[&str]) -> String {
        let output = Command::new(self.program())
            .args(arguments)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}: {said}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Makes an image with two shells of the host and a file, and with a resolver that leads nowhere. Its id.
    fn make(&self, name: &str, text: &str) -> String {
        let tree = tempfile::tempdir().unwrap();
        for program in ["/bin/sh", "/bin/bash", "/bin/cat"] {
            take(Path::new(program), tree.path());
            let needed = Command::new("ldd").arg(program).output().unwrap();
            let needed = String::from_utf8(needed.stdout).unwrap();
            let is_path = |word: &&str| word.starts_with('/');
            for library in needed.split_whitespace().filter(is_path) {
                take(Path::new(library), tree.path());
            }
        }
        fs::create_dir(tree.path().join("etc")).unwrap();
        fs::write(tree.path().join("etc/release"), text).unwrap();
        symlink("/run/nowhere", tree.path().join("etc/resolv.conf")).unwrap();
        let tar = self.folder.path().join("image.tar");
        let packed = Command::new("tar")
            .args(["--create", "--file"])
            .arg(&tar)
            .arg("--directory")
            .arg(tree.path())
            .arg(".")
            .status();
        assert!(packed.unwrap().success());
        self.ask(&[
            "import",
            "--change",
            "ENV FROM=image",
            tar.to_str().unwrap(),
            name,
        ]);
        self.ask(&["image", "inspect", "--format", "{{.Id}}", name])
    }
}

impl Drop for Podman {
    fn drop(&mut self) {
        let _ = Command::new(self.program())
            .args(["rmi", "--all", "--force"])
            .output();
    }
}

fn take(file: &Path, tree: &Path) {
    let inside = tree.join(file.strip_prefix("/").unwrap());
    fs::create_dir_all(inside.parent().unwrap()).unwrap();
    fs::copy(file, inside).unwrap();
}

#[test]
fn a_job_runs_in_an_image_of_podman_s_and_its_log_names_it() {
    if !can_isolate() {
        return;
    }
    let Some(podman) = Podman::installed() else {
        return;
    };
    let first = podman.make("localhost/own:1", "first");
    let mut jobs = Jobs::start(&format!("podman = '{}'", podman.program().display()));
    let run = |jobs: &Jobs, image: &str| {
        let body = json!({"definition": in_image(image, "cat /etc/release; echo , $FROM $HOME")});
        let reply = jobs.client().post("/api/jobs/submit", &body).unwrap();
        let job = id(&reply.expect(201));
        let ended = jobs.ended(&job);
        (ended, jobs.get(&job, "/log").text)
    };
    let (job, log) = run(&jobs, "localhost/own:1");
    assert_eq!(job["verdict"], "success", "{log}");
    assert!(log.contains("first, image /job"), "{log}");
    assert!(log.contains(&first) && log.contains("is unpacked"), "{log}");
    assert_eq!(podman.ask(&["ps", "--all", "--quiet"]), "");
    // The name moves to another image, and the server restarts without a word.
    let second = podman.make("localhost/own:1", "second");
    jobs.server.kill().unwrap();
    jobs.restart();
    let (_, log) = run(&jobs, "localhost/own:1");
    assert!(
        log.contains("second, image /job") && log.contains(&second),
        "{log}"
    );
    let (_, log) = run(&jobs, &first);
    assert!(
        log.contains("first, image /job") && !log.contains("is unpacked"),
        "{log}"
    );
    // What is not there is nobody's fault but the machine's, and is not tried again.
    let (job, _) = run(&jobs, "localhost/gone:1");
    assert_eq!(
        (&job["verdict"], &job["ended_because"]),
        (&"pending".into(), &"infra_error".into())
    );
    assert_eq!(job["attempts"].as_array().unwrap().len(), 1, "{job}");
    let told = job["message"].as_str().unwrap();
    assert!(
        told.contains("no image localhost/gone:1") && told.contains("podman pull"),
        "{told}"
    );
    // No backup carries what Podman has anyway.
    let backup = jobs.dir.path().join("backup");
    let output = Command::new(tests::server::binary().unwrap())
        .args(["backup", backup.to_str().unwrap(), "--data-dir"])
        .arg(jobs.dir.path().join("data"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(!backup.join("work").exists() && backup.join("manifest.json").exists());
}

#[test]
fn a_job_in_an_image_reaches_the_network_that_it_asks_for() {
    if !can_isolate() {
        return;
    }
    let (Some(podman), Some((address, port))) = (Podman::installed(), greeter()) else {
        return;
    };
    podman.make("localhost/own:1", "from the image");
    let settings = format!("network = 'all'\npodman = '{}'", podman.program().display());
    let jobs = Jobs::start(&settings);
    let script = format!(
        "cat /etc/release; echo; bash -c \\\"exec 3<>/dev/tcp/{address}/{port}; cat <&3\\\"; echo; cat /etc/resolv.conf; echo over"
    );
    let run = |network: bool| {
        let pipeline = format!(
            "version: 1\nbuilds:\n  - id: fw\n    sandbox: {{ image: 'localhost/own:1', network: {network} }}\n    steps: [{{ run: \"{script}\" }}]\n"
        );
        let job = jobs.submit(&pipeline);
        let ended = jobs.ended(&job);
        (ended, jobs.get(&job, "/log").text)
    };
    // The one without gets the same unpacked image, and nothing in it is of the one before.
    for is_first in [true, false] {
        let (job, log) = run(true);
        assert_eq!(job["verdict"], "success", "{log}");
        assert!(log.contains("from the image\nhello\n"), "{log}");
        assert!(log.contains("with a network: all addresses\n"), "{log}");
        assert_eq!(log.contains("is unpacked"), is_first, "{log}");
        let host = fs::read_to_string("/etc/resolv.conf").unwrap_or_default();
        let has_resolver = host.lines().any(|line| line.starts_with("nameserver "));
        let between = log.split_once("hello\n").unwrap().1;
        let resolvers = between.split_once("over\n").unwrap().0;
        assert_eq!(
            resolvers.contains("nameserver 192.0.0.3\n")
                || resolvers.contains("nameserver fd00::3\n"),
            has_resolver,
            "{log}"
        );
        let (job, log) = run(false);
        assert_eq!(job["verdict"], "failure", "{log}");
        assert!(log.contains("from the image\n"), "{log}");
        assert!(
            !log.contains("hello") && !log.contains("nameserver"),
            "{log}"
        );
    }
}
