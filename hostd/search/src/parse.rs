//! Reads queries.

mod bus;
mod signal;

use decode::segment::Edge;

use crate::error::QueryError;
use crate::length::Length;
use crate::limits::SETTINGS_MAX;
use crate::query::{Kind, Query};
use crate::token::{self, Token, tokens};

/// What a query begins with.
const BEGINNINGS: &str =
    "`pulse`, `edge`, `no edge`, `level`, `i2c`, `spi`, `uart`, `address`, `bytes` or `text`";

const LENGTH: &str = "a length such as `10 us`";

pub(crate) fn query(text: &str) -> Result<Query, QueryError> {
    let (tokens, chars) = tokens(text)?;
    let mut parser = Parser {
        tokens,
        next: 0,
        end: chars + 1,
    };
    let kind = match signal::kind(&mut parser)? {
        Some(kind) => kind,
        None => match bus::kind(&mut parser)? {
            Some(bus) => Kind::Bus(bus),
            None => return Err(parser.expected(BEGINNINGS)),
        },
    };
    let settings = match kind {
        Kind::Bus(_) => parser.settings()?,
        Kind::Pulse(_) | Kind::Gap(_) | Kind::Edge(_) | Kind::Near(_) | Kind::Level(_) => {
            Vec::new()
        }
    };
    match parser.peek() {
        None => Ok(Query { kind, settings }),
        Some(_) => Err(parser.expected("the end of the query")),
    }
}

/// A query being read.
pub(super) struct Parser {
    tokens: Vec<Token>,
    next: usize,
    /// Where an error is that finds the query over.
    end: usize,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next)
    }

    /// The next token is not what is expected.
    fn expected(&self, what: &str) -> QueryError {
        match self.peek() {
            Some(token) => QueryError::new(
                token.at,
                format!("found {}, expected {what}", token.shown()),
            ),
            None => QueryError::new(self.end, format!("it ends there, expected {what}")),
        }
    }

    /// Whether the next word is this one, which is then taken.
    fn take(&mut self, word: &str) -> bool {
        let is_it = self.peek().is_some_and(|token| token.is(word));
        self.next += usize::from(is_it);
        is_it
    }

    fn need(&mut self, word: &str) -> Result<(), QueryError> {
        match self.take(word) {
            true => Ok(()),
            false => Err(self.expected(&format!("`{word}`"))),
        }
    }

    /// What one of some words stands for.
    fn one_of<T: Copy>(&mut self, words: &[(&str, T)]) -> Option<T> {
        let token = self.peek()?;
        let (_, meant) = words.iter().find(|(word, _)| token.is(word))?;
        let meant = *meant;
        self.next += 1;
        Some(meant)
    }

    /// The same, which has to be there.
    fn need_one_of<T: Copy>(&mut self, words: &[(&str, T)]) -> Result<T, QueryError> {
        self.one_of(words).ok_or_else(|| {
            let words: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
            self.expected(&words.join(" or "))
        })
    }

    /// A word that is no sign, or `None`.
    fn word(&self) -> Option<&str> {
        match &self.peek()?.kind {
            token::Kind::Word(word) => Some(word),
            token::Kind::Quoted(_) | token::Kind::Sign(_) => None,
        }
    }

    /// A channel in the notation of `decode::find_channel`: what is quoted is a name.
    fn channel(&mut self) -> Result<String, QueryError> {
        let channel = match self.peek().map(|token| &token.kind) {
            Some(token::Kind::Word(word)) => word.clone(),
            Some(token::Kind::Quoted(name)) => format!("\"{name}\""),
            Some(token::Kind::Sign(_)) | None => {
                return Err(self.expected("the name of a channel"));
            }
        };
        self.next += 1;
        Ok(channel)
    }

    fn level(&mut self) -> Option<bool> {
        self.one_of(&[("high", true), ("low", false)])
    }

    /// `rising edge`, `edge` and so on.
    fn edge(&mut self) -> Result<Edge, QueryError> {
        let kinds = [
            ("rising", Edge::Rising),
            ("falling", Edge::Falling),
            ("any", Edge::Either),
        ];
        let kind = self.one_of(&kinds);
        if self.take("edge") || self.take("edges") {
            return Ok(kind.unwrap_or(Edge::Either));
        }
        Err(self.expected(match kind {
            Some(_) => "`edge`",
            None => "`edge`, `rising edge` or `falling edge`",
        }))
    }

    /// `10us` or `10 us`.
    fn length(&mut self) -> Result<Length, QueryError> {
        let Some(word) = self.word() else {
            return Err(self.expected(LENGTH));
        };
        let is_digit = |c: char| c.is_ascii_digit() || c == '.';
        let split = word.find(|c: char| !is_digit(c)).unwrap_or(word.len());
        let (number, unit) = (&word[..split], &word[split..]);
        let parsed = number.parse().ok();
        let Some(number) = parsed.filter(|number: &f64| *number > 0.0 && number.is_finite()) else {
            return Err(self.expected(LENGTH));
        };
        let unit = unit.to_owned();
        if !unit.is_empty() {
            let length = Length::of(number, &unit).ok_or_else(|| self.expected(LENGTH))?;
            self.next += 1;
            return Ok(length);
        }
        self.next += 1;
        let length = self.word().and_then(|unit| Length::of(number, unit));
        let length = length
            .ok_or_else(|| self.expected("a unit: `ns`, `us`, `ms`, `s`, `min` or `samples`"))?;
        self.next += 1;
        Ok(length)
    }

    /// `with scl=LA1 sda=LA2`, with commas or without.
    fn settings(&mut self) -> Result<Vec<(String, String)>, QueryError> {
        let mut settings = Vec::new();
        if !self.take("with") {
            return Ok(settings);
        }
        loop {
            let Some(name) = self.word().map(str::to_owned) else {
                return Err(self.expected("a channel or an option of the decoder, as `scl=LA1`"));
            };
            if settings.len() == SETTINGS_MAX {
                return Err(self.expected(&format!("at most {SETTINGS_MAX} settings")));
            }
            self.next += 1;
            self.sign('=')?;
            settings.push((name, self.channel()?));
            let is_comma = self.sign(',').is_ok();
            if !is_comma && self.peek().is_none() {
                return Ok(settings);
            }
        }
    }

    fn sign(&mut self, sign: char) -> Result<(), QueryError> {
        let is_it = self
            .peek()
            .is_some_and(|token| token.kind == token::Kind::Sign(sign));
        match is_it {
            true => {
                self.next += 1;
                Ok(())
            }
            false => Err(self.expected(&format!("`{sign}`"))),
        }
    }
}
