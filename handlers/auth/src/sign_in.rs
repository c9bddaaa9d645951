//! The page on which people sign in, and where it leads. What its endpoints share.
//!
//! ```text
//! a link without a session ── /sign-in?to=/the/link ── form ── cookie ── /the/link
//! ```

use std::fmt::Write;

use guest::{Response, page};

pub(crate) mod enter;
pub(crate) mod leave;
pub(crate) mod show;

/// Where the page is, for people.
pub(crate) const ADDRESS: &str = "/sign-in";

/// Where the form to sign out goes.
const LEAVE: &str = "/sign-out";

/// Longest address to go back to, in characters.
pub(crate) const TO_CHARS_MAX: usize = 2048;

/// The page, with what went wrong, and where it leads.
fn form(status: u16, wrong: Option<&str>, to: Option<&str>) -> Response {
    let mut html = String::new();
    if let Some(wrong) = wrong {
        // Writing to a string cannot fail.
        let _ = writeln!(html, "<p class=\"error\">{}.</p>", page::escaped(wrong));
    }
    let to = to.map_or_else(String::new, |to| {
        let to = page::escaped(to);
        format!("<input type=\"hidden\" name=\"to\" value=\"{to}\">")
    });
    let _ = write!(
        html,
        "<form method=\"post\" action=\"{ADDRESS}\">{to}\n\
         <label>Login <input name=\"login\" autocomplete=\"username\" required></label>\n\
         <label>Password <input name=\"password\" type=\"password\" autocomplete=\"current-password\" required></label>\n\
         <label><input name=\"remember\" type=\"checkbox\" value=\"true\"> Stay signed in</label>\n\
         <button>Sign in</button>\n</form>\n\
         <h2>With a one-time code</h2>\n\
         <form method=\"post\" action=\"{ADDRESS}\">{to}\n\
         <label>Code <input name=\"code\" autocomplete=\"one-time-code\" required></label>\n\
         <button>Sign in</button>\n</form>\n\
         <p>A code is good once, for 15 minutes. An administrator makes another one, as does \
         <code>hostd user code LOGIN</code> on the server's computer.</p>\n\
         <form method=\"post\" action=\"{LEAVE}\"><button>Sign out</button></form>"
    );
    page::page(status, "Sign in", &html, None)
}

/// Where to go once signed in: an address of this server and of no other, or its first page.
fn back(to: Option<&str>) -> &str {
    to.filter(|to| is_own(to)).unwrap_or("/")
}

/// Whether a browser takes the text for a path of the server that it came from. It takes `//host` and `/\host` for
/// another server, and leaves out control characters before it looks.
fn is_own(to: &str) -> bool {
    let mut bytes = to.bytes();
    let second = bytes
        .next()
        .filter(|first| *first == b'/')
        .map(|_| bytes.next());
    second.is_some_and(|second| second != Some(b'/'))
        && to.bytes().all(|b| b.is_ascii_graphic() && b != b'\\')
}

#[cfg(test)]
mod tests {
    use guest::testing::bytes;

    use super::*;

    #[test]
    fn a_return_stays_on_this_server() {
        for own in [
            "/",
            "/api/jobs/01X/report",
            "/tools/emi/01X?x=1&y=%2F#f12",
            "/a//b",
        ] {
            assert_eq!(back(Some(own)), own);
        }
        for other in [
            "",
            "api",
            "//evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "https://evil.example/",
            "javascript:alert(1)",
            "/\t/evil.example",
            "\t//evil.example",
            "/a b",
            "/a\r\nset-cookie: x=y",
            "/ä",
        ] {
            assert_eq!(back(Some(other)), "/", "{other:?}");
        }
        assert_eq!(back(None), "/");
    }

    #[test]
    fn what_it_shows_stays_text() {
        let answer = form(401, Some("<b>no</b>"), Some("/x?\"><script>"));
        let text = String::from_utf8(bytes(&answer).to_vec()).unwrap();
        assert!(text.contains("&lt;b&gt;no&lt;/b&gt;."), "{text}");
        assert!(
            text.contains("value=\"/x?&quot;&gt;&lt;script&gt;\""),
            "{text}"
        );
        assert!(!text.contains("<script"), "{text}");
        assert_eq!(answer.status, 401);
    }
}
