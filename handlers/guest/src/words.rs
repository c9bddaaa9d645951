//! Words of the API for the cases of an enum: read, written and documented from one table.
//!
//! ```
//! #[derive(Clone, Copy, Debug, PartialEq)]
//! pub enum Edge { Rising, Falling }
//!
//! guest::words! {
//!     /// Edges of a signal.
//!     pub const EDGES: Edge = { Rising = "rising", Falling = "falling" };
//! }
//! assert_eq!(EDGES.word(Edge::Falling), "falling");
//! ```

use crate::{Shape, choice};

/// A table made by [`words!`](crate::words).
#[derive(Debug, Clone, Copy)]
pub struct Words<T: 'static> {
    #[doc(hidden)]
    pub table: &'static [(&'static str, T)],
    #[doc(hidden)]
    pub word: fn(T) -> &'static str,
}

impl<T: Copy + PartialEq> Words<T> {
    /// The word for a case.
    #[must_use]
    pub fn word(self, case: T) -> &'static str {
        (self.word)(case)
    }

    /// One of the words.
    #[must_use]
    pub fn shape(self) -> impl Shape<Value = T> {
        choice(self.table)
    }

    /// All of them, for `#[schemars(extend("enum" = WORDS.all()))]`.
    #[must_use]
    pub fn all(self) -> Vec<&'static str> {
        self.table.iter().map(|&(word, _)| word).collect()
    }
}

/// Declares the words for all cases of an enum; one that is left out is an error.
#[macro_export]
macro_rules! words {
    (
        $(#[$meta:meta])*
        $visibility:vis const $name:ident: $enum:ident = { $($case:ident = $word:literal),+ $(,)? };
    ) => {
        $(#[$meta])*
        $visibility const $name: $crate::Words<$enum> = {
            fn word(case: $enum) -> &'static str {
                match case {
                    $($enum::$case => $word),+
                }
            }
            $crate::Words { table: &[$(($word, $enum::$case)),+], word }
        };
    };
}
