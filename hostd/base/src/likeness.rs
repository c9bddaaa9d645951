//! What somebody most likely meant who wrote a word that is not known.

/// Likeness of two words, from 0 to 1, from which on one may be meant by the other.
pub const LIKE: f64 = 0.7;

/// The word among `known` that differs from `word` in a few letters; none if all differ in more.
#[must_use]
pub fn nearest<'w>(word: &str, known: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    let likeness = |name: &str| strsim::normalized_damerau_levenshtein(word, name);
    known
        .into_iter()
        .map(|name| (likeness(name), name))
        .filter(|(likeness, _)| *likeness >= LIKE)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_is_recognised_and_anything_else_is_not() {
        let known = ["target_power", "target_reset", "status"];
        assert_eq!(nearest("target_powr", known), Some("target_power"));
        assert_eq!(nearest("statsu", known), Some("status"));
        for other in ["", "power", "make_coffee"] {
            assert_eq!(nearest(other, known), None, "{other}");
        }
    }
}
