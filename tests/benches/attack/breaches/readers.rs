//! Pages that are expensive to make, for readers who leave: the server goes on for nobody, or has no place for others.

use std::io::Write;
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::breach::{Breach, Ground, Length, Seen, build};

/// Readers who ask and leave, and how long each of them stays.
const READERS: usize = 12;
const STAY: Duration = Duration::from_millis(500);

/// An honest reader's longest wait for a log of a line, beside them and after them.
const HONEST_WAIT_MAX: Duration = Duration::from_secs(5);

/// After the last one has left, the server has this long to notice, and then may take so much of a processor.
const GRACE: Duration = Duration::from_secs(2);
const WATCH: Duration = Duration::from_secs(2);
const BUSY_MAX: f64 = 0.5;

/// 100,000 cases of one name, in five files.
const CASES: &str = "mkdir r
    (echo '<testsuite>'; yes '<testcase/>' | head -n 20000; echo '</testsuite>') > r/0.xml
    for n in 1 2 3 4; do cp r/0.xml r/$n.xml; done";

/// Readers of a large page who do not wait for it.
pub(crate) struct Readers;

impl Breach for Readers {
    fn name(&self) -> &'static str {
        "job-readers"
    }

    fn does(&self) -> &'static str {
        "12 readers of junit.xml with 100,000 cases of one name, each of whom leaves after half a second"
    }

    fn run(&self, ground: &Ground, _: Length, seen: &mut Seen) -> Result<()> {
        let text = build("disk: 256MiB", CASES) + "        junit: r/*.xml\n";
        let large = ground.submit(&ground.other, &text)?;
        ground.ended(&ground.other, &large)?;
        let small = ground.submit(&ground.honest, &build("disk: 64MiB", "echo fine"))?;
        ground.ended(&ground.honest, &small)?;
        let site = &ground.host.site;
        let head = format!(
            "GET /api/jobs/{large}/junit.xml HTTP/1.1\r\nhost: hostd\r\nauthorization: {}\r\n\r\n",
            site.stranger
        );
        let mut slowest = Duration::ZERO;
        let mut read = |seen: &mut Seen| -> Result<()> {
            let begun = Instant::now();
            let log = ground.honest.get(&format!("/api/jobs/{small}/log"))?;
            slowest = slowest.max(begun.elapsed());
            seen.expect(log.status == 200, format!("a log is refused: {}", log.text));
            Ok(())
        };
        for _ in 0..READERS {
            let mut reader = TcpStream::connect(site.address).context("connect")?;
            reader.write_all(head.as_bytes())?;
            read(seen)?;
            thread::sleep(STAY);
        }
        read(seen)?;
        thread::sleep(GRACE);
        let pid = ground.host.server.pid();
        let before = processor_s(pid)?;
        thread::sleep(WATCH);
        let busy = (processor_s(pid)? - before) / WATCH.as_secs_f64();
        seen.note(format!(
            "slowest honest read {:.0} ms; {:.0} % of a processor after they have left",
            slowest.as_secs_f64() * 1e3,
            busy * 100.0
        ));
        seen.expect(
            slowest < HONEST_WAIT_MAX,
            format!("a log took {slowest:?}; {HONEST_WAIT_MAX:?} are allowed"),
        );
        seen.expect(busy < BUSY_MAX, "pages are made for readers who have left");
        Ok(())
    }
}

/// Processor time of a process so far, in seconds. Linux counts it in hundredths for programs, whatever it counts in itself.
fn processor_s(pid: u32) -> Result<f64> {
    let stat =
        std::fs::read_to_string(format!("/proc/{pid}/stat")).context("the server has ended")?;
    let (_, fields) = stat.rsplit_once(')').context("a name in parentheses")?;
    let ticks: Result<Vec<f64>, _> = fields
        .split_whitespace()
        .skip(11)
        .take(2)
        .map(str::parse)
        .collect();
    Ok(ticks?.iter().sum::<f64>() / 100.0)
}
