//! What the YAML crate refuses, in the words of this format.

use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::{Error, MessageFormatter as _, UserMessageFormatter};

use super::{Span, value};
use crate::limits::{DEPTH_MAX, NODES_MAX};
use crate::path::Path;
use crate::problem::{Code, Finding};

/// Longest part of the parser's own message that is passed on, in characters.
const MESSAGE_CHARS_MAX: usize = 200;

pub(super) fn of(error: &Error) -> Finding {
    let error = error.without_snippet();
    let (code, message) = told(error);
    let span = error.location().map_or(Span::START, |at| Span {
        // A token in error may be as long as the document.
        width: 1,
        ..value::span(at)
    });
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
        other => {
            let message = UserMessageFormatter.format_message(other);
            if message.contains("recursion limit") {
                return too_deep();
            }
            let message: String = message.chars().take(MESSAGE_CHARS_MAX).collect();
            (Code::Syntax, format!("this is no valid YAML: {message}"))
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
