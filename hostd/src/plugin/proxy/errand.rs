//! Requests that a plugin sends with `wasi:http/outgoing-handler`: where `http-out` may send them, within the same bounds.
//! What is refused is a code to the plugin; its log has the sentence.
//!
//! A redirect is an answer. If the plugin follows it, that is a request like any other.

use std::time::Duration;

use plugins::allow::Pattern;
use plugins::target::Target;
use virtual_wasi::http::{ErrorCode, Headers, Outgoing, Received, Sending};

use crate::plugin::bindings::imports::hostd::plugin::http_out::Request;
use crate::plugin::bindings::imports::hostd::plugin::types::Error;
use crate::plugin::call::PluginCall;
use crate::plugin::host::http_out::{self, Errands};
use crate::plugin::host::refusal;
use crate::plugin::logs::Level;

/// Begin to send a request.
///
/// # Errors
/// It may not be sent.
pub(in crate::plugin) fn begin(
    call: &PluginCall,
    outgoing: Outgoing,
) -> Result<Sending, ErrorCode> {
    let errands = Errands::of(call);
    let log = (call.facts.logs.clone(), call.context.request_id.clone());
    // Counted first: so many are refused and logged in one call, and no more.
    if errands.count().is_err() {
        return Err(ErrorCode::ConnectionLimitReached);
    }
    let refuse = {
        let errands = errands.clone();
        move |error: Error| {
            let error = errands.without_secrets(error);
            log.0.write(
                Level::Warn,
                &log.1,
                format!("outgoing request: {}", error.message),
            );
            code(error)
        }
    };
    let checked = errands.may(&outgoing.url).and_then(|to| {
        let request = request(&outgoing, Vec::new());
        http_out::check(&request).map(|()| to)
    });
    let to = match checked {
        Ok(to) => to,
        Err(error) => return Err(refuse(error)),
    };
    Ok(Box::pin(async move {
        send(&errands, outgoing, to).await.map_err(refuse)
    }))
}

/// Send it once its body is whole.
async fn send(
    errands: &Errands,
    mut outgoing: Outgoing,
    (target, pattern): (Target, Pattern),
) -> Result<Received, Error> {
    let wait: Option<Duration> = outgoing.wait;
    let body = std::mem::take(&mut outgoing.body).bytes().await;
    let body = body.map_err(|_| refusal("invalid", "its body was not written to its end"))?;
    let request = request(&outgoing, body);
    http_out::check(&request)?;
    let answer = errands
        .once(&request, &target, pattern, errands.until(wait))
        .await?;
    let headers = answer.headers.into_iter();
    Ok(Received {
        status: answer.status,
        headers: headers
            .map(|(name, value)| (name, value.into_bytes()))
            .collect(),
        body: answer.body.into(),
    })
}

/// The request as `http-out` knows it, without headers that are the server's to say.
fn request(outgoing: &Outgoing, body: Vec<u8>) -> Request {
    Request {
        method: outgoing.method.clone(),
        url: outgoing.url.clone(),
        headers: own(&outgoing.headers),
        body,
        timeout_ms: 0,
        extra: Vec::new(),
    }
}

fn own(headers: &Headers) -> Vec<(String, String)> {
    let own = headers
        .iter()
        .filter(|(name, _)| !http_out::is_host_owned(name));
    own.map(|(name, value)| (name.clone(), String::from_utf8_lossy(value).into_owned()))
        .collect()
}

/// The nearest code of `wasi:http`.
fn code(error: Error) -> ErrorCode {
    match error.code.as_str() {
        "not_granted" | "no_caller" => ErrorCode::HttpRequestDenied,
        "forbidden" => ErrorCode::DestinationIpProhibited,
        "timeout" => ErrorCode::HttpResponseTimeout,
        "too_large" => ErrorCode::HttpResponseBodySize(None),
        "unreachable" => ErrorCode::DestinationUnavailable,
        "quota_exceeded" => ErrorCode::ConnectionLimitReached,
        _ => ErrorCode::InternalError(Some(error.message)),
    }
}
