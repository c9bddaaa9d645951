//! The text of a document as a tree of values that know where they stand. Bombs end here: anchors, aliases,
//! merge keys, tags and second documents are refused, nesting and size are bounded.

mod hint;
mod refusal;
mod value;

use serde_saphyr::{Budget, MergeKeyPolicy, NonFiniteFloatPolicy, Options};

use crate::limits::{DEPTH_MAX, DOCUMENT_BYTES_MAX, NODES_MAX};
use crate::path::{Path, Segment};
use crate::problem::{Code, Finding};
pub(crate) use hint::blank;

/// Where something stands: line and column from 1, and characters on that line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) width: u32,
}

impl Span {
    pub(crate) const START: Self = Self {
        line: 1,
        column: 1,
        width: 1,
    };
}

/// A value of the document.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    /// Its place in the order of the document: tells nodes apart.
    pub(crate) id: usize,
    pub(crate) span: Span,
    pub(crate) value: Value,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    /// True or false, and as it is written.
    Bool(bool, String),
    /// A number, which is whole if it has a value here, and as it is written.
    Number(Option<i128>, String),
    Text(String),
    List(Vec<Node>),
    Map(Vec<(Key, Node)>),
}

/// A key of a map.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Key {
    pub(crate) name: String,
    pub(crate) span: Span,
}

impl Node {
    /// Where the value stands to which `path` leads, or as far as it leads.
    pub(crate) fn locate(&self, path: &Path) -> Span {
        let mut node = self;
        let mut span = self.span;
        for segment in path.segments() {
            let next = match (segment, &node.value) {
                (Segment::Index(index), Value::List(list)) => list.get(*index).map(|n| (n.span, n)),
                (Segment::Key(key), Value::Map(map)) => {
                    let entry = map.iter().find(|(k, _)| k.name == *key);
                    entry.map(|(key, node)| {
                        (
                            if node.is_scalar() {
                                node.span
                            } else {
                                key.span
                            },
                            node,
                        )
                    })
                }
                _ => None,
            };
            match next {
                Some((at, next)) => (span, node) = (at, next),
                None => break,
            }
        }
        span
    }

    pub(crate) fn is_scalar(&self) -> bool {
        !matches!(self.value, Value::List(_) | Value::Map(_))
    }

    /// Calls `visit` with every value and its path, in the order of the document.
    pub(crate) fn walk(&self, visit: &mut dyn FnMut(&Path, &Self)) {
        self.walk_from(&Path::default(), visit);
    }

    fn walk_from(&self, path: &Path, visit: &mut dyn FnMut(&Path, &Self)) {
        visit(path, self);
        match &self.value {
            Value::List(list) => {
                for (index, node) in list.iter().enumerate() {
                    node.walk_from(&path.index(index), visit);
                }
            }
            Value::Map(map) => {
                for (key, node) in map {
                    node.walk_from(&path.key(&key.name), visit);
                }
            }
            _ => {}
        }
    }
}

/// Reads a document.
///
/// # Errors
/// The first thing that is no YAML, or that the format does without.
pub(crate) fn read(text: &str) -> Result<Node, Box<Finding>> {
    if text.len() > DOCUMENT_BYTES_MAX {
        let message = format!(
            "the document has {} bytes, more than {DOCUMENT_BYTES_MAX}; move what is long into scripts of the repository",
            text.len()
        );
        let finding = Finding {
            span: Some(Span::START),
            ..Finding::new(Path::default(), Code::TooLarge, message)
        };
        return Err(Box::new(finding));
    }
    let raw: value::Raw = serde_saphyr::from_str_with_options(text, options())
        .map_err(|error| Box::new(refusal::of(&error, text)))?;
    Ok(value::Numbering::new(text).node(raw))
}

fn options() -> Options {
    let mut budget = Budget::default();
    budget.max_anchors = 0;
    budget.max_aliases = 0;
    budget.max_documents = 1;
    budget.max_depth = DEPTH_MAX;
    budget.flow_nesting_limit = DEPTH_MAX;
    budget.max_nodes = NODES_MAX;
    budget.max_total_scalar_bytes = DOCUMENT_BYTES_MAX;
    let mut options = Options::default();
    options.budget = Some(budget);
    options.merge_keys = MergeKeyPolicy::Error;
    options.reject_unsupported_tags = true;
    options.non_finite_float_policy = NonFiniteFloatPolicy::AsString;
    // `on` and `yes` are words here.
    options.strict_booleans = true;
    options.with_snippet = false;
    options
}
