//! What can be wrong with a decoding job. Each message lists what would be right.

/// Longest list of valid names a message spells out, in bytes.
const LIST_MAX: usize = 400;

/// Why a job was refused; each fits behind "failed to …".
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SpecError {
    /// No such decoder.
    #[error("find protocol `{name}`{}; known are {valid}", did_you_mean(hint))]
    UnknownProtocol {
        name: String,
        hint: Option<String>,
        valid: String,
    },
    /// The decoder has no such channel role.
    #[error(
        "map channel role `{name}` of {decoder}{}; known are {valid}",
        did_you_mean(hint)
    )]
    UnknownRole {
        decoder: &'static str,
        name: String,
        hint: Option<String>,
        valid: String,
    },
    /// Mapped twice.
    #[error("map channel role `{name}` twice")]
    RepeatedRole { name: String },
    /// A required role has no channel.
    #[error("decode {decoder} without a channel for `{name}`")]
    MissingRole {
        decoder: &'static str,
        name: &'static str,
    },
    /// At least one of two roles is required.
    #[error("decode {decoder} without a channel for `{one}` or `{other}`")]
    MissingEither {
        decoder: &'static str,
        one: &'static str,
        other: &'static str,
    },
    /// The capture has no such channel.
    #[error(
        "find channel `{name}` in the capture{}; it has {}",
        did_you_mean(hint),
        shorten(valid)
    )]
    UnknownChannel {
        name: String,
        hint: Option<String>,
        valid: String,
    },
    /// The decoder has no such option.
    #[error(
        "set option `{name}` of {decoder}{}; known are {valid}",
        did_you_mean(hint)
    )]
    UnknownOption {
        decoder: &'static str,
        name: String,
        hint: Option<String>,
        valid: String,
    },
    /// Given twice.
    #[error("set option `{name}` twice")]
    RepeatedOption { name: String },
    /// The option does not take this value.
    #[error(
        "set option `{option}` to `{value}`{}; it takes {valid}",
        did_you_mean(hint)
    )]
    InvalidValue {
        option: &'static str,
        value: String,
        hint: Option<String>,
        valid: String,
    },
    /// The decoder has no such annotation class or row.
    #[error(
        "show annotations `{name}` of {decoder}{}; known are {valid}",
        did_you_mean(hint)
    )]
    UnknownClass {
        decoder: &'static str,
        name: String,
        hint: Option<String>,
        valid: String,
    },
    /// The decoder has no such byte stream.
    #[error(
        "show byte stream `{name}` of {decoder}{}; known are {valid}",
        did_you_mean(hint)
    )]
    UnknownByteStream {
        decoder: &'static str,
        name: String,
        hint: Option<String>,
        valid: String,
    },
    /// Annotations or bytes of one decoder were asked from another.
    #[error("show annotations of `{name}` while decoding {decoder}")]
    OtherDecoder { decoder: &'static str, name: String },
}

fn did_you_mean(hint: &Option<String>) -> String {
    hint.as_ref()
        .map(|hint| format!(" (did you mean `{hint}`?)"))
        .unwrap_or_default()
}

fn shorten(list: &str) -> String {
    match list.char_indices().nth(LIST_MAX) {
        Some((end, _)) => format!("{}…", &list[..end]),
        None => list.to_owned(),
    }
}

/// The valid name that was probably meant: at most a third of its letters differ.
pub(crate) fn nearest(name: &str, valid: &[&str]) -> Option<String> {
    let name = name.to_lowercase();
    let distance = |known: &str| edit_distance(&name, &known.to_lowercase());
    let (known, distance) = valid
        .iter()
        .map(|known| (known, distance(known)))
        .min_by_key(|(_, distance)| *distance)?;
    (distance * 3 <= known.chars().count().max(3)).then(|| (*known).to_owned())
}

/// Letters to insert, delete or replace (Levenshtein).
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
