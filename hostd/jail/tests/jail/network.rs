//! Jails with a network: what they reach, what they do not whatever they try, and that nothing is left of it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use jail::{Error, How, Jail, Lack, Reach, Spec, Stream, Streams};

use crate::Case;
use crate::home::{Home, eventually, finish, piped, processes_with, run};
use crate::outside::{OWN, OWN_V6, PRIVATE, PUBLIC};

/// The argument that makes this program a server with one jail that has a network, for a test to kill.
pub(crate) const SERVER: &str = "network-server";

pub(crate) const CASES: &[Case] = &[
    ("public_addresses_are_reached", public),
    ("private_addresses_are_reached_where_all_is", all),
    (
        "what_is_not_public_is_out_of_reach_whatever_is_tried",
        bypasses,
    ),
    ("the_host_s_loopback_is_out_of_reach", loopback),
    ("names_are_resolved", names),
    ("many_bytes_come_through_unchanged", bytes),
    ("the_relay_works_beside_the_network", relay),
    ("nothing_of_the_network_is_left", ends),
    (
        "a_killed_server_leaves_nothing_of_the_network",
        server_killed,
    ),
    ("the_end_of_slirp4netns_ends_the_jail", slirp4netns_killed),
    ("slirp4netns_belongs_to_the_jail_s_groups", groups),
    (
        "without_slirp4netns_there_is_no_jail_with_a_network",
        no_slirp4netns,
    ),
    (
        "a_slirp4netns_that_does_not_start_is_told",
        broken_slirp4netns,
    ),
    ("a_job_cannot_change_its_network", rights),
];

/// Something that listens at every address: it tells who connects which address was reached, and its owner which
/// datagrams come.
struct World {
    port: u16,
    datagrams: Receiver<String>,
}

impl World {
    fn new() -> Self {
        let listener = TcpListener::bind("[::]:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let reached = stream.local_addr().unwrap().ip().to_canonical();
                // Who does not listen any more does not hear it.
                let _ = write!(stream, "{reached}");
            }
        });
        let socket = UdpSocket::bind(("::", port)).unwrap();
        let groups = "224.0.0.251".parse().unwrap();
        let group = UdpSocket::bind(("0.0.0.0", 0)).unwrap();
        group
            .join_multicast_v4(&groups, &OWN.parse().unwrap())
            .unwrap();
        let (sender, datagrams) = mpsc::channel();
        std::thread::spawn(move || {
            let _joined = group;
            let mut buffer = [0; 100];
            while let Ok((bytes, from)) = socket.recv_from(&mut buffer) {
                let text = String::from_utf8_lossy(&buffer[..bytes]).into_owned();
                let _ = socket.send_to(text.as_bytes(), from);
                if sender.send(text).is_err() {
                    return;
                }
            }
        });
        Self { port, datagrams }
    }

    /// The text of a datagram that came, and of none before the one that says `end`.
    fn heard(&self) -> Vec<String> {
        let mut heard = Vec::new();
        loop {
            let next = self.datagrams.recv_timeout(Duration::from_secs(20));
            match next.unwrap() {
                text if text == "end" => return heard,
                text => heard.push(text),
            }
        }
    }
}

/// What programs of these tests begin with.
const PYTHON: &str = "import socket, struct, sys
NET = socket.if_nametoindex('net0')
def family(address):
    return socket.AF_INET6 if ':' in address else socket.AF_INET
def tcp(address, port, bound=False, wait=5):
    s = socket.socket(family(address))
    s.settimeout(wait)
    try:
        if bound:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b'net0')
        s.connect((address, port))
        print(b''.join(iter(lambda: s.recv(100), b'')).decode() or 'closed')
    except OSError as e:
        print('no')
def udp(address, port, text, *options, control=[], wait=5):
    s = socket.socket(family(address), socket.SOCK_DGRAM)
    s.settimeout(wait)
    try:
        for option in options:
            s.setsockopt(*option)
        s.sendmsg([text.encode()], control, 0, (address, port))
        return s.recv(100)
    except OSError as e:
        return None
";

fn program(home: &Home, reach: Reach, script: &str) -> Spec {
    let mut spec = home.spec("python3", &["-c", &format!("{PYTHON}{script}")]);
    spec.network = Some(reach);
    spec
}

/// What a program wrote that ended well.
fn told(home: &Home, spec: &Spec) -> String {
    let outcome = run(&home.jail(), spec).unwrap();
    assert_eq!(outcome.end.how, How::Exited(0), "{outcome:#?}");
    outcome.stdout
}

