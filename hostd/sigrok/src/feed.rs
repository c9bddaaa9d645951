//! Between the thread that has the samples and the one that talks to the child: blocks of samples one way, annotations the
//! other way. Both ways are bounded.

use crate::error::SigrokError;
use decode::Annotation;
use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Blocks of samples on their way.
const BLOCKS_MAX: usize = 4;

/// Annotations that wait for whoever takes them, before the child has to.
const FOUND_MAX: usize = 64 << 10;

#[derive(Debug, Default)]
struct State {
    blocks: VecDeque<Vec<u8>>,
    /// No block follows.
    is_whole: bool,
    found: Vec<Annotation>,
    ended: Option<Result<(), SigrokError>>,
    /// Nothing is wanted any more.
    is_left: bool,
}

/// What both threads share.
#[derive(Debug, Default)]
pub(crate) struct Feed {
    state: Mutex<State>,
    changed: Condvar,
}

/// What there is for the one who has the samples.
#[derive(Debug)]
pub(crate) enum Got {
    /// Some annotations; there may be none.
    Found(Vec<Annotation>),
    Ended(Result<(), SigrokError>),
}

impl Feed {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(&self, state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        let waited = self.changed.wait(state);
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands on samples when there is room, and takes what was found meanwhile.
    pub(crate) fn push(&self, block: Vec<u8>) -> Got {
        let mut state = self.lock();
        let mut found = Vec::new();
        loop {
            // While the child waits for what it found to be taken, it reads no samples.
            found.append(&mut state.found);
            self.changed.notify_all();
            if let Some(ended) = &state.ended {
                return match found.is_empty() {
                    true => Got::Ended(ended.clone()),
                    false => Got::Found(found),
                };
            }
            if state.blocks.len() < BLOCKS_MAX {
                state.blocks.push_back(block);
                return Got::Found(found);
            }
            state = self.wait(state);
        }
    }

    /// No samples follow.
    pub(crate) fn close(&self) {
        self.lock().is_whole = true;
        self.changed.notify_all();
    }

    /// What was found; waits for so long at most.
    pub(crate) fn take(&self, at_most: Duration) -> Got {
        let mut state = self.lock();
        if state.found.is_empty() && state.ended.is_none() {
            let waited = self.changed.wait_timeout(state, at_most);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let found = std::mem::take(&mut state.found);
        self.changed.notify_all();
        match &state.ended {
            Some(ended) if found.is_empty() => Got::Ended(ended.clone()),
            _ => Got::Found(found),
        }
    }

    /// Nothing is wanted any more.
    pub(crate) fn leave(&self) {
        self.lock().is_left = true;
        self.changed.notify_all();
    }

    /// The child has found some more. False if it is not wanted any more.
    pub(crate) fn found(&self, more: &mut Vec<Annotation>) -> bool {
        let mut state = self.lock();
        while FOUND_MAX <= state.found.len() && !state.is_left {
            state = self.wait(state);
        }
        state.found.append(more);
        self.changed.notify_all();
        !state.is_left
    }

    /// The child has ended.
    pub(crate) fn end(&self, how: Result<(), SigrokError>) {
        self.lock().ended = Some(how);
        self.changed.notify_all();
    }

    fn next(&self) -> Option<Vec<u8>> {
        let mut state = self.lock();
        loop {
            if state.is_left {
                return None;
            }
            if let Some(block) = state.blocks.pop_front() {
                self.changed.notify_all();
                return Some(block);
            }
            if state.is_whole {
                return None;
            }
            state = self.wait(state);
        }
    }
}

/// The samples as the child reads them.
#[derive(Debug)]
pub(crate) struct Input {
    feed: Arc<Feed>,
    block: Vec<u8>,
    at: usize,
}

impl Input {
    pub(crate) fn new(feed: Arc<Feed>) -> Self {
        Self {
            feed,
            block: Vec::new(),
            at: 0,
        }
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.block.len() {
            let Some(block) = self.feed.next() else {
                return Ok(0);
            };
            (self.block, self.at) = (block, 0);
        }
        let rest = &self.block[self.at..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.at += count;
        Ok(count)
    }
}
