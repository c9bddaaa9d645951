//! Finds many needles in a stream at once, a byte at a time (Aho and Corasick). Each byte takes the same time on average,
//! whatever was found before, and each state knows its depth: how much of the end of the stream a needle could go on from.
//!
//! Most bytes of most streams are not the beginning of a needle. Tables of the first two bytes of all needles say so without
//! a step, for bytes as they are and for those that characters of base 64 stand for.

/// Bits of two characters of base 64.
const BASE64_PAIRS: usize = 1 << 12;

/// By how many bits a byte lies before the end of two characters of base 64: behind it there are as many of the next byte.
pub(super) const BASE64_BEHIND: [u32; 3] = [4, 2, 0];

/// The needles, ready to be looked for. State 0 is the beginning.
#[derive(Debug)]
pub(super) struct Automaton {
    /// The state after a byte, at the beginning.
    root: [u32; 256],
    /// Which second bytes needles have behind a first one, as bits.
    seconds: Box<[[u64; 4]; 256]>,
    /// By two characters of base 64: in which of three places a needle could begin in them, as bits.
    base64: Box<[u8; BASE64_PAIRS]>,
    /// By which byte each state is entered.
    bytes: Vec<u8>,
    /// The first child of each state. Children of one state follow each other, and those of the next state follow them.
    first: Vec<u32>,
    /// The state of the longest end that another needle begins with.
    fail: Vec<u32>,
    depth: Vec<u32>,
    /// Bytes at the end of the stream that a longer needle could go on from.
    open: Vec<u32>,
    /// Bytes of the longest needle that ends here; 0 if none does.
    hit: Vec<u32>,
}

/// The needles that go on from a state, all of which begin with the same bytes.
#[derive(Clone, Copy)]
struct Range {
    from: usize,
    to: usize,
}

impl Automaton {
    /// For needles that are sorted, differ, and are not empty. They have less than 4 GiB together.
    pub(super) fn new(needles: &[Vec<u8>]) -> Self {
        let seconds = seconds_of(needles);
        let mut automaton = Self {
            root: [0; 256],
            base64: base64_of(&seconds),
            seconds,
            bytes: vec![0],
            first: Vec::new(),
            fail: vec![0],
            depth: vec![0],
            open: Vec::new(),
            hit: vec![0],
        };
        let mut ranges = vec![Range {
            from: 0,
            to: needles.len(),
        }];
        let mut state = 0;
        while let Some(&range) = ranges.get(state) {
            automaton.first.push(automaton.len());
            automaton.add_children(state, range, needles, &mut ranges);
            state += 1;
        }
        automaton.first.push(automaton.len());
        for state in 0..automaton.bytes.len() {
            let goes_on = automaton.first[state] < automaton.first[state + 1];
            let open = match (state, goes_on) {
                (0, _) => 0,
                (_, true) => automaton.depth[state],
                (_, false) => automaton.open[automaton.fail[state] as usize],
            };
            automaton.open.push(open);
        }
        automaton
    }

    /// Number of states.
    fn len(&self) -> u32 {
        u32::try_from(self.bytes.len()).expect("needles are bounded far below 4 GiB")
    }

    fn add_children(
        &mut self,
        state: usize,
        range: Range,
        needles: &[Vec<u8>],
        ranges: &mut Vec<Range>,
    ) {
        let depth = self.depth[state];
        let at = depth as usize;
        let Range { mut from, to } = range;
        // The one that ends here is before those that go on.
        if from < to && needles[from].len() == at {
            from += 1;
        }
        while from < to {
            let byte = needles[from][at];
            let same = needles[from..to].iter().take_while(|n| n[at] == byte);
            let end = from + same.count();
            let child = self.len();
            let fail = match state {
                0 => 0,
                _ => self.step(self.fail[state], byte),
            };
            let is_end = needles[from].len() == at + 1;
            self.bytes.push(byte);
            self.fail.push(fail);
            self.depth.push(depth + 1);
            self.hit.push(match is_end {
                true => depth + 1,
                false => self.hit[fail as usize],
            });
            if state == 0 {
                self.root[usize::from(byte)] = child;
            }
            ranges.push(Range { from, to: end });
            from = end;
        }
    }

    /// The state after one more byte.
    pub(super) fn step(&self, mut state: u32, byte: u8) -> u32 {
        while state != 0 {
            let (from, to) = (self.first[state as usize], self.first[state as usize + 1]);
            let children = &self.bytes[from as usize..to as usize];
            if let Some(child) = children.iter().position(|by| *by == byte) {
                return from + u32::try_from(child).unwrap_or_default();
            }
            state = self.fail[state as usize];
        }
        self.root[usize::from(byte)]
    }

    /// Whether a needle begins with this byte.
    pub(super) fn begins(&self, byte: u8) -> bool {
        self.root[usize::from(byte)] != 0
    }

    /// Whether a needle begins with these two bytes.
    pub(super) fn begins_with(&self, first: u8, second: u8) -> bool {
        has(&self.seconds[usize::from(first)], second)
    }

    /// The first place at which a needle could begin, as far as bytes are there to tell.
    pub(super) fn next_begin(&self, bytes: &[u8]) -> Option<usize> {
        let two = bytes
            .windows(2)
            .position(|two| self.begins_with(two[0], two[1]));
        two.or_else(|| {
            let (last, before) = bytes.split_last()?;
            self.begins(*last).then_some(before.len())
        })
    }

    /// In which of the places of [`BASE64_BEHIND`] in the bits of two characters of base 64 a needle could begin, as bits.
    pub(super) fn begins_in_base64(&self, both: u16) -> u8 {
        self.base64[usize::from(both) % BASE64_PAIRS]
    }

