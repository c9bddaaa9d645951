//! Lists in pages.

use std::ops::ControlFlow;

/// Most entries of a page.
pub const LIST_MAX: usize = 200;

/// Which page.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// Entries, cut to 1 to [`LIST_MAX`].
    pub limit: usize,
    /// What the page before said is next; none = from the start.
    pub cursor: Option<String>,
}

/// A page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed<T> {
    /// The entries.
    pub items: Vec<T>,
    /// The cursor of the next page, if there is more.
    pub next: Option<String>,
}

/// A page that is being filled, from a source that visits its entries in order.
pub(crate) struct Filling<T> {
    items: Vec<T>,
    limit: usize,
    has_more: bool,
}

impl Page {
    pub(crate) fn limit(&self) -> usize {
        self.limit.clamp(1, LIST_MAX)
    }
}

impl<T> Filling<T> {
    pub(crate) fn new(page: &Page) -> Self {
        Self {
            items: Vec::new(),
            limit: page.limit(),
            has_more: false,
        }
    }

    /// Take one more; breaks when the page is full, and it is known whether there are more.
    pub(crate) fn take(&mut self, item: T) -> ControlFlow<()> {
        if self.items.len() == self.limit {
            self.has_more = true;
            return ControlFlow::Break(());
        }
        self.items.push(item);
        ControlFlow::Continue(())
    }

    /// The page; `id` is where the next one goes on after.
    pub(crate) fn end(self, id: impl Fn(&T) -> String) -> Listed<T> {
        let last = self.items.last().filter(|_| self.has_more);
        Listed {
            next: last.map(id),
            items: self.items,
        }
    }
}
