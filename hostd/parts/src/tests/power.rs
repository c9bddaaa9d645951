//! The supply: settings and what it gives, refusals, silence, and how it comes back; a relay, and programs.

use base::config::PowerPart;
use pod_protocol::{Refusal, RefusalKind};
use serde_json::{Value, json};
use tests::Supply;
use tokio::time::{Duration, Instant, sleep};

use super::bench::{LONG, Line, bench, lacks};
use super::port::Port;

fn scpi(supply: &Supply, voltage_mv: u32) -> PowerPart {
    PowerPart::Scpi {
        address: format!("tcp:127.0.0.1:{}", supply.port()),
        voltage_mv: Some(voltage_mv),
        limit_ma: Some(500),
        select: None,
    }
}

fn switch(on: bool) -> Value {
    json!({"cmd": "target_power", "efuse": 1, "state": u8::from(on)})
}

#[tokio::test]
async fn a_supply_is_set_switched_and_read_back() {
    let supply = Supply::start();
    let bench = bench(None, None, Some(scpi(&supply, 3300)));
    let mut line = Line::to(&bench).await;
    assert_eq!(line.status().await["caps"], json!(["command", "power"]));
    let read = json!({"cmd": "power_status"});
    let before = line.ask(read.clone()).await.unwrap();
    assert_eq!(
        before["internal"],
        json!({"ok": true, "bus_mv": 0, "current_ua": 0})
    );

    let on = line.ask(switch(true)).await.unwrap();
    assert_eq!(on, json!({"efuse": 1, "enabled": 1, "delay_ms": 0}));
    let state = supply.state();
    assert!(
        state.is_on && (state.volts, state.amps_max) == (3.3, 0.5),
        "{state:?}"
    );
    // The voltage is right before it is on.
    assert_eq!(state.told, ["*CLS", "VOLT 3.300", "CURR 0.500", "OUTP ON"]);
    let given = line.ask(read).await.unwrap();
    assert_eq!(
        given["internal"],
        json!({"ok": true, "bus_mv": 3300, "current_ua": 33_000})
    );
    assert_eq!(given["external"]["ok"], false);
    let status = json!({"cmd": "target_status"});
    assert_eq!(
        line.ask(status.clone()).await.unwrap()["efuse1"]["enabled"],
        1
    );

    line.ask(switch(false)).await.unwrap();
    assert!(!supply.state().is_on);
    // Its own button is noticed.
    supply.press(true);
    let until = Instant::now() + LONG;
    while line.ask(status.clone()).await.unwrap()["efuse1"]["enabled"] != 1 {
        assert!(Instant::now() < until, "it is not noticed");
        sleep(Duration::from_millis(20)).await;
    }
    let other = line
        .ask(json!({"cmd": "target_power", "efuse": 2, "state": 0}))
        .await;
    assert!(other.unwrap_err().contains("one supply"));
}

#[tokio::test]
async fn a_later_switch_is_replaced_by_the_next() {
    let supply = Supply::start();
    let bench = bench(None, None, Some(scpi(&supply, 3300)));
    let mut line = Line::to(&bench).await;
    let later = |on: bool, delay_ms: u32| json!({"cmd": "target_power", "efuse": 1, "state": on, "delay_ms": delay_ms});
    line.ask(later(true, 300)).await.unwrap();
    line.ask(switch(false)).await.unwrap();
    sleep(Duration::from_millis(600)).await;
    assert!(!supply.state().is_on);
    let began = Instant::now();
    line.ask(later(true, 1_000)).await.unwrap();
    while !supply.state().is_on {
        assert!(began.elapsed() < LONG, "it is never on");
        sleep(Duration::from_millis(10)).await;
    }
    assert!(began.elapsed() >= Duration::from_secs(1));
}

#[tokio::test]
async fn what_a_supply_does_not_want_is_refused_and_the_supply_stays() {
    let supply = Supply::start();
    let bench = bench(None, None, Some(scpi(&supply, 45_000)));
    let mut line = Line::to(&bench).await;
    let refused = line.ask(switch(true)).await.unwrap_err();
    assert!(
        refused.contains("VOLT 45.000") && refused.contains("out of range"),
        "{refused}"
    );
    assert!(!supply.state().is_on);
    assert_eq!(line.status().await["missing"], json!([]));
    line.ask(switch(false)).await.unwrap();
}

