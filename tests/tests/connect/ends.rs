//! What ends it: everything is cut off at once, with a sentence and a code of its own.

use tests::{PodSim, until};

use super::*;

const UART: [&str; 7] = ["d0", "--uart", "0", "--rx", "3", "--tx", "4"];

/// Nobody listens any more, and the client is cut.
fn is_over(address: SocketAddr, client: &mut TcpStream) {
    assert!(is_cut(client));
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn the_lease_is_given_back_when_somebody_has_had_enough() {
    let bench = bench();
    for signal in ["-INT", "-TERM"] {
        let mut connected = Connected::start(&bench.server, &UART);
        let lease = record(&bench)["lease"].clone();
        assert_eq!(lease["holder"], "hostd connect (ada)");
        let mut client = connected.open("uart");
        talk(&mut client);
        let address = connected.address("uart");
        connected.signal(signal);
        let (code, told) = connected.ended();
        assert_eq!(code, Some(4), "{told}");
        assert!(told.ends_with("hostd: d0 is given back\n"), "{told}");
        is_over(address, &mut client);
        assert_eq!(record(&bench)["lease"], Value::Null);
    }
}

#[test]
fn it_ends_with_the_lease() {
    let bench = bench();
    // One with a client, who is cut off at once, and one without, which finds out by itself.
    for has_client in [true, false] {
        let mut connected = Connected::start(&bench.server, &UART);
        let mut client = connected.open("uart");
        if has_client {
            talk(&mut client);
        }
        let address = connected.address("uart");
        if !has_client {
            drop(client);
            client = TcpStream::connect(bench.server.url.strip_prefix("http://").unwrap()).unwrap();
            client.shutdown(std::net::Shutdown::Write).unwrap();
        }
        take_away(&bench);
        let (code, told) = connected.ended();
        assert_eq!(code, Some(5), "{told}");
        assert!(told.contains("hostd: the lease is over: "), "{told}");
        is_over(address, &mut client);
    }
}

#[test]
fn it_ends_with_the_server_and_the_device() {
    let pod = PodSim::start_to_return(&["--seed", "5", "--target", "demo"]).unwrap();
    let address = format!("tcp:{}", pod.address);
    let mut bench = Bench::start_with("[pods]\ngrace_ms = 100\n", &[&address]).unwrap();
    let look = |bench: &Bench| until(|| record(bench), |device| device["online"] == true);
    look(&bench).unwrap();
    let mut connected = Connected::start(&bench.server, &UART);
    let mut client = connected.open("uart");
    talk(&mut client);
    let port = connected.address("uart");
    let at = pod.address.clone();
    drop(pod);
    let (code, told) = connected.ended();
    assert_eq!(code, Some(6), "{told}");
    is_over(port, &mut client);

    let _pod = PodSim::start_at(&at, &["--seed", "5", "--target", "demo"]).unwrap();
    until(
        || record(&bench),
        |device| device["online"] == true && device["making_safe_since"].is_null(),
    )
    .unwrap();
    let mut connected = Connected::start(&bench.server, &UART);
    let mut client = connected.open("uart");
    talk(&mut client);
    let port = connected.address("uart");
    bench.server.kill().unwrap();
    let (code, told) = connected.ended();
    assert_eq!(code, Some(3), "{told}");
    is_over(port, &mut client);
}

#[test]
fn a_command_ends_with_the_lease_too() {
    let bench = bench();
    let args = [&UART[..], &["--exec", "--", "sleep", "600"]].concat();
    let mut connected = Connected::start(&bench.server, &args);
    connected.signal("-TERM");
    assert_eq!(connected.ended().0, Some(4), "{}", connected.told);
    assert_eq!(record(&bench)["lease"], Value::Null);
}

#[test]
fn whoever_dies_leaves_a_lease_that_expires() {
    let bench = bench();
    let mut connected = Connected::start(&bench.server, &UART);
    connected.child.kill().unwrap();
    connected.child.wait().unwrap();
    let expires = record(&bench)["lease"]["expires_at"]
        .as_str()
        .unwrap()
        .to_owned();
    let now = std::time::SystemTime::now();
    let date = |time: std::time::SystemTime| {
        let seconds = time
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap()
            .as_secs();
        let output = Command::new("date")
            .args(["-u", "-d", &format!("@{seconds}"), "+%Y-%m-%dT%H:%M:%SZ"])
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    assert!(expires <= date(now + Duration::from_secs(61)), "{expires}");
}
