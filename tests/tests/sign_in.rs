//! Signing in while others guess: who gets through, what it costs the server, and what it keeps.

use serde_json::{Value, json};
use tests::{Client, Reply, Server, until};

/// More MiB than an idle server and the hashes that it computes in parallel need; less than twenty
/// parallel hashes would need.
const MEMORY_MIB_MAX: u64 = 160;

const PASSWORD: &str = "correct horse battery";

/// A server behind a proxy, so that a test can come from any address.
struct Proxied {
    server: Server,
    _config: tempfile::TempDir,
}

impl Proxied {
    fn start() -> Self {
        let config = tempfile::tempdir().unwrap();
        let path = config.path().join("hostd.toml");
        std::fs::write(&path, "[http]\ntrusted_proxies = \"127.0.0.0/8\"\n").unwrap();
        let server = Server::demo_with(&["--config", path.to_str().unwrap()]).unwrap();
        Self {
            server,
            _config: config,
        }
    }

    fn at(&self, address: &str) -> Client {
        let client = self.server.anonymous();
        client.with_header("x-forwarded-for", address)
    }

    /// A new user with a password, who has never signed in with it.
    fn user(&self, login: &str) {
        let owner = self.bearer(&sign_in(&self.server.anonymous(), &self.server.code()));
        let made = owner.post("/api/users", &json!({"login": login})).unwrap();
        let code = made.expect(201)["code"].clone();
        let user = self.bearer(&sign_in(&self.at("192.0.2.254"), code.as_str().unwrap()));
        let body = json!({"new": PASSWORD}).to_string();
        let set = user.send("PUT", "/api/auth/password", Some(&body));
        set.unwrap().expect(200);
    }

    fn bearer(&self, session: &Value) -> Client {
        let token = session["token"].as_str().unwrap();
        let client = self.server.anonymous();
        client.with_authorization(&format!("Bearer {token}"))
    }
}

fn sign_in(client: &Client, code: &str) -> Value {
    let reply = client.post("/api/auth/session", &json!({"code": code}));
    reply.unwrap().expect(200)
}

fn attempt(client: &Client, login: &str, password: &str) -> Reply {
    let body = json!({"login": login, "password": password});
    client.post("/api/auth/session", &body).unwrap()
}

#[test]
fn an_address_that_guesses_waits_and_others_do_not() {
    let bench = Proxied::start();
    bench.user("ann");
    let guesser = bench.at("198.51.100.7");
    let mut refused = None;
    for n in 0..100 {
        let reply = attempt(&guesser, &format!("user{n}"), "wrong horse battery");
        if reply.status == 429 {
            let wait_s: u32 = reply.header("retry-after").unwrap().parse().unwrap();
            assert!((1..=60).contains(&wait_s), "{wait_s}");
            reply.expect_error(429, "rate_limited");
            refused = Some(n);
            break;
        }
        reply.expect_error(401, "invalid_credential");
    }
    assert_eq!(refused, Some(20));
    // While it has to wait, neither the right password nor a code helps.
    attempt(&guesser, "ann", PASSWORD).expect_error(429, "rate_limited");
    let code = guesser.post("/api/auth/session", &json!({"code": "x"}));
    code.unwrap().expect_error(429, "rate_limited");
    // An address that is claimed by somebody other than our proxy is ignored, and so are the other
    // entries beside it.
    attempt(&bench.at("10.9.9.9, 198.51.100.7"), "ann", PASSWORD).expect_error(429, "rate_limited");
    attempt(&bench.at("198.51.100.8"), "ann", PASSWORD).expect(200);
    attempt(&bench.at("2001:db8::1"), "ann", PASSWORD).expect(200);
}

/// `VmHWM`: the most memory that was resident, in MiB.
fn most_memory_mib(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kib = line.unwrap().split_whitespace().nth(1).unwrap();
    kib.parse::<u64>().unwrap() >> 10
}

#[test]
fn attempts_at_once_take_little_memory() {
    let server = Server::demo().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..16 {
            let client = server.anonymous();
            scope.spawn(move || {
                for n in 0..10 {
                    let login = format!("user{thread}-{n}");
                    let reply = attempt(&client, &login, "wrong horse battery");
                    assert!(matches!(reply.status, 401 | 429), "{}", reply.text);
                }
            });
        }
    });
    let most = most_memory_mib(&server);
    assert!(most <= MEMORY_MIB_MAX, "{most} MiB");
}

