//! A hub whose ports are switched: by the kernel as it finds it, and then by a bench.

use base::config::{DeviceConfig, PowerPart};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use usb_sim::Attached;
use usb_sim::hub::{Hub, IDS};

use super::line::lost;
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

/// How soon a bench notices what became of its hub: it looks every second.
const NOTICED_WITHIN: Duration = Duration::from_secs(10);

/// The name of the port that the device of these numbers is plugged into, once the kernel has found it.
async fn place(ids: (u16, u16)) -> String {
    let until = Instant::now() + PATIENCE;
    loop {
        let mut devices = nusb::list_devices().await.unwrap();
        let found = devices.find(|device| (device.vendor_id(), device.product_id()) == ids);
        if let Some(device) = found {
            let chain: Vec<String> = device.port_chain().iter().map(u8::to_string).collect();
            let bus = device.bus_id().trim_start_matches('0');
            return format!("{bus}-{}", chain.join("."));
        }
        assert!(
            Instant::now() < until,
            "the kernel does not find {ids:04x?}"
        );
        sleep(Duration::from_millis(10)).await;
    }
}

fn on(hub: &str, port: u8) -> Arc<dyn Transport> {
    bench(DeviceConfig {
        power: Some(PowerPart::Hub {
            hub: hub.to_owned(),
            port,
        }),
        ..DeviceConfig::default()
    })
}

fn switch(on: bool) -> Value {
    json!({"cmd": "target_power", "efuse": 1, "state": u8::from(on)})
}

async fn is_on(line: &mut Line) -> bool {
    let status = line.ask(json!({"cmd": "target_status"})).await;
    status["efuse1"]["enabled"] == 1
}

/// Waits until something is so.
async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !is_so().await {
        assert!(Instant::now() < until, "not {what}");
        sleep(Duration::from_millis(20)).await;
    }
}

fn a_port_is_switched_and_read_back() {
    run(async {
        let hub = Hub::new(PORTS);
        let ports = hub.ports();
        assert_eq!(ports.powered(), [false; PORTS as usize]);
        let _plugged = Attached::new(hub).unwrap();
        let place = place(IDS).await;
        // Its driver in the kernel does that, as it does with every hub.
        until("switched on by the kernel", async || {
            ports.powered() == [true; 4]
        })
        .await;
        let bench = on(&place, 3);
        let mut line = Line::to(&bench).await;
        let status = line.until_missing(&[]).await;
        assert_eq!(status["caps"], json!(["command", "power"]));
        assert!(is_on(&mut line).await, "it reads what the kernel did");
        for _ in 0..3 {
            line.ask(switch(false)).await;
            assert_eq!(ports.powered(), [true, true, false, true]);
            assert!(!is_on(&mut line).await);
            line.ask(switch(true)).await;
            assert_eq!(ports.powered(), [true; 4]);
            assert!(is_on(&mut line).await);
        }
        // Somebody else switches the same port: that is noticed.
        let other = on(&place, 3);
        let mut other = Line::to(&other).await;
        other.until_missing(&[]).await;
        other.ask(switch(false)).await;
        until("noticed", async || !is_on(&mut line).await).await;
    });
}

fn an_unplugged_hub_is_away_until_it_is_back() {
    run(async {
        let plugged = Attached::new(Hub::new(PORTS)).unwrap();
        let (port, place) = (plugged.port(), place(IDS).await);
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
        let _plugged = Attached::new(hub).unwrap();
        let place = place(IDS).await;
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
        let _plugged = Attached::new(Hub::without_switches(PORTS)).unwrap();
        let place = place(IDS).await;
        let bench = on(&place, 1);
        let mut line = Line::to(&bench).await;
        line.until_missing(&[]).await;
        let refusal = line.reply(&switch(false)).await.unwrap_err();
        let wanted = format!("the hub {place} does not switch port 1: it has no switch there");
        assert!(refusal.contains(&wanted), "{refusal}");
        // It is still there, and so is the power.
        line.until_missing(&[]).await;
        line.ask(switch(true)).await;
        assert!(is_on(&mut line).await);
    });
}

fn a_device_that_is_no_hub_is_told() {
    run(async {
        let _plugged = Attached::new(simulated().await.plug()).unwrap();
        let place = place((0x1209, 0x0001)).await;
        let error = on(&place, 1).connect().await.err().unwrap().to_string();
        let wanted = format!("the device on USB port {place} is no hub");
        assert!(error.contains(&wanted), "{error}");
    });
}
