//! The document for users: every pipeline in it is right, or refused as it says; its tables are the schema's.

use super::{fits_schema, read};
use crate::reference;

const DOCUMENT: &str = include_str!("../../../../docs/pipelines.md");

/// What stands before a part of a pipeline that begins with its name.
const BEFORE: [(&str, &str); 3] = [
    ("version:", "version: 1\n"),
    ("vars:", "vars: { BANNER: boot ok }\n"),
    (
        "builds:",
        "builds:
- id: fw
  matrix: { variant: { debug: {}, release: {} } }
  steps: [{ run: make }]
  packs: [{ id: f0, artifacts: [fw.elf], targets: [stm32f030f4] }, { id: g4, artifacts: [fw.elf], targets: [stm32g431kb] }]
",
    ),
];

/// Stands before steps.
const BENCH: &str =
    "benches:\n- id: smoke\n  for_each: fw\n  device: { name: bench-1 }\n  steps:\n";

/// A block of YAML, and the refusal after it if there is one.
fn blocks() -> Vec<(&'static str, Option<&'static str>)> {
    let mut blocks = Vec::new();
    let mut rest = DOCUMENT;
    while let Some((_, after)) = rest.split_once("\n```yaml\n") {
        let (block, after) = after.split_once("```\n").unwrap();
        let refusal = after
            .strip_prefix("\n```text\n")
            .and_then(|text| text.split_once("\n```"))
            .map(|(text, _)| text);
        blocks.push((block, refusal));
        rest = after;
    }
    blocks
}

/// A whole pipeline from a part of one.
fn whole(block: &str) -> String {
    let has = |key: &str| block.lines().any(|line| line.starts_with(key));
    let before = BEFORE
        .iter()
        .filter(|(key, _)| !has(key))
        .map(|(_, text)| *text);
    let mut text: String = before.collect();
    match block.starts_with("- ") {
        true => {
            text.push_str(BENCH);
            text.extend(block.lines().map(|line| format!("  {line}\n")));
        }
        false => text.push_str(block),
    }
    text
}

#[test]
fn every_pipeline_is_right_or_refused_as_the_document_says() {
    let blocks = blocks();
    for (block, refusal) in &blocks {
        match refusal {
            Some(refusal) => {
                let shown = read(block).expect_err(block).render("pipeline.yml");
                assert!(shown.starts_with(refusal), "{shown}");
            }
            None => {
                let text = whole(block);
                if let Err(report) = read(&text) {
                    panic!("{}\n{text}", report.render("pipeline.yml"));
                }
                assert!(fits_schema(&text), "the schema refuses\n{text}");
            }
        }
    }
    assert!(blocks.len() > 15 && blocks.iter().any(|(_, refusal)| refusal.is_some()));
}

#[test]
fn every_action_has_a_section() {
    for action in crate::definition::ACTIONS {
        assert!(DOCUMENT.contains(&format!("\n### {action}\n")), "{action}");
    }
}

#[test]
fn tables_are_those_of_the_schema() {
    let renewed = reference::renewed(DOCUMENT);
    assert!(renewed == DOCUMENT, "run `cargo xtask docs`");
    assert_eq!(reference::renewed(&renewed), renewed);
}
