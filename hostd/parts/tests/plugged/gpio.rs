//! Lines of a GPIO chip, those of a serial adapter: switched, read back, held by others, and gone.

use std::fs::File;

use base::config::{DeviceConfig, GpioLine, Parity, PowerPart, UartPart};
use gpiocdev_uapi::v2::{self, LineRequest};
use parts::scan::GpioChip;
use serde_json::json;
use tokio::time::{Instant, sleep};
use usb_sim::Attached;
use usb_sim::cp210x::{Board, Cp2104, IDS, LINES};

use super::found::{place, until};
use super::line::{lost, switch};
use super::serial::echoed;
use super::*;

pub(crate) const CASES: &[Case] = &[
    (
        "a_line_is_switched_and_read_back",
        a_line_is_switched_and_read_back,
    ),
    (
        "a_chip_is_found_by_all_its_names",
        a_chip_is_found_by_all_its_names,
    ),
    (
        "a_line_stays_when_a_bench_ends",
        a_line_stays_when_a_bench_ends,
    ),
    (
        "a_line_that_is_only_pulled_low",
        a_line_that_is_only_pulled_low,
    ),
    (
        "a_line_that_does_not_follow_is_told",
        a_line_that_does_not_follow_is_told,
    ),
    (
        "a_line_of_somebody_else_is_told",
        a_line_of_somebody_else_is_told,
    ),
    ("lines_that_are_not_there", lines_that_are_not_there),
    (
        "an_unplugged_chip_is_away_until_it_is_back",
        an_unplugged_chip_is_away_until_it_is_back,
    ),
    (
        "one_adapter_is_console_and_power",
        one_adapter_is_console_and_power,
    ),
];

/// The adapter of the tests.
const CHIP: &str = "usb:10c4:ea60:A1";

/// How soon a bench notices what became of its line: it looks every second.
const NOTICED_WITHIN: Duration = Duration::from_secs(10);

fn power(chip: &str, line: u32) -> PowerPart {
    PowerPart::Gpio {
        chip: chip.to_owned(),
        line: GpioLine::Number(line),
        active_low: false,
        open_drain: false,
    }
}

fn on(power: PowerPart) -> Arc<dyn Transport> {
    bench(DeviceConfig {
        power: Some(power),
        ..DeviceConfig::default()
    })
}

/// An adapter that the kernel has found, once no other is there.
struct Plugged {
    board: Board,
    /// What the kernel calls its chip now. Numbers are not used again while somebody has a line of what was unplugged.
    name: String,
    attached: Attached,
}

impl Plugged {
    async fn new(adapter: Cp2104) -> Self {
        until("gone", async || chips().await.is_empty()).await;
        let board = adapter.board();
        let attached = Attached::new(adapter).unwrap();
        until("found", async || !chips().await.is_empty()).await;
        Self {
            board,
            name: chips().await.remove(0).name,
            attached,
        }
    }

    /// How errors tell it.
    fn told(&self) -> String {
        format!("the GPIO chip /dev/{} (cp210x)", self.name)
    }
}

async fn chips() -> Vec<GpioChip> {
    parts::scan::plugged().await.unwrap().chips
}

/// A connection to a bench whose parts are there.
async fn ready(bench: &Arc<dyn Transport>) -> Line {
    let mut line = Line::to(bench).await;
    line.until_missing(&[]).await;
    line
}

fn a_line_is_switched_and_read_back() {
    run(async {
        let plugged = Plugged::new(Cp2104::new("A1")).await;
        let board = &plugged.board;
        let bench = on(power(CHIP, 2));
        let mut line = ready(&bench).await;
        let status = line.ask(json!({"cmd": "status"})).await;
        assert_eq!(status["caps"], json!(["command", "power"]));
        // It is as the chip has it after a reset, and opening it changes nothing.
        assert!(line.is_on().await);
        assert_eq!(board.levels(), [true; LINES as usize]);
        for _ in 0..3 {
            line.ask(switch(false)).await;
            assert_eq!(board.levels(), [true, true, false, true]);
            assert!(!line.is_on().await);
            line.ask(switch(true)).await;
            assert_eq!(board.levels(), [true; LINES as usize]);
            assert!(line.is_on().await);
        }
        // What becomes of it without this bench is noticed.
        board.hold_low(2, true);
        until("noticed", async || !line.is_on().await).await;
        // Another bench has another line, the other way round.
        let other = on(PowerPart::Gpio {
            chip: CHIP.to_owned(),
            line: GpioLine::Number(0),
            active_low: true,
            open_drain: false,
        });
        let mut other = ready(&other).await;
        assert!(!other.is_on().await);
        other.ask(switch(true)).await;
        assert_eq!(board.levels(), [false, true, false, true]);
        assert!(other.is_on().await);
    });
}

