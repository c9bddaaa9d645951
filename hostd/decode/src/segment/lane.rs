//! One channel of a block, unpacked: the offsets of its toggles or, where it toggles all the time, its levels as a plane.
//! Either way questions about it are answered without looking at what lies between two toggles.

use super::frame::Frame;
use super::{Edge, SegmentError, distances};
use std::ops::Range;
use zstd::bulk::Decompressor;

/// What the channel was unpacked to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Form {
    /// Nothing or a list of offsets, ascending.
    #[default]
    List,
    /// A bit for each sample: the level.
    Plane,
}

/// A channel of a block. Its memory is used again for the next block.
#[derive(Default)]
pub(crate) struct Lane {
    /// Level before the first sample.
    level: bool,
    samples: u32,
    form: Form,
    list: Vec<u32>,
    plane: Vec<u64>,
    /// Memory for what is decompressed.
    plain: Vec<u8>,
    shared: Shared,
    decompressor: Decompressor<'static>,
}

/// A frame that blocks share, unpacked, so that they need not all unpack it.
#[derive(Default)]
pub(crate) struct Shared {
    /// Pack, channel, and number of the frame.
    of: Option<(usize, usize, usize)>,
    plain: Vec<u8>,
}

/// Where an iteration over a lane's toggles stands.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    /// Next entry of the list, or next word of the plane.
    next: usize,
    /// Toggles of the word before it that are still to come.
    waiting: u64,
}

impl Lane {
    /// Starts with a block without toggles.
    pub(super) fn begin(&mut self, level: bool, samples: u32) {
        (self.level, self.samples, self.form) = (level, samples, Form::List);
        self.list.clear();
    }

    /// Exchanges the frame that it holds: a lane that goes from channel to channel would unpack each again for every block.
    pub(crate) fn exchange(&mut self, shared: &mut Shared) {
        std::mem::swap(&mut self.shared, shared);
    }

    /// Holds a frame that blocks of a pack share. `start` is the pack's first sample.
    pub(super) fn share(
        &mut self,
        of: (usize, usize, usize),
        start: u64,
        frame: &Frame<'_>,
    ) -> Result<(), SegmentError> {
        let shared = &mut self.shared;
        if shared.of != Some(of) {
            shared.of = None;
            frame.unpack(start, &mut self.decompressor, &mut shared.plain)?;
            shared.of = Some(of);
        }
        Ok(())
    }

    /// Adds distances that are in the frame it holds.
    pub(super) fn add_shared(&mut self, range: Range<usize>) -> Option<()> {
        let plain = self.shared.plain.get(range)?;
        distances::add(plain, 0, self.samples, &mut self.list).map(drop)
    }

    /// Adds distances; returns how many.
    pub(super) fn add_distances(&mut self, plain: &[u8]) -> Option<usize> {
        distances::add(plain, 0, self.samples, &mut self.list)
    }

    /// Adds distances from the first sample of a range on. `None` if they are not that many, or what is before ends with
    /// another level.
    pub(super) fn add_part(
        &mut self,
        level: bool,
        plain: &[u8],
        range: Range<u32>,
        count: u32,
    ) -> Option<()> {
        let before = self.level ^ (self.list.len() % 2 == 1);
        let added = distances::add(plain, range.start, range.end, &mut self.list)?;
        (before == level && added == count as usize).then_some(())
    }

    /// Adds samples that have a level, as a plane or as nothing. `None` if what is before ends with another one.
    pub(super) fn add_rest(
        &mut self,
        level: bool,
        range: Range<u32>,
        is_plane: bool,
    ) -> Option<()> {
        if !is_plane {
            return (level == self.level ^ (self.list.len() % 2 == 1)).then_some(());
        }
        let before = self.plane_end();
        let words = (range.end - range.start).div_ceil(u64::BITS) as usize;
        let levels = u64::from(level).wrapping_neg();
        self.plane.resize(self.plane.len() + words, levels);
        (before == level).then_some(())
    }

