//! The list of decoders that `sigrok-cli -L` prints.

use crate::stack::is_id;

/// A decoder of libsigrokdecode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// As `-P` takes it.
    pub id: String,
    /// For people.
    pub name: String,
}

/// Most decoders of a list.
const LISTED_MAX: usize = 1000;

/// Longest name.
const NAME_CHARS_MAX: usize = 128;

/// Reads the list.
pub(crate) fn read(text: &str) -> Vec<Listed> {
    let lines = text.lines();
    let mut lines = lines.skip_while(|line| *line != "Supported protocol decoders:");
    lines.next();
    let lines = lines.take_while(|line| line.starts_with(' '));
    let listed = lines.filter_map(|line| {
        let (id, name) = line.trim().split_once(' ')?;
        let name = plain(name.trim());
        is_id(id).then(|| Listed {
            id: id.to_owned(),
            name,
        })
    });
    listed.take(LISTED_MAX).collect()
}

/// A text for people, on one line.
pub(crate) fn plain(text: &str) -> String {
    let plain = text.chars().filter(|letter| !letter.is_control());
    plain.take(NAME_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_decoders_are_listed() {
        let text = "Supported input formats:\n  vcd   Value change dump\n\nSupported protocol decoders:\n  \
                    ac97                 Audio Codec '97\n  Bad!  no\n  uart  UART\n\nSupported others:\n  x  y\n";
        let all = read(text);
        let all: Vec<(&str, &str)> = all.iter().map(|one| (&*one.id, &*one.name)).collect();
        assert_eq!(all, [("ac97", "Audio Codec '97"), ("uart", "UART")]);
        assert!(read("").is_empty());
    }
}
