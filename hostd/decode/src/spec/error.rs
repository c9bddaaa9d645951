//! What can be wrong with a decoding job. Each message lists what would be valid.

/// Longest list of valid names that a message spells out, in bytes.
const LIST_MAX: usize = 400;

/// Longest name, in bytes, that may be a slip of the pen: a comparison takes as many steps as both names have letters,
/// multiplied, and names come from whoever asks.
const SLIP_BYTES_MAX: usize = 256;

/// Why a job was refused; each fits after "failed to …".
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SpecError {
    /// No such decoder.
    #[error("find protocol `{name}`{}; known are {valid}", did_you_mean(hint))]
    UnknownProtocol {
        /// The name requested.
        name: String,
        /// The name that was probably meant.
        hint: Option<String>,
        /// The valid names, separated by commas.
        valid: String,
    },
    /// The decoder has no such channel role.
    #[error(
        "map channel role `{name}` of {decoder}{}; known are {valid}",
        did_you_mean(hint)
    )]
    UnknownRole {
        /// The decoder.
        decoder: String,
        /// The name requested.
        name: String,
        /// The name that was probably meant.
        hint: Option<String>,
        /// The valid names, separated by commas.
        valid: String,
    },
    /// A role is mapped twice.
    #[error("map channel role `{name}` twice")]
    RepeatedRole {
        /// The role.
        name: String,
    },
    /// A required role has no channel.
    #[error("decode {decoder} without a channel for `{name}`")]
    MissingRole {
        /// The decoder.
        decoder: String,
        /// The missing role.
        name: String,
    },
    /// At least one of two roles is required.
    #[error("decode {decoder} without a channel for `{one}` or `{other}`")]
    MissingEither {
        /// The decoder.
        decoder: String,
        /// One role.
        one: String,
        /// The other one.
        other: String,
    },
    /// No role has a channel.
    #[error("decode {decoder} without a channel; map one to {valid}")]
    MissingAll {
        /// The decoder.
        decoder: String,
        /// Its roles, separated by commas.
        valid: String,
    },
    /// The capture has no such channel.
    #[error(
        "find channel `{name}` in the capture{}; it has {}",
        did_you_mean(hint),
        shorten(valid)
    )]
    UnknownChannel {
        /// The role that it is for; empty if there is none.
        role: String,
        /// The name requested.
        name: String,
        /// The name that was probably meant.
        hint: Option<String>,
        /// The channel names, separated by commas.
        valid: String,
    },
    /// A number that could be the name of one channel and the index of another.
    #[error(
        "tell whether channel `{number}` is a name or a place; write one of the names {}, \
         between double quotes where it is a number",
        shorten(valid)
    )]
    AmbiguousChannel {
        /// The role that it is for; empty if there is none.
        role: String,
        /// The number requested.
        number: String,
        /// The channel names, separated by commas.
        valid: String,
    },
    /// Two roles on one channel.
    #[error("map `{one}` and `{other}` to the same channel {channel}; they must differ")]
    SameChannel {
        /// One role.
        one: String,
        /// The other one.
        other: String,
        /// The channel's name.
        channel: String,
    },
    /// The decoder has no such option.
    #[error(
        "set option `{name}` of {decoder}{}; known are {valid}",
        did_you_mean(hint)
    )]
    UnknownOption {
        /// The decoder.
        decoder: String,
        /// The name requested.
        name: String,
        /// The name that was probably meant.
        hint: Option<String>,
        /// The valid names, separated by commas.
        valid: String,
    },
    /// An option is given twice.
    #[error("set option `{name}` twice")]
    RepeatedOption {
        /// The option.
        name: String,
    },
    /// The option does not accept this value.
    #[error(
        "set option `{option}` to `{value}`{}; it takes {valid}",
        did_you_mean(hint)
    )]
    InvalidValue {
        /// The option.
        option: String,
        /// The value requested.
        value: String,
        /// The value that was probably meant.
        hint: Option<String>,
        /// The valid values.
        valid: String,
    },
    /// The decoder has no such annotation class or row.
    #[error(
        "show annotations `{name}` of {decoder}{}; known are {valid}",
        did_you_mean(hint)
    )]
    UnknownClass {
        /// The decoder.
        decoder: String,
        /// The name requested.
        name: String,
        /// The name that was probably meant.
        hint: Option<String>,
        /// The valid names, separated by commas.
        valid: String,
    },
    /// The decoder has no such byte stream.
    #[error(
        "show byte stream `{name}` of {decoder}{}; known are {valid}",
        did_you_mean(hint)
    )]
    UnknownByteStream {
        /// The decoder.
        decoder: String,
        /// The name requested.
        name: String,
        /// The name that was probably meant.
        hint: Option<String>,
        /// The valid names, separated by commas.
        valid: String,
    },
    /// Annotations or bytes of another decoder were requested.
    #[error("show annotations of `{name}` while decoding {decoder}")]
    OtherDecoder {
        /// The decoder.
        decoder: String,
        /// The decoder requested.
        name: String,
    },
}

impl SpecError {
    /// There is no decoder `name`; those that are known.
    pub fn unknown_protocol<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Self {
        let valid: Vec<&str> = known.collect();
        Self::UnknownProtocol {
            name: name.to_owned(),
            hint: nearest(name, &valid),
            valid: valid.join(", "),
        }
    }

    /// The same error, about the channel for this role.
    pub(crate) fn for_role(mut self, name: &str) -> Self {
        if let Self::UnknownChannel { role, .. } | Self::AmbiguousChannel { role, .. } = &mut self {
            name.clone_into(role);
        }
        self
    }

    /// Which part of the job is wrong: `protocol`, `channels`, `options`, `annotations` or
    /// `byte_stream`.
    pub fn field(&self) -> &'static str {
        match self {
            Self::UnknownProtocol { .. } => "protocol",
            Self::UnknownRole { .. }
            | Self::RepeatedRole { .. }
            | Self::MissingRole { .. }
            | Self::MissingEither { .. }
            | Self::MissingAll { .. }
            | Self::UnknownChannel { .. }
            | Self::AmbiguousChannel { .. }
            | Self::SameChannel { .. } => "channels",
            Self::UnknownOption { .. }
            | Self::RepeatedOption { .. }
            | Self::InvalidValue { .. } => "options",
            Self::UnknownClass { .. } | Self::OtherDecoder { .. } => "annotations",
            Self::UnknownByteStream { .. } => "byte_stream",
        }
    }
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
    if SLIP_BYTES_MAX < name.len() {
        return None;
    }
    let name = name.to_lowercase();
    let distance = |known: &str| edit_distance(&name, &known.to_lowercase());
    let (known, distance) = valid
        .iter()
        .map(|known| (known, distance(known)))
        .min_by_key(|(_, distance)| *distance)?;
    (distance * 3 <= known.chars().count().max(3)).then(|| (*known).to_owned())
}

/// Number of letters to insert, delete or replace (Levenshtein).
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_is_no_slip() {
        let valid = "x".repeat(SLIP_BYTES_MAX);
        let slip = format!("{}y", &valid[1..]);
        assert_eq!(nearest(&slip, &[&valid]), Some(valid.clone()));
        let long = format!("{valid}y");
        assert_eq!(nearest(&long, &[&valid]), None);
        // Megabytes are refused at once.
        assert_eq!(nearest(&"y".repeat(8 << 20), &[&valid]), None);
    }
}