    /// Adds levels, a bit for each sample. `None` if there are too few or too many bytes, if a level changes behind the last
    /// sample, or if what is before ends with another level.
    pub(super) fn add_plane(&mut self, level: bool, plain: &[u8], range: Range<u32>) -> Option<()> {
        let before = self.plane_end();
        let samples = range.end - range.start;
        let count = samples.div_ceil(u64::BITS);
        let (words, rest) = plain.as_chunks::<8>();
        if words.len() != count as usize || !rest.is_empty() {
            return None;
        }
        let words = words.iter().map(|word| u64::from_le_bytes(*word));
        self.plane.extend(words);
        let surplus = count * u64::BITS - samples;
        let last = self.toggles_of(self.plane.len().checked_sub(1)?);
        (before == level && last.leading_zeros() >= surplus).then_some(())
    }

    /// The level with which the plane ends; begins one where there is none.
    fn plane_end(&mut self) -> bool {
        if self.form != Form::Plane {
            self.form = Form::Plane;
            self.plane.clear();
        }
        self.plane.last().map_or(self.level, |last| last >> 63 != 0)
    }

    /// The bytes of a frame. Give them back to `keep`.
    pub(super) fn open(&mut self, start: u64, frame: &Frame<'_>) -> Result<Vec<u8>, SegmentError> {
        let mut plain = std::mem::take(&mut self.plain);
        frame.unpack(start, &mut self.decompressor, &mut plain)?;
        Ok(plain)
    }

    /// Decompresses to exactly `size` bytes; `None` if that is not what there is. Give the bytes back to `keep`.
    pub(super) fn decompress(&mut self, packed: &[u8], size: usize) -> Option<Vec<u8>> {
        let mut plain = std::mem::take(&mut self.plain);
        plain.clear();
        plain.reserve_exact(size);
        let done = self.decompressor.decompress_to_buffer(packed, &mut plain);
        done.is_ok_and(|got| got == size).then_some(plain)
    }

    pub(super) fn keep(&mut self, plain: Vec<u8>) {
        self.plain = plain;
    }

    /// Takes levels, a bit for each sample; returns how many toggles they have. `None` if there are too few or too many
    /// bytes, or if a level changes behind the last sample.
    pub(super) fn take_plane(&mut self, plain: &[u8]) -> Option<usize> {
        self.add_plane(self.level, plain, 0..self.samples)?;
        let words = 0..self.plane.len();
        Some(
            words
                .map(|word| self.toggles_of(word).count_ones() as usize)
                .sum(),
        )
    }

    /// The offsets of all toggles, ascending; a plane becomes a list.
    pub(crate) fn offsets(&mut self) -> &mut Vec<u32> {
        self.expand();
        &mut self.list
    }

    /// The same of a lane that is no plane.
    pub(super) fn list(&self) -> &[u32] {
        &self.list
    }

    /// Turns a plane into a list.
    fn expand(&mut self) {
        if self.form == Form::Plane {
            let mut list = std::mem::take(&mut self.list);
            let mut place = Place::default();
            while let Some(at) = self.take(&mut place) {
                list.push(at);
            }
            self.list = list;
            self.form = Form::List;
        }
    }

    /// Level at an offset; past the end, the last level.
    pub(super) fn level_at(&self, offset: u32) -> bool {
        match self.form {
            Form::List => {
                let before = self.list.partition_point(|&at| at <= offset);
                self.level ^ (before % 2 == 1)
            }
            Form::Plane => {
                let offset = offset.min(self.samples - 1);
                self.plane[(offset / 64) as usize] >> (offset % 64) & 1 != 0
            }
        }
    }

    /// Level of the sample before an offset.
    pub(crate) fn level_before(&self, offset: u32) -> bool {
        offset
            .checked_sub(1)
            .map_or(self.level, |last| self.level_at(last))
    }

    /// First edge at or after an offset.
    pub(super) fn next(&self, offset: u32, edge: Edge) -> Option<u32> {
        if self.form == Form::List {
            let first = self.list.partition_point(|&at| at < offset);
            let wanted = first + usize::from(!self.is_wanted(first, edge));
            return self.list.get(wanted).copied();
        }
        let mut mask = u64::MAX << (offset % 64);
        for word in (offset / 64) as usize..self.plane.len() {
            let found = self.edges_of(word, edge) & mask;
            if found != 0 {
                return Some(at(word, found.trailing_zeros()));
            }
            mask = u64::MAX;
        }
        None
    }

