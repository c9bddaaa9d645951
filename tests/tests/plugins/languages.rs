//! The templates of plugins, in five languages: what `cargo xtask plugins` built of each, in a running server.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tests::server::binary;

use super::Bench;

/// Calls that an instance is used again for.
const CALLS: u32 = 2_000;

/// A template that was built.
struct Built {
    language: &'static str,
    id: String,
    /// With plugin.toml and the component.
    folder: PathBuf,
}

/// None, and a line that says why, where it was not built.
#[allow(clippy::print_stderr, reason = "a test that is left out says why")]
fn built(language: &'static str) -> Option<Built> {
    let folder = binary().unwrap().parent().unwrap().join("../plugins");
    if !folder.join(format!("{language}.tar")).is_file() {
        eprintln!("left out: cargo xtask plugins {language} has built none");
        return None;
    }
    Some(Built {
        language,
        id: format!("example.{language}"),
        folder: folder.join(language),
    })
}

impl Built {
    /// A folder with the same component and another manifest.
    fn changed(&self, bench: &Bench, change: impl Fn(String) -> String) -> PathBuf {
        let folder = bench.dir.path().join("changed");
        fs::create_dir_all(&folder).unwrap();
        let manifest = fs::read_to_string(self.folder.join("plugin.toml")).unwrap();
        fs::write(folder.join("plugin.toml"), change(manifest)).unwrap();
        fs::copy(self.folder.join("plugin.wasm"), folder.join("plugin.wasm")).unwrap();
        folder
    }

    fn metric(&self, bench: &Bench, name: &str) -> u64 {
        let page = bench.client().get("/metrics").unwrap().text;
        let labels = format!("plugin=\"{}\",export=\"http\"", self.id);
        let begin = format!("hostd_plugin_{name}{{{labels}}} ");
        let line = page.lines().find_map(|line| line.strip_prefix(&begin));
        line.unwrap().parse().unwrap()
    }
}

/// Everything that a template promises, in a server that runs.
fn works(language: &'static str) {
    let Some(built) = built(language) else {
        return;
    };
    let bench = Bench::unlimited();
    bench
        .plugin(&[
            "install",
            &built.folder.with_extension("tar").display().to_string(),
        ])
        .ok();
    let prefix = format!("/api/x/{}", built.id);
    let client = bench.client();
    let rails = || client.get(&format!("{prefix}/rails")).unwrap();
    let warn = |body: &Value| {
        let body = body.to_string();
        client
            .send("PUT", &format!("{prefix}/warning"), Some(&body))
            .unwrap()
    };
    rails().expect_error(403, "not_granted");
    bench.plugin(&["approve", &built.id]).ok();

    let told = rails().expect(200);
    assert_eq!(told["warn_milliamperes"], 500, "{told}");
    let rows = told["rails"].as_array().unwrap();
    assert!(!rows.is_empty(), "{told}");
    for row in rows {
        assert!(row["device"].is_string() && row["rail"].is_u64(), "{row}");
        assert!(row["on"].is_boolean() && row["high"] == false, "{row}");
    }
    bench
        .plugin(&["configure", &built.id, "--set", "warn_milliamperes=700"])
        .ok();
    assert_eq!(rails().expect(200)["warn_milliamperes"], 700);
    let set = warn(&json!({"warn_milliamperes": 250})).expect(200);
    assert_eq!(set, json!({"warn_milliamperes": 250}));
    assert_eq!(rails().expect(200)["warn_milliamperes"], 250);

    for n in 0..CALLS {
        let refused = warn(&json!({"warn_milliamperes": n % 2 * 100_000}));
        refused.expect_error(400, "invalid");
    }
    assert_eq!(rails().expect(200)["warn_milliamperes"], 250);
    assert_eq!(built.metric(&bench, "traps_total"), 0);
    assert_eq!(built.metric(&bench, "deadlines_total"), 0);
    // One when it was loaded, and another every thousand calls or whenever memory is at its limit.
    let created = built.metric(&bench, "instances_created_total");
    assert!(created < 40, "{created} instances for {CALLS} calls");
}

#[test]
fn the_template_in_rust_works() {
    works("rust");
}

#[test]
fn the_template_in_c_works() {
    works("c");
}