fn a_chip_is_found_by_all_its_names() {
    run(async {
        let plugged = Plugged::new(Cp2104::new("A1")).await;
        let (board, port) = (&plugged.board, place(&plugged.attached, IDS).await);
        for (at, chip) in [
            &format!("/dev/{}", plugged.name),
            &plugged.name,
            "cp210x",
            "usb:10c4:ea60",
            CHIP,
            &format!("usb:port={port}"),
        ]
        .into_iter()
        .enumerate()
        {
            let is_on = at % 2 == 1;
            let bench = on(power(chip, 1));
            ready(&bench).await.ask(switch(is_on)).await;
            assert_eq!(board.levels()[1], is_on, "{chip}");
        }
        let [found] = &chips().await[..] else {
            panic!("there is one chip");
        };
        assert_eq!(
            (found.address().as_str(), found.usb_port()),
            (CHIP, Some(&*port))
        );
        assert_eq!(found.lines.as_ref().unwrap().len(), usize::from(LINES));
        // With a second one, the label is that of both.
        let second = Attached::new(Cp2104::new("A2")).unwrap();
        until("found", async || chips().await.len() == 2).await;
        lost(
            &on(power("cp210x", 1)),
            "cp210x means 2 GPIO chips, gpiochip",
        )
        .await;
        ready(&on(power(CHIP, 1))).await;
        drop(plugged.attached);
        let gone = format!("the GPIO chip {CHIP} is not plugged in");
        lost(&on(power(CHIP, 1)), &gone).await;
        drop(second);
    });
}

fn a_line_stays_when_a_bench_ends() {
    run(async {
        let plugged = Plugged::new(Cp2104::new("A1")).await;
        let board = &plugged.board;
        for is_on in [false, true, false] {
            let bench = on(power(CHIP, 3));
            let mut line = ready(&bench).await;
            line.ask(switch(is_on)).await;
            drop((line, bench));
            // Let go of, by a thread that may take its time.
            until("free", async || request(&plugged, 3, "x").is_ok()).await;
            assert_eq!(board.levels()[3], is_on);
            let next = on(power(CHIP, 3));
            assert_eq!(ready(&next).await.is_on().await, is_on);
            assert_eq!(board.levels()[3], is_on);
        }
    });
}

fn a_line_that_is_only_pulled_low() {
    run(async {
        let plugged = Plugged::new(Cp2104::with_open_drain("A1")).await;
        let board = &plugged.board;
        let bench = on(PowerPart::Gpio {
            chip: CHIP.to_owned(),
            line: GpioLine::Number(1),
            active_low: true,
            open_drain: true,
        });
        let mut line = ready(&bench).await;
        assert!(!line.is_on().await, "nobody pulls it low");
        line.ask(switch(true)).await;
        assert!(!board.levels()[1] && line.is_on().await);
        line.ask(switch(false)).await;
        assert!(board.levels()[1] && !line.is_on().await);
    });
}

fn a_line_that_does_not_follow_is_told() {
    run(async {
        let plugged = Plugged::new(Cp2104::new("A1")).await;
        let board = &plugged.board;
        let bench = on(power(CHIP, 2));
        let mut line = ready(&bench).await;
        board.hold_low(2, true);
        let refusal = line.reply(&switch(true)).await.unwrap_err();
        let wanted = "was switched on, and does not read so: something else holds it";
        assert!(refusal.contains(wanted), "{refusal}");
        // It is still there.
        line.until_missing(&[]).await;
        board.hold_low(2, false);
        line.ask(switch(true)).await;
        assert!(line.is_on().await);
    });
}

/// Takes a line as it is, as another program does, until this is dropped.
fn request(plugged: &Plugged, line: u32, user: &str) -> Result<File, v2::Error> {
    let chip = File::open(format!("/dev/{}", plugged.name)).unwrap();
    let mut request = LineRequest {
        consumer: user.into(),
        num_lines: 1,
        ..LineRequest::default()
    };
    request.offsets.set(0, line);
    v2::get_line(&chip, request)
}

