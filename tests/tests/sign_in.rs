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
