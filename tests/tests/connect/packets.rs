//! GDB's remote protocol, packet by packet, at the simulated target.

use super::*;

/// A client that sends packets as it likes.
struct Client(TcpStream);

impl Client {
    fn send(&mut self, body: &[u8]) {
        let sum = body.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
        let frame = [b"$", body, format!("#{sum:02x}").as_bytes()].concat();
        self.0.write_all(&frame).unwrap();
    }

    /// What comes next is this.
    fn hear(&mut self, bytes: &[u8]) {
        let mut heard = vec![0; bytes.len()];
        self.0.read_exact(&mut heard).unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(text(&heard), text(bytes));
    }

    /// The next packet, without repetitions: `0*"` is five zeros.
    fn packet(&mut self) -> String {
        let frame = read_until(&mut self.0, b"#");
        let mut sum = [0; 2];
        self.0.read_exact(&mut sum).unwrap();
        let mut body = Vec::new();
        let mut bytes = frame[1..frame.len() - 1].iter();
        while let Some(byte) = bytes.next() {
            match byte {
                b'*' => {
                    let more = usize::from(bytes.next().unwrap() - 29);
                    body.resize(body.len() + more, *body.last().unwrap());
                }
                byte => body.push(*byte),
            }
        }
        String::from_utf8(body).unwrap()
    }

    /// The answer to a packet, once nothing is acknowledged.
    fn ask(&mut self, body: impl AsRef<[u8]>) -> String {
        self.send(body.as_ref());
        self.packet()
    }

    fn without_acknowledgements(mut self) -> Self {
        self.send(b"QStartNoAckMode");
        self.hear(b"+$OK#9a");
        self
    }

    /// A command of the monitor, and what it printed.
    fn monitor(&mut self, command: &str) -> String {
        let digits: String = command.bytes().map(|byte| format!("{byte:02x}")).collect();
        let mut answer = self.ask(format!("qRcmd,{digits}"));
        let mut printed = String::new();
        while let Some(digits) = answer.strip_prefix('O').filter(|rest| *rest != "K") {
            let bytes = digits.as_bytes().chunks(2).map(|pair| {
                let pair = std::str::from_utf8(pair).unwrap();
                u8::from_str_radix(pair, 16).unwrap()
            });
            printed += &String::from_utf8(bytes.collect()).unwrap();
            answer = self.packet();
        }
        assert_eq!(answer, "OK", "{printed}");
        printed
    }
}

const BRIDGE: [&str; 5] = ["d0", "--gdb", "0", "--chip", "target/stm32f0x.cfg"];

const FLASH: u32 = 0x0800_0000;

/// Its stack begins here, and its first instruction is this one.
const STACK: u32 = 0x2000_1000;
const START: u32 = FLASH + 0x10;

/// Where it counts, and the instruction behind the one that writes there.
const COUNTER: u32 = 0x2000_0000;
const COUNTED: u32 = START + 8;

/// Vectors, then movs r0,#32; lsls r0,r0,#24; movs r1,#0; str r1,[r0]; adds r1,#1; b to the store.
fn program() -> Vec<u8> {
    let vectors = [STACK, START | 1, START | 1, START | 1].map(u32::to_le_bytes);
    let code = [0x2020_u16, 0x0600, 0x2100, 0x6001, 0x3101, 0xe7fc].map(u16::to_le_bytes);
    [vectors.as_flattened(), code.as_flattened()].concat()
}

/// A register's value as packets have it.
fn digits(value: u32) -> String {
    format!("{:08x}", value.swap_bytes())
}

