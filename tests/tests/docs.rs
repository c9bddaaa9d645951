//! Documents that claim to be complete are.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

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
        .chain(text.split("Self::new("))
        .skip(1)
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
