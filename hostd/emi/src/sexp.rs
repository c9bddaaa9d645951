//! S-expressions as KiCad writes them: words, quoted strings and lists, in one flat table. Nothing is copied out of the
//! text, nothing recurses, and depth and size are bounded.

use std::borrow::Cow;

use crate::limits::Limits;
use crate::observer::Observer;
use crate::open::{OpenError, Steps};
use crate::refusal::{Position, Refusal};

/// A text that was read.
pub(crate) struct Tree<'t> {
    text: &'t str,
    nodes: Vec<Node>,
}

struct Node {
    /// The bytes of a word or of what is between quotes; of a list, where it opens.
    start: u32,
    end: u32,
    /// The index behind the node and everything in it.
    next: u32,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    List,
    Word,
    Quoted,
}

/// A node of a tree.
#[derive(Clone, Copy)]
pub(crate) struct Expr<'a> {
    tree: &'a Tree<'a>,
    index: usize,
}

impl<'t> Tree<'t> {
    /// Reads the one list that `text` is.
    ///
    /// # Errors
    /// What is no list, or beyond a bound, and where; or that the observer stopped it.
    pub(crate) fn read(
        text: &'t str,
        limits: &Limits,
        observer: &dyn Observer,
    ) -> Result<Self, OpenError> {
        if text.len() > limits.bytes_max.min(u32::MAX as usize) {
            let message = format!(
                "the board has {} bytes, more than {}",
                text.len(),
                limits.bytes_max
            );
            return Err(OpenError::whole(message));
        }
        let mut tree = Self {
            text,
            nodes: Vec::with_capacity(text.len() / 8),
        };
        let bytes = text.as_bytes();
        let mut open: Vec<usize> = Vec::new();
        let mut watch = Steps::new(observer);
        let mut at = 0;
        while at < bytes.len() {
            watch.step()?;
            match bytes[at] {
                b' ' | b'\n' | b'\t' | b'\r' => at += 1,
                b'(' => {
                    if open.len() == limits.nesting_max {
                        let message =
                            format!("lists are nested deeper than {}", limits.nesting_max);
                        return Err(tree.refusal(at, message).into());
                    }
                    open.push(tree.nodes.len());
                    tree.push(at, at, Kind::List, limits)?;
                    at += 1;
                }
                b')' => {
                    let Some(list) = open.pop() else {
                        let message = "a list is closed that was not opened".to_owned();
                        return Err(tree.refusal(at, message).into());
                    };
                    tree.nodes[list].next = narrow(tree.nodes.len());
                    at += 1;
                    if open.is_empty() {
                        return Ok(tree.ended(at)?);
                    }
                }
                _ if open.is_empty() => {
                    let message = "this is no KiCad board: `(kicad_pcb` is expected".to_owned();
                    return Err(tree.refusal(at, message).into());
                }
                b'"' => at = tree.quoted(at, limits)?,
                _ => at = tree.word(at, limits)?,
            }
        }
        let message = "the file ends within a list: it was cut off".to_owned();
        Err(tree.refusal(at, message).into())
    }

    fn ended(self, at: usize) -> Result<Self, Refusal> {
        let rest = &self.text[at..];
        match rest.find(|c: char| !c.is_ascii_whitespace()) {
            Some(more) => Err(self.refusal(at + more, "something follows the board".to_owned())),
            None => Ok(self),
        }
    }

    fn quoted(&mut self, open: usize, limits: &Limits) -> Result<usize, Refusal> {
        let bytes = self.text.as_bytes();
        let mut at = open + 1;
        while at < bytes.len() && bytes[at] != b'"' {
            at += if bytes[at] == b'\\' { 2 } else { 1 };
        }
        if at >= bytes.len() {
            return Err(self.refusal(open, "a quoted string does not end".to_owned()));
        }
        self.push(open + 1, at, Kind::Quoted, limits)?;
        Ok(at + 1)
    }

    fn word(&mut self, start: usize, limits: &Limits) -> Result<usize, Refusal> {
        let is_end = |b: &u8| matches!(b, b' ' | b'\n' | b'\t' | b'\r' | b'(' | b')' | b'"');
        let rest = &self.text.as_bytes()[start..];
        let end = start + rest.iter().position(is_end).unwrap_or(rest.len());
        self.push(start, end, Kind::Word, limits)?;
        Ok(end)
    }

    fn push(
        &mut self,
        start: usize,
        end: usize,
        kind: Kind,
        limits: &Limits,
    ) -> Result<(), Refusal> {
        if self.nodes.len() == limits.nodes_max {
            let message = format!(
                "the board has more than {} words and lists",
                limits.nodes_max
            );
            return Err(self.refusal(start, message));
        }
        let next = narrow(self.nodes.len() + 1);
        self.nodes.push(Node {
            start: narrow(start),
            end: narrow(end),
            next,
            kind,
        });
        Ok(())
    }

    fn refusal(&self, offset: usize, message: String) -> Refusal {
        Refusal {
            at: Some(Position::of(self.text.as_bytes(), offset)),
            message,
        }
    }

    /// The list that the text is.
    pub(crate) fn root(&self) -> Expr<'_> {
        Expr {
            tree: self,
            index: 0,
        }
    }
}

