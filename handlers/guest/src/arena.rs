//! The allocator of a component: size classes over a static arena, backed by the standard allocator.
//!
//! A fresh instance starts with its initial memory. An allocator that grows it on the first request
//! costs the host two `mprotect` calls, which serialise all threads of the process; one that serves
//! from memory that is already there lets fresh instances scale with cores. Instances from the pool
//! answer a thousand requests, so freed memory must be reused: each freed block goes back to the
//! list of its class, and when the last live block is freed the whole arena is as good as new.
//!
//! Classes grow by a quarter of a power of two, so at most a fifth of a block is wasted. A request
//! that is larger than the largest class, or that finds the arena full, goes to the standard
//! allocator, which grows memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, UnsafeCell};
use std::ptr;

/// Bytes of the arena. It is part of the initial memory and all zero, so it costs nothing until it
/// is touched.
const ARENA_BYTES: usize = 512 << 10;

/// Every block is a multiple of this size and aligned to it.
const GRANULE_BYTES: usize = 16;

/// Block size of the largest class.
const BLOCK_BYTES_MAX: usize = 64 << 10;

/// Number of classes: 16, 32, 48, 64, then four for each doubling up to [`BLOCK_BYTES_MAX`].
const CLASSES: usize = 44;

#[repr(C, align(16))]
struct Memory(UnsafeCell<[u8; ARENA_BYTES]>);

/// See the module.
pub(crate) struct Arena {
    memory: Memory,
    /// First offset that has not been handed out since the arena was last empty.
    fresh: Cell<usize>,
    /// Blocks handed out and not yet freed.
    live: Cell<usize>,
    /// Freed blocks by class. The first word of a free block is the next one.
    free: [Cell<*mut u8>; CLASSES],
}

#[allow(unsafe_code, reason = "a component has one thread, see below")]
// SAFETY: a WebAssembly component without the threads proposal runs one thread, so `&Arena` is never
// used by two at once. Tests make an arena of their own for each thread and do not share it.
unsafe impl Sync for Arena {}

impl Arena {
    pub(crate) const fn new() -> Self {
        Self {
            memory: Memory(UnsafeCell::new([0; ARENA_BYTES])),
            fresh: Cell::new(0),
            live: Cell::new(0),
            free: [const { Cell::new(ptr::null_mut()) }; CLASSES],
        }
    }

    /// Class and block size for a layout; none when the arena does not serve this layout.
    fn class(layout: Layout) -> Option<usize> {
        (layout.size() <= BLOCK_BYTES_MAX && layout.align() <= GRANULE_BYTES)
            .then(|| class_of(layout.size()))
    }

    fn start(&self) -> *mut u8 {
        self.memory.0.get().cast()
    }

    fn holds(&self, block: *mut u8) -> bool {
        (block as usize).wrapping_sub(self.start() as usize) < ARENA_BYTES
    }

    /// A block of this class, or null when the arena is full.
    #[allow(unsafe_code, reason = "an allocator hands out raw memory")]
    fn take(&self, class: usize) -> *mut u8 {
        let head = self.free[class].get();
        let block = if head.is_null() {
            let (from, size) = (self.fresh.get(), block_bytes(class));
            if ARENA_BYTES - from < size {
                return ptr::null_mut();
            }
            self.fresh.set(from + size);
            // SAFETY: `from + size` lies within the arena, as just checked.
            unsafe { self.start().add(from) }
        } else {
            // SAFETY: a block on a free list is at least one granule of arena memory that nobody
            // uses, and `give` stored the next block in its first word.
            self.free[class].set(unsafe { head.cast::<*mut u8>().read() });
            head
        };
        self.live.set(self.live.get() + 1);
        block
    }

    /// Take back a block of the arena. It is at least as large as the blocks of this class.
    #[allow(unsafe_code, reason = "an allocator links its free blocks")]
    fn give(&self, block: *mut u8, class: usize) {
        let live = self.live.get() - 1;
        self.live.set(live);
        if live == 0 {
            self.fresh.set(0);
            for list in &self.free {
                list.set(ptr::null_mut());
            }
            return;
        }
        // SAFETY: the caller gives up the block, which is granule-aligned and holds a pointer.
        unsafe { block.cast::<*mut u8>().write(self.free[class].get()) };
        self.free[class].set(block);
    }
}

/// Smallest class whose blocks hold `bytes`, which is at most [`BLOCK_BYTES_MAX`].
const fn class_of(bytes: usize) -> usize {
    let granules = if bytes == 0 {
        1
    } else {
        bytes.div_ceil(GRANULE_BYTES)
    };
    if granules <= 4 {
        return granules - 1;
    }
    // Sizes from 2^k + 1 to 2^(k+1) granules fall into four classes, 2^(k-2) granules apart.
    let k = (granules - 1).ilog2() as usize;
    let quarter = (granules - 1 - (1 << k)) >> (k - 2);
    4 + (k - 2) * 4 + quarter
}

/// Bytes of a block of this class.
const fn block_bytes(class: usize) -> usize {
    if class < 4 {
        return (class + 1) * GRANULE_BYTES;
    }
    let (k, quarter) = ((class - 4) / 4 + 2, (class - 4) % 4);
    ((1 << k) + ((quarter + 1) << (k - 2))) * GRANULE_BYTES
}

const _: () = assert!(class_of(BLOCK_BYTES_MAX) == CLASSES - 1);
const _: () = assert!(block_bytes(CLASSES - 1) == BLOCK_BYTES_MAX);

#[allow(unsafe_code, reason = "the trait is unsafe")]
// SAFETY: blocks come from the arena (disjoint, granule-aligned, at least as large as requested) or
// from `System`; `dealloc` and `realloc` tell the two apart by address and return each to its
// origin.
unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let block = Self::class(layout).map_or(ptr::null_mut(), |class| self.take(class));
        if block.is_null() {
            // SAFETY: the caller's promises are passed on.
            return unsafe { System.alloc(layout) };
        }
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if self.holds(block) {
            self.give(block, class_of(layout.size()));
        } else {
            // SAFETY: a block outside the arena belongs to the system.
            unsafe { System.dealloc(block, layout) };
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        if !self.holds(block) && new_size > BLOCK_BYTES_MAX {
            // SAFETY: a block outside the arena belongs to the system.
            return unsafe { System.realloc(block, layout, new_size) };
        }
        if self.holds(block)
            && new_size <= BLOCK_BYTES_MAX
            && class_of(new_size) <= class_of(layout.size())
        {
            return block;
        }
        // SAFETY: the caller promises that `new_size`, rounded up to the alignment, is a valid size.
        let new_layout = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        // SAFETY: `new_size` is not zero, says the caller.
        let moved = unsafe { self.alloc(new_layout) };
        if !moved.is_null() {
            // SAFETY: both blocks hold that many bytes, and a new block never overlaps a live one.
            unsafe { ptr::copy_nonoverlapping(block, moved, layout.size().min(new_size)) };
            // SAFETY: the caller gives up the old block.
            unsafe { self.dealloc(block, layout) };
        }
        moved
    }
}

#[cfg(test)]
mod tests;
