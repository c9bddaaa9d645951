//! Variables of several bits, as dumps and traces have them: a logic channel for each bit.

/// Bits of the widest variable that is read.
pub(super) const BITS_MAX: u64 = 64;

/// Bytes of the longest name of a variable, with the scopes that it is in. It stands in the name of each of its bits.
const NAME_BYTES_MAX: usize = 4096;

/// The whole name of a variable in scopes, and its range: some put that at the end of the name. None if it is too long.
pub(super) fn whole_name(
    scopes: impl Iterator<Item = impl AsRef<str>>,
    text: &str,
) -> Option<(String, String)> {
    let (text, range) = match text.split_once('[') {
        Some((name, range)) if !name.is_empty() => (name.trim_end(), format!("[{range}")),
        _ => (text, String::new()),
    };
    let mut name = String::new();
    for part in scopes {
        name += part.as_ref();
        name.push('.');
        if name.len() > NAME_BYTES_MAX {
            return None;
        }
    }
    name += text;
    (name.len() + range.len() <= NAME_BYTES_MAX).then_some((name, range))
}

/// What is said of variables that are none.
pub(super) fn left_out(count: u64) -> String {
    format!(
        "{count} variables that are no levels or numbers, or wider than {BITS_MAX} bits, were left out."
    )
}

/// Names of the bits of a variable, from the lowest. `range` is empty, or says the number of the highest and of the lowest bit,
/// as `[7:0]`; that of a single one is part of its name.
pub(super) fn bit_names(name: &str, range: &str, width: usize) -> Vec<String> {
    if width == 1 {
        return vec![format!("{name}{range}")];
    }
    let ends = range.trim_matches(['[', ']']).split_once(':');
    let ends =
        ends.and_then(|(high, low)| Some((high.parse::<i64>().ok()?, low.parse::<i64>().ok()?)));
    let (high, low) = ends.unwrap_or((63, 0));
    let number = |bit| match high >= low {
        true => low.saturating_add(bit),
        false => low.saturating_sub(bit),
    };
    let bits = (0_i64..).take(width);
    bits.map(|bit| format!("{name}[{}]", number(bit))).collect()
}

#[cfg(test)]
mod tests {
    use super::{NAME_BYTES_MAX, whole_name};

    #[test]
    fn a_name_has_its_scopes_and_no_more_bytes_than_each_bit_may_repeat() {
        let named = |scopes: &[&str], text| whole_name(scopes.iter(), text);
        let is = |name: &str, range: &str| Some((name.to_owned(), range.to_owned()));
        assert_eq!(
            named(&["top", "bus"], "data [7:0]"),
            is("top.bus.data", "[7:0]")
        );
        assert_eq!(named(&[], "[odd"), is("[odd", ""));
        let long = "x".repeat(NAME_BYTES_MAX);
        assert_eq!(named(&[], &long), is(&long, ""));
        assert_eq!(named(&["a"], &long), None);
        assert_eq!(named(&[&long, &long], "a"), None);
        assert_eq!(named(&[], &format!("{long}[0]")), None);
    }
}
