//! Idle instances of one guest: each thread gets back the one it used last, whose memory is still
//! in its core's cache.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use crate::instance::Instance;
use crate::state::CallData;

/// Stacks for each core: threads come and go, and two that live at once should rarely share one.
const STACKS_PER_CORE: usize = 8;

/// Most stacks.
const STACKS_MAX: usize = 64;

/// Idle instances, in more stacks than there are cores. A thread that finds its own stack empty
/// takes from the others, so no instance is left idle while a call waits.
#[derive(Debug)]
pub(crate) struct Pool<T: CallData, X> {
    stacks: Box<[Stack<T, X>]>,
}

/// Two cache lines apart from its neighbours, since processors fetch two at a time.
#[derive(Debug)]
#[repr(align(128))]
struct Stack<T: CallData, X>(Mutex<Vec<Instance<T, X>>>);

impl<T: CallData, X> Pool<T, X> {
    pub(crate) fn new() -> Self {
        let stack = || Stack(Mutex::new(Vec::new()));
        Self {
            stacks: std::iter::repeat_with(stack)
                .take((cores() * STACKS_PER_CORE).min(STACKS_MAX))
                .collect(),
        }
    }

    pub(crate) fn take(&self) -> Option<Instance<T, X>> {
        let own = self.own();
        let (before, from) = self.stacks.split_at(own);
        from.iter()
            .chain(before)
            .find_map(|stack| stack.lock().pop())
    }

    /// The pool cannot outgrow the places of the guest, since every instance in it was made by
    /// a call that held one and found the pool empty, or by the start of the guest.
    pub(crate) fn put(&self, instance: Instance<T, X>) {
        self.stacks[self.own()].lock().push(instance);
    }

    pub(crate) fn len(&self) -> usize {
        self.stacks.iter().map(|stack| stack.lock().len()).sum()
    }

    /// The calling thread's stack.
    fn own(&self) -> usize {
        thread_number() % self.stacks.len()
    }
}

impl<T: CallData, X> Stack<T, X> {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Instance<T, X>>> {
        self.0.lock().expect("nothing under this lock panics")
    }
}

/// Processors, asked for once: the answer takes a dozen system calls, and there are many pools.
fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// Numbers threads in order of their first call.
fn thread_number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static NUMBER: usize = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    NUMBER.with(|number| *number)
}
