//! Variables of several bits, as dumps and traces have them: a logic channel for each bit.

/// Bits of the widest variable that is read.
pub(super) const BITS_MAX: u64 = 64;

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
