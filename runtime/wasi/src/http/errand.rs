//! `wasi:http/outgoing-handler`: requests of the guest, which the embedder sends or refuses.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;
use tokio::task::AbortHandle;
use wasmtime::component::Resource;

use super::incoming::IncomingResponse;
use super::outgoing::{OutgoingRequest, RequestOptions};
use super::{Received, Sending};
use crate::bindings::wasi::http::outgoing_handler;
use crate::bindings::wasi::http::types::{self, ErrorCode};
use crate::poll::{Pollable, When};
use crate::{View, WasiData};

type Outcome = Result<Received, ErrorCode>;

/// A request that is on its way, on a task of its own, which ends with this.
#[allow(unreachable_pub, reason = "generated code re-exports it")]
#[derive(Debug)]
pub struct Errand {
    done: watch::Receiver<bool>,
    outcome: Arc<Mutex<Option<Outcome>>>,
    task: AbortHandle,
    is_told: bool,
}

impl Errand {
    /// Needs a tokio runtime.
    fn start(sending: Sending) -> Self {
        let (tell, done) = watch::channel(false);
        let outcome = Arc::new(Mutex::new(None));
        let place = outcome.clone();
        let task = tokio::spawn(async move {
            let answer = sending.await;
            *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
            tell.send_replace(true);
        });
        Self {
            done,
            outcome,
            task: task.abort_handle(),
            is_told: false,
        }
    }

    /// A task that failed is over, too.
    fn is_over(&self) -> bool {
        *self.done.borrow() || self.done.has_changed().is_err()
    }

    /// How it ended.
    fn take(&self) -> Outcome {
        let mut outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        outcome
            .take()
            .unwrap_or(Err(ErrorCode::InternalError(None)))
    }
}

impl Drop for Errand {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Wait until it is over.
pub(crate) async fn over(mut done: watch::Receiver<bool>) {
    let _ = done.wait_for(|is_done| *is_done).await;
}

impl<W: WasiData> outgoing_handler::Host for View<'_, W> {
    async fn handle(
        &mut self,
        request: Resource<OutgoingRequest>,
        options: Option<Resource<RequestOptions>>,
    ) -> wasmtime::Result<Result<Resource<Errand>, ErrorCode>> {
        let request = self.http().table.delete(request)?;
        let wait = match options {
            Some(options) => self.http().table.delete(options)?.wait(),
            None => None,
        };
        let sending = request.into_outgoing(wait);
        let sending = sending.and_then(|outgoing| self.0.send(outgoing));
        match sending {
            Ok(sending) => self.http().push(Errand::start(sending)).map(Ok),
            Err(code) => Ok(Err(code)),
        }
    }
}

impl<W: WasiData> types::HostFutureIncomingResponse for View<'_, W> {
    async fn subscribe(
        &mut self,
        errand: Resource<Errand>,
    ) -> wasmtime::Result<Resource<Pollable>> {
        let done = self.http().table.get(&errand)?.done.clone();
        self.0.wasi().pollables.add(When::Answered(done))
    }

    async fn get(
        &mut self,
        errand: Resource<Errand>,
    ) -> wasmtime::Result<Option<Result<Result<Resource<IncomingResponse>, ErrorCode>, ()>>> {
        let errand = self.http().table.get_mut(&errand)?;
        if !errand.is_over() {
            return Ok(None);
        }
        if std::mem::replace(&mut errand.is_told, true) {
            return Ok(Some(Err(())));
        }
        Ok(Some(Ok(match errand.take() {
            Ok(received) => Ok(self.http().push(IncomingResponse::from(received))?),
            Err(code) => Err(code),
        })))
    }

    async fn drop(&mut self, errand: Resource<Errand>) -> wasmtime::Result<()> {
        self.http().table.delete(errand)?;
        Ok(())
    }
}
