//! Licence expressions as packages write them: SPDX 2.1 annex D (`A OR B`, `A AND B`, `A WITH
//! exception`, parentheses), and the slash that crates.io used for OR before.

use std::fmt;

/// Deepest nesting of parentheses; real expressions have one.
const DEPTH_MAX: usize = 16;

/// An expression that is not one.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SpdxError {
    UnexpectedEnd,
    Unexpected(String),
    TooDeep,
}

impl std::error::Error for SpdxError {}

impl fmt::Display for SpdxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnexpectedEnd => write!(f, "the expression ends too early"),
            Self::Unexpected(word) => write!(f, "`{word}` stands in the wrong place"),
            Self::TooDeep => write!(f, "there are more than {DEPTH_MAX} nested parentheses"),
        }
    }
}

/// Whether terms for which `allows` holds are enough to satisfy the whole expression.
pub(super) fn is_satisfied(
    expression: &str,
    allows: &dyn Fn(&str) -> bool,
) -> Result<bool, SpdxError> {
    let spaced = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ");
    let mut parser = Parser {
        words: spaced.split_whitespace().collect(),
        at: 0,
        allows,
    };
    let satisfied = parser.either(0)?;
    match parser.peek() {
        Some(word) => Err(SpdxError::Unexpected(word.to_owned())),
        None => Ok(satisfied),
    }
}

struct Parser<'a> {
    words: Vec<&'a str>,
    at: usize,
    allows: &'a dyn Fn(&str) -> bool,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.words.get(self.at).copied()
    }

    fn next(&mut self) -> Result<&'a str, SpdxError> {
        let word = self.peek().ok_or(SpdxError::UnexpectedEnd)?;
        self.at += 1;
        Ok(word)
    }

    /// Steps over `word` if it is next.
    fn take(&mut self, word: &str) -> bool {
        let is_next = self.peek() == Some(word);
        self.at += usize::from(is_next);
        is_next
    }

    fn either(&mut self, depth: usize) -> Result<bool, SpdxError> {
        let mut satisfied = self.both(depth)?;
        while self.take("OR") {
            satisfied |= self.both(depth)?;
        }
        Ok(satisfied)
    }

    fn both(&mut self, depth: usize) -> Result<bool, SpdxError> {
        let mut satisfied = self.term(depth)?;
        while self.take("AND") {
            satisfied &= self.term(depth)?;
        }
        Ok(satisfied)
    }

    fn term(&mut self, depth: usize) -> Result<bool, SpdxError> {
        if depth > DEPTH_MAX {
            return Err(SpdxError::TooDeep);
        }
        match self.next()? {
            "(" => {
                let satisfied = self.either(depth + 1)?;
                match self.next()? {
                    ")" => Ok(satisfied),
                    word => Err(SpdxError::Unexpected(word.to_owned())),
                }
            }
            word @ (")" | "AND" | "OR" | "WITH") => Err(SpdxError::Unexpected(word.to_owned())),
            licence if self.take("WITH") => {
                let exception = self.next()?;
                Ok((self.allows)(&format!("{licence} WITH {exception}")))
            }
            licence => Ok((self.allows)(licence)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_mit_and_zlib(expression: &str) -> Result<bool, SpdxError> {
        is_satisfied(expression, &|term| {
            ["MIT", "Zlib", "Apache-2.0 WITH LLVM-exception"].contains(&term)
        })
    }

    #[test]
    fn operators_mean_what_the_standard_says() {
        for satisfied in [
            "MIT",
            "GPL-2.0 OR MIT",
            "GPL-2.0/MIT",
            "MIT AND Zlib",
            "(MIT OR GPL-2.0) AND Zlib",
            "GPL-2.0 AND GPL-3.0 OR MIT",
            "Apache-2.0 WITH LLVM-exception OR Apache-2.0",
        ] {
            assert_eq!(with_mit_and_zlib(satisfied), Ok(true), "{satisfied}");
        }
        for unsatisfied in [
            "GPL-2.0",
            "MIT AND GPL-2.0",
            "MIT AND (GPL-2.0 OR GPL-3.0)",
            "Apache-2.0",
        ] {
            assert_eq!(with_mit_and_zlib(unsatisfied), Ok(false), "{unsatisfied}");
        }
    }

    #[test]
    fn what_is_no_expression_is_an_error() {
        assert_eq!(with_mit_and_zlib(""), Err(SpdxError::UnexpectedEnd));
        assert_eq!(with_mit_and_zlib("(MIT"), Err(SpdxError::UnexpectedEnd));
        assert_eq!(
            with_mit_and_zlib("MIT)"),
            Err(SpdxError::Unexpected(")".to_owned()))
        );
        assert_eq!(
            with_mit_and_zlib("OR MIT"),
            Err(SpdxError::Unexpected("OR".to_owned()))
        );
        assert_eq!(
            with_mit_and_zlib("MIT Zlib"),
            Err(SpdxError::Unexpected("Zlib".to_owned()))
        );
        assert_eq!(
            with_mit_and_zlib(&"(".repeat(1000)),
            Err(SpdxError::TooDeep)
        );
    }

    #[test]
    fn any_words_in_any_order_end_in_an_answer_or_an_error() {
        let words = ["MIT", "GPL", "(", ")", "AND", "OR", "WITH", "/", "é", ""];
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut valid = 0;
        for _ in 0..20_000 {
            let mut expression = String::new();
            for _ in 0..7 {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                expression.push_str(words[(state % 10) as usize]);
                expression.push(' ');
            }
            valid += usize::from(with_mit_and_zlib(&expression).is_ok());
        }
        assert!(0 < valid && valid < 20_000, "{valid}");
    }
}