/// Many callers guess at once from many addresses, including the user's own. She gets in, and the
/// guesses cost little memory.
#[test]
fn heavy_a_user_gets_in_through_a_flood_of_guesses() {
    let bench = Proxied::start();
    bench.user("ann");
    let (home, hotel) = (bench.at("203.0.113.1"), bench.at("203.0.113.2"));
    attempt(&home, "ann", PASSWORD).expect(200);
    let (stop, stopped) = (
        std::sync::atomic::AtomicBool::new(false),
        std::sync::Barrier::new(13),
    );
    let flood = |number: u32| {
        let mut tried = 0u32;
        stopped.wait();
        for n in 0.. {
            if stop.load(std::sync::atomic::Ordering::Relaxed) {
                break;
            }
            let address = match n % 4 {
                0 => "203.0.113.1".to_owned(),
                _ => format!("10.{number}.{}.{}", n / 250 % 250, n % 250),
            };
            let login = if n % 2 == 0 { "ann" } else { "junk" };
            let login = if n % 4 == 0 { "junk" } else { login };
            let reply = attempt(&bench.at(&address), login, "wrong horse battery");
            assert!(matches!(reply.status, 401 | 429), "{}", reply.text);
            tried += u32::from(reply.status == 401);
        }
        tried
    };
    let tried: u32 = std::thread::scope(|scope| {
        let flood = &flood;
        let threads: Vec<_> = (0..12).map(|n| scope.spawn(move || flood(n))).collect();
        stopped.wait();
        for _ in 0..30 {
            attempt(&home, "ann", PASSWORD).expect(200);
        }
        // From a new address it may take several attempts: the flood comes from new addresses too.
        let try_it = || attempt(&hotel, "ann", PASSWORD);
        until(try_it, |reply| reply.status == 200).unwrap();
        attempt(&hotel, "ann", PASSWORD).expect(200);
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .sum()
    });
    assert!(tried > 0, "nothing was guessed");
    let most = most_memory_mib(&bench.server);
    assert!(most <= MEMORY_MIB_MAX, "{most} MiB");
}

#[test]
fn a_code_that_was_asked_for_outlives_the_next_start() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = Server::plain_in(dir.path()).unwrap();
    assert!(server.stop().unwrap());
    let printed = tests::offline::offline(dir.path(), &["user", "code", "owner"], "");
    let asked = printed.lines().next().unwrap();
    let mut server = Server::plain_in(dir.path()).unwrap();
    assert!(server.stop().unwrap());
    let server = Server::plain_in(dir.path()).unwrap();
    sign_in(&server.anonymous(), asked);
}

/// The cookies that an answer sets.
fn cookies(reply: &Reply) -> Vec<&str> {
    let set = reply
        .headers
        .iter()
        .filter(|(name, _)| name == "set-cookie");
    set.map(|(_, value)| value.as_str()).collect()
}

/// A client that shows this cookie and comes as these headers say.
fn browser(server: &Server, cookie: &str, headers: &[(&str, &str)]) -> Client {
    let client = server.anonymous().with_header("cookie", cookie);
    headers.iter().fold(client, |client, (name, value)| {
        client.with_header(name, value)
    })
}

#[test]
fn a_browser_stays_signed_in_where_a_person_asks_for_it() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("hostd.toml");
    std::fs::write(&config, "[auth]\nremember_days = 7\n").unwrap();
    let server = Server::demo_in_with(dir.path(), &["--config", config.to_str().unwrap()]);
    let server = server.unwrap();
    let client = server.anonymous();
    let body = json!({"code": server.code(), "remember": true});
    let reply = client.post("/api/auth/session", &body).unwrap();
    let [cookie] = cookies(&reply)[..] else {
        panic!("{:?}", reply.headers);
    };
    assert!(cookie.starts_with("hostd_session="), "{cookie}");
    assert!(
        cookie.ends_with("; Max-Age=604800; Path=/; HttpOnly; SameSite=Lax"),
        "{cookie}"
    );
    let session = reply.json();
    assert_eq!(session["expires_in"], 7 * 24 * 3600);
    // A password of one's own ends all sessions; the new one lasts as the one before.
    let bearer = format!("Bearer {}", session["token"].as_str().unwrap());
    let person = client.clone().with_authorization(&bearer);
    let body = json!({"new": PASSWORD}).to_string();
    let changed = person
        .send("PUT", "/api/auth/password", Some(&body))
        .unwrap();
    assert_eq!(changed.json()["expires_in"], 7 * 24 * 3600);
    assert!(cookies(&changed)[0].contains("Max-Age=604800"));
    let short = attempt(&client, "owner", PASSWORD);
    assert!(
        !cookies(&short)[0].contains("Max-Age"),
        "{:?}",
        short.headers
    );
    assert_eq!(short.json()["expires_in"], 12 * 3600);
    let both = json!({"login": "owner", "password": PASSWORD, "remember": true, "keep": true});
    let both = client.post("/api/auth/session", &both).unwrap();
    both.expect_error(400, "invalid_request");
}

