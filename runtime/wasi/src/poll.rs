//! `wasi:io/poll`: what a guest may wait for is a time, room for what it writes, the answer to its request, or something that
//! is ready already.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;
use std::time::Instant;

use tokio::sync::watch;
use wasmtime::component::Resource;
use wasmtime::{bail, format_err};

use crate::bindings::wasi::io::poll;
use crate::http::{Room, over};
use crate::{View, WasiData};

/// Pollables that one guest may hold at once.
pub const POLLABLES_MAX: usize = 256;

/// A handle; what it stands for is in [`Pollables`].
#[allow(unreachable_pub, reason = "generated code re-exports it")]
#[derive(Debug)]
pub struct Pollable;

/// When each pollable becomes ready, at the place that its handle names; a place can be free.
#[derive(Debug, Default)]
pub(crate) struct Pollables(Vec<Option<When>>);

/// What makes a pollable ready.
#[derive(Debug, Clone)]
pub(crate) enum When {
    At(Instant),
    /// Further away than the clock reaches.
    Never,
    /// There is room for more of a body, or nobody who reads it.
    Room(Room),
    /// A request was answered, or will not be.
    Answered(watch::Receiver<bool>),
}

impl Pollables {
    /// One that becomes ready at `when`.
    pub(crate) fn at(&mut self, when: Option<Instant>) -> wasmtime::Result<Resource<Pollable>> {
        self.add(when.map_or(When::Never, When::At))
    }

    /// One that is ready.
    pub(crate) fn ready(&mut self) -> wasmtime::Result<Resource<Pollable>> {
        self.at(Some(Instant::now()))
    }

    pub(crate) fn add(&mut self, when: When) -> wasmtime::Result<Resource<Pollable>> {
        let free = self.0.iter().position(Option::is_none);
        let place = match free {
            Some(place) => place,
            None if self.0.len() < POLLABLES_MAX => {
                self.0.push(None);
                self.0.len() - 1
            }
            None => bail!("subscribe once more: the limit is {POLLABLES_MAX} pollables"),
        };
        self.0[place] = Some(when);
        Ok(Resource::new_own(u32::try_from(place)?))
    }

    fn remove(&mut self, place: u32) {
        if let Some(place) = self.0.get_mut(place as usize) {
            *place = None;
        }
    }

    fn get(&self, pollable: &Resource<Pollable>) -> wasmtime::Result<When> {
        let held = self.0.get(pollable.rep() as usize).cloned().flatten();
        // A call's data that inherited nothing knows none of its instance's handles.
        held.ok_or_else(|| format_err!("wait for a pollable of an earlier call"))
    }
}

impl When {
    fn is_past(&self) -> bool {
        match self {
            Self::At(when) => *when <= Instant::now(),
            Self::Never => false,
            Self::Room(room) => room.is_there(),
            Self::Answered(done) => *done.borrow() || done.has_changed().is_err(),
        }
    }

    /// Wait for what is no time.
    fn happens(&self) -> Option<Pin<Box<dyn Future<Output = ()> + Send>>> {
        match self {
            Self::At(_) | Self::Never => None,
            Self::Room(room) => Some(Box::pin(room.clone().wait())),
            Self::Answered(done) => Some(Box::pin(over(done.clone()))),
        }
    }
}

/// Wait until the first of them is past. If none ever is, whoever made the call ends it at its deadline.
async fn wait(whens: &[When]) -> wasmtime::Result<()> {
    if whens.iter().any(When::is_past) {
        return Ok(());
    }
    let mut waits: Vec<_> = whens.iter().filter_map(When::happens).collect();
    let earliest = whens.iter().filter_map(|when| match when {
        When::At(when) => Some(*when),
        _ => None,
    });
    if let Some(earliest) = earliest.min() {
        if tokio::runtime::Handle::try_current().is_err() {
            bail!("wait for a time: there is nothing here to wait with");
        }
        waits.push(Box::pin(tokio::time::sleep_until(earliest.into())));
    }
    poll_fn(|cx| {
        let is_past = waits.iter_mut().any(|one| one.as_mut().poll(cx).is_ready());
        if is_past {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    Ok(())
}

impl<W: WasiData> poll::Host for View<'_, W> {
    async fn poll(&mut self, pollables: Vec<Resource<Pollable>>) -> wasmtime::Result<Vec<u32>> {
        if pollables.is_empty() {
            bail!("poll nothing: the list is empty");
        }
        let held = &self.0.wasi().pollables;
        let whens = pollables.iter().map(|pollable| held.get(pollable));
        let whens = whens.collect::<wasmtime::Result<Vec<When>>>()?;
        loop {
            wait(&whens).await?;
            let past = (0_u32..).zip(&whens).filter(|(_, when)| when.is_past());
            let past: Vec<u32> = past.map(|(index, _)| index).collect();
            if !past.is_empty() {
                return Ok(past);
            }
        }
    }
}

impl<W: WasiData> poll::HostPollable for View<'_, W> {
    async fn ready(&mut self, pollable: Resource<Pollable>) -> wasmtime::Result<bool> {
        Ok(self.0.wasi().pollables.get(&pollable)?.is_past())
    }

    async fn block(&mut self, pollable: Resource<Pollable>) -> wasmtime::Result<()> {
        let when = self.0.wasi().pollables.get(&pollable)?;
        wait(&[when]).await
    }

    async fn drop(&mut self, pollable: Resource<Pollable>) -> wasmtime::Result<()> {
        self.0.wasi().pollables.remove(pollable.rep());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_used_again_and_are_not_endless() {
        let mut pollables = Pollables::default();
        for _ in 0..POLLABLES_MAX {
            pollables.ready().unwrap();
        }
        let refused = pollables.ready().unwrap_err().to_string();
        assert!(refused.contains("256 pollables"), "{refused}");
        pollables.remove(7);
        assert_eq!(pollables.at(None).unwrap().rep(), 7);
    }
}
