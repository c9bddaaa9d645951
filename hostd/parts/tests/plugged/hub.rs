//! A hub whose ports are switched: by the kernel as it finds it, and then by a bench.

use base::config::{DeviceConfig, PowerPart};
use serde_json::json;
use tokio::time::{Instant, sleep};
use usb_sim::Attached;
use usb_sim::hub::{Hub, IDS};

use super::found::{place, until};
use super::line::{lost, switch};
use super::*;

pub(crate) const CASES: &[Case] = &[
    (
        "a_port_is_switched_and_read_back",
        a_port_is_switched_and_read_back,
    ),
    (
        "an_unplugged_hub_is_away_until_it_is_back",
        an_unplugged_hub_is_away_until_it_is_back,
    ),
    (
        "a_port_that_is_not_there_is_named",
        a_port_that_is_not_there_is_named,
    ),
    (
        "a_hub_without_switches_is_told",
        a_hub_without_switches_is_told,
    ),
    (
        "a_device_that_is_no_hub_is_told",
        a_device_that_is_no_hub_is_told,
    ),
];

/// Ports of the simulated hub.
const PORTS: u8 = 4;

/// Numbers of the simulated pod.
const POD_IDS: (u16, u16) = (0x1209, 0x0001);

/// How soon a bench notices what became of its hub: it looks every second.
const NOTICED_WITHIN: Duration = Duration::from_secs(10);

fn on(hub: &str, port: u8) -> Arc<dyn Transport> {
    bench(DeviceConfig {
        power: Some(PowerPart::Hub {
            hub: hub.to_owned(),
            port,
        }),
        ..DeviceConfig::default()
    })
}

fn a_port_is_switched_and_read_back() {
    run(async {
        let hub = Hub::new(PORTS);
        let ports = hub.ports();
        assert_eq!(ports.powered(), [false; PORTS as usize]);
        let plugged = Attached::new(hub).unwrap();
        let place = place(&plugged, IDS).await;
        // Its driver in the kernel does that, as it does with every hub.
        until("switched on by the kernel", async || {
            ports.powered() == [true; 4]
        })
        .await;
        let bench = on(&place, 3);
        let mut line = Line::to(&bench).await;
        let status = line.until_missing(&[]).await;
        assert_eq!(status["caps"], json!(["command", "power"]));
        assert!(line.is_on().await, "it reads what the kernel did");
        for _ in 0..3 {
            line.ask(switch(false)).await;
            assert_eq!(ports.powered(), [true, true, false, true]);
            assert!(!line.is_on().await);
            line.ask(switch(true)).await;
            assert_eq!(ports.powered(), [true; 4]);
            assert!(line.is_on().await);
        }
        // Somebody else switches the same port: that is noticed.
        let other = on(&place, 3);
        let mut other = Line::to(&other).await;
        other.until_missing(&[]).await;
        other.ask(switch(false)).await;
        until("noticed", async || !line.is_on().await).await;
    });
}

fn an_unplugged_hub_is_away_until_it_is_back() {
    run(async {
        let plugged = Attached::new(Hub::new(PORTS)).unwrap();
        let (port, place) = (plugged.port(), place(&plugged, IDS).await);
        let bench = on(&place, 2);
        let mut plugged = Some(plugged);
        // Soon after a look, between two, and just before the next.
        for pause_ms in [0, 300, 900] {
            let mut line = Line::to(&bench).await;
            line.until_missing(&[]).await;
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
                "an unplugged hub is noticed after {:?}: {refusal}",
                began.elapsed()
            );
            // It is the bench's only part.
            line.ends().await;
            lost(&bench, &format!("power: the hub {place} is not plugged in")).await;
            assert!(began.elapsed() < NOTICED_WITHIN, "{:?}", began.elapsed());
            let hub = Hub::new(PORTS);
            let ports = hub.ports();
            plugged = Some(Attached::at(port, hub).unwrap());
            until("switched on by the kernel", async || {
                ports.powered() == [true; 4]
            })
            .await;
            let mut line = Line::to(&bench).await;
            line.ask(switch(false)).await;
            assert_eq!(ports.powered(), [true, false, true, true]);
        }
    });
}

fn a_port_that_is_not_there_is_named() {
    run(async {
        let hub = Hub::new(PORTS);
        let ports = hub.ports();
        let plugged = Attached::new(hub).unwrap();
        let place = place(&plugged, IDS).await;
        until("switched on by the kernel", async || {
            ports.powered() == [true; 4]
        })
        .await;
        lost(
            &on(&place, PORTS + 1),
            &format!("power: the hub {place} did not tell port 5: "),
        )
        .await;
        assert_eq!(ports.powered(), [true; 4]);
    });
}

fn a_hub_without_switches_is_told() {
    run(async {
        let plugged = Attached::new(Hub::without_switches(PORTS)).unwrap();
        let place = place(&plugged, IDS).await;
        let bench = on(&place, 1);
        let mut line = Line::to(&bench).await;
        line.until_missing(&[]).await;
        let refusal = line.reply(&switch(false)).await.unwrap_err();
        let wanted = format!("the hub {place} does not switch port 1: it has no switch there");
        assert!(refusal.contains(&wanted), "{refusal}");
        // It is still there, and so is the power.
        line.until_missing(&[]).await;
        line.ask(switch(true)).await;
        assert!(line.is_on().await);
    });
}

fn a_device_that_is_no_hub_is_told() {
    run(async {
        let plugged = Attached::new(simulated().await.plug()).unwrap();
        let place = place(&plugged, POD_IDS).await;
        let error = on(&place, 1).connect().await.err().unwrap().to_string();
        let wanted = format!("the device on USB port {place} is no hub");
        assert!(error.contains(&wanted), "{error}");
    });
}
