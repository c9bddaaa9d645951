//! The words of a query.

use crate::error::QueryError;
use crate::limits::{QUERY_CHARS_MAX, SHOWN_CHARS_MAX};

/// A part of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// Where it begins, in characters, from 1.
    pub(crate) at: usize,
    pub(crate) kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Word(String),
    /// What stands between double quotes.
    Quoted(String),
    /// `=` or `,`
    Sign(char),
}

impl Token {
    /// How an error shows it.
    pub(crate) fn shown(&self) -> String {
        let cut = |text: &str| {
            let cut: String = text.chars().take(SHOWN_CHARS_MAX).collect();
            match cut.len() < text.len() {
                true => cut + "…",
                false => cut,
            }
        };
        match &self.kind {
            Kind::Word(word) => format!("`{}`", cut(word)),
            Kind::Quoted(text) => format!("`\"{}\"`", cut(text)),
            Kind::Sign(sign) => format!("`{sign}`"),
        }
    }

    /// Whether it is a word, in letters of any case.
    pub(crate) fn is(&self, word: &str) -> bool {
        matches!(&self.kind, Kind::Word(own) if own.eq_ignore_ascii_case(word))
    }
}

/// The words of a query, and how many characters it has.
pub(crate) fn tokens(text: &str) -> Result<(Vec<Token>, usize), QueryError> {
    let count = text.chars().count();
    if QUERY_CHARS_MAX < count {
        let what = format!("a query has at most {QUERY_CHARS_MAX} characters");
        return Err(QueryError::new(QUERY_CHARS_MAX + 1, what));
    }
    let mut tokens: Vec<Token> = Vec::new();
    let mut chars = (1..).zip(text.chars()).peekable();
    while let Some(&(at, first)) = chars.peek() {
        let kind = match first {
            space if space.is_whitespace() => {
                chars.next();
                continue;
            }
            '=' | ',' => {
                chars.next();
                Kind::Sign(first)
            }
            '"' => {
                chars.next();
                let quoted = chars.by_ref().map(|(_, c)| c);
                let mut is_closed = false;
                let inner = quoted.take_while(|c| {
                    is_closed = *c == '"';
                    !is_closed
                });
                let inner: String = inner.collect();
                if !is_closed {
                    return Err(QueryError::new(at, "a double quote is not closed"));
                }
                Kind::Quoted(inner)
            }
            _ => {
                let mut word = String::new();
                let is_inner = |c: &char| !c.is_whitespace() && !matches!(c, '=' | ',' | '"');
                while let Some((_, c)) = chars.next_if(|(_, c)| is_inner(c)) {
                    word.push(c);
                }
                Kind::Word(word)
            }
        };
        tokens.push(Token { at, kind });
    }
    Ok((tokens, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Kind> {
        let (tokens, _) = tokens(text).unwrap();
        tokens.into_iter().map(|token| token.kind).collect()
    }

    #[test]
    fn words_quotes_and_signs_are_told_apart() {
        let word = |text: &str| Kind::Word(text.to_owned());
        let quoted = |text: &str| Kind::Quoted(text.to_owned());
        assert_eq!(
            kinds("on CS#  rx=\"Pin 1\",b"),
            [
                word("on"),
                word("CS#"),
                word("rx"),
                Kind::Sign('='),
                quoted("Pin 1"),
                Kind::Sign(','),
                word("b")
            ]
        );
        assert_eq!(kinds(" \t"), []);
        assert_eq!(kinds("\"\""), [quoted("")]);
        let (tokens, count) = tokens("äö  b").unwrap();
        assert_eq!((tokens[1].at, count), (5, 5));
    }

    #[test]
    fn open_quotes_and_long_queries_are_refused() {
        assert_eq!(tokens("a \"b").unwrap_err().at, 3);
        assert!(tokens(&"x".repeat(QUERY_CHARS_MAX)).is_ok());
        let error = tokens(&"x".repeat(QUERY_CHARS_MAX + 1)).unwrap_err();
        assert_eq!(error.at, QUERY_CHARS_MAX + 1);
    }
}