fn a_line_of_somebody_else_is_told() {
    run(async {
        let plugged = Plugged::new(Cp2104::new("A1")).await;
        let held = request(&plugged, 0, "boiler").unwrap();
        let bench = on(power(CHIP, 0));
        let told = format!("power: line 0 of {} is used by `boiler`", plugged.told());
        lost(&bench, &told).await;
        drop(held);
        ready(&bench).await;
        // Two benches of one server cannot share it either.
        lost(&on(power(CHIP, 0)), "is used by `hostd`").await;
        assert!(request(&plugged, 0, "x").is_err());
    });
}

fn lines_that_are_not_there() {
    run(async {
        let plugged = Plugged::new(Cp2104::new("A1")).await;
        let chip = format!("power: {}", plugged.told());
        let told = format!("{chip} has no line 4: its 4 lines are counted from 0");
        lost(&on(power(CHIP, 4)), &told).await;
        let bench = on(PowerPart::Gpio {
            chip: CHIP.to_owned(),
            line: GpioLine::Name("RELAY".to_owned()),
            active_low: false,
            open_drain: false,
        });
        lost(&bench, &format!("{chip} has no line of the name RELAY")).await;
        // Its lines cannot be let go of, whatever the configuration wants.
        let bench = on(PowerPart::Gpio {
            chip: CHIP.to_owned(),
            line: GpioLine::Number(1),
            active_low: false,
            open_drain: true,
        });
        let mut line = ready(&bench).await;
        let refusal = line.reply(&switch(true)).await.unwrap_err();
        assert!(
            refusal.contains("cannot be driven with open_drain = true"),
            "{refusal}"
        );
        line.until_missing(&[]).await;
    });
}

fn an_unplugged_chip_is_away_until_it_is_back() {
    run(async {
        let plugged = Plugged::new(Cp2104::new("A1")).await.attached;
        let (port, mut plugged) = (plugged.port(), Some(plugged));
        let bench = on(power(CHIP, 2));
        // Soon after a look, between two, and just before the next.
        for pause_ms in [0, 300, 900] {
            let mut line = ready(&bench).await;
            line.ask(switch(false)).await;
            sleep(Duration::from_millis(pause_ms)).await;
            drop(plugged.take());
            let began = Instant::now();
            let refusal = loop {
                match line.reply(&switch(true)).await {
                    Err(refusal) => break refusal,
                    Ok(_) => assert!(began.elapsed() < NOTICED_WITHIN),
                }
            };
            println!(
                "an unplugged chip is noticed after {:?}: {refusal}",
                began.elapsed()
            );
            // It is the bench's only part.
            line.ends().await;
            lost(
                &bench,
                &format!("power: the GPIO chip {CHIP} is not plugged in"),
            )
            .await;
            assert!(began.elapsed() < NOTICED_WITHIN, "{:?}", began.elapsed());
            let adapter = Cp2104::new("A1");
            let board = adapter.board();
            plugged = Some(Attached::at(port, adapter).unwrap());
            let mut line = ready(&bench).await;
            // As the chip is after a reset.
            assert!(line.is_on().await);
            line.ask(switch(false)).await;
            assert_eq!(board.levels(), [true, true, false, true]);
        }
    });
}

fn one_adapter_is_console_and_power() {
    run(async {
        let plugged = Plugged::new(Cp2104::new("A1")).await;
        let board = &plugged.board;
        let bench = bench(DeviceConfig {
            power: Some(power(CHIP, 0)),
            uart: Some(UartPart {
                path: "/dev/ttyUSB0".to_owned(),
                parity: Parity::None,
            }),
            ..DeviceConfig::default()
        });
        let mut console = ready(&bench).await;
        console
            .ask(json!({"cmd": "uart_proxy_start", "rx": 5, "tx": 4, "baud": 115_200}))
            .await;
        let mut line = ready(&bench).await;
        for is_on in [false, true, false] {
            line.ask(switch(is_on)).await;
            assert_eq!(board.levels()[0], is_on);
            echoed(&mut console, b"still here").await;
        }
        drop(plugged.attached);
        console.ends().await;
        lost(&bench, "power: the GPIO chip").await;
    });
}
