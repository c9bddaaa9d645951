//! Messages to webhooks, as they are signed.

use base::clock;
use serde_json::{Value, json};
use store::notices::Notice;
use store::webhooks::{Event, Webhook};

/// Longest message, in bytes. What a job's runs say goes first.
const BODY_BYTES_MAX: usize = 32 << 10;

/// Where people find what a message is about.
#[derive(Debug, Clone, Default)]
pub(crate) struct Links {
    /// Without `/` at its end; empty if it is not known.
    base: String,
}

impl Links {
    pub(crate) fn new(public_url: &str) -> Self {
        Self {
            base: public_url.trim_end_matches('/').to_owned(),
        }
    }

    fn path(&self, path: &str) -> String {
        format!("{}/api{path}", self.base)
    }

    /// The page about a job, if the server knows how it is reached.
    pub(crate) fn report(&self, job: &str) -> Option<String> {
        (!self.base.is_empty()).then(|| self.path(&format!("/jobs/{job}/report")))
    }

    fn of_job(&self, job: &str) -> Value {
        let link = |rest: &str| self.path(&format!("/jobs/{job}{rest}"));
        json!({
            "job": link(""),
            "report": link("/report"),
            "log": link("/log"),
            "junit": link("/junit.xml"),
            "artifacts": link("/artifacts"),
        })
    }
}

/// That a job has ended: the message to webhooks, and the members of it that plugins are told. None if there is nothing
/// to tell.
pub(crate) fn finished(notice: &Notice, links: &Links) -> Option<(String, String)> {
    let job = notice.told.clone()?;
    let links = links.of_job(&notice.job);
    let both = |job: &Value| {
        let data = json!({"job": job, "links": links});
        let told = data.to_string();
        let message = envelope(&Event::JobFinished, notice.at_ms, None, data);
        (message, told)
    };
    let whole = both(&job);
    if whole.0.len() <= BODY_BYTES_MAX {
        return Some(whole);
    }
    let mut job = job;
    if let Some(members) = job.as_object_mut() {
        members.remove("runs");
        members.insert("runs_omitted".to_owned(), true.into());
    }
    Some(both(&job))
}

/// What a plugin has to say. Ids and kinds both have dots, so the event's name alone may be that of two plugins.
pub(crate) fn of_plugin(plugin: &str, event: &Event, at_ms: u64, data: Value) -> String {
    envelope(event, at_ms, Some(plugin), data)
}

/// That messages arrive.
pub(crate) fn test(webhook: &Webhook, at_ms: u64) -> String {
    let about = json!({"id": webhook.id, "name": webhook.name, "ref": webhook.r#ref});
    envelope(&Event::Test, at_ms, None, json!({"webhook": about}))
}

fn envelope(event: &Event, at_ms: u64, plugin: Option<&str>, data: Value) -> String {
    let mut whole = json!({"type": event.as_str(), "timestamp": clock::text(at_ms), "data": data});
    if let (Some(plugin), Some(members)) = (plugin, whole.as_object_mut()) {
        members.insert("plugin".to_owned(), plugin.into());
    }
    whole.to_string()
}

#[cfg(test)]
mod tests {
    use store::notices::Standing;

    use super::*;

    fn notice(runs: usize) -> Notice {
        let run = json!({"id": "fw", "message": "x".repeat(100)});
        Notice {
            id: "n".into(),
            org: "o".into(),
            job: "j".into(),
            name: None,
            r#ref: None,
            commit: None,
            standing: Standing::Passed,
            message: "All steps passed.".into(),
            told: Some(json!({"id": "j", "runs": vec![run; runs]})),
            at_ms: 1_700_000_000_000,
            devices: Vec::new(),
        }
    }

    #[test]
    fn a_message_says_when_what_and_where() {
        let (body, told) = finished(&notice(1), &Links::new("https://bench.example/")).unwrap();
        let body: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(body["type"], "job.finished");
        assert_eq!(body["timestamp"], "2023-11-14T22:13:20Z");
        assert_eq!(body["data"]["job"]["id"], "j");
        let links = &body["data"]["links"];
        assert_eq!(links["report"], "https://bench.example/api/jobs/j/report");
        let told: Value = serde_json::from_str(&told).unwrap();
        assert_eq!(told, body["data"]);
        let (plain, _) = finished(&notice(1), &Links::default()).unwrap();
        assert!(plain.contains(r#""job":"/api/jobs/j""#), "{plain}");
    }

    #[test]
    fn a_message_of_a_plugin_says_whose_it_is() {
        let body = |plugin: &str, kind: &str| {
            let event = Event::of_plugin(plugin, kind).unwrap();
            let body = of_plugin(plugin, &event, 1, json!({"rail": 1}));
            serde_json::from_str::<Value>(&body).unwrap()
        };
        let (one, other) = (body("acme", "rails.high"), body("acme.rails", "high"));
        assert_eq!(one["type"], other["type"]);
        assert_eq!(
            (&one["plugin"], &other["plugin"]),
            (&json!("acme"), &json!("acme.rails"))
        );
        assert_eq!(one["data"], json!({"rail": 1}));
        let (job, _) = finished(&notice(1), &Links::default()).unwrap();
        assert!(!job.contains("plugin"), "{job}");
    }

    #[test]
    fn a_message_stays_within_its_bound() {
        let (body, _) = finished(&notice(1000), &Links::default()).unwrap();
        assert!(body.len() <= BODY_BYTES_MAX);
        let body: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(
            body["data"]["job"],
            json!({"id": "j", "runs_omitted": true})
        );
    }
}
