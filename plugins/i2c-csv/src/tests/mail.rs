//! Mails, and who gets none.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hostd_plugin::http_out::{Answer, Request};
use hostd_plugin::testing::with;
use hostd_plugin::{Event, report};
use serde_json::{Value, json};

use super::{bench, found, subject};
use crate::REPORTS;
use crate::mail::on_event;

const URL: &str = "https://mail.example/send";

/// The bench with a mail gateway.
fn mailing(gateway: &str) {
    bench(&["SCL", "SDA"]);
    with(|double| {
        double.secrets = [("MAIL_KEY".to_owned(), "user:hidden".to_owned())].into();
        for (name, value) in [
            ("mail", gateway),
            ("mail_url", URL),
            ("mail_from", "bench@example.com"),
            ("mail_to", "a@example.com, b@example.com,"),
        ] {
            double.config[name] = json!(value);
        }
    });
}

fn done(name: &str) -> Event {
    Event {
        id: "01E".into(),
        kind: "capture.done".into(),
        at_ms: 1,
        org: "o".into(),
        subject: "c1".into(),
        json: json!({"device": {"id": "d", "name": "bench-1"}, "capture": {"id": "c1", "name": name}}),
    }
}

fn sent() -> Vec<Request> {
    with(|double| std::mem::take(&mut double.requests))
}

/// The one mail that was sent.
fn mail(event: &Event) -> Request {
    on_event(event).unwrap();
    let mut sent = sent();
    assert_eq!(sent.len(), 1);
    let mail = sent.remove(0);
    assert_eq!((mail.method.as_str(), mail.url.as_str()), ("POST", URL));
    mail
}

fn header<'r>(request: &'r Request, name: &str) -> &'r str {
    let mut headers = request.headers.iter();
    &headers.find(|(known, _)| known == name).unwrap().1
}

fn body(request: &Request) -> Value {
    serde_json::from_slice(&request.body).unwrap()
}

/// What who asks for the table gets.
fn table() -> String {
    let made = report(REPORTS, &subject(), &[]).unwrap();
    String::from_utf8(made.content).unwrap()
}

