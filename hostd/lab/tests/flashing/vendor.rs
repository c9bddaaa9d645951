//! Through probes that have protocols of their makers.

use usb_sim::{AttachError, jlink, stlink};

use super::*;

/// Numbers of the probes that are plugged in.
const SERIAL: &str = "000069101234";

fn address((vendor, product): (u16, u16)) -> String {
    format!("usb:{vendor:04x}:{product:04x}:{SERIAL}")
}

/// Programmed and verified, beside probe-rs alone on the same probe; then the probe is pulled out while it programs.
pub(super) async fn jlink() {
    let sim = simulated().await;
    let plug = |sim: &Arc<SimPod>| Attached::new(sim.jlink(SERIAL));
    let plugged = plug(&sim).unwrap();
    let address = address(jlink::IDS);
    let (mut ours, mut plain) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let [one, other] = [0, 1].map(|which| firmware(2 * round + which, BYTES));
        let bench = with_probe(&address);
        let pod = online(&bench).await;
        let began = Instant::now();
        let report = flashed(&pod, &one, |_| {}).await.unwrap();
        ours.push(began.elapsed());
        assert!(report.verified && report.reset);
        drop((pod, bench));
        let taken = spawn_blocking(move || {
            assert!(content(BYTES) == one, "what was programmed is there");
            alone(&other)
        });
        plain.extend(taken.await.unwrap());
    }
    if let Some([ours, plain]) = medians(ours, plain) {
        let kib = BYTES / 1024;
        println!(
            "flashing {kib} KiB through a J-Link: {ours:?} by a bench, {plain:?} by probe-rs alone"
        );
    }
    sleep(CLOSED_WITHIN).await;
    drop(plugged);
    unplugged(&sim, &address, plug).await;
}

/// The same without probe-rs alone, which reads and writes memory through commands that the simulated one has not.
pub(super) async fn stlink() {
    let sim = simulated().await;
    let plug = |sim: &Arc<SimPod>| Attached::new(sim.stlink(SERIAL));
    let plugged = plug(&sim).unwrap();
    let address = address(stlink::IDS);
    let data = firmware(3, BYTES);
    let bench = with_probe(&address);
    let pod = online(&bench).await;
    let began = Instant::now();
    let report = flashed(&pod, &data, |_| {}).await.unwrap();
    assert!(report.verified && report.reset);
    let kib = BYTES / 1024;
    println!(
        "flashing {kib} KiB through an ST-Link: {:?}",
        began.elapsed()
    );
    drop((pod, bench));
    sleep(CLOSED_WITHIN).await;
    drop(plugged);
    // The target's flash, through its other probe.
    let plugged = Attached::new(sim.plug()).unwrap();
    assert!(spawn_blocking(|| content(BYTES)).await.unwrap() == data);
    sleep(CLOSED_WITHIN).await;
    drop(plugged);
    unplugged(&sim, &address, plug).await;
}

async fn unplugged(
    sim: &Arc<SimPod>,
    address: &str,
    plug: impl Fn(&Arc<SimPod>) -> Result<Attached, AttachError>,
) {
    let bench = with_probe(address);
    let data = firmware(9, BYTES);
    let mut plugged = plug(sim).unwrap();
    let pod = online(&bench).await;
    for phase in [Phase::Connecting, Phase::Programming] {
        let gone = Arc::new(Mutex::new(None));
        let (mut plugged_in, noted) = (Some(plugged), gone.clone());
        let result = flashed(&pod, &data, move |now| {
            if now.phase == phase && plugged_in.take().is_some() {
                *noted.lock().unwrap() = Some(Instant::now());
            }
        })
        .await;
        let since = gone.lock().unwrap().expect("it was unplugged").elapsed();
        let error = result.expect_err("the probe is gone");
        println!("unplugged at {phase}: {error} after {since:?}");
        assert!(matches!(error, FlashError::LinkLost { .. }), "{error:?}");
        assert!(since < ENDED_WITHIN, "{since:?}");
        let mut state = pod.watch();
        let offline = state.wait_for(|state| matches!(state, PodState::Offline { .. }));
        timeout(PATIENCE, offline).await.unwrap().unwrap();
        plugged = plug(sim).unwrap();
        pod.wait_online(PATIENCE).await.unwrap();
    }
    let report = flashed(&pod, &data, |_| {}).await.unwrap();
    assert!(report.verified);
    drop((pod, bench));
    sleep(CLOSED_WITHIN).await;
    drop(plugged);
}
