//! Tells a chat of jobs that failed and of devices in quarantine: Slack and what takes the same, or Matrix.

use hostd_plugin::{Error, Event, config, http_out, log, secrets};
use serde::Deserialize;

mod chat;
mod message;

use chat::Chat;
use message::Message;

hostd_plugin::subscriber!(on_event);

/// What the operator has set.
#[derive(Debug, Clone, Deserialize)]
struct Settings {
    chat: Chat,
    homeserver: String,
    room: String,
}

/// Posts what is worth it; an error is told again.
fn on_event(event: &Event) -> Result<(), Error> {
    let Some(message) = Message::of(event) else {
        return Ok(());
    };
    let settings: Settings = config::get()?;
    let request = match settings.chat {
        Chat::Slack => chat::slack(&secrets::get("CHAT_URL")?, &message),
        Chat::Hookshot => chat::hookshot(&secrets::get("CHAT_URL")?, &message),
        Chat::Matrix => {
            let token = secrets::get("CHAT_TOKEN")?;
            let room = (settings.homeserver.as_str(), settings.room.as_str());
            // The same for each time that the event is told, so that the chat has it once.
            chat::matrix(room, &token, &event.id, &message)?
        }
    };
    posted(&request.send()?)?;
    log::info(&format!("{} {} was posted", event.kind, event.subject));
    Ok(())
}

fn posted(answer: &http_out::Answer) -> Result<(), Error> {
    if answer.is_success() {
        return Ok(());
    }
    let told = format!("the chat answered {}", answer.status);
    Err(Error::new("refused", told))
}

#[cfg(test)]
mod tests;
