//! `POST /bench/devices/{id}/ota`: update the firmware of a pod, in the background, with an image that
//! comes along or with a file of a build.

use guest::form;
use guest::updates::{Image, Terms};
use guest::{ApiError, Fields, Request, Response, Route, builds, selection, text, updates};

use crate::update;

/// The part of a form that is the image.
const PART: &str = "image";

/// Largest image: what a pod can stage.
const IMAGE_BYTES_MAX: u32 = 8 << 20;

/// Longest name of a build, a file or the like, in characters.
const NAME_CHARS_MAX: usize = 255;

/// Longest version, in characters.
const VERSION_CHARS_MAX: usize = 64;

/// Base64 of a signature, padded.
const SIGNATURE_CHARS_MAX: usize = 172;

/// Digits of a SHA-256.
const SHA256_CHARS: usize = 64;

pub(crate) const ROUTE: Route = Route {
    name: "updates.start",
    method: "POST",
    pattern: "/bench/devices/{id}/ota",
    credentials: update::CREDENTIALS,
    scope: update::SCOPE,
    body_limit: form::limit(IMAGE_BYTES_MAX),
    summary: "Update the firmware of a pod",
    openapi: guest::compact_json!(
        r#"{"refusals":["device_busy","device_offline","lease_held"],"parameters":["#,
        include_str!("id.parameter.json"),
        r#"],"requestBody":"#,
        include_str!("start.body.json"),
        r#","responses":{"202":{"description":"The image goes to the pod; ask for the progress with GET. Meanwhile the device's state is `updating`, and everything that would drive it is refused with 409 `lease_held`.","content":{"application/json":{"schema":"#,
        include_str!("update.json"),
        r#","example":"#,
        include_str!("update.example.json"),
        "}}}}}",
    ),
    handle,
};

/// Which file of which build.
#[derive(Debug)]
pub(crate) enum Choice {
    /// Build id and file name.
    Exact(String, String),
    Fitting(builds::Selector),
}

fn handle(request: &Request) -> Result<Response, ApiError> {
    let id = update::id(request);
    let mut body = form::receive(request, &[PART], IMAGE_BYTES_MAX.into())?;
    let file = body.file(PART);
    let (choice, terms) = parse(body.fields, file.is_some())?;
    let image = match choice {
        None => Image::Upload(file.expect("only an image spares the choice").content),
        Some(Choice::Exact(build, name)) => Image::Artifact((build, name)),
        Some(Choice::Fitting(selector)) => {
            let found = builds::select(&selector).map_err(selection::refusal)?;
            Image::Artifact((found.build.id, found.name))
        }
    };
    let started = updates::start(id, image, &terms);
    let started = started.map_err(|error| update::refusal(error, id))?;
    Ok(update::reply(202, &started))
}

/// `with_image`: the request brings the image along, and chooses none.
pub(crate) fn parse(
    mut body: Fields,
    with_image: bool,
) -> Result<(Option<Choice>, Terms), ApiError> {
    let choice = if with_image {
        None
    } else if body.has("artifact") {
        Some(body.nested_required("artifact", choice))
    } else {
        return Err(ApiError::field(
            PART,
            "is required: a file in a form, or artifact in a JSON object",
        ));
    };
    let terms = terms(&mut body);
    body.finish()?;
    Ok((choice, terms))
}

fn choice(fields: &mut Fields) -> Choice {
    let name = || text(1..=NAME_CHARS_MAX);
    if fields.has("job_id") {
        // Builds of CI have one pack of files, whatever it is called.
        fields.optional("pack_id", name());
        return Choice::Exact(
            fields.required("job_id", name()),
            fields.required("artifact_name", name()),
        );
    }
    Choice::Fitting(builds::Selector {
        build: fields.optional("build", name()),
        repo: fields.optional("repo", name()),
        ref_: fields.optional("ref", name()),
        artifact: fields.optional("artifact", name()),
    })
}

/// What the image must be and become.
fn terms(body: &mut Fields) -> Terms {
    let sha256 = body.optional("sha256", text(SHA256_CHARS..=SHA256_CHARS));
    if let Some(given) = &sha256
        && !given.bytes().all(|b| b.is_ascii_hexdigit())
    {
        body.problem("sha256", "must be 64 hexadecimal digits");
    }
    Terms {
        sha256,
        signature: body.optional("signature", text(1..=SIGNATURE_CHARS_MAX)),
        version: body.optional("version", text(1..=VERSION_CHARS_MAX)),
    }
}

#[cfg(test)]
mod tests {
    use guest::testing::{mutations, request};
    use guest::updates::Terms;
    use guest::{ApiError, Request};

    use super::Choice;

    fn parse(request: &Request) -> Result<(Option<Choice>, Terms), ApiError> {
        super::parse(request.json()?, false)
    }

    #[test]
    fn an_image_is_named_by_ids_or_by_what_is_known() {
        let ids = r#"{"artifact":{"job_id":"01J","pack_id":"external","artifact_name":"pod.bin"}}"#;
        let (choice, _) = parse(&request(ids)).unwrap();
        assert!(matches!(choice, Some(Choice::Exact(b, n)) if b == "01J" && n == "pod.bin"));
        let (choice, terms) = parse(&request(
            r#"{"artifact":{"repo":"acme/pod"},"version":"3.10.0"}"#,
        ))
        .unwrap();
        assert!(
            matches!(choice, Some(Choice::Fitting(s)) if s.repo.as_deref() == Some("acme/pod"))
        );
        assert_eq!(terms.version.as_deref(), Some("3.10.0"));
    }

    #[test]
    fn every_bad_member_is_named() {
        for (body, field) in [
            ("{}", "image"),
            (r#"{"artifact":"x"}"#, "artifact"),
            (r#"{"artifact":{"job_id":"01J"}}"#, "artifact.artifact_name"),
            (r#"{"artifact":{"name":"x"}}"#, "artifact.name"),
            (r#"{"artifact":{},"sha256":"00"}"#, "sha256"),
            (
                r#"{"artifact":{},"sha256":"zz7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}"#,
                "sha256",
            ),
            (r#"{"artifact":{},"version":""}"#, "version"),
            (r#"{"artifact":{},"target":"gw0"}"#, "target"),
        ] {
            let error = parse(&request(body)).unwrap_err();
            assert_eq!(
                (error.status, error.fields[0].field.as_str()),
                (400, field),
                "{body}"
            );
        }
    }

    #[test]
    fn a_form_with_an_image_names_no_artifact() {
        let terms = request(r#"{"version":"3.10.0"}"#);
        let (_, terms) = super::parse(terms.json().unwrap(), true).unwrap();
        assert_eq!(terms.version.as_deref(), Some("3.10.0"));
        let both = request(r#"{"artifact":{}}"#);
        let error = super::parse(both.json().unwrap(), true).unwrap_err();
        assert_eq!(error.fields[0].field, "artifact");
    }

    #[test]
    fn mutated_bodies_never_panic() {
        let body = br#"{"artifact":{"repo":"acme/pod","artifact":"pod.bin"},"sha256":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}"#;
        mutations(0x0_7A, body, 5000, |body| {
            let mut mutated = request("");
            mutated.body = body.to_vec();
            if let Ok((_, terms)) = parse(&mutated) {
                assert!(terms.sha256.is_none_or(|s| s.len() == 64));
            }
        });
    }
}
