//! Net classes, of a project or, up to KiCad 5, of the board itself, and which of them are for pairs.

use std::collections::{BTreeMap, BTreeSet};

use crate::board::Net;
use crate::pattern::Pattern;
use crate::sexp::Expr;
use crate::words;

/// The class of all nets that are in no other one.
const DEFAULT: &str = "Default";

/// The width and the gap of pairs that KiCad gives every class, in mm. They say nothing.
const INITIAL_MM: [f64; 2] = [0.2, 0.25];

/// Widths that are nearer are equal, in mm.
const SAME_MM: f64 = 1e-4;

/// The width and the gap of the pairs of a class, in mm.
pub(super) type PairSizes = Option<[f64; 2]>;

/// The net classes of a board.
#[derive(Debug, Default)]
pub(super) struct Classes {
    /// Classes by the names of nets.
    named: BTreeMap<String, Vec<String>>,
    /// Classes, and the patterns of the nets that are in them.
    patterns: Vec<(String, Pattern)>,
    /// The sizes of pairs of each class, as far as the file has them.
    sizes: BTreeMap<String, PairSizes>,
}

impl Classes {
    /// The classes of a board of KiCad 5.
    pub(super) fn of_board(root: Expr<'_>) -> Self {
        let mut classes = Self::default();
        for class in root.all("net_class") {
            let Some(name) = class.children().nth(1).and_then(Expr::text) else {
                continue;
            };
            let size = |head: &str| {
                let size = class.find(head)?.word(1)?.parse::<f64>().ok();
                size.filter(|size| size.is_finite())
            };
            let sizes = size("diff_pair_width").zip(size("diff_pair_gap"));
            classes.add(&name, sizes.map(Into::into));
            for net in class.all("add_net") {
                if let Some(net) = net.children().nth(1).and_then(Expr::text) {
                    classes.put(&net, &name);
                }
            }
        }
        classes
    }

    /// Knows a class.
    pub(super) fn add(&mut self, class: &str, sizes: PairSizes) {
        self.sizes.insert(class.to_owned(), sizes);
    }

    /// Puts a net in a class.
    pub(super) fn put(&mut self, net: &str, class: &str) {
        let classes = self.named.entry(net.to_owned()).or_default();
        classes.push(class.to_owned());
    }

    /// Puts the nets that a pattern stands for in a class.
    pub(super) fn put_all(&mut self, pattern: &str, class: String) {
        self.patterns.push((class, Pattern::new(pattern)));
    }

    /// Tells nets which classes they are in.
    pub(super) fn apply(&self, nets: &mut [Net]) {
        let for_pairs = self.for_pairs();
        for net in nets {
            let named = self.named.get(&net.name).into_iter().flatten();
            let matching = self
                .patterns
                .iter()
                .filter(|(_, pattern)| pattern.matches(&net.name));
            let classes = named.chain(matching.map(|(class, _)| class));
            net.classes.extend(classes.cloned());
            net.classes.sort();
            net.classes.dedup();
            let mut classes = net.classes.iter();
            let pair_class = classes.find(|class| for_pairs.contains(class.as_str()));
            net.pair_class = pair_class.cloned().or(net.pair_class.take());
        }
    }

    /// The classes for pairs: those that are called so, and those whose pairs somebody gave sizes of their own.
    fn for_pairs(&self) -> BTreeSet<&str> {
        let is_same = |x: [f64; 2], y: [f64; 2]| {
            (x[0] - y[0]).abs() < SAME_MM && (x[1] - y[1]).abs() < SAME_MM
        };
        let of_default = self.sizes.get(DEFAULT).copied().flatten();
        let is_own = |sizes: [f64; 2]| {
            !is_same(sizes, INITIAL_MM) && of_default.is_none_or(|other| !is_same(sizes, other))
        };
        let is_for_pairs = |class: &str, sizes: PairSizes| {
            let says_so = words::of_text(class)
                .iter()
                .any(|w| words::is_pair_class(w));
            class != DEFAULT && (says_so || sizes.is_some_and(is_own))
        };
        let known = self.sizes.iter().map(|(class, sizes)| (class, *sizes));
        // Patterns and nets may name a class that the file does not list.
        let used = self.named.values().flatten();
        let used = used.chain(self.patterns.iter().map(|(class, _)| class));
        let unlisted = used.filter(|class| !self.sizes.contains_key(*class));
        known
            .chain(unlisted.map(|class| (class, None)))
            .filter(|(class, sizes)| is_for_pairs(class, *sizes))
            .map(|(class, _)| class.as_str())
            .collect()
    }
}
