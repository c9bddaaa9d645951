//! The call of what serves a route, a group that came with the server or a plugin, and its context.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use bytes::Bytes;
use http::StatusCode;
use http::request::Parts;
use runtime::Reply;

use super::answer::{refuse_call, refuse_plugin};
use super::head::{lease, visible_headers};
use super::{Admitted, Gateway};
use crate::host::uploads::Inbound;
use crate::host::{Call, Context, caller};
use crate::http::error::ApiError;
use crate::http::socket::query;
use crate::plugin::Asked;

impl Gateway {
    /// Run the handler with the body, as bytes or as it came in.
    pub(super) async fn call(
        &self,
        admitted: Admitted<'_>,
        head: &Parts,
        (body, inbound): (Bytes, Inbound),
        request_id: &str,
    ) -> Result<Reply, ApiError> {
        let Admitted {
            entry,
            plugin,
            params,
            caller,
            requester,
        } = admitted;
        let group = || &self.groups[entry.group];
        let (name, patience) = match plugin {
            Some(plugin) => (plugin.label(), plugin.patience()),
            None => (group().name(), group().patience()),
        };
        let query = head.uri.query().unwrap_or_default();
        let (query, lease_in_query) = if entry.is_socket() {
            (query::without_secrets(query), query::lease(query))
        } else {
            (query.to_owned(), None)
        };
        let record = runtime::Request {
            id: request_id.to_owned(),
            route: entry.route,
            params,
            query,
            headers: visible_headers(&head.headers),
            body: body.into(),
            caller: caller.as_ref().map(caller::caller),
        };
        let disk_full = Arc::new(AtomicBool::new(false));
        let context = Context {
            group: name,
            request_id: request_id.to_owned(),
            caller,
            lease: lease(&head.headers, lease_in_query),
            client: self.client(head),
            origin: self.called_as(head),
            answer_by: Instant::now() + patience,
            disk_full: disk_full.clone(),
        };
        let answered = match plugin {
            Some(plugin) => {
                let path = head.uri.path();
                let asked = Asked::new(record, &head.method, path, entry.group);
                self.plugins.call(plugin, asked, context, requester).await?
            }
            None => {
                let call = Call::new(self.services.clone(), context)
                    .with_body(inbound)
                    .with_requester(requester);
                group().call(record, call).await
            }
        };
        let reply = answered.map_err(|failure| match plugin {
            Some(plugin) => refuse_plugin(&failure, plugin, request_id),
            None => refuse_call(&failure, request_id),
        })?;
        if reply.status == StatusCode::INTERNAL_SERVER_ERROR && disk_full.load(Ordering::Relaxed) {
            return Err(ApiError::no_space());
        }
        Ok(reply)
    }
}
