//! What is taken for a job, what is refused, and what is answered.

use guest::testing::{header, json, mutations, request, request_example};
use guest::{ApiError, Fields, jobs};
use serde_json::json;

use super::{Asked, Labels, Pipeline, ROUTE, key, parse, reply};
use crate::example;

fn body(text: &str) -> Result<Asked, ApiError> {
    parse(Fields::parse(text.as_bytes())?, false)
}

fn form(parts: &[(&str, &str)], has_archive: bool) -> Result<Asked, ApiError> {
    let parts = parts.iter();
    let parts = parts.map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    parse(Fields::of_texts(parts.collect()), has_archive)
}

fn fields(refused: Result<Asked, ApiError>) -> Vec<String> {
    let error = refused.unwrap_err();
    assert_eq!(error.status, 400);
    error.fields.into_iter().map(|p| p.field).collect()
}

#[test]
fn a_pipeline_as_text() {
    let text = r#"{"definition":"version: 1\n","name":"hello","ref":"main","commit":"0a1b2c3"}"#;
    let order = Asked {
        pipeline: Pipeline::Text("version: 1\n".into()),
        labels: Labels {
            name: Some("hello".into()),
            r#ref: Some("main".into()),
            commit: Some("0a1b2c3".into()),
        },
    };
    assert_eq!(body(text).unwrap(), order);
    let bare = body(r#"{"definition":"x","name":null,"ref":""}"#).unwrap();
    assert_eq!(bare.labels, Labels::default());
    let long = format!(r#"{{"definition":"{}"}}"#, "x".repeat((256 << 10) + 1));
    for (text, field) in [
        ("{}", "definition"),
        (r#"{"definition":""}"#, "definition"),
        (r#"{"definition":{"version":1}}"#, "definition"),
        (&long, "definition"),
        (r#"{"definition":"x","name":"a\nb"}"#, "name"),
        (r#"{"definition":"x","ci_yaml":"a.yml"}"#, "ci_yaml"),
        (r#"{"definition":"x","archive":"H4sI"}"#, "archive"),
    ] {
        assert_eq!(fields(body(text)), [field], "{text}");
    }
}

#[test]
fn sources_with_the_path_of_their_pipeline() {
    let parts = [
        ("ci_yaml", "ci/pipeline.yml"),
        ("ref", "main"),
        ("commit", ""),
    ];
    let order = form(&parts, true).unwrap();
    assert_eq!(order.pipeline, Pipeline::Path("ci/pipeline.yml".into()));
    assert_eq!(order.labels.r#ref.as_deref(), Some("main"));
    assert_eq!((order.labels.name, order.labels.commit), (None, None));
    for (parts, has_archive, wrong) in [
        (&[][..], true, &["ci_yaml"][..]),
        (&[("ci_yaml", "")], true, &["ci_yaml"]),
        (&[("ci_yaml", "a.yml")], false, &["archive"]),
        (&[("name", "x")], false, &["archive", "ci_yaml"]),
        (
            &[("ci_yaml", "a"), ("definition", "b")],
            true,
            &["definition"],
        ),
    ] {
        assert_eq!(fields(form(parts, has_archive)), wrong, "{parts:?}");
    }
}

#[test]
fn the_path_has_the_name_of_published_clients_too() {
    let order = form(&[("embeddedci_yaml", "a.yml")], true).unwrap();
    assert_eq!(order.pipeline, Pipeline::Path("a.yml".into()));
    let both = [("embeddedci_yaml", "a.yml"), ("ci_yaml", "b.yml")];
    assert_eq!(fields(form(&both, true)), ["embeddedci_yaml"]);
}

#[test]
fn keys_are_printable() {
    let with = |value: &str| {
        let mut request = request("{}");
        let header = ("idempotency-key".to_owned(), value.to_owned());
        request.headers.push(header);
        key(&request)
    };
    assert_eq!(key(&request("{}")).unwrap(), None);
    for good in ["a", "run 7/~!", &"k".repeat(255)] {
        assert_eq!(with(good).unwrap().as_deref(), Some(good));
    }
    for bad in ["", "schlüssel", "a\tb", "a\u{7f}", &"k".repeat(256)] {
        let error = with(bad).unwrap_err();
        assert_eq!((error.status, error.fields.len()), (400, 1), "{bad}");
        assert_eq!(error.fields[0].field, "Idempotency-Key");
    }
}

#[test]
fn published_clients_find_what_they_read() {
    let mut submitted = jobs::Submitted {
        job: example::queued(),
        is_replay: false,
    };
    let response = reply(&submitted);
    assert_eq!(response.status, 201);
    assert_eq!(
        json(&response),
        json!({
            "id": "01JGZ5V9T3N8W2K4Q7R6D1M0XJ",
            "status": "new",
            "builds": [{"id": "fw.f0", "status": "waiting", "targets": ["stm32f030f4"]}],
            "source_metadata": {
                "name": "blinky", "ref": "main", "commit": "0a1b2c3",
                "archive": {
                    "size_bytes": 4096,
                    "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
                    "entries": 12,
                    "unpacked_bytes": 20480,
                    "ci_yaml": "pipeline.yml"
                }
            }
        })
    );
    let location = header(&response, "location");
    assert_eq!(location, Some("/api/jobs/01JGZ5V9T3N8W2K4Q7R6D1M0XJ"));
    assert_eq!(header(&response, "idempotency-replayed"), None);
    submitted.is_replay = true;
    submitted.job.archive = None;
    let response = reply(&submitted);
    assert_eq!(header(&response, "idempotency-replayed"), Some("true"));
    assert_eq!(response.status, 201);
    assert!(json(&response)["source_metadata"]["archive"].is_null());
}

#[test]
fn the_documented_body_is_taken_and_mutations_of_it_never_panic() {
    let valid = request_example(&ROUTE);
    assert!(body(std::str::from_utf8(&valid).unwrap()).is_ok());
    mutations(0x5b_17, &valid, 5000, |input| {
        let order = Fields::parse(input).and_then(|fields| parse(fields, false));
        if let Ok(Asked { pipeline, labels }) = order {
            assert!(matches!(pipeline, Pipeline::Text(text) if !text.is_empty()));
            assert!(
                labels
                    .name
                    .is_none_or(|name| (1..=120).contains(&name.chars().count()))
            );
        }
    });
}

#[test]
fn mutated_parts_never_panic() {
    mutations(0xf0_12, b"ci_yaml=a.yml&name=x&ref=main", 5000, |input| {
        let Ok(text) = std::str::from_utf8(input) else {
            return;
        };
        let parts: Vec<(&str, &str)> = text.split('&').filter_map(|p| p.split_once('=')).collect();
        match form(&parts, true) {
            Ok(order) => {
                assert!(matches!(order.pipeline, Pipeline::Path(path) if !path.is_empty()))
            }
            Err(error) => assert_eq!(error.status, 400),
        }
    });
}
