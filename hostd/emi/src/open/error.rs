//! Why a board did not come in: it is refused, with the file and the place in it, or nobody wants it any more.

use std::fmt;

use crate::observer::{Cancelled, Observer};
use crate::refusal::{Position, Refusal};

/// Most characters of a stranger's name in a message.
const SHOWN_MAX: usize = 80;

/// How many steps of reading are done between two questions whether to go on. A step takes well under a microsecond.
const STEPS: u32 = 2048;

/// A board that is not opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenError {
    /// Something is wrong with it, or beyond a bound.
    Refused {
        /// The file within the archive, if it is about one of them.
        entry: Option<String>,
        /// What is wrong, and where in that file.
        refusal: Refusal,
    },
    /// The observer said so.
    Cancelled,
}

impl OpenError {
    /// About the whole of what was given.
    pub(crate) fn whole(message: impl Into<String>) -> Self {
        Refusal::whole(message).into()
    }

    /// About byte `offset` of a text.
    pub(crate) fn at(text: &[u8], offset: usize, message: impl Into<String>) -> Self {
        let message = message.into();
        let at = Some(Position::of(text, offset));
        Refusal { at, message }.into()
    }

    /// As it is told of a file within an archive.
    pub(crate) fn within(self, name: &str) -> Self {
        match self {
            Self::Refused { refusal, .. } => Self::Refused {
                entry: Some(shown(name)),
                refusal,
            },
            Self::Cancelled => Self::Cancelled,
        }
    }
}

impl From<Refusal> for OpenError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused {
            entry: None,
            refusal,
        }
    }
}

impl From<Cancelled> for OpenError {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { entry, refusal } => {
                if let Some(entry) = entry {
                    write!(f, "{entry}: ")?;
                }
                refusal.fmt(f)
            }
            Self::Cancelled => Cancelled.fmt(f),
        }
    }
}

impl std::error::Error for OpenError {}

/// A stranger's words as they go into a message: short, and nothing that a terminal would obey.
pub(crate) fn shown(text: &str) -> String {
    let plain = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let mut shown: String = text.chars().take(SHOWN_MAX).map(plain).collect();
    if text.chars().nth(SHOWN_MAX).is_some() {
        shown.push('…');
    }
    shown
}

/// Asks the observer now and then whether to go on.
pub(crate) struct Steps<'a> {
    observer: &'a dyn Observer,
    left: u32,
}

impl<'a> Steps<'a> {
    pub(crate) fn new(observer: &'a dyn Observer) -> Self {
        Self { observer, left: 0 }
    }

    /// One more step.
    pub(crate) fn step(&mut self) -> Result<(), Cancelled> {
        if let Some(left) = self.left.checked_sub(1) {
            self.left = left;
            return Ok(());
        }
        self.left = STEPS;
        if self.observer.is_over() {
            return Err(Cancelled);
        }
        Ok(())
    }
}
