//! Which paths are the application's, and how its files are sent.

use std::io::Read;

use flate2::read::GzDecoder;
use http_body_util::BodyExt;

use super::*;

const BROWSER: (&str, &str) = ("accept", "text/html,*/*;q=0.8");

fn headers(given: &[(&'static str, &'static str)]) -> HeaderMap {
    given
        .iter()
        .map(|(name, value)| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )
        })
        .collect()
}

fn body(response: Response<ResponseBody>) -> Bytes {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let collected = runtime.block_on(response.into_body().collect());
    collected.unwrap().to_bytes()
}

fn asset(web: &Web, name: &str) -> String {
    format!("{ASSETS}{}/{name}", web.hash().unwrap())
}

#[test]
fn paths_without_an_ending_show_the_application_to_browsers() {
    let web = Web::embedded().unwrap();
    for path in [
        "/",
        "/devices",
        "/captures/01X",
        "/sign-in",
        "/no/such/page",
        "/apiary",
    ] {
        let shown = web.answer(path, &headers(&[BROWSER])).unwrap();
        assert_eq!(
            shown.headers()[CONTENT_TYPE],
            "text/html; charset=utf-8",
            "{path}"
        );
        assert_eq!(shown.headers()[CACHE_CONTROL], "no-cache");
        assert!(
            web.answer(path, &headers(&[("accept", "*/*")])).is_none(),
            "{path}"
        );
    }
    for path in [
        "/api",
        "/api/jobs",
        "/tools/emi/01X",
        "/favicon.ico",
        "/a/b.js",
        "/assets/",
        "/assets/00/app.js",
    ] {
        assert!(web.answer(path, &headers(&[BROWSER])).is_none(), "{path}");
    }
}

#[test]
fn files_are_below_the_hash_that_the_page_names_and_below_no_other() {
    let web = Web::embedded().unwrap();
    let page = body(web.answer("/", &headers(&[BROWSER])).unwrap());
    let page = String::from_utf8(page.to_vec()).unwrap();
    let mut named = 0;
    for rest in page.split(ASSETS).skip(1) {
        let path = format!("{ASSETS}{}", rest.split('"').next().unwrap());
        let file = web.answer(&path, &HeaderMap::new()).unwrap();
        assert_eq!(file.headers()[CACHE_CONTROL], KEPT);
        named += 1;
    }
    assert_eq!(named, 3);
    assert!(
        web.answer(&asset(&web, "LICENSES.txt"), &HeaderMap::new())
            .is_some()
    );
    for name in ["index.html", "SOURCES", "../dist/app.js", "app.js/", ""] {
        assert!(
            web.answer(&asset(&web, name), &HeaderMap::new()).is_none(),
            "{name}"
        );
    }
    assert!(
        web.answer("/assets/0000000000000000/app.js", &HeaderMap::new())
            .is_none()
    );
}

#[test]
fn every_answer_has_the_policies() {
    let web = Web::embedded().unwrap();
    for path in ["/", &asset(&web, "app.js"), &asset(&web, "style.css")] {
        let answer = web.answer(path, &headers(&[BROWSER])).unwrap();
        let policy = answer.headers()[CONTENT_SECURITY_POLICY].to_str().unwrap();
        assert!(
            policy.starts_with("default-src 'none'; script-src 'self'; "),
            "{policy}"
        );
        assert!(!policy.contains("unsafe"), "{policy}");
        assert!(
            policy.ends_with("require-trusted-types-for 'script'"),
            "{policy}"
        );
        assert_eq!(answer.headers()[REFERRER_POLICY], "no-referrer");
        assert_eq!(answer.headers()[OPENER_POLICY], "same-origin");
    }
}

#[test]
fn a_compressed_file_is_the_same_file() {
    let web = Web::embedded().unwrap();
    let path = asset(&web, "app.js");
    let plain = web.answer(&path, &HeaderMap::new()).unwrap();
    assert!(!plain.headers().contains_key(CONTENT_ENCODING));
    let zipped = web
        .answer(&path, &headers(&[("accept-encoding", "br, gzip;q=0.5")]))
        .unwrap();
    assert_eq!(zipped.headers()[CONTENT_ENCODING], "gzip");
    assert_ne!(zipped.headers()[ETAG], plain.headers()[ETAG]);
    let mut unzipped = Vec::new();
    GzDecoder::new(&*body(zipped))
        .read_to_end(&mut unzipped)
        .unwrap();
    assert_eq!(unzipped, body(plain));
    for refused in ["gzip;q=0", "br", "identity"] {
        let header = (ACCEPT_ENCODING, HeaderValue::from_static(refused));
        let answer = web.answer(&path, &HeaderMap::from_iter([header])).unwrap();
        assert!(
            !answer.headers().contains_key(CONTENT_ENCODING),
            "{refused}"
        );
    }
}

#[test]
fn a_browser_that_has_the_page_is_sent_nothing() {
    let web = Web::embedded().unwrap();
    let shown = web.answer("/devices", &headers(&[BROWSER])).unwrap();
    let tag = shown.headers()[ETAG].to_str().unwrap().to_owned();
    for known in [
        tag.clone(),
        format!("\"x\", W/{tag}"),
        tag.replace("\"", "") + "-gzip",
    ] {
        let mut asked = headers(&[BROWSER]);
        asked.insert(IF_NONE_MATCH, HeaderValue::from_str(&known).unwrap());
        let answer = web.answer("/captures", &asked).unwrap();
        assert_eq!(answer.status(), StatusCode::NOT_MODIFIED, "{known}");
        assert_eq!(body(answer), "");
    }
    let mut asked = headers(&[BROWSER]);
    asked.insert(IF_NONE_MATCH, HeaderValue::from_static("\"other\""));
    assert_eq!(
        web.answer("/devices", &asked).unwrap().status(),
        StatusCode::OK
    );
}

#[test]
fn a_folder_that_is_edited_is_read_each_time_and_nothing_outside_it() {
    let folder = tempfile::tempdir().unwrap();
    assert!(Web::edited(folder.path()).is_err());
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("index.html", "<script src=\"/assets/aa/app.js\"></script>");
    write("app.js", "1");
    write(".hidden", "x");
    let web = Web::edited(folder.path()).unwrap();
    let app = |path: &str| Some(body(web.answer(path, &HeaderMap::new())?));
    assert_eq!(app("/assets/aa/app.js").unwrap(), "1");
    write("app.js", "2");
    write("index.html", "<script src=\"/assets/bb/app.js\"></script>");
    assert_eq!(app("/assets/bb/app.js").unwrap(), "2");
    for path in [
        "/assets/aa/app.js",
        "/assets/bb/.hidden",
        "/assets/bb/../index.html",
        "/assets/bb/%2e%2e",
    ] {
        assert!(app(path).is_none(), "{path}");
    }
    let kept = web.answer("/assets/bb/app.js", &HeaderMap::new()).unwrap();
    assert_eq!(kept.headers()[CACHE_CONTROL], "no-cache");
}
