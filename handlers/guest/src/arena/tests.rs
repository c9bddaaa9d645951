//! The arena against a model: blocks never overlap, keep their bytes, are aligned, and come back.

use std::alloc::{GlobalAlloc, Layout};

use super::{ARENA_BYTES, Arena, BLOCK_BYTES_MAX, CLASSES, GRANULE_BYTES, block_bytes, class_of};

/// Marsaglia's xorshift64, so that a failure can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).unwrap()
    }
}

struct Block {
    start: *mut u8,
    layout: Layout,
    mark: u8,
}

#[allow(unsafe_code, reason = "the tests call an allocator")]
impl Block {
    fn new(arena: &Arena, size: usize, align: usize, mark: u8) -> Self {
        let layout = Layout::from_size_align(size, align).unwrap();
        // SAFETY: `size` is not zero.
        let start = unsafe { arena.alloc(layout) };
        assert!(!start.is_null());
        assert_eq!(start as usize % align, 0);
        // SAFETY: the block was just allocated with that size.
        unsafe { start.write_bytes(mark, size) };
        Self {
            start,
            layout,
            mark,
        }
    }

    fn check(&self, bytes: usize) {
        // SAFETY: the block is live and holds at least that many bytes.
        let bytes = unsafe { std::slice::from_raw_parts(self.start, bytes) };
        assert!(bytes.iter().all(|&b| b == self.mark));
    }

    fn resize(&mut self, arena: &Arena, size: usize) {
        // SAFETY: the block is live, came from this arena, and `size` is not zero.
        self.start = unsafe { arena.realloc(self.start, self.layout, size) };
        assert!(!self.start.is_null());
        self.check(self.layout.size().min(size));
        self.layout = Layout::from_size_align(size, self.layout.align()).unwrap();
        assert_eq!(self.start as usize % self.layout.align(), 0);
        // SAFETY: the block now has that size.
        unsafe { self.start.write_bytes(self.mark, size) };
    }

    fn free(self, arena: &Arena) {
        self.check(self.layout.size());
        // SAFETY: the block is live and came from this arena with this layout.
        unsafe { arena.dealloc(self.start, self.layout) };
    }
}

/// An arena that has never been used, made where it stays: unoptimised code would build it on the stack first, which a
/// test's thread has no room for.
#[allow(unsafe_code, reason = "the arena is made in place")]
fn unused() -> Box<Arena> {
    // SAFETY: zeros are what `Arena::new` makes: an empty memory, two counters and a list of null pointers.
    unsafe { Box::new_zeroed().assume_init() }
}

#[test]
fn a_new_arena_is_all_zero() {
    static NEW: Arena = Arena::new();
    let unused = unused();
    assert_eq!(NEW.fresh.get(), unused.fresh.get());
    assert_eq!(NEW.live.get(), unused.live.get());
    assert!(
        NEW.free
            .iter()
            .chain(&unused.free)
            .all(|list| list.get().is_null())
    );
}

#[test]
fn classes_are_the_smallest_that_fit_and_waste_at_most_a_fifth() {
    for size in 1..=BLOCK_BYTES_MAX {
        let class = class_of(size);
        assert!(block_bytes(class) >= size, "{size}");
        assert!(class == 0 || block_bytes(class - 1) < size, "{size}");
        assert!(
            (block_bytes(class) - size) * 5 <= block_bytes(class)
                || block_bytes(class) - size < GRANULE_BYTES,
            "{size}"
        );
    }
    assert!((0..CLASSES).all(|class| block_bytes(class).is_multiple_of(GRANULE_BYTES)));
}

#[test]
fn random_traffic_never_mixes_blocks() {
    for seed in 1..=8 {
        let arena = unused();
        let mut random = Random(0x9E37_79B9_7F4A_7C15 ^ seed);
        let mut blocks: Vec<Block> = Vec::new();
        for step in 0..20_000_u32 {
            let size = match random.below(10) {
                0 => 1 + random.below(2 * BLOCK_BYTES_MAX),
                1..=3 => 1 + random.below(4096),
                _ => 1 + random.below(200),
            };
            match random.below(if blocks.len() > 200 { 4 } else { 9 }) {
                0..=2 if !blocks.is_empty() => {
                    let at = random.below(blocks.len());
                    blocks.swap_remove(at).free(&arena);
                }
                3 if !blocks.is_empty() => {
                    let at = random.below(blocks.len());
                    blocks[at].resize(&arena, size);
                }
                _ => {
                    let align = 1 << random.below(7);
                    blocks.push(Block::new(&arena, size, align, step.to_le_bytes()[0]));
                }
            }
        }
        for block in blocks {
            block.free(&arena);
        }
        assert_eq!((arena.live.get(), arena.fresh.get()), (0, 0));
    }
}

#[test]
fn a_thousand_requests_use_the_same_memory() {
    let arena = unused();
    // Something survives every request, so that the arena never becomes empty.
    let kept = Block::new(&arena, 40, 8, 1);
    let mut high_water = 0;
    for request in 0..1000 {
        let mut blocks: Vec<Block> = (1..200).map(|n| Block::new(&arena, n * 7, 8, 2)).collect();
        blocks[10].resize(&arena, 5000);
        for block in blocks {
            assert!(arena.holds(block.start));
            block.free(&arena);
        }
        if request == 0 {
            high_water = arena.fresh.get();
        }
        assert_eq!(
            arena.fresh.get(),
            high_water,
            "request {request} took new memory"
        );
    }
    kept.free(&arena);
}

#[test]
fn a_full_arena_falls_back_and_recovers() {
    let arena = unused();
    let blocks: Vec<Block> = (0..2 * ARENA_BYTES / 4096)
        .map(|_| Block::new(&arena, 4096, 16, 3))
        .collect();
    let inside = blocks.iter().filter(|b| arena.holds(b.start)).count();
    assert_eq!(inside, ARENA_BYTES / 4096);
    for block in blocks {
        block.free(&arena);
    }
    let again = Block::new(&arena, BLOCK_BYTES_MAX, 16, 4);
    assert!(arena.holds(again.start));
    again.free(&arena);
    let large = Block::new(&arena, BLOCK_BYTES_MAX + 1, 16, 5);
    assert!(!arena.holds(large.start));
    large.free(&arena);
}