#[test]
fn behind_tls_the_cookie_is_secure_and_the_plain_one_opens_nothing() {
    let bench = Proxied::start();
    let https = bench
        .server
        .anonymous()
        .with_header("x-forwarded-proto", "https");
    let reply = https.post("/api/auth/session", &json!({"code": bench.server.code()}));
    let reply = reply.unwrap();
    let [secure, removed] = cookies(&reply)[..] else {
        panic!("{:?}", reply.headers);
    };
    assert!(secure.starts_with("__Host-hostd_session="), "{secure}");
    assert!(
        secure.ends_with("; Path=/; HttpOnly; SameSite=Lax; Secure"),
        "{secure}"
    );
    assert!(
        removed.starts_with("hostd_session=; Max-Age=0;"),
        "{removed}"
    );
    let token = reply.json()["token"].as_str().unwrap().to_owned();
    let shows = |cookie: &str| {
        browser(&bench.server, cookie, &[])
            .get("/api/auth/session")
            .unwrap()
    };
    let secure = format!("__Host-hostd_session={token}");
    let plain = format!("hostd_session={token}");
    shows(&secure).expect(200);
    shows(&plain).expect(200);
    // The secure one counts, in either order; the other one may come from elsewhere.
    shows(&format!("hostd_session=a.b.c; {secure}")).expect(200);
    shows(&format!("{plain}; __Host-hostd_session=a.b.c")).expect_error(401, "invalid_credential");
    // By HTTPS the plain one does not count at all: another host that set it would choose the account.
    let shows_by_https = |cookie: &str| {
        browser(&bench.server, cookie, &[("x-forwarded-proto", "https")])
            .get("/api/auth/session")
            .unwrap()
    };
    shows_by_https(&plain).expect_error(401, "missing_credential");
    shows_by_https(&format!("{plain}; theme=dark")).expect_error(401, "missing_credential");
    shows_by_https(&secure).expect(200);
    shows_by_https(&format!("hostd_session=a.b.c; {secure}")).expect(200);
    let out = https
        .with_header("cookie", &secure)
        .delete("/api/auth/session")
        .unwrap();
    assert!(
        cookies(&out)[0].starts_with("__Host-hostd_session=; Max-Age=0;"),
        "{:?}",
        out.headers
    );
    shows(&secure).expect_error(401, "revoked_credential");
}

#[test]
fn a_page_of_another_site_changes_nothing_with_the_cookie() {
    let server = Server::demo().unwrap();
    let signed_in = sign_in(&server.anonymous(), &server.code());
    let token = signed_in["token"].as_str().unwrap();
    let cookie = format!("hostd_session={token}");
    let path = format!("/api/bench/devices/{}", server.device());
    let rename = json!({"name": "renamed"});
    for site in ["cross-site", "same-site", "anything"] {
        let page = browser(&server, &cookie, &[("sec-fetch-site", site)]);
        page.patch(&path, &rename)
            .unwrap()
            .expect_error(403, "forbidden");
        page.delete("/api/auth/session")
            .unwrap()
            .expect_error(403, "forbidden");
        // A link that leads here.
        page.get(&path).unwrap().expect(200);
        // A token in the header is none that a browser adds by itself.
        let program = server.anonymous().with_header("sec-fetch-site", site);
        let program = program.with_authorization(&format!("Bearer {token}"));
        program.patch(&path, &rename).unwrap().expect(200);
    }
    for site in ["same-origin", "none"] {
        let page = browser(&server, &cookie, &[("sec-fetch-site", site)]);
        page.patch(&path, &rename).unwrap().expect(200);
    }
    browser(&server, &cookie, &[])
        .patch(&path, &rename)
        .unwrap()
        .expect(200);
}

#[test]
fn each_answer_says_which_build_gives_it() {
    let server = Server::demo().unwrap();
    let of = |path: &str| {
        let reply = server.anonymous().get(path).unwrap();
        reply.header("hostd-version").unwrap_or_default().to_owned()
    };
    let version = of("/");
    let (number, build) = version.split_once('+').unwrap();
    assert!(
        number.split('.').count() == 3 && build.len() == 16,
        "{version}"
    );
    for path in ["/api/jobs", "/healthz", "/no-such-page"] {
        assert_eq!(of(path), version, "{path}");
    }
}