    /// Bytes at the end of the stream that a needle begins with.
    pub(super) fn depth(&self, state: u32) -> usize {
        self.depth[state as usize] as usize
    }

    /// Bytes at the end of the stream that could be the beginning of a needle that has not ended.
    pub(super) fn open(&self, state: u32) -> usize {
        self.open[state as usize] as usize
    }

    /// Bytes of the longest needle that ends here.
    pub(super) fn hit(&self, state: u32) -> Option<usize> {
        match self.hit[state as usize] {
            0 => None,
            bytes => Some(bytes as usize),
        }
    }
}

/// The second bytes of needles, by the first. Behind a needle of one byte there may be any.
fn seconds_of(needles: &[Vec<u8>]) -> Box<[[u64; 4]; 256]> {
    let mut seconds = Box::new([[0; 4]; 256]);
    for needle in needles {
        match needle[..] {
            [first] => seconds[usize::from(first)] = [u64::MAX; 4],
            [first, second, ..] => {
                let word = &mut seconds[usize::from(first)][usize::from(second) / 64];
                *word |= 1 << (second % 64);
            }
            [] => {}
        }
    }
    seconds
}

fn has(seconds: &[u64; 4], second: u8) -> bool {
    seconds[usize::from(second) / 64] >> (second % 64) & 1 != 0
}

/// What two characters of base 64 can be the beginning of.
fn base64_of(seconds: &[[u64; 4]; 256]) -> Box<[u8; BASE64_PAIRS]> {
    // By a first byte and a place: which bits of a second one can be seen, as a bit for each number that they are.
    let mut heads = [[0_u16; BASE64_BEHIND.len()]; 256];
    for (heads, seconds) in heads.iter_mut().zip(seconds) {
        for second in (0..=u8::MAX).filter(|second| has(seconds, *second)) {
            for (seen, behind) in heads.iter_mut().zip(BASE64_BEHIND) {
                *seen |= 1 << (u16::from(second) >> (8 - behind));
            }
        }
    }
    let mut places = Box::new([0; BASE64_PAIRS]);
    for (both, place) in (0_u16..).zip(places.iter_mut()) {
        for (at, behind) in BASE64_BEHIND.into_iter().enumerate() {
            let [_, first] = (both >> behind).to_be_bytes();
            let seen = both & ((1 << behind) - 1);
            let can_begin = heads[usize::from(first)][at] >> seen & 1 != 0;
            *place |= u8::from(can_begin) << at;
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_beginnings_agree_with_the_needles() {
        let mut random = fastrand::Rng::with_seed(10);
        let needles: Vec<Vec<u8>> = [b"ghp_16C7".as_slice(), b"gh", b"\xff\x00\xff", b"z"]
            .into_iter()
            .map(<[u8]>::to_vec)
            .collect();
        let mut sorted = needles.clone();
        sorted.sort_unstable();
        let automaton = Automaton::new(&sorted);
        let could = |bytes: &[u8]| {
            let together = |needle: &Vec<u8>| needle.iter().zip(bytes).all(|(a, b)| a == b);
            needles.iter().any(together)
        };
        for _ in 0..2000 {
            let text: Vec<u8> = (0..8)
                .map(|_| random.choice(*b"ghp_z\xff\x00").unwrap())
                .collect();
            let expected = (0..text.len()).find(|at| could(&text[*at..text.len().min(at + 2)]));
            assert_eq!(automaton.next_begin(&text), expected);
        }
        assert_eq!(automaton.next_begin(b""), None);
        for both in 0..0x1000_u16 {
            for (bit, behind) in BASE64_BEHIND.into_iter().enumerate() {
                let [_, first] = (both >> behind).to_be_bytes();
                let is_second = |second: &u16| second >> (8 - behind) == both & ((1 << behind) - 1);
                let seconds = (0..256_u16).filter(is_second);
                let mut pairs = seconds.map(|second| [first, second.to_be_bytes()[1]]);
                let is_marked = automaton.begins_in_base64(both) >> bit & 1 != 0;
                assert_eq!(is_marked, pairs.any(|pair| could(&pair)), "{both} {behind}");
            }
        }
    }

    #[test]
    fn it_finds_what_a_search_at_each_place_finds() {
        let mut random = fastrand::Rng::with_seed(9);
        for _ in 0..300 {
            let word = |random: &mut fastrand::Rng, len| -> Vec<u8> {
                (0..len).map(|_| random.u8(b'a'..=b'c')).collect()
            };
            let mut needles: Vec<Vec<u8>> = (0..random.usize(1..9))
                .map(|_| {
                    let len = random.usize(1..7);
                    word(&mut random, len)
                })
                .collect();
            needles.sort_unstable();
            needles.dedup();
            let automaton = Automaton::new(&needles);
            let text = word(&mut random, 60);
            let mut state = 0;
            for (at, byte) in text.iter().enumerate() {
                state = automaton.step(state, *byte);
                let seen = &text[..=at];
                let ends = needles.iter().filter(|n| seen.ends_with(n));
                assert_eq!(automaton.hit(state), ends.map(Vec::len).max());
                let open = (0..=seen.len()).find(|from| {
                    let end = &seen[*from..];
                    needles.iter().any(|n| n.starts_with(end))
                });
                assert_eq!(automaton.depth(state), seen.len() - open.unwrap());
                let open = (0..=seen.len()).find(|from| {
                    let end = &seen[*from..];
                    needles.iter().any(|n| n.starts_with(end) && n != end)
                });
                assert_eq!(automaton.open(state), seen.len() - open.unwrap());
            }
        }
    }
}
