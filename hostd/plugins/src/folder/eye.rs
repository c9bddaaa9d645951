//! What the kernel tells of a folder and the folders in it.

use std::collections::BTreeMap;
use std::io::{self, PipeReader, PipeWriter};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::thread::{self, Thread};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;
use tokio::sync::Notify;

use super::ENTRIES_MAX;

/// Room for what is read at once: some hundred events.
const BUFFER_BYTES: usize = 16 << 10;

/// Events that are handed on at once; the kernel keeps the rest for the next time.
pub(super) const HAPPENED_MAX: usize = 4096;

/// Something that happened, and the name in the folder that it happened to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Happened {
    /// Somebody writes to the file.
    Written(String),
    /// Whoever wrote to the file has closed it.
    Closed(String),
    /// A file or folder was moved here, as it is.
    Arrived(String),
    /// Something in the folder of this name changed.
    Below(String),
    /// More happened than the kernel could keep, or than is handed on at once.
    Lost,
}

/// A watched folder. A thread of its own waits for the kernel, and ends with it.
#[derive(Debug)]
pub(super) struct Eye {
    events: Arc<OwnedFd>,
    root: i32,
    /// Names of watched folders in it.
    folders: BTreeMap<i32, String>,
    /// Something has happened.
    woken: Arc<Notify>,
    waiter: Thread,
    end: Option<PipeWriter>,
}

impl Eye {
    pub(super) fn open(folder: &Path) -> io::Result<Self> {
        let events = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
        let root = inotify::add_watch(&events, folder, watched() | WatchFlags::ONLYDIR)?;
        let (ended, end) = io::pipe()?;
        let (events, woken) = (Arc::new(events), Arc::<Notify>::default());
        let named = thread::Builder::new().name("plugin-folder".to_owned());
        let (kernel, wake) = (events.clone(), woken.clone());
        let waiter = named.spawn(move || wake_when_readable(&kernel, &ended, &wake))?;
        Ok(Self {
            events,
            root,
            folders: BTreeMap::new(),
            woken,
            waiter: waiter.thread().clone(),
            end: Some(end),
        })
    }

    /// Watch the folder `name` in `folder`, too.
    pub(super) fn also(&mut self, folder: &Path, name: &str) {
        if self.folders.values().any(|known| known == name) || self.folders.len() >= ENTRIES_MAX {
            return;
        }
        let flags = watched() | WatchFlags::ONLYDIR | WatchFlags::DONT_FOLLOW;
        // Without it, a change is seen at the next look.
        if let Ok(watch) = inotify::add_watch(&self.events, folder.join(name), flags) {
            self.folders.insert(watch, name.to_owned());
        }
    }

    /// Wait until something has happened.
    pub(super) async fn wait(&self) {
        self.woken.notified().await;
    }

    /// What has happened since the last time, oldest first; if that is not all, it says so.
    pub(super) fn happened(&mut self) -> Vec<Happened> {
        let mut buffer = [MaybeUninit::uninit(); BUFFER_BYTES];
        let mut reader = Reader::new(&self.events, &mut buffer);
        let mut happened = Vec::new();
        while happened.len() < HAPPENED_MAX
            && let Ok(event) = reader.next()
        {
            let (watch, kinds) = (event.wd(), event.events());
            if kinds.contains(ReadFlags::QUEUE_OVERFLOW) {
                happened.push(Happened::Lost);
                continue;
            }
            if kinds.contains(ReadFlags::IGNORED) {
                self.folders.remove(&watch);
                continue;
            }
            if let Some(name) = self.folders.get(&watch) {
                happened.push(Happened::Below(name.clone()));
                continue;
            }
            let name = event.file_name().and_then(|name| name.to_str().ok());
            if let (true, Some(name)) = (watch == self.root, name) {
                happened.extend(in_root(kinds, name.to_owned()));
            }
        }
        if happened.len() >= HAPPENED_MAX {
            happened.push(Happened::Lost);
        }
        // It is read, so the next is worth waking up for.
        self.waiter.unpark();
        happened
    }
}

impl Drop for Eye {
    fn drop(&mut self) {
        drop(self.end.take());
        self.waiter.unpark();
    }
}

/// Tells once that there is something to read, and waits until it was read; until the other end of `ended` is closed.
fn wake_when_readable(events: &OwnedFd, ended: &PipeReader, woken: &Notify) {
    loop {
        let mut polled = [
            PollFd::from_borrowed_fd(events.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(ended.as_fd(), PollFlags::IN),
        ];
        match poll(&mut polled, None) {
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(error) => {
                tracing::warn!(%error, "plugins.folder is looked at now and then, since it cannot be watched any more");
                return;
            }
        }
        if !polled[1].revents().is_empty() {
            return;
        }
        woken.notify_one();
        thread::park();
    }
}

fn in_root(kinds: ReadFlags, name: String) -> Option<Happened> {
    if kinds.contains(ReadFlags::MODIFY) {
        Some(Happened::Written(name))
    } else if kinds.contains(ReadFlags::CLOSE_WRITE) {
        Some(Happened::Closed(name))
    } else if kinds.contains(ReadFlags::MOVED_TO) {
        Some(Happened::Arrived(name))
    } else {
        None
    }
}

fn watched() -> WatchFlags {
    WatchFlags::CREATE
        | WatchFlags::MODIFY
        | WatchFlags::CLOSE_WRITE
        | WatchFlags::ATTRIB
        | WatchFlags::MOVE
        | WatchFlags::DELETE
}
