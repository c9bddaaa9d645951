//! Idle instances of one handler: each thread gets back the one it used last, whose memory is still
//! in its core's cache.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::instance::Instance;
use crate::state::CallData;

/// Stacks for each core: threads come and go, and two that live at once should rarely share one.
const STACKS_PER_CORE: usize = 8;

/// Most stacks.
const STACKS_MAX: usize = 64;

/// Idle instances, in more stacks than there are cores. A thread that finds its own stack empty
/// takes from the others, so no instance is left idle while a call waits.
#[derive(Debug)]
pub(crate) struct Pool<T: CallData> {
    stacks: Box<[Stack<T>]>,
}

/// Two cache lines apart from its neighbours, since processors fetch two at a time.
#[derive(Debug)]
#[repr(align(128))]
struct Stack<T: CallData>(Mutex<Vec<Instance<T>>>);

impl<T: CallData> Pool<T> {
    pub(crate) fn new() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let stack = || Stack(Mutex::new(Vec::new()));
        Self {
            stacks: std::iter::repeat_with(stack)
                .take((cores * STACKS_PER_CORE).min(STACKS_MAX))
                .collect(),
        }
    }

    pub(crate) fn take(&self) -> Option<Instance<T>> {
        let own = self.own();
        let (before, from) = self.stacks.split_at(own);
        from.iter()
            .chain(before)
            .find_map(|stack| stack.lock().pop())
    }

    /// The pool cannot outgrow the places of the handler, since every instance in it was made by
    /// a call that held one and found the pool empty.
    pub(crate) fn put(&self, instance: Instance<T>) {
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

impl<T: CallData> Stack<T> {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Instance<T>>> {
        self.0.lock().expect("nothing under this lock panics")
    }
}

/// Numbers threads in order of their first call.
fn thread_number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static NUMBER: usize = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    NUMBER.with(|number| *number)
}
