//! What the YAML crate refuses, in the words of this format.

use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::{Error, MessageFormatter as _, UserMessageFormatter};

use super::{Span, hint, value};
use crate::limits::{DEPTH_MAX, NODES_MAX};
use crate::path::Path;
use crate::problem::{Code, Finding};

/// Longest part of the parser's own message that is passed on, in characters.
const MESSAGE_CHARS_MAX: usize = 200;

/// What the parser says, and what to do about it.
const PLAIN: [(&str, &str); 4] = [
    (
        "mapping values are not allowed",
        "a value with `: ` in it must be in quotes",
    ),
    (
        "simple key expected",
        "write a space behind the colon of a key",
    ),
    (
        "unexpected character",
        "a value that begins with it must be in quotes",
    ),
    (
        "unclosed quote",
        "close it, or put the whole value in the other kind of quotes",
    ),
];

/// Of the document `text`.
pub(super) fn of(error: &Error, text: &str) -> Finding {
    let error = error.without_snippet();
    let span = error.location().map_or(Span::START, |at| Span {
        // A token in error may be as long as the document.
        width: 1,
        ..value::span(at)
    });
    let (code, message) = told(error);
    let hint = (code == Code::Syntax).then(|| hint::of(text, span, &message));
    let (span, message) = match hint.flatten() {
        Some(hint) => (hint.span, hint.message),
        None => (span, message),
    };
    Finding {
        span: Some(span),
        ..Finding::new(Path::default(), code, message)
    }
}

fn told(error: &Error) -> (Code, String) {
    let say = |code, message: &str| (code, message.to_owned());
    match error {
        Error::Budget { breach, .. } => over_budget(breach),
        Error::UnknownAnchor { .. } | Error::AliasError { .. } => no_anchors(),
        Error::MergeKeyNotAllowed { .. } | Error::MergeValueNotMapOrSeqOfMaps { .. } => say(
            Code::UnsupportedYaml,
            "merge keys (`<<`) are not part of the format: write the keys here",
        ),
        Error::MultipleDocuments { .. } => no_documents(),
        Error::UnsupportedTag { tag, .. } => {
            let tag: String = tag.chars().take(MESSAGE_CHARS_MAX).collect();
            let message = format!(
                "tags such as `{tag}` are not part of the format, nor are includes: write the value here"
            );
            (Code::UnsupportedYaml, message)
        }
        Error::DuplicateMappingKey { key, .. } => {
            let key: String = key
                .iter()
                .flat_map(|key| key.chars())
                .take(MESSAGE_CHARS_MAX)
                .collect();
            (
                Code::DuplicateKey,
                format!("the key `{key}` stands here twice: take one away"),
            )
        }
        Error::Unexpected { expected, .. } if *expected == "string scalar" => say(
            Code::Syntax,
            "a key is text here, and no list or map: a value that begins with `{` or `[` and is text must be in quotes",
        ),
        other => {
            let message = UserMessageFormatter.format_message(other);
            if message.contains("recursion limit") {
                return too_deep();
            }
            let plain = PLAIN.iter().find(|(said, _)| message.contains(said));
            let plain = plain.map_or(String::new(), |(_, plain)| format!("; {plain}"));
            let message: String = message.chars().take(MESSAGE_CHARS_MAX).collect();
            (
                Code::Syntax,
                format!("this is no valid YAML: {message}{plain}"),
            )
        }
    }
}

fn over_budget(breach: &BudgetBreach) -> (Code, String) {
    match breach {
        BudgetBreach::Anchors { .. } | BudgetBreach::Aliases { .. } => no_anchors(),
        BudgetBreach::Documents { .. } => no_documents(),
        BudgetBreach::Depth { .. } => too_deep(),
        _ => {
            let message =
                format!("the document has more than {NODES_MAX} values; a pipeline needs fewer");
            (Code::TooLarge, message)
        }
    }
}

fn too_deep() -> (Code, String) {
    let message =
        format!("values are nested more than {DEPTH_MAX} deep here; the format needs fewer");
    (Code::TooLarge, message)
}

fn no_anchors() -> (Code, String) {
    let message =
        "anchors (`&`) and aliases (`*`) are not part of the format: write the value again";
    (
        Code::UnsupportedYaml,
        format!("{message}, or put it into `vars`"),
    )
}

fn no_documents() -> (Code, String) {
    let message = "a second document (`---`) is not part of the format: one file is one pipeline";
    (Code::UnsupportedYaml, message.to_owned())
}
