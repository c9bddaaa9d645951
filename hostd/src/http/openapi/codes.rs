//! The error codes as `docs/http-status.md` lists them: the OpenAPI document is made from the page
//! that people read, so neither can lag behind the other.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// The page, as it was when hostd was built.
const PAGE: &str = include_str!("../../../../docs/http-status.md");

/// One code: its status and what it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Code {
    pub(super) status: u16,
    pub(super) word: String,
    happened: String,
    todo: String,
}

/// All of them, in the page's order.
pub(super) fn all() -> Vec<Code> {
    PAGE.lines().flat_map(row).collect()
}

/// The codes of a line `| status | codes | what happened | what to do |`; none of another line.
fn row(line: &str) -> Vec<Code> {
    let cells: Vec<&str> = line.split('|').map(str::trim).collect();
    let ["", status, words, happened, todo, ""] = cells[..] else {
        return Vec::new();
    };
    let Ok(status) = status.parse() else {
        return Vec::new();
    };
    let code = |word: &str| Code {
        status,
        word: word.to_owned(),
        happened: happened.to_owned(),
        todo: todo.to_owned(),
    };
    words.split('`').skip(1).step_by(2).map(code).collect()
}

/// `components.examples`: an error body for each code.
pub(super) fn examples(codes: &[Code]) -> Map<String, Value> {
    let example = |code: &Code| {
        let sentence = format!("{} {}", code.happened, code.todo).replace('`', "");
        json!({
            "summary": code.happened,
            "value": {"error": sentence, "code": code.word, "request_id": "b0hVQ7Jr2kX9sT4u"}
        })
    };
    let entries = codes.iter().map(|code| (code.word.clone(), example(code)));
    entries.collect()
}

/// The response of `status` that carries one of `words`, each with its example.
pub(super) fn response(description: &str, words: &[&str]) -> Value {
    let examples: BTreeMap<&str, Value> = words
        .iter()
        .map(|word| {
            (
                *word,
                json!({"$ref": format!("#/components/examples/{word}")}),
            )
        })
        .collect();
    json!({
        "description": description,
        "content": {"application/json": {
            "schema": {"$ref": "#/components/schemas/Error"},
            "examples": examples
        }}
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_read() {
        let codes = all();
        let lines = PAGE.lines().filter(|line| {
            let cell = line.strip_prefix("| ");
            cell.is_some_and(|cell| cell.starts_with(|c: char| c.is_ascii_digit()))
        });
        let lines = lines.count();
        assert!(codes.len() >= lines && lines > 30, "{lines} lines");
        for code in &codes {
            let plain = code
                .word
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b == b'_');
            assert!(plain && (400..600).contains(&code.status), "{code:?}");
            assert!(code.happened.ends_with('.'), "{code:?}");
        }
        let two: Vec<_> = codes
            .iter()
            .filter(|c| c.word.ends_with("d_credential"))
            .collect();
        assert!(two.len() >= 3);
    }
}
