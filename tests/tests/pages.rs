//! Pages for people: a link without a session leads to the page to sign in and back, and nowhere else.

use std::path::Path;

use serde_json::json;
use tests::offline::offline;
use tests::{Client, Reply, Server, until};

use crate::boards::desk::{Desk, SLOT};

const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

const FORM: &str = "application/x-www-form-urlencoded";

/// Somebody in a browser, without a session.
fn browser(server: &Server) -> Client {
    server.anonymous().with_header("accept", BROWSER)
}

fn location(reply: &Reply) -> &str {
    assert_eq!(reply.status, 303, "{}", reply.text);
    reply.header("location").unwrap()
}

/// The page for browsers without scripts; with them, `/sign-in` is a page of the web application.
const PLAIN: &str = "/api/auth";

/// What a form of the page sends.
fn send(client: &Client, form: &str) -> Reply {
    let form = Some((FORM, form.as_bytes()));
    client.send_typed("POST", "/sign-in", form).unwrap()
}

/// The same browser, signed in: it keeps the cookie.
fn signed_in(server: &Server, code: &str) -> Client {
    let entered = send(&browser(server), &format!("code={code}"));
    assert_eq!(location(&entered), "/");
    let cookie = entered.header("set-cookie").unwrap();
    assert!(
        cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"),
        "{cookie}"
    );
    browser(server).with_header("cookie", cookie.split(';').next().unwrap())
}

fn is_page(reply: &Reply) {
    let kind = reply.header("content-type").unwrap();
    assert!(kind.starts_with("text/html"), "{kind}");
    let policy = reply.header("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'"), "{policy}");
    assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
}

#[test]
fn a_link_to_a_report_leads_to_the_page_to_sign_in_and_back() {
    let server = Server::demo().unwrap();
    let link = "/api/jobs/01ARZ3NDEKTSV4RRFFQ69G5FAV/report";
    let led = browser(&server).get(link).unwrap();
    let page = location(&led).to_owned();
    assert_eq!(page, format!("/sign-in?to={link}"));
    let shown = browser(&server).get(&page).unwrap();
    assert!(shown.text.contains("/api/auth/sign-in"), "{}", shown.text);
    let shown = browser(&server).get(&format!("{PLAIN}{page}")).unwrap();
    is_page(&shown);
    assert_eq!(shown.status, 200);
    assert!(!shown.text.contains("<script"), "{}", shown.text);
    let field = format!("name=\"to\" value=\"{link}\"");
    assert!(shown.text.contains(&field), "{}", shown.text);

    let wrong = send(&browser(&server), &format!("code=ABCD-EFGH&to={link}"));
    is_page(&wrong);
    assert_eq!((wrong.status, wrong.header("set-cookie")), (401, None));
    assert!(wrong.text.contains(&field), "{}", wrong.text);
    let entered = send(
        &browser(&server),
        &format!("code={}&to={link}", server.code()),
    );
    assert_eq!(location(&entered), link);
    let cookie = entered.header("set-cookie").unwrap().to_owned();
    let session = browser(&server).with_header("cookie", cookie.split(';').next().unwrap());
    // There is no such job, which somebody who is signed in may know.
    session.get(link).unwrap().expect_error(404, "not_found");
    session.get("/api/jobs").unwrap().expect(200);

    // Programs are refused as before.
    let program = server.anonymous();
    program
        .get(link)
        .unwrap()
        .expect_error(401, "missing_credential");
    let wrong = browser(&server).with_authorization("ApiKey bk_x");
    wrong
        .get(link)
        .unwrap()
        .expect_error(401, "invalid_credential");

    let out = session.send("POST", "/sign-out", None).unwrap();
    assert_eq!(location(&out), "/sign-in");
    assert!(out.header("set-cookie").unwrap().contains("Max-Age=0"));
    let over = session.get(link).unwrap();
    assert_eq!(location(&over), page);
}