#[test]
fn mailgun_gets_a_form_with_the_table_in_it() {
    mailing("mailgun");
    let request = mail(&done("boot"));
    let login = format!("Basic {}", BASE64_STANDARD.encode("api:user:hidden"));
    assert_eq!(header(&request, "authorization"), login);
    let boundary = header(&request, "content-type")
        .strip_prefix("multipart/form-data; boundary=")
        .unwrap()
        .to_owned();
    let form = String::from_utf8(request.body).unwrap();
    let parts: Vec<&str> = form.split(&format!("--{boundary}")).collect();
    assert_eq!((parts[0], *parts.last().unwrap()), ("", "--\r\n"));
    let field = |name: &str, value: &str| {
        format!("\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
    };
    assert_eq!(
        parts[1..6],
        [
            field("from", "bench@example.com"),
            field("to", "a@example.com, b@example.com"),
            field("subject", "Capture boot of bench-1: 4 I²C transactions"),
            field(
                "text",
                "Capture boot (c1) of bench-1 has 4 I²C transactions. The table is boot-i2c.csv.\r\n"
            ),
            field("h:Message-Id", "<01E@hostd.i2c-csv>"),
        ]
    );
    let head = "\r\nContent-Disposition: form-data; name=\"attachment\"; filename=\"boot-i2c.csv\"\r\n\
        Content-Type: text/csv; charset=utf-8; header=present\r\n\r\n";
    assert_eq!(parts[6], format!("{head}{}\r\n", table()));
}

#[test]
fn no_part_of_a_form_ends_it_early() {
    mailing("mailgun");
    let request = mail(&done("--hostd-i2c-csv--"));
    let boundary = header(&request, "content-type").split_once("boundary=");
    assert_eq!(boundary.unwrap().1, "hostd-i2c-csv----");
}

#[test]
fn postmark_and_mailpit_get_the_table_in_base64() {
    for (gateway, name) in [("postmark", "Name"), ("mailpit", "Filename")] {
        mailing(gateway);
        let request = mail(&done("boot\r\nBcc: x"));
        let body = body(&request);
        let file = &body["Attachments"][0];
        assert_eq!(file[name], "boot  Bcc_ x-i2c.csv");
        let content = BASE64_STANDARD.decode(file["Content"].as_str().unwrap());
        assert_eq!(String::from_utf8(content.unwrap()).unwrap(), table());
        assert_eq!(
            body["Subject"],
            "Capture boot  Bcc: x of bench-1: 4 I²C transactions"
        );
        let to = &body["To"];
        if gateway == "postmark" {
            assert_eq!(header(&request, "x-postmark-server-token"), "user:hidden");
            assert_eq!(to, "a@example.com, b@example.com");
        } else {
            let login = format!("Basic {}", BASE64_STANDARD.encode("user:hidden"));
            assert_eq!(header(&request, "authorization"), login);
            assert_eq!(
                *to,
                json!([{"Email": "a@example.com"}, {"Email": "b@example.com"}])
            );
        }
    }
}

#[test]
fn a_mailpit_without_users_needs_no_secret() {
    mailing("mailpit");
    with(|double| double.secrets.clear());
    let request = mail(&done("boot"));
    assert!(
        request
            .headers
            .iter()
            .all(|(name, _)| name != "authorization")
    );
    mailing("mailgun");
    with(|double| double.secrets.clear());
    assert_eq!(on_event(&done("boot")).unwrap_err().code, "not_granted");
}

#[test]
fn a_mail_that_was_not_taken_is_sent_again_as_the_same() {
    mailing("postmark");
    let busy = Answer::new(500, "text/plain", "user:hidden");
    with(|double| double.answers.push_back(Ok(busy)));
    let error = on_event(&done("boot")).unwrap_err();
    assert_eq!(
        (error.code.as_str(), error.message.as_str()),
        ("refused", "the mail gateway answered 500")
    );
    on_event(&done("boot")).unwrap();
    let sent = sent();
    assert_eq!(sent[0], sent[1]);
    assert!(with(|double| {
        let mut lines = double.log.iter();
        lines.all(|(_, line)| !line.contains("hidden"))
    }));
}

#[test]
fn nobody_gets_a_mail_without_a_gateway_a_bus_or_a_transaction() {
    let quiet = |what: &str, event: &Event| {
        on_event(event).unwrap();
        assert_eq!(sent(), [], "{what}");
    };
    mailing("off");
    quiet("no gateway", &done("boot"));
    mailing("mailgun");
    with(|double| double.config["mail_only"] = json!("nightly"));
    quiet("another name", &done("boot"));
    mail(&done("the nightly one"));
    mailing("mailgun");
    let failed = "capture.failed".to_owned();
    quiet(
        "not done",
        &Event {
            kind: failed,
            ..done("boot")
        },
    );
    with(|double| double.captures[0].decoded.clear());
    quiet("no transaction", &done("boot"));
    with(|double| double.captures[0].channels[0].name = "LA1".to_owned());
    quiet("no bus", &done("boot"));
    with(|double| double.captures.clear());
    quiet("removed meanwhile", &done("boot"));
}

#[test]
fn a_table_that_is_too_long_for_a_mail_is_told_of() {
    mailing("postmark");
    let many = |count: usize| {
        let one = [found(1, 1, "start", &[]), found(2, 3, "data-read", &[0; 1])];
        let all = one.iter().cycle().take(count).cloned().collect();
        with(|double| double.captures[0].decoded = all);
    };
    many(60_000);
    let told = body(&mail(&done("boot")));
    assert_eq!(told["Attachments"], json!([]));
    let text = told["TextBody"].as_str().unwrap();
    let expected = "has 30000 I²C transactions. The table is too long for a mail: \
        GET /api/x/hostd.i2c-csv/reports/capture/c1 has it.";
    assert!(text.contains(expected), "{text}");
    many(500_000);
    let told = body(&mail(&done("boot")));
    let subject = told["Subject"].as_str().unwrap();
    assert!(subject.ends_with("more I²C transactions than fit a document"));
}

#[test]
fn what_is_not_set_is_said() {
    for name in ["mail_url", "mail_from", "mail_to"] {
        mailing("mailgun");
        with(|double| double.config[name] = json!(""));
        let error = on_event(&done("boot")).unwrap_err();
        assert!(error.code == "bad_config" && error.message.contains("--set mail_url="));
        assert_eq!(sent(), []);
    }
}