    /// Last edge before an offset.
    pub(super) fn previous(&self, offset: u32, edge: Edge) -> Option<u32> {
        if self.form == Form::List {
            let end = self.list.partition_point(|&at| at < offset);
            let last = end.checked_sub(1)?;
            let wanted = last.checked_sub(usize::from(!self.is_wanted(last, edge)))?;
            return self.list.get(wanted).copied();
        }
        let last = offset.min(self.samples).checked_sub(1)?;
        let mut mask = u64::MAX >> (63 - last % 64);
        for word in (0..=(last / 64) as usize).rev() {
            let found = self.edges_of(word, edge) & mask;
            if found != 0 {
                return Some(at(word, 63 - found.leading_zeros()));
            }
            mask = u64::MAX;
        }
        None
    }

    /// Toggles in `from..to`.
    pub(super) fn count(&self, from: u32, to: u32) -> u64 {
        let to = to.min(self.samples);
        if from >= to {
            return 0;
        }
        if self.form == Form::List {
            let before = |offset: u32| self.list.partition_point(|&at| at < offset);
            return (before(to) - before(from)) as u64;
        }
        let (first, last) = ((from / 64) as usize, ((to - 1) / 64) as usize);
        let mut count = 0;
        for word in first..=last {
            let mut toggles = self.toggles_of(word);
            if word == first {
                toggles &= u64::MAX << (from % 64);
            }
            if word == last {
                toggles &= u64::MAX >> (63 - (to - 1) % 64);
            }
            count += u64::from(toggles.count_ones());
        }
        count
    }

    /// An iteration that begins with the first toggle at or after an offset.
    pub(super) fn place(&self, offset: u32) -> Place {
        match self.form {
            Form::List => Place {
                next: self.list.partition_point(|&at| at < offset),
                waiting: 0,
            },
            Form::Plane => {
                let word = (offset / 64) as usize;
                let waiting = match word < self.plane.len() {
                    true => self.toggles_of(word) & u64::MAX << (offset % 64),
                    false => 0,
                };
                Place {
                    next: word + 1,
                    waiting,
                }
            }
        }
    }

    /// The next toggle of an iteration.
    #[inline]
    pub(super) fn take(&self, place: &mut Place) -> Option<u32> {
        if self.form == Form::List {
            let toggle = self.list.get(place.next).copied();
            place.next += 1;
            return toggle;
        }
        while place.waiting == 0 {
            if place.next >= self.plane.len() {
                return None;
            }
            place.waiting = self.toggles_of(place.next);
            place.next += 1;
        }
        let bit = place.waiting.trailing_zeros();
        place.waiting &= place.waiting - 1;
        Some(at(place.next - 1, bit))
    }

    /// Whether there are no toggles.
    pub(crate) fn rests(&self) -> bool {
        self.form == Form::List && self.list.is_empty()
    }

    /// Sets a bit of `words` for each toggle.
    pub(crate) fn mark(&self, words: &mut [u64]) {
        match self.form {
            Form::List => {
                for &at in &self.list {
                    words[(at / 64) as usize] |= 1 << (at % 64);
                }
            }
            Form::Plane => {
                for (word, toggles) in words.iter_mut().enumerate().take(self.plane.len()) {
                    *toggles |= self.toggles_of(word);
                }
            }
        }
    }

    /// Whether toggle number `number` of the list is an edge of this kind: they alternate.
    fn is_wanted(&self, number: usize, edge: Edge) -> bool {
        let rises = self.level ^ number.is_multiple_of(2);
        match edge {
            Edge::Rising => rises,
            Edge::Falling => !rises,
            Edge::Either => true,
        }
    }

    /// The levels of a word of the plane, and those one sample earlier.
    #[inline]
    fn levels_of(&self, word: usize) -> (u64, u64) {
        let levels = self.plane[word];
        let before = match word {
            0 => u64::from(self.level),
            _ => self.plane[word - 1] >> 63,
        };
        (levels, levels << 1 | before)
    }

    #[inline]
    fn toggles_of(&self, word: usize) -> u64 {
        let (levels, before) = self.levels_of(word);
        levels ^ before
    }

    fn edges_of(&self, word: usize, edge: Edge) -> u64 {
        let (levels, before) = self.levels_of(word);
        match edge {
            Edge::Rising => levels & !before,
            Edge::Falling => before & !levels,
            Edge::Either => levels ^ before,
        }
    }
}

/// Offset of a bit of a word.
fn at(word: usize, bit: u32) -> u32 {
    u32::try_from(word).expect("a block has few words") * 64 + bit
}
