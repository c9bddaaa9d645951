//! `wasi:http`: requests that a guest answers, and those that it sends, without a socket.
//!
//! ```text
//! Request ─ IncomingHandler ─> the guest ─ response-outparam ─> WasiData::answer ─ Response, its body still on its way
//!                                 └ outgoing-handler ─> WasiData::send ─ Outgoing ─> the embedder ─> Received
//! ```
//!
//! What comes to a guest has arrived: the body of a request, and of the answer to a request of its own. What it answers
//! leaves while it writes, and waits for a slow reader only beyond [`body::PARTS_MAX`].

use std::pin::Pin;
use std::time::{Duration, Instant};

use bytes::Bytes;
use wasmtime::component::{Resource, ResourceTable};
use wasmtime::{bail, format_err};

use crate::bindings::wasi::http::types;
use crate::streams::Error;
use crate::{View, WasiData};

mod body;
pub(crate) mod errand;
mod export;
pub(crate) mod fields;
pub(crate) mod incoming;
pub(crate) mod outgoing;
pub(crate) mod response;
mod upload;

pub use body::{PART_BYTES_MAX, PARTS_MAX, Reader};
pub use export::{IncomingHandler, IncomingHandlerPre};
pub use fields::{FIELD_BYTES_MAX, FIELDS_MAX, is_forbidden};
pub use types::ErrorCode;
pub use upload::{UPLOAD_BYTES_MAX, Upload};

pub(crate) use body::{Audience, Room, WriteError};
pub(crate) use errand::over;
pub(crate) use incoming::IncomingBody;
pub(crate) use response::{OutgoingBody, Sink};

/// Things of `wasi:http` that one guest may hold at once.
pub const HANDLES_MAX: usize = 256;

/// Bodies of responses that a guest may begin in one call: of the one that is sent, and of some that it thought better of.
pub const RESPONSE_BODIES_MAX: u32 = 4;

/// Bytes that all requests of one call may send, so that what waits to be sent is bounded.
pub const UPLOADS_BYTES_MAX: usize = 16 * UPLOAD_BYTES_MAX;

/// Handles of streams from here on are those of bodies; the ones before are standard input and output.
pub(crate) const BODIES: u32 = 16;

/// Names in lower case, and values.
pub type Headers = Vec<(String, Vec<u8>)>;

/// A request for the guest to answer.
#[derive(Debug, Clone)]
pub struct Request {
    /// Upper case: `GET`.
    pub method: String,
    /// `/a?b=c`
    pub path_with_query: String,
    /// `bench.example:8080`
    pub authority: String,
    /// Without those that are about the connection.
    pub headers: Headers,
    /// All of it.
    pub body: Bytes,
    /// How long a reader of the response may keep the guest waiting, which then finds that nobody reads.
    pub read_by: Instant,
}

/// What the guest answers.
#[derive(Debug)]
pub struct Response {
    /// 200..=599
    pub status: u16,
    /// As the guest gave them.
    pub headers: Headers,
    /// None: it has none.
    pub body: Option<Reader>,
}

/// A request that the guest sends.
#[derive(Debug)]
pub struct Outgoing {
    /// Upper case: `GET`.
    pub method: String,
    /// `https://a.example/b?c=d`
    pub url: String,
    /// As the guest gave them.
    pub headers: Headers,
    /// What the guest writes, whole at the end.
    pub body: Upload,
    /// How long the guest wants to wait for the whole answer.
    pub wait: Option<Duration>,
}

/// What came back.
#[derive(Debug)]
pub struct Received {
    /// Status of the answer.
    pub status: u16,
    /// Its headers.
    pub headers: Headers,
    /// All of it.
    pub body: Bytes,
}

/// A request on its way.
pub type Sending = Pin<Box<dyn Future<Output = Result<Received, ErrorCode>> + Send>>;

/// What a guest holds, and how much it has done.
#[derive(Debug)]
pub(crate) struct Http {
    pub(crate) table: ResourceTable,
    audience: Audience,
    is_answered: bool,
    response_bodies: u32,
    uploaded_bytes: usize,
}

impl Default for Http {
    fn default() -> Self {
        let mut table = ResourceTable::new();
        table.set_max_capacity(HANDLES_MAX);
        Self {
            table,
            audience: Audience::default(),
            is_answered: false,
            response_bodies: 0,
            uploaded_bytes: 0,
        }
    }
}

impl Http {
    /// For the next call of the instance that holds what is in `previous`.
    pub(crate) fn inherited(previous: &mut Self) -> Self {
        let table = std::mem::take(previous).table;
        Self {
            table,
            ..Self::default()
        }
    }

    /// Hold a thing, unless there are too many.
    pub(crate) fn push<T: Send + 'static>(&mut self, thing: T) -> wasmtime::Result<Resource<T>> {
        let held = self.table.push(thing);
        held.map_err(|_| format_err!("hold one thing more: the limit is {HANDLES_MAX}"))
    }

    /// Count bytes of a request's body.
    pub(crate) fn upload(&mut self, bytes: usize) -> Result<(), ErrorCode> {
        self.uploaded_bytes = self.uploaded_bytes.saturating_add(bytes);
        if self.uploaded_bytes > UPLOADS_BYTES_MAX {
            let most = Some(UPLOADS_BYTES_MAX as u64);
            return Err(ErrorCode::HttpRequestBodySize(most));
        }
        Ok(())
    }

    /// Count a response's body.
    fn begin_response_body(&mut self) -> wasmtime::Result<()> {
        self.response_bodies += 1;
        if self.response_bodies > RESPONSE_BODIES_MAX {
            bail!("begin another response: one call may begin {RESPONSE_BODIES_MAX}");
        }
        Ok(())
    }
}

impl<W: WasiData> types::Host for View<'_, W> {
    async fn http_error_code(
        &mut self,
        error: Resource<Error>,
    ) -> wasmtime::Result<Option<ErrorCode>> {
        Ok(Some(self.http().table.get(&error)?.0.clone()))
    }
}

impl<W: WasiData> View<'_, W> {
    pub(crate) fn http(&mut self) -> &mut Http {
        &mut self.0.wasi().http
    }
}

#[cfg(test)]
mod tests {
    use super::fields::Fields;
    use crate::Wasi;

    #[test]
    fn what_a_guest_keeps_is_known() {
        let mut wasi = Wasi::default();
        assert!(!wasi.keeps_messages());
        let kept = wasi.http.push(Fields::default()).unwrap();
        assert!(wasi.keeps_messages());
        wasi.http.table.delete(kept).unwrap();
        assert!(!wasi.keeps_messages());
    }
}
