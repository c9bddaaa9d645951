//! Patterns of names: `*` stands for anything, `?` for one character. Case counts.

/// A pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    parts: Vec<Part>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Char(char),
    Any,
    All,
}

impl Pattern {
    /// A pattern with wildcards.
    pub fn new(text: &str) -> Self {
        let part = |c| match c {
            '*' => Part::All,
            '?' => Part::Any,
            c => Part::Char(c),
        };
        let mut parts: Vec<Part> = text.chars().map(part).collect();
        parts.dedup_by(|a, b| *a == Part::All && *b == Part::All);
        Self { parts }
    }

    /// That name alone.
    pub fn exactly(name: &str) -> Self {
        Self {
            parts: name.chars().map(Part::Char).collect(),
        }
    }

    /// Whether `name` as a whole is what the pattern stands for. Takes at most the product of both lengths.
    pub fn matches(&self, name: &str) -> bool {
        let name: Vec<char> = name.chars().collect();
        let (mut at, mut part) = (0, 0);
        let mut star: Option<(usize, usize)> = None;
        while at < name.len() {
            match self.parts.get(part) {
                Some(Part::All) => {
                    star = Some((part, at));
                    part += 1;
                }
                Some(Part::Any) => (at, part) = (at + 1, part + 1),
                Some(Part::Char(c)) if *c == name[at] => (at, part) = (at + 1, part + 1),
                _ => match star {
                    Some((of, from)) => {
                        star = Some((of, from + 1));
                        (at, part) = (from + 1, of + 1);
                    }
                    None => return false,
                },
            }
        }
        self.parts[part..].iter().all(|part| *part == Part::All)
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn wildcards_stand_for_anything() {
        let is = |pattern: &str, name: &str| Pattern::new(pattern).matches(name);
        assert!(is("DDR_DQ*", "DDR_DQ7") && is("*", "") && is("a?c", "abc") && is("*b*d", "abcbd"));
        assert!(
            !is("DDR_DQ*", "X_DDR_DQ7") && !is("a?c", "ac") && !is("*b*d", "abc") && !is("", "a")
        );
        assert!(is(&"*a".repeat(500), &"a".repeat(600)));
        assert!(!Pattern::exactly("a*").matches("ab"));
    }
}
