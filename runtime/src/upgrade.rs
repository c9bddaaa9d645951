//! What a connection becomes instead of a response. A guest holds it only as a handle that it can
//! pass on or drop; its content concerns only the embedder's interfaces and its server.

use std::any::Any;
use std::fmt;

/// An embedder's object, on its way through a guest.
pub struct Upgrade(Box<dyn Any + Send>);

impl Upgrade {
    /// Wraps an object for the server.
    pub fn new(inside: impl Any + Send) -> Self {
        Self(Box::new(inside))
    }

    /// What is inside, if it is a `T`.
    #[must_use]
    pub fn into_inner<T: Any>(self) -> Option<T> {
        self.0.downcast().ok().map(|inside| *inside)
    }
}

impl fmt::Debug for Upgrade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Upgrade")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_back_what_was_put_in_and_nothing_else() {
        assert_eq!(Upgrade::new(7_u8).into_inner(), Some(7_u8));
        assert_eq!(Upgrade::new(7_u8).into_inner::<u16>(), None);
    }
}