/// Offsets and counts, both below the bound on bytes.
fn narrow(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

impl<'a> Expr<'a> {
    fn node(self) -> &'a Node {
        &self.tree.nodes[self.index]
    }

    /// The first word of a list; empty if it is none.
    pub(crate) fn head(self) -> &'a str {
        self.children()
            .next()
            .and_then(Expr::raw)
            .unwrap_or_default()
    }

    /// What is in a list, its first word included.
    pub(crate) fn children(self) -> impl Iterator<Item = Expr<'a>> {
        let end = if self.node().kind == Kind::List {
            self.node().next as usize
        } else {
            0
        };
        let mut index = self.index + 1;
        std::iter::from_fn(move || {
            let child = (index < end).then_some(Expr {
                tree: self.tree,
                index,
            })?;
            index = child.node().next as usize;
            Some(child)
        })
    }

    /// What follows the first word of a list.
    pub(crate) fn rest(self) -> impl Iterator<Item = Expr<'a>> {
        self.children().skip(1)
    }

    /// The first list within, whose first word is `head`.
    pub(crate) fn find(self, head: &str) -> Option<Expr<'a>> {
        self.children()
            .find(|child| child.is_list() && child.head() == head)
    }

    /// All lists within, whose first word is `head`.
    pub(crate) fn all(self, head: &'a str) -> impl Iterator<Item = Expr<'a>> {
        self.children()
            .filter(move |child| child.is_list() && child.head() == head)
    }

    pub(crate) fn is_list(self) -> bool {
        self.node().kind == Kind::List
    }

    /// Whether it is a string between quotes.
    pub(crate) fn is_quoted(self) -> bool {
        self.node().kind == Kind::Quoted
    }

    /// A word or string as it is written.
    pub(crate) fn raw(self) -> Option<&'a str> {
        let node = self.node();
        (node.kind != Kind::List).then(|| &self.tree.text[node.start as usize..node.end as usize])
    }

    /// A word or string, without backslashes before quotes and backslashes.
    pub(crate) fn text(self) -> Option<Cow<'a, str>> {
        let raw = self.raw()?;
        if !self.is_quoted() || !raw.contains('\\') {
            return Some(Cow::Borrowed(raw));
        }
        let mut text = String::with_capacity(raw.len());
        let mut chars = raw.chars();
        while let Some(c) = chars.next() {
            match c {
                '\\' => text.extend(chars.next()),
                c => text.push(c),
            }
        }
        Some(Cow::Owned(text))
    }

    /// The word or string at `index` of a list, the first word being 0.
    pub(crate) fn word(self, index: usize) -> Option<&'a str> {
        self.children().nth(index).and_then(Expr::raw)
    }

    /// The first value of the list within, whose first word is `head`.
    pub(crate) fn value(self, head: &str) -> Option<Cow<'a, str>> {
        self.find(head)?.children().nth(1)?.text()
    }

    /// The whole text, and at which byte of it this begins.
    pub(crate) fn place(self) -> (&'a str, usize) {
        (self.tree.text, self.node().start as usize)
    }

    /// A refusal at this place.
    pub(crate) fn refuse(self, message: impl Into<String>) -> Refusal {
        self.tree
            .refusal(self.node().start as usize, message.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        Tree::read(text, &Limits::default(), &())
            .err()
            .unwrap()
            .to_string()
    }

    #[test]
    fn lists_words_and_strings_are_read() {
        let tree = Tree::read("(a (b 1 \"x \\\"y\\\\\")(c) d)\n", &Limits::default(), &()).unwrap();
        let root = tree.root();
        assert_eq!(root.head(), "a");
        let b = root.find("b").unwrap();
        assert_eq!(b.word(1), Some("1"));
        assert_eq!(b.children().nth(2).unwrap().text().unwrap(), "x \"y\\");
        assert!(root.find("c").unwrap().rest().next().is_none());
        assert_eq!(root.rest().count(), 3);
        assert!(root.find("d").is_none());
    }

    #[test]
    fn refusals_say_where() {
        assert_eq!(
            refused("(a\n (b"),
            "line 2, column 4: the file ends within a list: it was cut off"
        );
        assert_eq!(
            refused("(a))"),
            "line 1, column 4: something follows the board"
        );
        assert_eq!(
            refused(")"),
            "line 1, column 1: a list is closed that was not opened"
        );
        assert_eq!(
            refused("x"),
            "line 1, column 1: this is no KiCad board: `(kicad_pcb` is expected"
        );
        assert_eq!(
            refused("(a \"b\\\")"),
            "line 1, column 4: a quoted string does not end"
        );
        assert_eq!(
            refused(""),
            "line 1, column 1: the file ends within a list: it was cut off"
        );
    }

    #[test]
    fn depth_and_size_are_bounded() {
        let deep = format!("{}{}", "(".repeat(65), ")".repeat(65));
        assert_eq!(
            refused(&deep),
            "line 1, column 65: lists are nested deeper than 64"
        );
        let at_most = format!("{}{}", "(".repeat(64), ")".repeat(64));
        assert!(Tree::read(&at_most, &Limits::default(), &()).is_ok());
        let limits = Limits {
            nodes_max: 2,
            bytes_max: 9,
            ..Limits::default()
        };
        let message = |text| Tree::read(text, &limits, &()).err().unwrap().to_string();
        assert_eq!(
            message("(a b)"),
            "line 1, column 4: the board has more than 2 words and lists"
        );
        assert_eq!(message("(a bcdefg)"), "the board has 10 bytes, more than 9");
    }
}
