//! How chats take messages.

use std::fmt::Write;

use hostd_plugin::Error;
use hostd_plugin::http_out::Request;
use serde::Deserialize;
use serde_json::json;

use crate::message::Message;

/// Which one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Chat {
    /// An incoming webhook of Slack, or of what takes the same.
    Slack,
    /// A generic webhook of the Matrix bridge Hookshot.
    Hookshot,
    /// A room, by the client-server API of Matrix.
    Matrix,
}

/// Incoming webhooks take `text`, in which `&`, `<` and `>` are markup
/// (<https://api.slack.com/reference/surfaces/formatting>); `mrkdwn` switches the rest of it off.
pub(crate) fn slack(url: &str, message: &Message) -> Request {
    let text = escaped(&message.text(), &['&', '<', '>']);
    Request::new("POST", url).json(&json!({"text": text, "mrkdwn": false}))
}

/// Generic webhooks take `text` and `html`
/// (<https://matrix-org.github.io/matrix-hookshot/latest/setup/webhooks.html>).
pub(crate) fn hookshot(url: &str, message: &Message) -> Request {
    let body = json!({"text": message.text(), "html": html(message), "username": "hostd"});
    Request::new("POST", url).json(&body)
}

/// `PUT /_matrix/client/v3/rooms/{roomId}/send/m.room.message/{txnId}` (Matrix 1.11, section 10.6.4). One transaction id is
/// one message, however often it is sent.
pub(crate) fn matrix(
    (homeserver, room): (&str, &str),
    token: &str,
    transaction: &str,
    message: &Message,
) -> Result<Request, Error> {
    if !room.starts_with('!') || !homeserver.starts_with("http") {
        let told = "set homeserver and room: hostd plugin configure hostd.chat-webhook --set homeserver=… --set room=…";
        return Err(Error::new("bad_config", told));
    }
    let (server, room) = (homeserver.trim_end_matches('/'), encoded(room));
    let transaction = encoded(transaction);
    let url = format!("{server}/_matrix/client/v3/rooms/{room}/send/m.room.message/{transaction}");
    let body = json!({
        "msgtype": "m.notice",
        "body": message.text(),
        "format": "org.matrix.custom.html",
        "formatted_body": html(message),
    });
    let request = Request::new("PUT", &url).json(&body);
    Ok(request.header("authorization", &format!("Bearer {token}")))
}

fn html(message: &Message) -> String {
    let safe = |text: &str| escaped(text, &['&', '<', '>', '"', '\'']);
    let subject = safe(&message.subject);
    let subject = match &message.link {
        Some(link) => format!("<a href=\"{}\">{subject}</a>", safe(link)),
        None => subject,
    };
    let reason = match message.reason.as_str() {
        "" => String::new(),
        reason => format!(": {}", safe(reason)),
    };
    format!("<b>{subject}</b> {}{reason}", message.verb)
}

/// Text in which these characters are entities.
fn escaped(text: &str, special: &[char]) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' if special.contains(&'&') => out.push_str("&amp;"),
            '<' if special.contains(&'<') => out.push_str("&lt;"),
            '>' if special.contains(&'>') => out.push_str("&gt;"),
            '"' if special.contains(&'"') => out.push_str("&quot;"),
            '\'' if special.contains(&'\'') => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

/// A segment of a path.
fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // A string takes all.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}
