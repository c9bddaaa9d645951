//! The web application as a browser asks for it: pages, files, policies; and a folder of it that is being edited.

use std::io::{Read, Write};
use std::net::TcpStream;

use flate2::read::GzDecoder;
use serde_json::json;
use tests::{Client, Reply, Server};

const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
    base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'";

/// Most bytes of all files as they are sent to browsers that take gzip.
const GZIP_BYTES_MAX: usize = 120_000;

fn browser(server: &Server) -> Client {
    server.anonymous().with_header("accept", BROWSER)
}

/// The files that a page names.
fn assets(page: &str) -> Vec<String> {
    let named = page.split('"').filter(|text| text.starts_with("/assets/"));
    named.map(str::to_owned).collect()
}

fn is_protected(reply: &Reply, path: &str) {
    for (name, value) in [
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
    ] {
        assert_eq!(reply.header(name), Some(value), "{path}");
    }
}

#[test]
fn a_browser_gets_the_application_at_every_page_and_programs_what_they_got_before() {
    let server = Server::demo().unwrap();
    let first = browser(&server).get("/").unwrap();
    assert_eq!(first.status, 200);
    for path in [
        "/devices",
        "/captures/01X?from=1",
        "/sign-in",
        "/never/heard/of",
    ] {
        let page = browser(&server).get(path).unwrap();
        assert_eq!((page.status, &page.text), (200, &first.text), "{path}");
        assert_eq!(page.header("cache-control"), Some("no-cache"), "{path}");
        is_protected(&page, path);
    }
    let files = assets(&first.text);
    assert_eq!(files.len(), 3, "{files:?}");
    for path in &files {
        let file = server.anonymous().get(path).unwrap();
        assert_eq!(file.status, 200, "{path}");
        let kept = file.header("cache-control").unwrap();
        assert!(kept.contains("immutable"), "{path}: {kept}");
        is_protected(&file, path);
    }
    // Of another version there is no file: better none than one that does not fit.
    let hash = files[0].split('/').nth(2).unwrap();
    let other = files[0].replace(hash, "0123456789abcdef");
    browser(&server)
        .get(&other)
        .unwrap()
        .expect_error(404, "not_found");
    browser(&server)
        .get("/favicon.ico")
        .unwrap()
        .expect_error(404, "not_found");
    // A program that forgets /api is led there, and no page hides a missing endpoint.
    let led = server.client().get("/bench/devices").unwrap();
    led.expect_error(404, "not_found");
    browser(&server)
        .get("/api/nothing")
        .unwrap()
        .expect_error(404, "not_found");
    let known = server.anonymous().get("/").unwrap().expect(200);
    assert_eq!(known["name"], "hostd");
    let wrong = browser(&server).post("/devices", &json!({})).unwrap();
    wrong.expect_error(404, "not_found");
}

/// An answer as it is on the wire: its head, and its body.
fn raw(server: &Server, head: &str) -> (String, Vec<u8>) {
    let mut stream = TcpStream::connect(server.url.strip_prefix("http://").unwrap()).unwrap();
    stream
        .write_all(format!("{head}\r\nhost: x\r\nconnection: close\r\n\r\n").as_bytes())
        .unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer
        .windows(4)
        .position(|four| four == b"\r\n\r\n")
        .unwrap();
    let head = String::from_utf8(answer[..end].to_vec())
        .unwrap()
        .to_lowercase();
    (head, answer[end + 4..].to_vec())
}

#[test]
fn files_are_small_compressed_and_sent_once() {
    let server = Server::demo().unwrap();
    let page = browser(&server).get("/").unwrap();
    let mut all = 0;
    for path in assets(&page.text) {
        let request = format!("GET {path} HTTP/1.1\r\naccept-encoding: gzip, br");
        let (head, body) = raw(&server, &request);
        assert!(
            head.contains("vary: ") && head.contains("accept-encoding"),
            "{head}"
        );
        all += body.len();
        let plain = server.anonymous().get(&path).unwrap().text;
        // A few lines are shorter as they are.
        let is_zipped = head.contains("content-encoding: gzip");
        assert!(is_zipped || plain.len() < 1000, "{head}");
        if is_zipped {
            let mut unzipped = String::new();
            let mut decoder = GzDecoder::new(&*body);
            decoder.read_to_string(&mut unzipped).unwrap();
            assert_eq!(unzipped, plain);
        }
        let (head, body) = raw(&server, &format!("HEAD {path} HTTP/1.1"));
        assert!(
            head.starts_with("http/1.1 200") && body.is_empty(),
            "{head}"
        );
    }
    assert!(all <= GZIP_BYTES_MAX, "all files together are {all} bytes");
    let tag = page.header("etag").unwrap();
    let again = browser(&server)
        .with_header("if-none-match", tag)
        .get("/jobs")
        .unwrap();
    assert_eq!((again.status, again.text.as_str()), (304, ""));
    is_protected(&again, "/jobs");
}

#[test]
fn a_folder_that_is_being_edited_is_served_instead() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let arguments = ["--web", folder.path().to_str().unwrap()];
    let refused = Server::demo_with(&arguments).unwrap_err().to_string();
    assert!(refused.contains("index.html is missing"), "{refused}");

    write(
        "index.html",
        "<title>one</title><script src=\"/assets/0a/app.js\"></script>",
    );
    write("app.js", "one");
    let server = Server::demo_with(&arguments).unwrap();
    assert!(
        browser(&server)
            .get("/devices")
            .unwrap()
            .text
            .contains("one")
    );
    write(
        "index.html",
        "<title>two</title><script src=\"/assets/0b/app.js\"></script>",
    );
    write("app.js", "two");
    assert!(
        browser(&server)
            .get("/devices")
            .unwrap()
            .text
            .contains("two")
    );
    let file = server.anonymous().get("/assets/0b/app.js").unwrap();
    assert_eq!((file.status, file.text.as_str()), (200, "two"));
    assert_eq!(file.header("cache-control"), Some("no-cache"));
    server
        .anonymous()
        .get("/assets/0a/app.js")
        .unwrap()
        .expect_error(404, "not_found");
}