fn public(home: &Home) {
    let world = World::new();
    for reach in [Reach::Public, Reach::All] {
        let [v4, v6] = PUBLIC;
        let port = world.port;
        let script = format!(
            "tcp('{v4}', {port})\ntcp('{v6}', {port})
for address in '{v4}', '{v6}':
    print(udp(address, {port}, 'datagram'))"
        );
        let told = told(home, &program(home, reach, &script));
        assert_eq!(told, format!("{v4}\n{v6}\nb'datagram'\nb'datagram'\n"));
    }
}

fn all(home: &Home) {
    let world = World::new();
    let addresses: Vec<&str> = PRIVATE.into_iter().chain([OWN, OWN_V6]).collect();
    let script = format!(
        "for address in {addresses:?}:\n    tcp(address, {})",
        world.port
    );
    let told = told(home, &program(home, Reach::All, &script));
    assert_eq!(told.lines().collect::<Vec<_>>(), addresses);
}

fn bypasses(home: &Home) {
    let world = World::new();
    let port = world.port;
    let addresses: Vec<&str> = PRIVATE.into_iter().chain([OWN, OWN_V6]).collect();
    let public = PUBLIC[0];
    // A socket that is bound to the interface, or that names it with each datagram, is routed otherwise. A way through
    // other routers is not gone. The last datagram is one that comes.
    let script = format!(
        "for address in {addresses:?} + ['192.0.0.2', '192.0.0.3', 'fd00::2', 'fd00::3', '::ffff:10.1.2.3']:
    tcp(address, {port})
    tcp(address, {port}, bound=True, wait=0.3)
    bind = (socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b'net0')
    udp(address, {port}, 'plain ' + address, wait=0.05)
    udp(address, {port}, 'bound ' + address, bind, wait=0.05)
    direct = (socket.SOL_SOCKET, socket.SO_DONTROUTE, 1)
    udp(address, {port}, 'direct ' + address, bind, direct, wait=0.05)
    if ':' in address:
        level, kind, info = socket.IPPROTO_IPV6, socket.IPV6_PKTINFO, struct.pack('16sI', b'', NET)
    else:
        level, kind, info = socket.IPPROTO_IP, 8, struct.pack('i4s4s', NET, b'', b'')
    udp(address, {port}, 'named ' + address, control=[(level, kind, info)], wait=0.05)
for last in '{OWN}', '169.254.169.254':
    route = bytes([131, 7, 4]) + socket.inet_aton(last) + bytes([0])
    udp('127.0.0.1', {port}, 'through ' + last, (socket.IPPROTO_IP, socket.IP_OPTIONS, route), wait=0.05)
    strict = bytes([137, 7, 4]) + socket.inet_aton(last) + bytes([0])
    udp('192.0.0.2', {port}, 'strictly ' + last, (socket.IPPROTO_IP, socket.IP_OPTIONS, strict), wait=0.05)
name = (socket.IPPROTO_IP, socket.IP_MULTICAST_IF, struct.pack('4s4si', b'', b'', NET))
udp('224.0.0.251', {port}, 'multicast', name, wait=0.05)
cast = (socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
for address in '255.255.255.255', '10.1.2.255', '192.0.0.127':
    udp(address, {port}, 'broadcast ' + address, cast, bind, wait=0.05)
print(udp('{public}', {port}, 'end'))"
    );
    let told = told(home, &program(home, Reach::Public, &script));
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), 2 * (addresses.len() + 5) + 1, "{told}");
    let (last, refused) = lines.split_last().unwrap();
    assert!(refused.iter().all(|line| *line == "no"), "{told}");
    assert_eq!(*last, "b'end'");
    assert_eq!(world.heard(), Vec::<String>::new());
}

fn loopback(home: &Home) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let datagrams = UdpSocket::bind(("127.0.0.1", port)).unwrap();
    datagrams.set_nonblocking(true).unwrap();
    let name = format!("jail-network-{port}");
    let local = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    local.set_nonblocking(true).unwrap();
    for reach in [Reach::Public, Reach::All] {
        let script = format!(
            "for address in '127.0.0.1', '127.0.0.9', '192.0.0.2', '192.0.0.3', 'fd00::2', '{OWN}', '0.0.0.0', '::ffff:127.0.0.1', '::1':
    tcp(address, {port}, wait=1)
    tcp(address, {port}, bound=True, wait=0.3)
    udp(address, {port}, 'plain', wait=0.05)
    udp(address, {port}, 'bound', (socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b'net0'), wait=0.05)
s = socket.socket(socket.AF_UNIX)
try:
    s.connect('\\0{name}')
    print('reached')
except OSError:
    print('no')"
        );
        let told = told(home, &program(home, reach, &script));
        assert_eq!(told, "no\n".repeat(19));
    }
    let nobody = |error: std::io::Error| error.kind() == std::io::ErrorKind::WouldBlock;
    assert!(listener.accept().is_err_and(nobody));
    assert!(local.accept().is_err_and(nobody));
    assert!(datagrams.recv(&mut [0; 10]).is_err_and(nobody));
}

