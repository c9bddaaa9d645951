//! Idle instances of one handler, the last used one first: its memory is still in the cache.

use std::sync::Mutex;

use crate::instance::Instance;
use crate::state::CallData;

#[derive(Debug)]
pub(crate) struct Pool<T: CallData> {
    idle: Mutex<Vec<Instance<T>>>,
}

impl<T: CallData> Pool<T> {
    pub(crate) fn new() -> Self {
        Self {
            idle: Mutex::new(Vec::new()),
        }
    }

    pub(crate) fn take(&self) -> Option<Instance<T>> {
        self.lock().pop()
    }

    /// The pool cannot outgrow the places of the handler, since every instance in it was made by
    /// a call that held one and found the pool empty.
    pub(crate) fn put(&self, instance: Instance<T>) {
        self.lock().push(instance);
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Instance<T>>> {
        self.idle.lock().expect("nothing under this lock panics")
    }
}
