//! `POST /bench/devices/{id}/ota`: update the firmware of a pod, in the background, with an image in
//! the request or with a file of a build.

use guest::form;
use guest::updates::{Image, Terms};
use guest::{
    ApiError, Fields, Like, Openapi, Refusal, Request, Response, Route, Shape, alike, builds,
    members, nested, selection, spelled, text, updates,
};
use serde_json::json;

use crate::update;

/// The part of a form that is the image.
const PART: &str = "image";

/// Largest image: what a pod can stage.
pub(crate) const IMAGE_BYTES_MAX: u32 = 8 << 20;

/// Longest name of a build, a file or the like, in characters.
const NAME_CHARS_MAX: usize = 255;

/// Longest version, in characters.
const VERSION_CHARS_MAX: usize = 64;

/// Base64url of a signature, without and with padding, in characters.
const SIGNATURE_CHARS: std::ops::RangeInclusive<usize> = 171..=172;

pub(crate) const ROUTE: Route =
    Route {
        name: "updates.start",
        method: "POST",
        pattern: "/bench/devices/{id}/ota",
        credentials: update::CREDENTIALS,
        scope: update::SCOPE,
        body_limit: form::limit(IMAGE_BYTES_MAX),
        summary: "Update the firmware of a pod",
        openapi: Openapi::of(|operation| {
            operation
            .refusals(&[Refusal::DeviceBusy, Refusal::DeviceOffline, Refusal::LeaseHeld])
            .path(update::ID.0, update::ID.1)
            .body::<Body>(json!({
                "artifact": {"repo": "acme/pod-firmware", "ref": "main", "artifact": "pod.bin"},
                "version": "3.10.0"
            }))
            .form::<Expected>(
                PART,
                "The image; at most 8 MiB.",
                json!({PART: "BPFW", "version": "3.10.0"}),
            )
            .reply(
                202,
                "The image goes to the pod; ask for the progress with GET. Meanwhile the device's \
                 state is `updating`, and everything that would drive it is refused with 409 \
                 `lease_held`.",
                &update::example(),
            );
        }),
        handle,
    };

members! {
    pub(crate) struct Body {
        /// The image: a file of a reported build, by its ids (`job_id` and `artifact_name`, as
        /// `flashable-artifacts` lists them) or by what is known of its build.
        artifact: Artifact = required(nested()),
        expected: Expected = inline(),
    }
}

members! {
    struct Artifact {
        job_id: Option<String> = optional(name()),
        /// Not used: builds of CI have one pack of files, whatever it is called.
        pack_id: Option<String> = optional(name()),
        artifact_name: Option<String> = optional(name()),
        /// Build id, or `latest`.
        build: Option<String> = optional(name()),
        repo: Option<String> = optional(name()),
        r#ref: Option<String> = optional(name()),
        /// Name of the file.
        artifact: Option<String> = optional(name()),
    }
}

members! {
    /// What the image must be and become.
    struct Expected {
        /// SHA-256 that the image must have.
        sha256: Option<String> = optional(spelled(64..=64, "0-9A-Fa-f")),
        /// Signature for the pod: base64url of 128 bytes.
        signature: Option<String> = optional(alike(SIGNATURE_CHARS, &SIGNATURE)),
        /// Version that the pod must say after the update; another one fails it.
        version: Option<String> = optional(text(1..=VERSION_CHARS_MAX)),
    }
}

static SIGNATURE: Like = Like {
    pattern: "^[A-Za-z0-9_-]{170}[AEIMQUYcgkosw048]=?$",
    fits: |text| {
        let digits = text.strip_suffix('=').unwrap_or(text);
        let is_digit = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
        digits.len() == *SIGNATURE_CHARS.start()
            && digits.bytes().all(is_digit)
            && digits.ends_with(|last| "AEIMQUYcgkosw048".contains(last))
    },
    rule: "must be base64url of 128 bytes",
    example: "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyAhIiMkJSYnKCkqKywtLi8wMTIzNDU2Nzg5Ojs8PT4_QEFCQ0RFRkdISUpLTE1OT1BRUlNUVVZXWFlaW1xdXl9gYWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXp7fH1-f4A",
};

fn name() -> impl Shape<Value = String> {
    text(1..=NAME_CHARS_MAX)
}

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

/// `with_image`: the request contains the image, and chooses none.
pub(crate) fn parse(body: Fields, with_image: bool) -> Result<(Option<Choice>, Terms), ApiError> {
    if with_image {
        let expected: Expected = body.read()?;
        return Ok((None, expected.into()));
    }
    if !body.has("artifact") {
        return Err(ApiError::field(
            PART,
            "is required: a file in a form, or artifact in a JSON object",
        ));
    }
    let body: Body = body.read()?;
    Ok((Some(body.artifact.choice()?), body.expected.into()))
}

impl From<Expected> for Terms {
    fn from(expected: Expected) -> Self {
        Self {
            sha256: expected.sha256,
            signature: expected.signature,
            version: expected.version,
        }
    }
}

impl Artifact {
    /// By ids if the build's id is given, else by what is known of the build.
    fn choice(self) -> Result<Choice, ApiError> {
        let known = [
            ("build", &self.build),
            ("repo", &self.repo),
            ("ref", &self.r#ref),
            ("artifact", &self.artifact),
        ];
        let ids = [
            ("pack_id", &self.pack_id),
            ("artifact_name", &self.artifact_name),
        ];
        let (stray, why) = match self.job_id {
            Some(_) => (&known[..], "does not go with job_id"),
            None => (&ids[..], "goes with job_id alone"),
        };
        if let Some((name, _)) = stray.iter().find(|(_, value)| value.is_some()) {
            return Err(ApiError::field(format!("artifact.{name}"), why));
        }
        match (self.job_id, self.artifact_name) {
            (Some(build), Some(name)) => Ok(Choice::Exact(build, name)),
            (Some(_), None) => Err(ApiError::field("artifact.artifact_name", "is required")),
            (None, _) => Ok(Choice::Fitting(builds::Selector {
                build: self.build,
                repo: self.repo,
                ref_: self.r#ref,
                // What jobs build is for targets, not for pods.
                pack: Some(selection::REPORTED.to_owned()),
                artifact: self.artifact,
            })),
        }
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