fn names(home: &Home) {
    let script = "print(socket.gethostbyname('bench.example'), socket.gethostbyname('localhost'))
print(open('/etc/resolv.conf').read(), end='')";
    for reach in [Reach::Public, Reach::All] {
        let told = told(home, &program(home, reach, script));
        assert_eq!(told, "9.9.9.9 127.0.0.1\nnameserver 192.0.0.3\n");
    }
    let without = run(&home.jail(), &home.shell("ls /etc /sys/class/net 2>&1")).unwrap();
    assert!(!without.stdout.contains("resolv.conf"), "{without:?}");
}

/// Sends more than any buffer on the way holds, and gets it back: after the end of what is sent, and while it is sent.
fn bytes(home: &Home) {
    const BYTES: usize = 20_000_000;
    let listener = TcpListener::bind("[::]:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        // A jail that has ended does not hear it, and its test fails.
        let (mut stream, _) = listener.accept().unwrap();
        let mut all = Vec::new();
        let _ = stream.read_to_end(&mut all);
        let _ = stream.write_all(&all);
        drop(stream);
        let (mut stream, _) = listener.accept().unwrap();
        let mut back = stream.try_clone().unwrap();
        let _ = std::io::copy(&mut stream, &mut back);
    });
    let script = format!(
        "import random, threading
data = random.Random(7).randbytes({BYTES})
def send(s):
    s.sendall(data)
    s.shutdown(socket.SHUT_WR)
for at_once in False, True:
    s = socket.create_connection(('{}', {port}))
    sender = threading.Thread(target=send, args=(s,))
    sender.start()
    if not at_once:
        sender.join()
    back = b''.join(iter(lambda: s.recv(1 << 16), b''))
    print(back == data, len(back))",
        PUBLIC[0]
    );
    let told = told(home, &program(home, Reach::Public, &script));
    assert_eq!(told, format!("True {BYTES}\n").repeat(2));
}

fn relay(home: &Home) {
    let world = World::new();
    let (listener, path) = crate::relay::listen(home);
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.write_all(b"server");
    });
    let script = format!(
        "tcp('127.0.0.1', 8099)\ntcp('{}', {})",
        PUBLIC[0], world.port
    );
    let mut spec = program(home, Reach::Public, &script);
    spec.relay = Some(path);
    assert_eq!(told(home, &spec), format!("server\n{}\n", PUBLIC[0]));
}

/// Processes of slirp4netns that this test has started.
fn slirps(home: &Home) -> Vec<u32> {
    processes_with(home.slirp4netns().to_str().unwrap())
}

/// A jail with a network that stays.
fn holding(home: &Home, jail: &Jail) -> jail::Child {
    let mut spec = home.own(&["inside", "hold"]);
    spec.network = Some(Reach::Public);
    let mut child = jail.spawn(&spec, piped()).unwrap();
    let mut line = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut line).unwrap();
    assert_eq!(line, "holding\n");
    child.stdout = Some(stdout.into_inner());
    child
}

fn ends(home: &Home) {
    let jail = home.jail();
    let mut spec = home.shell("true");
    spec.network = Some(Reach::Public);
    assert_eq!(run(&jail, &spec).unwrap().end.how, How::Exited(0));
    assert_eq!(slirps(home), Vec::<u32>::new());
    let child = holding(home, &jail);
    assert_eq!(slirps(home).len(), 1);
    child.killer().kill();
    assert_eq!(finish(child).unwrap().end.how, How::Killed);
    assert_eq!(slirps(home), Vec::<u32>::new());
    let mut spec = home.own(&["inside", "hold"]);
    spec.network = Some(Reach::Public);
    spec.limits.wall = Duration::from_millis(700);
    assert_eq!(run(&jail, &spec).unwrap().end.how, How::TimedOut);
    assert_eq!(slirps(home), Vec::<u32>::new());
    // With the nursery, everything goes.
    let child = holding(home, &jail);
    drop(jail);
    assert!(matches!(finish(child), Err(Error::Lost)));
    eventually("the end of all", || slirps(home).is_empty());
}

/// A server with a jail that has a network, until it is killed.
pub(crate) fn serve() -> ExitCode {
    let home = Home::new();
    let jail = home.jail();
    let _child = holding(&home, &jail);
    println!("{}", home.path().display());
    loop {
        std::thread::park();
    }
}

