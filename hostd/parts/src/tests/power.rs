//! The supply: settings and what it gives, refusals, silence, and how it comes back; a relay, and programs.

use base::config::{PowerPart, ScpiDialect};
use pod_protocol::{Refusal, RefusalKind};
use serde_json::{Value, json};
use tests::Supply;
use tests::supply::{Commands, Manner};
use tokio::time::{Duration, Instant, sleep};

use super::bench::{LONG, Line, bench, lacks};
use super::port::Port;

fn scpi(supply: &Supply, voltage_mv: u32) -> PowerPart {
    PowerPart::Scpi {
        address: format!("tcp:127.0.0.1:{}", supply.port()),
        voltage_mv: Some(voltage_mv),
        limit_ma: Some(500),
        select: None,
        dialect: None,
        channel: None,
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

/// Switches on, looks and switches off again.
async fn is_used(manner: Manner, power: impl FnOnce(&Supply) -> PowerPart, told: &[&str]) {
    let supply = Supply::talking(manner);
    let bench = bench(None, None, Some(power(&supply)));
    let mut line = Line::to(&bench).await;
    line.ask(switch(true)).await.unwrap();
    let state = supply.state();
    assert!(state.is_on, "{manner:?}: {:?}", state.told);
    assert_eq!((state.volts, state.amps_max), (3.3, 0.5), "{manner:?}");
    assert_eq!(state.told, told, "{manner:?}");
    let given = line.ask(json!({"cmd": "power_status"})).await.unwrap();
    let expected = json!({"ok": true, "bus_mv": 3300, "current_ua": 33_000});
    assert_eq!(given["internal"], expected, "{manner:?}");
    line.ask(switch(false)).await.unwrap();
    assert!(!supply.state().is_on, "{manner:?}");
    assert_eq!(line.status().await["missing"], json!([]), "{manner:?}");
}

#[tokio::test]
async fn no_error_is_none_however_it_is_said() {
    let plain = ["*CLS", "VOLT 3.300", "CURR 0.500", "OUTP ON"];
    for (no_error, line_end) in [
        ("0  No Error", "\n"),
        ("0,No error", "\r\n"),
        ("+0,\"No error\"", "\n\r"),
        ("0", "\r"),
        ("No error", "\0\n"),
        ("0,'No Error'", "\n\n"),
    ] {
        let manner = Manner {
            no_error,
            line_end,
            ..Manner::default()
        };
        is_used(manner, |supply| scpi(supply, 3300), &plain).await;
    }
}

#[tokio::test]
async fn a_supply_is_told_in_its_own_words() {
    let siglent = Manner {
        identity: "Siglent Technologies,SPD3303X-E,SPD3XID1R0001,1.01.01.02.05,V3.0",
        commands: Commands::Siglent,
        no_error: "0  No Error",
        line_end: "\n",
        ..Manner::default()
    };
    let told = ["CH1:VOLT 3.300", "CH1:CURR 0.500", "OUTP CH1,ON"];
    is_used(siglent, |supply| scpi(supply, 3300), &told).await;
    let rigol = Manner {
        identity: "RIGOL TECHNOLOGIES,DP832,DP8C1,00.01.14",
        commands: Commands::Rigol,
        ..Manner::default()
    };
    let told = [
        "*CLS",
        "SOUR1:VOLT 3.300",
        "SOUR1:CURR 0.500",
        "OUTP CH1,ON",
    ];
    is_used(rigol, |supply| scpi(supply, 3300), &told).await;
    // One that calls itself otherwise is told in the words of the configuration.
    let renamed = Manner {
        identity: "ACME,PSU,0,1.0",
        ..siglent
    };
    let told = ["CH1:VOLT 3.300", "CH1:CURR 0.500", "OUTP CH1,ON"];
    let in_words = |supply: &Supply| match scpi(supply, 3300) {
        PowerPart::Scpi {
            address,
            voltage_mv,
            limit_ma,
            ..
        } => PowerPart::Scpi {
            address,
            voltage_mv,
            limit_ma,
            select: None,
            dialect: Some(ScpiDialect::Siglent),
            channel: Some(1),
        },
        other => other,
    };
    is_used(renamed, in_words, &told).await;
}

#[tokio::test]
async fn a_supply_whose_errors_cannot_be_read_is_away_and_says_why() {
    for (error_always, why) in [
        ("what?", "the supply answered `what?` to SYST:ERR?"),
        ("-350,\"Queue overflow\"", "still tells of errors"),
    ] {
        let supply = Supply::talking(Manner {
            error_always: Some(error_always),
            ..Manner::default()
        });
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("console");
        let _console = Port::plug(&link);
        let uart = base::config::UartPart {
            path: link.display().to_string(),
            parity: base::config::Parity::None,
        };
        let bench = bench(None, Some(uart), Some(scpi(&supply, 3300)));
        let mut line = Line::to(&bench).await;
        // However often it is tried again, it does not seem to be there in between.
        let mut opened = 0;
        while opened < 3 {
            let status = line.status().await;
            let missing = &status["missing"][0];
            assert_eq!(missing["part"], "power", "{status}");
            let reason = missing["reason"].as_str().unwrap();
            assert!(reason.contains(why), "{reason}");
            let told = supply.state().told;
            opened = told.iter().filter(|told| *told == "*CLS").count();
            sleep(Duration::from_millis(20)).await;
        }
    }
}

#[tokio::test]
async fn a_supply_that_cannot_be_switched_off_is_not_taken_for_safe() {
    let supply = Supply::talking(Manner {
        stays_on: true,
        ..Manner::default()
    });
    let bench = bench(None, None, Some(scpi(&supply, 3300)));
    let mut line = Line::to(&bench).await;
    line.ask(switch(true)).await.unwrap();
    let refused = Refusal::new(line.ask(switch(false)).await.unwrap_err());
    let expected = RefusalKind::MissingPart {
        part: "power".to_owned(),
        is_away: true,
    };
    assert_eq!(refused.kind, expected, "{refused}");
    assert!(refused.text.contains("Settings conflict"), "{refused}");
    supply.obey();
    line.ask(switch(false)).await.unwrap();
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
        failed.contains("rm failed") && failed.contains("No such file"),
        "{failed}"
    );
}
