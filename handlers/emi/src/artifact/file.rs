//! `GET /emi/files/{org}/{run}/{name...}`: the bytes of a file, for whoever was given the address.

use guest::emi::{self, Artifact, Signed};
use guest::{ApiError, Body, Openapi, Refusal, Request, Response, Route};
use serde_json::json;

use crate::access::Shown;
use crate::refusal;

/// Media types of the files that runs make.
const TYPES: [&str; 6] = [
    "application/json",
    "application/sarif+json",
    "image/png",
    "image/svg+xml",
    "text/csv",
    "text/html",
];

/// What pages of a report may do: run the scripts and use the styles that they hold, in an origin that is nobody's, and
/// load nothing. Names in them are a stranger's.
const PAGE: &str = "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; \
                    style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

/// What pictures may do: nothing but be shown.
const PICTURE: &str = "sandbox; default-src 'none'; style-src 'unsafe-inline'";

pub(crate) const ROUTE: Route = Route {
    name: "emi.file",
    method: "GET",
    pattern: "/emi/files/{org}/{run}/{name...}",
    credentials: &[],
    scope: None,
    body_limit: 0,
    summary: "Download a file that a run made",
    openapi: Openapi::of(|operation| {
        operation
            .description(
                "The `url` that was given for it, which is all that it needs. Reports and pictures are shown by browsers, \
                 without any right; everything else is saved.",
            )
            .path("org", "Organisation id.")
            .path("run", "Run id.")
            .path("name", "Name of the file; may hold `/`.")
            .refusals(&[Refusal::LinkRefused])
            .query::<Shown>();
        for shown in TYPES {
            operation.reply_content(
                200,
                "The bytes of the file; `ETag` is its SHA-256.",
                shown,
                json!({"contentMediaType": shown}),
                json!(""),
            );
        }
    }),
    handle,
};

fn handle(request: &Request) -> Result<Response, ApiError> {
    let (org, run, name) = (request.param(0), request.param(1), request.param(2));
    let signed: Signed = request.query()?.read::<Shown>()?.into();
    let (artifact, content) = emi::open_artifact(org, run, name, &signed)
        .map_err(|error| refusal::of(error, "artifact", name))?;
    Ok(Response {
        status: 200,
        headers: headers(&artifact),
        body: Body::Stream(content),
    })
}

/// How browsers treat a file: pages and pictures are shown, everything else is saved.
pub(crate) fn headers(artifact: &Artifact) -> Vec<(String, String)> {
    let essence = artifact.content_type.split(';').next().unwrap_or_default();
    let (policy, how) = match essence.trim() {
        "text/html" => (PAGE, "inline"),
        "image/svg+xml" | "image/png" => (PICTURE, "inline"),
        _ => (PICTURE, "attachment"),
    };
    let file = artifact.name.rsplit('/').next().unwrap_or_default();
    // Names are the server's own words; anything else in one would be a mistake that no header should carry on.
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let file: String = file.chars().filter(|c| plain(*c)).collect();
    let header = |name: &str, value: String| (name.to_owned(), value);
    vec![
        header("content-type", artifact.content_type.clone()),
        header("content-disposition", format!("{how}; filename=\"{file}\"")),
        header("content-security-policy", policy.to_owned()),
        header("x-content-type-options", "nosniff".to_owned()),
        header("referrer-policy", "no-referrer".to_owned()),
        header("cross-origin-resource-policy", "same-origin".to_owned()),
        header("cache-control", "private, no-store".to_owned()),
        header("etag", format!("\"{}\"", artifact.sha256)),
    ]
}

#[cfg(test)]
mod tests {
    use super::headers;
    use crate::example;

    fn of(content_type: &str, name: &str, header: &str) -> String {
        let mut artifact = example::artifact();
        artifact.content_type = content_type.into();
        artifact.name = name.into();
        let all = headers(&artifact);
        let found = all.into_iter().find(|(name, _)| name == header);
        found.unwrap().1
    }

    #[test]
    fn only_pages_and_pictures_are_shown_and_none_of_them_may_do_anything() {
        for (kind, shown) in [
            ("text/html; charset=utf-8", true),
            ("image/svg+xml", true),
            ("image/png", true),
            ("application/json", false),
            ("text/csv", false),
            ("application/sarif+json", false),
        ] {
            let how = of(kind, "a/b.x", "content-disposition");
            let start = if shown { "inline" } else { "attachment" };
            assert_eq!(how, format!("{start}; filename=\"b.x\""), "{kind}");
            let policy = of(kind, "a", "content-security-policy");
            assert!(policy.starts_with("sandbox"), "{policy}");
            assert!(policy.contains("default-src 'none'"), "{policy}");
            assert!(!policy.contains("allow-same-origin"), "{policy}");
            assert_eq!(of(kind, "a", "x-content-type-options"), "nosniff");
            assert_eq!(of(kind, "a", "cache-control"), "private, no-store");
        }
        assert!(of("text/html", "a", "content-security-policy").contains("allow-scripts"));
        assert!(!of("image/svg+xml", "a", "content-security-policy").contains("allow-scripts"));
    }

    #[test]
    fn a_name_cannot_leave_its_quotes() {
        let how = of(
            "text/csv",
            "a\"; filename=\"x\r\n.exe",
            "content-disposition",
        );
        assert_eq!(how, "attachment; filename=\"afilenamex.exe\"");
    }
}
