//! Mails the table of each capture that is done, if the capture has a bus.

use hostd_plugin::{Error, Event, config, log, secrets};
use serde::Deserialize;

use crate::gateway::{self, File, Gateway, Mail};
use crate::table;

/// Longest table that is mailed, in bytes: in base64, beside the rest of the mail, within the host's 1 MiB of a request.
const FILE_BYTES_MAX: usize = 700 << 10;

/// Longest text of one part of a subject, in characters.
const CHARS_MAX: usize = 200;

const TIMEOUT_MS: u32 = 20_000;

/// What the operator has set.
#[derive(Debug, Clone, Deserialize)]
struct Settings {
    mail: Gateway,
    mail_url: String,
    mail_from: String,
    mail_to: String,
    mail_only: String,
}

/// Mails the table of the capture that is done; an error is told again.
pub(crate) fn on_event(event: &Event) -> Result<(), Error> {
    let settings: Settings = config::get()?;
    let name = event.text("/capture/name");
    if event.kind != "capture.done"
        || settings.mail == Gateway::Off
        || !name.contains(&settings.mail_only)
    {
        return Ok(());
    }
    let found = match table::of(&event.subject, None, None) {
        Ok(table) => Some(table),
        Err(error) if error.code == "too_large" => None,
        Err(error) if says_no_bus(&error) => {
            log::debug(&format!("capture {} is not mailed: {error}", event.subject));
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    if found.as_ref().is_some_and(|table| table.transactions == 0) {
        return Ok(());
    }
    let mail = mail(&settings, event, found)?;
    let answer = request(&settings, &mail)?.timeout_ms(TIMEOUT_MS).send()?;
    if !answer.is_success() {
        let told = format!("the mail gateway answered {}", answer.status);
        return Err(Error::new("refused", told));
    }
    log::info(&format!("the table of {} was mailed", event.subject));
    Ok(())
}

/// The capture has no bus that is known, or is not there any more.
fn says_no_bus(error: &Error) -> bool {
    matches!(error.code.as_str(), "invalid" | "wrong_state" | "not_found")
}

fn mail(settings: &Settings, event: &Event, table: Option<table::Table>) -> Result<Mail, Error> {
    let to = settings.mail_to.split(',').map(str::trim);
    let to: Vec<String> = to.filter(|to| !to.is_empty()).map(str::to_owned).collect();
    if [&settings.mail_url, &settings.mail_from].contains(&&String::new()) || to.is_empty() {
        let told = "set mail_url, mail_from and mail_to: hostd plugin configure hostd.i2c-csv --set mail_url=…";
        return Err(Error::new("bad_config", told));
    }
    let name = match one_line(event.text("/capture/name")) {
        name if name.is_empty() => event.subject.clone(),
        name => name,
    };
    let device = one_line(event.text("/device/name"));
    let transactions = table.as_ref().map(|table| table.transactions);
    let file = table.filter(|table| table.text.len() <= FILE_BYTES_MAX);
    let file = file.map(|table| File {
        name: format!("{}-i2c.csv", plain(&name)),
        media_type: table::MEDIA_TYPE,
        content: table.text,
    });
    let count = match transactions {
        None => "more I²C transactions than fit a document".to_owned(),
        Some(1) => "1 I²C transaction".to_owned(),
        Some(count) => format!("{count} I²C transactions"),
    };
    let place = match (&file, transactions) {
        (Some(file), _) => format!("The table is {}.", file.name),
        (None, Some(_)) => format!(
            "The table is too long for a mail: GET /api/x/hostd.i2c-csv/reports/capture/{} has it.",
            event.subject
        ),
        (None, None) => "Make a shorter capture for a table of them.".to_owned(),
    };
    Ok(Mail {
        message_id: format!("<{}@hostd.i2c-csv>", plain(&event.id)),
        from: settings.mail_from.clone(),
        to,
        subject: format!("Capture {name} of {device}: {count}"),
        text: format!(
            "Capture {name} ({}) of {device} has {count}. {place}\r\n",
            event.subject
        ),
        file,
    })
}

fn request(settings: &Settings, mail: &Mail) -> Result<hostd_plugin::http_out::Request, Error> {
    let url = settings.mail_url.as_str();
    Ok(match settings.mail {
        Gateway::Mailgun => gateway::mailgun(url, &secrets::get("MAIL_KEY")?, mail),
        Gateway::Postmark => gateway::postmark(url, &secrets::get("MAIL_KEY")?, mail),
        // One that runs in the same house often wants none.
        Gateway::Mailpit => gateway::mailpit(url, secrets::get("MAIL_KEY").ok().as_deref(), mail),
        Gateway::Off => return Err(Error::new("bad_config", "set mail to a gateway")),
    })
}

/// Text without line breaks and other controls, and not too long.
fn one_line(text: &str) -> String {
    let letters = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    letters.take(CHARS_MAX).collect()
}

/// What is safe in the name of a file, and in a header.
fn plain(text: &str) -> String {
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || ".-_ ".contains(*c);
    let letters = text.chars().map(|c| if is_plain(&c) { c } else { '_' });
    letters.take(CHARS_MAX).collect()
}
