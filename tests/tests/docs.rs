//! Documents that claim to be complete are complete.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") && !path.ends_with("tests.rs") {
            found.push(path);
        }
    }
}

/// The code word of each `ApiError::new(status, "code", …)` in a source text.
fn codes(text: &str) -> Vec<String> {
    text.split("ApiError::new(")
        .skip(1)
        .chain(text.split("Self::new(").skip(1))
        .filter_map(|call| {
            let arguments = call.split(';').next()?;
            let word = arguments.split('"').nth(1)?;
            let plain = word.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
            (plain && word.len() > 3).then(|| word.to_owned())
        })
        .collect()
}

#[test]
fn every_error_code_is_documented() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let page = fs::read_to_string(root.join("docs/http-status.md")).unwrap();
    let mut files = Vec::new();
    sources(&root.join("handlers"), &mut files);
    sources(&root.join("hostd/src/http"), &mut files);
    let mut used = BTreeSet::new();
    for file in files {
        let text = fs::read_to_string(file).unwrap();
        let product = text.split("#[cfg(test)]").next().unwrap();
        used.extend(codes(product));
    }
    assert!(used.len() > 15, "{used:?}");
    for code in used {
        assert!(
            page.contains(&format!("`{code}`")),
            "{code} is not in docs/http-status.md"
        );
    }
}

/// `HOSTD_URL` is the server's address, and the API is below `/api` of it, in every document alike.
#[test]
fn every_document_means_the_same_by_the_servers_address() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut pages = vec![root.join("README.md")];
    for folder in ["docs", "plugins/templates"] {
        documents(&root.join(folder), &mut pages);
    }
    let mut uses = 0;
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        for (at, _) in text.match_indices("HOSTD_URL") {
            let rest: String = text[at..].chars().take(40).collect();
            let is_below = rest.starts_with("HOSTD_URL/");
            let is_set = rest.starts_with("HOSTD_URL=") || rest.starts_with("HOSTD_URL: ");
            assert!(
                !is_below || rest.starts_with("HOSTD_URL/api/"),
                "{page:?}: {rest}"
            );
            let value = rest.split_whitespace().find(|word| word.contains("://"));
            assert!(
                !is_set || !value.unwrap().contains("/api"),
                "{page:?}: {rest}"
            );
            uses += usize::from(is_below);
        }
    }
    assert!(uses > 30, "{uses}");
}

fn documents(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            documents(&path, found);
        } else if path.extension().is_some_and(|e| e == "md") {
            found.push(path);
        }
    }
}

/// The configurations in a page.
fn configurations(page: &str) -> Vec<&str> {
    let blocks = page.split("```toml\n").skip(1);
    blocks
        .map(|block| block.split("```").next().unwrap())
        .collect()
}

#[test]
fn every_configuration_of_the_pages_about_benches_is_one() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("hostd.toml");
    for (page, names) in [
        (
            "benches.md",
            &["bench-pod", "bench-parts", "bench-small"][..],
        ),
        ("parts.md", &["bench-2"]),
        ("analyzers.md", &["scope"]),
        ("usb.md", &["pod-a1b2c3"]),
    ] {
        let text = fs::read_to_string(root.join("docs").join(page)).unwrap();
        let found = configurations(&text);
        assert_eq!(found.len(), names.len(), "{page}");
        for (configuration, name) in found.iter().zip(names) {
            fs::write(&file, configuration).unwrap();
            let checked = Command::new(tests::server::binary().unwrap())
                .args(["config", "check", "--config"])
                .arg(&file)
                .output()
                .unwrap();
            let told = String::from_utf8(checked.stderr).unwrap();
            assert!(checked.status.success(), "{page}: {configuration}{told}");
            let read = String::from_utf8(checked.stdout).unwrap();
            assert!(read.contains(&format!("name = \"{name}\"")), "{read}");
        }
    }
}

#[test]
fn every_option_and_fault_of_the_simulated_pod_is_documented() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let page = fs::read_to_string(root.join("docs/simulated-pod.md")).unwrap();
    let shown = Command::new(tests::server::binary().unwrap())
        .args(["pod-sim", "--help"])
        .output()
        .unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    let words = shown.split_whitespace();
    let options: BTreeSet<&str> = words.filter(|word| word.starts_with("--")).collect();
    assert!(options.contains("--fault"), "{shown}");
    // Without the options that every verb has.
    for option in &options - &BTreeSet::from(["--config", "--data-dir", "--help", "--version"]) {
        assert!(
            page.contains(option),
            "{option} is not in docs/simulated-pod.md"
        );
    }
    let (_, faults) = shown.split_once("Faults:").unwrap();
    let kinds = faults
        .lines()
        .filter_map(|line| line.split(['@', '=', '[']).next());
    let kinds: Vec<&str> = kinds
        .filter(|kind| !kind.is_empty() && !kind.contains(' '))
        .collect();
    assert_eq!(kinds.len(), 9, "{faults}");
    for kind in kinds {
        assert!(page.contains(&format!("| `{kind}")), "{kind}");
    }
}
