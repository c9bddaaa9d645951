//! Pages for people who follow a link in a browser: plain HTML without scripts, which loads nothing.

use std::fmt::Write;

use crate::{ApiError, Body, Request, Response};

/// Media type of a page.
pub const TYPE: &str = "text/html; charset=utf-8";

/// What a page may do: use the style that it holds, and send its own forms to this server.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'self'; \
                      frame-ancestors 'none'";

/// With `no-referrer`, browsers would send the forms of a page with `Origin: null`, as if a foreign page had made them.
const REFERRER: &str = "same-origin";

const HEAD: &str = "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
                    <meta name=\"viewport\" content=\"width=device-width\">\n";

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:34em;margin:3em auto;padding:0 1em}\
                     label{display:block;margin:.6em 0}input{display:block;width:100%;box-sizing:border-box;font:inherit;padding:.4em}\
                     button{font:inherit;padding:.4em 1.2em;margin-top:.6em}.error{border-left:4px solid #b00;padding-left:.8em}\
                     code{background:#8882;padding:0 .2em}:root{color-scheme:light dark}";

/// Whether the request comes from somebody who reads the answer in a browser: its header `Accept` names HTML, which
/// programs leave to `*/*`.
#[must_use]
pub fn is_wanted(request: &Request) -> bool {
    let accepted = request.headers.iter().filter(|(name, _)| name == "accept");
    let mut ranges = accepted.flat_map(|(_, value)| value.split(','));
    ranges.any(|range| {
        let mut parts = range.split(';').map(str::trim);
        let is_html = parts
            .next()
            .is_some_and(|kind| kind.eq_ignore_ascii_case("text/html"));
        is_html && !parts.any(|part| matches!(part, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
    })
}

/// A page with this title and this HTML below it. `again_s`: the browser asks again after so many seconds.
#[must_use]
pub fn page(status: u16, title: &str, html: &str, again_s: Option<u32>) -> Response {
    let title = escaped(title);
    let mut text = HEAD.to_owned();
    if let Some(seconds) = again_s {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "<meta http-equiv=\"refresh\" content=\"{seconds}\">");
    }
    let _ = write!(
        text,
        "<title>{title}</title>\n<style>{STYLE}</style>\n<h1>{title}</h1>\n{html}\n"
    );
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    Response {
        status,
        headers: vec![
            header("content-type", TYPE),
            header("content-security-policy", POLICY),
            header("referrer-policy", REFERRER),
            header("cache-control", "private, no-store"),
            header("vary", "accept"),
        ],
        body: Body::Bytes(text.into_bytes()),
    }
}

/// A refusal as a page, if the request wants one.
///
/// # Errors
/// The refusal, if a program asks.
pub fn refused(request: &Request, error: ApiError, title: &str) -> Result<Response, ApiError> {
    if !is_wanted(request) || error.status >= 500 {
        return Err(error);
    }
    let html = format!("<p>{}.</p>", escaped(&error.message));
    Ok(page(error.status, title, &html, None))
}

/// Text for HTML and XML, as text and as the value of an attribute: nothing of it is read as markup, in quotes neither.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // What no XML may hold.
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            c if c.is_control() => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{bytes, get, header};

    fn wants(accept: &str) -> bool {
        let mut request = get(&[], "");
        request.headers = vec![("accept".to_owned(), accept.to_owned())];
        is_wanted(&request)
    }

    #[test]
    fn browsers_get_pages_and_programs_do_not() {
        assert!(wants(
            "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
        ));
        assert!(wants("application/json, TEXT/HTML; q=0.5"));
        for other in ["*/*", "application/json", "", "text/*", "text/html;q=0"] {
            assert!(!wants(other), "{other}");
        }
        assert!(!is_wanted(&get(&[], "")));
    }

    #[test]
    fn a_page_runs_nothing_and_shows_what_it_is_given() {
        let answer = page(404, "a<b", "<p>x</p>", Some(5));
        let text = String::from_utf8(bytes(&answer).to_vec()).unwrap();
        assert!(text.contains("<title>a&lt;b</title>") && text.contains("<p>x</p>"));
        assert!(
            text.contains("refresh") && !text.contains("<script"),
            "{text}"
        );
        let policy = header(&answer, "content-security-policy").unwrap();
        assert!(policy.contains("default-src 'none'") && !policy.contains("script-src"));
        assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
        assert_eq!(header(&answer, "referrer-policy"), Some("same-origin"));
        assert_eq!(escaped("\"'\n"), "&quot;&#39;\u{fffd}");
    }

    #[test]
    fn a_program_gets_the_refusal_itself() {
        let error = || ApiError::not_found("project", "<x>");
        let mut request = get(&[], "");
        assert_eq!(refused(&request, error(), "No").unwrap_err(), error());
        request.headers = vec![("accept".to_owned(), "text/html".to_owned())];
        let answer = refused(&request, error(), "No").unwrap();
        assert_eq!(answer.status, 404);
        assert!(String::from_utf8_lossy(bytes(&answer)).contains("&lt;x&gt;"));
        let broken = ApiError::internal("disk");
        assert!(refused(&request, broken, "No").is_err());
    }
}