#[test]
fn a_program_is_loaded_watched_restarted_and_left_running() {
    let bench = bench();
    let connected = Connected::start(&bench.server, &BRIDGE);
    let mut client = Client(connected.open("gdb"));
    // What does not arrive whole, and what cannot be understood.
    client.0.write_all(b"$pd#ff").unwrap();
    client.hear(b"-");
    client.send(b"mxyz,4");
    client.hear(b"+$E01#a6");
    let mut client = client.without_acknowledgements();
    assert_eq!(client.ask(format!("vFlashErase:{FLASH:x},400")), "OK");
    let begin = format!("vFlashWrite:{FLASH:x}:");
    assert_eq!(client.ask([begin.as_bytes(), &program()].concat()), "OK");
    assert_eq!(client.ask("vFlashDone"), "OK");
    // As after a reset: stack pointers and program counter are those of the new vectors.
    for register in ["pd", "p11"] {
        assert_eq!(client.ask(register), digits(STACK), "{register}");
    }
    assert_eq!(client.ask("pf"), digits(START));
    // GDB sets it by itself.
    assert_eq!(client.ask(format!("Pf={}", digits(START))), "OK");
    let all = client.ask("g");
    assert_eq!(all[13 * 8..14 * 8], digits(STACK));
    assert_eq!(all[15 * 8..16 * 8], digits(START));
    // The core has two watchpoints.
    for place in [COUNTER, COUNTER + 0x100] {
        assert_eq!(client.ask(format!("Z2,{place:x},4")), "OK");
    }
    assert!(client.ask("Z2,20000200,4").starts_with('E'));
    assert_eq!(client.ask("mxyz,4"), "E01");
    let stopped = client.ask("vCont;c");
    assert!(
        stopped.contains(&format!("watch:{COUNTER:x};")),
        "{stopped}"
    );
    assert_eq!(client.ask("pf"), digits(COUNTED));
    for place in [COUNTER, COUNTER + 0x100] {
        assert_eq!(client.ask(format!("z2,{place:x},4")), "OK");
    }
    // The monitor lets it run, and GDB waits for it from then on.
    for _ in 0..3 {
        let printed = client.monitor("reset run");
        assert!(printed.contains("The core runs."), "{printed}");
        client.send(b"vCont;c");
        client.0.write_all(&[3]).unwrap();
        assert_eq!(client.packet(), "S02");
    }
    assert!(client.monitor("reset run").contains("runs"));
    assert!(client.monitor("halt").contains("halted"));
    assert_eq!(client.ask("Z1,8000010,2"), "OK");
    assert!(client.monitor("reset run").contains("runs"));
    assert_eq!(client.ask("vCont;c"), "S05");
    assert_eq!(client.ask("pf"), digits(START));
    assert_eq!(client.ask("D"), "OK");
    connected.stop();
}

#[test]
fn a_second_gdb_hears_why_it_is_sent_away() {
    let bench = bench();
    let args = [&BRIDGE[..], &["--dap", "0"]].concat();
    let mut connected = Connected::start(&bench.server, &args);
    let mut first = Client(connected.open("gdb")).without_acknowledgements();
    let mut second = Client(connected.open("gdb"));
    second.send(b"qSupported:multiprocess+");
    second.hear(b"+");
    let why = "there is a client already, and room for no other";
    assert_eq!(second.packet(), format!("E.hostd: {why}"));
    assert!(is_cut(&mut second.0));
    connected.hear("gdb: sent away 127.0.0.1:");
    connected.hear(why);
    assert_eq!(first.ask("D"), "OK");
    // So does one that comes while the probe has another client.
    let mut probe = connected.open("dap");
    probe.write_all(b"DAP\0\x02\x00\x01\x00\x00\xff").unwrap();
    probe.read_exact(&mut [0; 8]).unwrap();
    let mut third = Client(connected.open("gdb"));
    third.hear(b"+");
    let told = third.packet();
    assert!(told.contains("a client of --dap has it"), "{told}");
    connected.stop();
    // And one whose target is another chip.
    let args = ["d0", "--gdb", "0", "--chip", "nRF51822_xxAA"];
    let connected = Connected::start(&bench.server, &args);
    let mut client = Client(connected.open("gdb"));
    client.hear(b"+");
    let told = client.packet();
    assert!(
        told.contains("failed to begin to debug: the target is "),
        "{told}"
    );
    connected.stop();
}