#[test]
fn the_template_in_typescript_works() {
    works("typescript");
}

#[test]
fn the_template_in_python_works() {
    works("python");
}

#[test]
fn the_template_in_go_works() {
    works("go");
}

#[test]
fn every_call_may_have_an_instance_of_its_own() {
    for language in ["c", "go", "python", "rust", "typescript"] {
        let Some(built) = built(language) else {
            continue;
        };
        let bench = Bench::new();
        let fresh = |manifest: String| manifest.replace("[limits]", "[limits]\nreuse = false");
        let folder = built.changed(&bench, fresh);
        bench
            .plugin(&["install", &folder.display().to_string()])
            .ok();
        bench.plugin(&["approve", &built.id]).ok();
        for _ in 0..5 {
            let rails = format!("/api/x/{}/rails", built.id);
            bench.client().get(&rails).unwrap().expect(200);
        }
        assert!(
            built.metric(&bench, "instances_created_total") >= 5,
            "{language}"
        );
    }
}

#[test]
fn a_language_that_needs_more_memory_than_its_limit_does_not_load_and_says_so() {
    for language in ["go", "python", "typescript"] {
        let Some(built) = built(language) else {
            continue;
        };
        let bench = Bench::new();
        let small = |manifest: String| manifest.replace("memory_mib = 64", "memory_mib = 2");
        let folder = built.changed(&bench, small);
        let refused = bench
            .plugin(&["install", &folder.display().to_string()])
            .refused();
        assert!(refused.contains("memory"), "{}: {refused}", built.language);
    }
}

/// What the guide tells a newcomer to type is what the templates tell, which `cargo xtask plugins` runs.
#[test]
fn the_commands_of_the_guide_are_those_of_the_templates() {
    let guide = include_str!("../../../docs/plugins.md");
    let (_, guide) = guide.split_once("## Ten minutes\n").unwrap();
    let (guide, _) = guide.split_once("\n## ").unwrap();
    let dir = tempfile::tempdir().unwrap();
    for language in ["rust", "typescript", "python", "go", "c"] {
        let folder = dir.path().join(language);
        let path = folder.display().to_string();
        let new = ["new", language, path.as_str(), "--id", "acme.rails"];
        super::run(dir.path(), &new).ok();
        let readme = fs::read_to_string(folder.join("README.md")).unwrap();
        let begin = format!("hostd plugin new {language} rails --id acme.rails\n");
        let (_, block) = guide.split_once(&begin).unwrap();
        let (block, _) = block.split_once("```").unwrap();
        let mut commands = block.lines();
        assert_eq!(commands.next(), Some("cd rails"), "{language}");
        for command in commands {
            let is_told = readme.lines().any(|line| line == command);
            assert!(is_told, "{language}: {command} is not in its README");
        }
    }
}

/// Run the commands under "Install" of a README as they stand.
#[test]
fn the_commands_that_install_a_template_work_as_they_stand() {
    for language in ["c", "rust"] {
        let Some(built) = built(language) else {
            continue;
        };
        let bench = Bench::new();
        let readme = fs::read_to_string(built.folder.join("README.md")).unwrap();
        let (_, install) = readme.split_once("## Install\n").unwrap();
        let (_, install) = install.split_once("```sh\n").unwrap();
        let (install, _) = install.split_once("```").unwrap();
        // The server of the README runs on the folder hostd-data of where the commands are typed.
        let data = bench.dir.path().join("data");
        let command = install.replace("hostd plugin", "\"$HOSTD\" --data-dir \"$DATA\" plugin");
        let output = Command::new("bash")
            .args(["-e", "-c", &command])
            .current_dir(&built.folder)
            .env("HOSTD", binary().unwrap())
            .env("DATA", data)
            .env("HOSTD_URL", &bench.server.url)
            .env("HOSTD_KEY", &bench.server.api_key)
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{complaint}\n{printed}");
        assert!(printed.contains("\"warn_milliamperes\":500"), "{printed}");
    }
}

#[test]
fn a_template_is_not_written_over_what_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().display().to_string();
    let new =
        |language: &str| super::run(Path::new("."), &["new", language, &path, "--id", "acme.x"]);
    new("go").ok();
    assert!(new("go").refused().contains("something is there"));
    assert!(new("cobol").refused().contains("possible values"));
}