fn server_killed(home: &Home) {
    let temporary = home.path().join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    for _ in 0..3 {
        let mut server = Command::new(home.program())
            .arg(SERVER)
            .env("TMPDIR", &temporary)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut path = String::new();
        let stdout = server.stdout.take().unwrap();
        BufReader::new(stdout).read_line(&mut path).unwrap();
        let path = path.trim();
        let slirp4netns = format!("{path}/slirp4netns");
        assert_eq!(processes_with(&slirp4netns).len(), 1, "{path}");
        server.kill().unwrap();
        server.wait().unwrap();
        eventually("the end of all that the server started", || {
            processes_with(path).is_empty()
        });
    }
}

fn slirp4netns_killed(home: &Home) {
    let jail = home.jail();
    let child = holding(home, &jail);
    let slirp4netns = slirps(home)[0];
    let slirp4netns = rustix::process::Pid::from_raw(slirp4netns.cast_signed()).unwrap();
    rustix::process::kill_process(slirp4netns, rustix::process::Signal::KILL).unwrap();
    let error = finish(child).unwrap_err();
    assert_eq!(error.kind(), "not_started", "{error}");
    assert!(error.to_string().contains("reach the network"), "{error}");
}

fn groups(home: &Home) {
    let jail = home.jail();
    let child = holding(home, &jail);
    if jail.bounds().memory.is_hard() {
        let group = |process: u32| {
            let groups = std::fs::read_to_string(format!("/proc/{process}/cgroup")).unwrap();
            let jails = groups.lines().filter(|line| line.contains("hostd-jails-"));
            jails.map(str::to_owned).collect::<Vec<_>>()
        };
        let holders = processes_with(home.program().to_str().unwrap());
        let inits = holders.into_iter().map(group);
        let of_slirp4netns = group(slirps(home)[0]);
        assert!(!of_slirp4netns.is_empty());
        assert!(inits.into_iter().any(|group| group == of_slirp4netns));
    }
    child.killer().kill();
    assert_eq!(finish(child).unwrap().end.how, How::Killed);
}

fn no_slirp4netns(home: &Home) {
    let mut options = home.options(true);
    options.slirp4netns = None;
    let jail = Jail::open(&options).unwrap();
    let mut spec = home.shell("true");
    spec.network = Some(Reach::All);
    let error = jail.spawn(&spec, Streams::default()).unwrap_err();
    let lack = Lack::NoSlirp4netns;
    assert!(matches!(error, Error::NoIsolation { lack: found, .. } if found == lack));
    assert!(
        error.to_string().contains("apt install slirp4netns"),
        "{error}"
    );
    spec.network = None;
    assert_eq!(run(&jail, &spec).unwrap().end.how, How::Exited(0));
}

/// One that says why, one that says nothing, and one that is not there. The command is not begun.
fn broken_slirp4netns(home: &Home) {
    let broken = home.path().join("broken");
    for (program, says) in [
        (
            "#!/bin/sh\necho 'no route, says it' >&2\nexit 1\n",
            "no route, says it",
        ),
        ("#!/bin/sh\nexit 1\n", "reach the network by slirp4netns"),
        ("", "reach the network by slirp4netns, which says"),
    ] {
        use std::os::unix::fs::PermissionsExt;
        std::fs::write(&broken, program).unwrap();
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&broken, open).unwrap();
        if program.is_empty() {
            std::fs::remove_file(&broken).unwrap();
        }
        let mut options = home.options(true);
        options.slirp4netns = Some(broken.clone());
        let jail = Jail::open(&options).unwrap();
        let mut spec = home.shell("touch /job/begun");
        spec.network = Some(Reach::All);
        let streams = Streams {
            stdout: Stream::Null,
            ..piped()
        };
        let error = jail.spawn(&spec, streams).unwrap().wait().unwrap_err();
        assert!(error.to_string().contains(says), "{error}");
        assert!(!home.job(0).join("begun").exists());
    }
}

/// Neither routes nor neighbours nor the interface can be changed, and no second one made.
fn rights(home: &Home) {
    let script = "import os
def request(kind, body):
    s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    s.send(struct.pack('IHHII', 16 + len(body), kind, 0x405, 1, 0) + body)
    return struct.unpack('i', s.recv(1000)[16:20])[0]
print(request(16, struct.pack('BxHiII', 0, 0, NET, 0, 1)))
print(request(24, struct.pack('BBBBBBBBI', 2, 0, 0, 0, 254, 3, 0, 1, 0)))
print(request(28, struct.pack('BxxxiHBB', 2, NET, 0x80, 0, 0)))
print(os.path.exists('/dev/net/tun'))";
    let told = told(home, &program(home, Reach::Public, script));
    assert_eq!(told, "-1\n-1\n-1\nFalse\n");
}
