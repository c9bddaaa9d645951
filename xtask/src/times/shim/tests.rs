//! xtask in place of compilers and tests.

use std::process::Output;
use std::time::Duration;

use super::*;

/// Environment variable with the words that this program of tests runs as xtask does, one on each line.
const WORDS: &str = "XTASK_TESTS_WORDS";

/// Not a test, where it is called with words.
#[expect(clippy::exit, reason = "ends as the program that it runs")]
#[test]
fn acts_as_xtask() {
    if let Ok(words) = env::var(WORDS) {
        let words: Vec<OsString> = words.lines().map(OsString::from).collect();
        std::process::exit(run(&words).unwrap().into());
    }
    assert_eq!(run(&["ci".into()]), None);
    assert_eq!(run(&[RUN_TEST.into()]), None);
    assert_eq!(run(&[]), None);
}

fn xtask(words: &[&str], folder: &Path) -> Output {
    Command::new(env::current_exe().unwrap())
        .args([
            "--exact",
            "times::shim::tests::acts_as_xtask",
            "--nocapture",
        ])
        .env(WORDS, words.join("\n"))
        .env(FOLDER, folder)
        .env(TEST_PROGRAM, "tiny")
        .env(TEST_NAME, "a::b")
        .env(WRAPPER, env::current_exe().unwrap())
        .env("CARGO_TARGET_X_RUNNER", format!("/x {RUN_TEST}"))
        .env("CARGO_TARGET_Y_RUNNER", "qemu")
        .output()
        .unwrap()
}

fn folder(name: &str) -> PathBuf {
    let name = format!("xtask-shim-{name}-{}", std::process::id());
    let folder = env::temp_dir().join(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn a_test_ends_as_it_does_alone_and_what_it_took_is_kept() {
    let folder = folder("test");
    let busy =
        "i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done; echo out; echo err >&2; exit 3";
    let ended = xtask(&[RUN_TEST, "sh", "-c", busy], &folder);
    assert_eq!(ended.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&ended.stdout).ends_with("out\n"));
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "err\n");
    let kept = log::read(&folder.join(OF_TESTS));
    let spent = kept["tiny a::b"];
    assert!(spent.wall >= Duration::from_millis(20), "{spent:?}");
    #[cfg(target_os = "linux")]
    assert!(
        spent.processor.unwrap() >= Duration::from_millis(20),
        "{spent:?}"
    );
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_signal_that_ends_a_test_ends_xtask() {
    let folder = folder("signal");
    for signal in [6, 9, 11, 15] {
        let kill = format!("kill -{signal} $$");
        let ended = xtask(&[RUN_TEST, "sh", "-c", &kill], &folder);
        assert_eq!(ended.status.signal(), Some(signal), "{ended:?}");
    }
    let ended = xtask(&[RUN_TEST, "no-such-program-here"], &folder);
    assert_eq!(ended.status.code(), Some(NOT_STARTED.into()));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_a_test_calls_is_not_counted_beside_it() {
    let folder = folder("hidden");
    let ended = xtask(&[RUN_TEST, "env"], &folder);
    let variables = String::from_utf8_lossy(&ended.stdout);
    let has = |name: &str| variables.lines().any(|line| line.starts_with(name));
    for ours in [FOLDER, WRAPPER, "CARGO_TARGET_X_RUNNER"] {
        assert!(!has(ours), "{ours}: {variables}");
    }
    assert!(has("CARGO_TARGET_Y_RUNNER") && has(TEST_NAME));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_compiler_answers_and_its_crates_are_kept() {
    let folder = folder("compiler");
    let asked = xtask(&["rustc", "-vV"], &folder);
    assert!(String::from_utf8_lossy(&asked.stdout).contains("host: "));
    assert!(!folder.join(OF_COMPILERS).exists());
    let source = folder.join("a.rs");
    fs::write(&source, "pub fn a() {}").unwrap();
    let (source, out) = (source.to_str().unwrap(), folder.to_str().unwrap());
    let words = [
        "rustc",
        "--crate-name",
        "a",
        "--crate-type=lib",
        source,
        "--out-dir",
        out,
    ];
    assert!(xtask(&words, &folder).status.success());
    assert!(folder.join("liba.rlib").is_file());
    let kept = log::read(&folder.join(OF_COMPILERS));
    assert!(kept["a (lib)"].wall > Duration::ZERO);
    let broken = ["rustc", "--crate-name", "b", "no-such-file.rs"];
    assert_eq!(xtask(&broken, &folder).status.code(), Some(1));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn crates_are_named_with_what_is_made_of_them() {
    for (line, named) in [
        (
            "--crate-name emi --edition=2024 src/lib.rs --crate-type lib --emit=dep-info,metadata,link",
            "emi (lib)",
        ),
        (
            "--crate-name emi src/lib.rs --emit=dep-info,metadata --test",
            "emi (check)",
        ),
        (
            "--crate-name emi src/lib.rs --emit=dep-info,link --test",
            "emi (test)",
        ),
        (
            "--crate-name hostd src/main.rs --crate-type bin --emit=dep-info,link",
            "hostd (bin)",
        ),
        (
            "--crate-name derive src/lib.rs --crate-type proc-macro --emit dep-info,link",
            "derive (macro)",
        ),
        (
            "--crate-name build_script_build build.rs --crate-type bin --emit=dep-info,link",
            "package (build script)",
        ),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!(crate_of(&words, Some("package")).as_deref(), Some(named));
    }
    for asked in [
        "-vV",
        "- --crate-name ___ --print=file-names --crate-type bin",
    ] {
        let words: Vec<&str> = asked.split(' ').collect();
        assert_eq!(crate_of(&words, None), None, "{asked}");
    }
}

#[test]
fn compilers_are_distinguished_from_commands() {
    for word in ["rustc", "/usr/bin/rustc", "rustc-1.95", "/x/clippy-driver"] {
        assert!(is_compiler(OsStr::new(word)), "{word}");
    }
    for word in ["ci", "test", "--help", "wit"] {
        assert!(!is_compiler(OsStr::new(word)), "{word}");
    }
    let linux = "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER";
    assert_eq!(runner("x86_64-unknown-linux-gnu"), linux);
}

#[test]
fn a_configuration_that_runs_compilers_is_found() {
    let folder = folder("configured");
    let inner = folder.join("a/b");
    fs::create_dir_all(folder.join(".cargo")).unwrap();
    fs::create_dir_all(&inner).unwrap();
    let file = folder.join(".cargo/config.toml");
    fs::write(&file, "[build]\nrustc-wrapper = \"sccache\"\n").unwrap();
    assert!(is_configured(&inner));
    fs::remove_dir_all(folder).unwrap();
}