#[tokio::test]
async fn a_supply_that_dies_is_away_until_it_is_back() {
    let dir = tempfile::tempdir().unwrap();
    let link = dir.path().join("console");
    let _console = Port::plug(&link);
    let uart = base::config::UartPart {
        path: link.display().to_string(),
        parity: base::config::Parity::None,
    };
    let mut supply = Supply::start();
    let bench = bench(None, Some(uart), Some(scpi(&supply, 3300)));
    let mut line = Line::to(&bench).await;
    line.ask(switch(true)).await.unwrap();
    supply.stop();
    // Whoever drives it hears of it at once.
    tokio::time::timeout(LONG, bench.changed()).await.unwrap();
    line.until(|status| lacks(status, "power")).await;
    // To be safe, it must still be switched off.
    let refused = Refusal::new(line.ask(switch(false)).await.unwrap_err());
    let expected = RefusalKind::MissingPart {
        part: "power".to_owned(),
        is_away: true,
    };
    assert_eq!(refused.kind, expected, "{refused}");
    let supply = Supply::on(supply.port());
    line.until(|status| !lacks(status, "power")).await;
    line.ask(switch(true)).await.unwrap();
    assert!(supply.state().is_on);
    // One that hangs is as bad.
    supply.hang();
    line.until(|status| lacks(status, "power")).await;
}

#[tokio::test]
async fn a_bench_without_a_part_refuses_with_its_name() {
    let supply = Supply::start();
    let bench = bench(None, None, Some(scpi(&supply, 3300)));
    let mut line = Line::to(&bench).await;
    for (request, part) in [
        (json!({"cmd": "uart_proxy_start", "rx": 1, "tx": 2}), "uart"),
        (json!({"cmd": "dap_start", "swclk": 1, "swdio": 2}), "probe"),
        (json!({"cmd": "nrst", "pulse_ms": 5}), "probe"),
    ] {
        let refused = Refusal::new(line.ask(request).await.unwrap_err());
        let expected = RefusalKind::MissingPart {
            part: part.to_owned(),
            is_away: false,
        };
        assert_eq!(refused.kind, expected, "{refused}");
    }
    let unknown = line.ask(json!({"cmd": "spi_stop"})).await.unwrap_err();
    assert_eq!(Refusal::new(unknown).kind, RefusalKind::UnknownCommand);
    let level = line.ask(json!({"cmd": "la_voltage"})).await.unwrap();
    assert_eq!(level["mv"], 3300);
    assert!(
        line.ask(json!({"cmd": "la_voltage", "mv": 1800}))
            .await
            .is_err()
    );
    for wrong in ["[]", "{\"cmd\":5}", "{}", "x"] {
        line.0.write(wrong.as_bytes().to_vec()).await.unwrap();
        let reply = line.0.read().await.unwrap().unwrap();
        assert!(
            String::from_utf8_lossy(reply).contains("\"status\":\"error\""),
            "{wrong}"
        );
    }
}

#[tokio::test]
async fn a_relay_hears_its_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let link = dir.path().join("relay");
    let port = Port::plug(&link);
    let relay = PowerPart::Relay {
        path: link.display().to_string(),
        baud: 9600,
        on: "A00101A2".to_owned(),
        off: "a00100a1".to_owned(),
    };
    let bench = bench(None, None, Some(relay));
    let mut line = Line::to(&bench).await;
    line.ask(switch(true)).await.unwrap();
    assert_eq!(port.hear(4).await, [0xA0, 1, 1, 0xA2]);
    assert_eq!(port.settings().output_speed(), 9600);
    line.ask(switch(false)).await.unwrap();
    assert_eq!(port.hear(4).await, [0xA0, 1, 0, 0xA1]);
    let read = line.ask(json!({"cmd": "power_status"})).await.unwrap();
    assert_eq!(read["internal"]["ok"], false);
}

#[tokio::test]
async fn a_program_switches_and_its_failure_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("on");
    let command = PowerPart::Command {
        on: vec!["touch".to_owned(), file.display().to_string()],
        off: vec!["rm".to_owned(), file.display().to_string()],
    };
    let bench = bench(None, None, Some(command));
    let mut line = Line::to(&bench).await;
    line.ask(switch(true)).await.unwrap();
    assert!(file.exists());
    let status = line.ask(json!({"cmd": "target_status"})).await.unwrap();
    assert_eq!(
        status["efuse1"],
        json!({"enabled": 1, "fault": 0, "valid": 1})
    );
    line.ask(switch(false)).await.unwrap();
    assert!(!file.exists());
    let failed = line.ask(switch(false)).await.unwrap_err();
    assert!(
        failed.starts_with("rm failed") && failed.contains("No such file"),
        "{failed}"
    );
}
