//! What is worth telling, in words.

use hostd_plugin::Event;

/// Longest text of one part, in characters.
const CHARS_MAX: usize = 1_000;

/// One message: plain text, nothing in it is markup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message {
    /// What it is about: `Job blinky (main)`.
    pub(crate) subject: String,
    /// What became of it: `failed`.
    pub(crate) verb: &'static str,
    /// Why.
    pub(crate) reason: String,
    /// Where there is more.
    pub(crate) link: Option<String>,
}

impl Message {
    /// None if the event is not worth a message.
    pub(crate) fn of(event: &Event) -> Option<Self> {
        match event.kind.as_str() {
            "job.finished" => Self::of_job(event),
            "device.quarantined" => Some(Self {
                subject: format!("Device {}", one_line(event.text("/device/name"))),
                verb: "is in quarantine",
                reason: one_line(event.text("/reason")),
                link: None,
            }),
            _ => None,
        }
    }

    fn of_job(event: &Event) -> Option<Self> {
        let is_over_well = event.text("/job/verdict") == "success";
        if is_over_well || event.text("/job/ended_because") == "cancelled" {
            return None;
        }
        let name = Some(event.text("/job/name")).filter(|name| !name.is_empty());
        let reference = event.text("/job/ref");
        let of = match reference {
            "" => String::new(),
            reference => format!(" ({reference})"),
        };
        // Without a public URL of the server, links are paths.
        let link = event.text("/links/report");
        Some(Self {
            subject: one_line(&format!("Job {}{of}", name.unwrap_or(&event.subject))),
            verb: "failed",
            reason: one_line(event.text("/job/message")),
            link: link.starts_with("http").then(|| one_line(link)),
        })
    }

    /// As one line of text.
    pub(crate) fn text(&self) -> String {
        let reason = match self.reason.as_str() {
            "" => String::new(),
            reason => format!(": {reason}"),
        };
        let link = self.link.as_ref().map(|link| format!(" {link}"));
        format!(
            "{} {}{reason}{}",
            self.subject,
            self.verb,
            link.unwrap_or_default()
        )
    }
}

/// Text without line breaks and other controls, and not too long.
fn one_line(text: &str) -> String {
    let letters = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    letters.take(CHARS_MAX).collect()
}