#[test]
fn the_way_back_leads_nowhere_else_and_foreign_pages_sign_nobody_in() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::demo_in(dir.path()).unwrap();
    let code = |data: &Path| {
        let printed = offline(data, &["user", "code", "owner"], "");
        printed.lines().next().unwrap().to_owned()
    };
    for to in [
        "//evil.example",
        "https://evil.example/",
        "/\\evil.example",
        "javascript:alert(1)",
    ] {
        let form = format!("code={}&to={to}", code(dir.path()));
        assert_eq!(location(&send(&browser(&server), &form)), "/", "{to}");
        let shown =
            browser(&server).get(&format!("{PLAIN}/sign-in?to={}", to.replace('\\', "%5C")));
        let shown = shown.unwrap();
        assert!(!shown.text.contains("evil") && !shown.text.contains("alert"));
    }
    let form = format!("code={}", code(dir.path()));
    for (name, value) in [
        ("origin", "https://evil.example"),
        ("origin", "null"),
        ("sec-fetch-site", "cross-site"),
    ] {
        let foreign = browser(&server).with_header(name, value);
        let refused = send(&foreign, &form);
        is_page(&refused);
        assert_eq!((refused.status, refused.header("set-cookie")), (403, None));
    }
    let own = browser(&server).with_header("origin", &server.url);
    assert_eq!(location(&send(&own, &form)), "/");
}

#[test]
fn a_project_of_boards_shows_its_newest_report_to_its_organisation_alone() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::demo_in(dir.path()).unwrap();
    let desk = Desk::of(server.client());
    let project = desk.project("sensor <1>");
    let path = format!("/tools/emi/{project}");
    assert_eq!(
        location(&browser(&server).get(&path).unwrap()),
        format!("/sign-in?to={path}")
    );
    server
        .anonymous()
        .get(&path)
        .unwrap()
        .expect_error(401, "missing_credential");

    let owner = signed_in(&server, &server.code());
    let none = owner.get(&path).unwrap();
    is_page(&none);
    assert_eq!(none.status, 404);
    assert!(none.text.contains("sensor &lt;1&gt;"), "{}", none.text);
    server
        .client()
        .get(&path)
        .unwrap()
        .expect_error(409, "unfinished");

    desk.board(&project, SLOT);
    let report = until(|| owner.get(&path).unwrap(), |reply| reply.status == 200).unwrap();
    is_page(&report);
    let policy = report.header("content-security-policy").unwrap();
    assert!(policy.starts_with("sandbox "), "{policy}");
    assert!(report.text.contains("plane-gap"), "{}", report.text);
    let by_key = server.client().get(&path).unwrap();
    assert_eq!(by_key.status, 200);

    // Whoever belongs to another organisation learns nothing, not even that there is such a project.
    offline(dir.path(), &["org", "add", "acme"], "");
    let eve = offline(dir.path(), &["user", "add", "eve", "--org", "acme"], "");
    let stranger = signed_in(&server, eve.lines().next().unwrap());
    let missing = "/tools/emi/01ARZ3NDEKTSV4RRFFQ69G5FAV";
    let (theirs, nobodys) = (stranger.get(&path).unwrap(), stranger.get(missing).unwrap());
    for reply in [&theirs, &nobodys] {
        is_page(reply);
        assert_eq!(reply.status, 404);
        assert!(reply.text.contains("no such project"), "{}", reply.text);
    }
    let without_id = theirs.text.replace(&project, "ID");
    assert_eq!(
        without_id,
        nobodys.text.replace("01ARZ3NDEKTSV4RRFFQ69G5FAV", "ID")
    );
}

#[test]
fn a_program_learns_at_the_root_what_the_server_is() {
    let server = Server::demo().unwrap();
    let known = server.anonymous().get("/").unwrap().expect(200);
    assert_eq!(known["name"], "hostd");
    let version = known["version"].as_str().unwrap();
    let document = server.anonymous().get("/api/openapi.json").unwrap();
    assert_eq!(document.expect(200)["info"]["version"], version);
    for (name, path) in known.as_object().unwrap() {
        let path = path.as_str().unwrap();
        if !path.starts_with('/') || name == "api" {
            continue;
        }
        assert_eq!(browser(&server).get(path).unwrap().status, 200, "{path}");
    }
    let wrong = server.anonymous().post("/", &json!({})).unwrap();
    wrong.expect_error(405, "method_not_allowed");
}
