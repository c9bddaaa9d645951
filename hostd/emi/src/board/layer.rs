//! Copper layers and sets of them.

/// A copper layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// Its canonical name, such as `In1.Cu`.
    pub name: String,
    /// What its maker calls it, if anything else.
    pub user_name: Option<String>,
}

/// A set of copper layers, of which there are at most 64.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LayerSet(pub u64);

impl LayerSet {
    /// Nothing.
    pub const NONE: Self = Self(0);

    /// The first `count` layers.
    pub fn first(count: usize) -> Self {
        Self(
            u64::MAX
                .checked_shr(64 - u32::try_from(count.min(64)).unwrap_or(64))
                .unwrap_or(0),
        )
    }

    /// That layer alone.
    pub fn only(layer: usize) -> Self {
        Self(1 << (layer & 63))
    }

    /// All layers from one to another, both included.
    pub fn span(from: usize, to: usize) -> Self {
        let (low, high) = (from.min(to), from.max(to));
        Self(Self::first(high + 1).0 & !Self::first(low).0)
    }

    /// Whether it has that layer.
    pub fn has(self, layer: usize) -> bool {
        layer < 64 && self.0 >> layer & 1 == 1
    }

    /// Both together.
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// What is in both.
    pub fn common(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// What is not in `other`.
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether it has all of `other`.
    pub fn covers(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether it has none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many it has.
    pub fn count(self) -> usize {
        self.0.count_ones() as usize
    }

    /// The uppermost.
    pub fn top(self) -> Option<usize> {
        (self.0 != 0).then(|| self.0.trailing_zeros() as usize)
    }

    /// The lowest.
    pub fn bottom(self) -> Option<usize> {
        (self.0 != 0).then(|| 63 - self.0.leading_zeros() as usize)
    }

    /// Its layers, from the top.
    pub fn layers(self) -> impl Iterator<Item = usize> {
        (0..64).filter(move |layer| self.has(*layer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_hold_up_to_all_64_layers() {
        assert_eq!(LayerSet::first(0), LayerSet::NONE);
        assert_eq!(LayerSet::first(2).0, 3);
        assert_eq!(LayerSet::first(64).0, u64::MAX);
        assert_eq!(LayerSet::span(3, 1).layers().collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(
            (LayerSet::span(2, 63).top(), LayerSet::span(2, 63).bottom()),
            (Some(2), Some(63))
        );
        assert!(LayerSet::first(4).covers(LayerSet::only(3)));
        assert!(!LayerSet::first(4).has(64));
    }
}
