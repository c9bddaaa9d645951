//! How mail gateways take mails over HTTP.

use std::fmt::Write;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hostd_plugin::http_out::Request;
use serde::Deserialize;
use serde_json::{Value, json};

/// Which one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Gateway {
    /// None: nothing is mailed.
    Off,
    /// Mailgun, and what takes the same: a form with the file in it.
    Mailgun,
    /// Postmark.
    Postmark,
    /// Mailpit, which one runs oneself, and which relays to a mail server.
    Mailpit,
}

/// A mail with at most one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mail {
    /// Of the mail, the same whenever it is sent again: programs that read mail show it once.
    pub(crate) message_id: String,
    pub(crate) from: String,
    pub(crate) to: Vec<String>,
    /// One line.
    pub(crate) subject: String,
    pub(crate) text: String,
    pub(crate) file: Option<File>,
}

/// A file of a mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct File {
    /// Letters, digits and `.-_ ` alone.
    pub(crate) name: String,
    pub(crate) media_type: &'static str,
    pub(crate) content: String,
}

/// `POST /v3/<domain>/messages` with a form (<https://documentation.mailgun.com/docs/mailgun/api-reference>, Messages);
/// the key is the password of the user `api`.
pub(crate) fn mailgun(url: &str, key: &str, mail: &Mail) -> Request {
    let boundary = boundary(mail);
    let mut form = String::new();
    let mut part = |about: &str, content: &str| {
        // A string takes all.
        let _ = write!(
            form,
            "--{boundary}\r\nContent-Disposition: form-data; {about}\r\n\r\n{content}\r\n"
        );
    };
    let to = mail.to.join(", ");
    for (name, value) in [
        ("from", &mail.from),
        ("to", &to),
        ("subject", &mail.subject),
        ("text", &mail.text),
        ("h:Message-Id", &mail.message_id),
    ] {
        part(&format!("name=\"{name}\""), value);
    }
    if let Some(file) = &mail.file {
        let about = format!(
            "name=\"attachment\"; filename=\"{}\"\r\nContent-Type: {}",
            file.name, file.media_type
        );
        part(&about, &file.content);
    }
    let _ = write!(form, "--{boundary}--\r\n");
    Request::new("POST", url)
        .header("authorization", &basic(&format!("api:{key}")))
        .body(&format!("multipart/form-data; boundary={boundary}"), form)
}

/// `POST /email` (<https://postmarkapp.com/developer/api/email-api>).
pub(crate) fn postmark(url: &str, key: &str, mail: &Mail) -> Request {
    let body = json!({
        "From": mail.from,
        "To": mail.to.join(", "),
        "Subject": mail.subject,
        "TextBody": mail.text,
        "Headers": [{"Name": "Message-ID", "Value": mail.message_id}],
        "Attachments": attachments(mail, "Name"),
    });
    let request = Request::new("POST", url).json(&body);
    request.header("x-postmark-server-token", key)
}

/// `POST /api/v1/send` (<https://mailpit.axllent.org/docs/api-v1/>). `login`: `user:password`, if it wants one.
pub(crate) fn mailpit(url: &str, login: Option<&str>, mail: &Mail) -> Request {
    let address = |email: &String| json!({"Email": email});
    let body = json!({
        "From": address(&mail.from),
        "To": mail.to.iter().map(address).collect::<Vec<_>>(),
        "Subject": mail.subject,
        "Text": mail.text,
        "Headers": {"Message-ID": mail.message_id},
        "Attachments": attachments(mail, "Filename"),
    });
    let request = Request::new("POST", url).json(&body);
    match login {
        Some(login) => request.header("authorization", &basic(login)),
        None => request,
    }
}

fn attachments(mail: &Mail, name: &str) -> Value {
    let files = mail.file.iter().map(|file| {
        json!({
            name: file.name,
            "Content": BASE64_STANDARD.encode(&file.content),
            "ContentType": file.media_type,
        })
    });
    files.collect()
}

fn basic(login: &str) -> String {
    format!("Basic {}", BASE64_STANDARD.encode(login))
}

/// What stands between the parts of a form, and in none of them.
fn boundary(mail: &Mail) -> String {
    let content = mail.file.as_ref().map_or("", |file| &file.content);
    let mut boundary = "hostd-i2c-csv".to_owned();
    while [content, &mail.text, &mail.subject, &mail.from]
        .iter()
        .any(|part| part.contains(&boundary))
        || mail.to.iter().any(|to| to.contains(&boundary))
    {
        boundary.push('-');
    }
    boundary
}
