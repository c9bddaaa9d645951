//! Leases with a store, a bench and a simulated pod, across the end of a process.

use std::time::{Duration, Instant};

use pod_sim::{SimConfig, SimPod};
use pods::PodOptions;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use super::*;
use base::clock::Hand;

const ORG: &str = "01ARYZ6S410000000000000000";

/// Ends a test that hangs.
const WAIT: Duration = Duration::from_secs(30);

const MINE: Shown<'static> = Shown {
    lease_id: Some("a"),
    owner: "org/a",
};

/// The same user without a lease.
const NONE: Shown<'static> = Shown {
    lease_id: None,
    owner: "org/a",
};

/// What outlives a process.
struct World {
    store: Store,
    clock: Clock,
    hand: Hand,
    pod: Arc<SimPod>,
}

struct Process {
    runtime: Runtime,
    devices: Arc<Devices>,
    leases: Arc<Leases>,
}

impl World {
    fn new() -> Self {
        let (clock, hand) = Clock::manual(1_000_000);
        Self {
            store: Store::in_memory().unwrap(),
            clock,
            hand,
            pod: SimPod::new(SimConfig::default()),
        }
    }

    /// A process that has read the leases but has not attached a pod.
    fn start(&self) -> Process {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let options = PodOptions::default();
        let devices = Devices::new(
            self.store.clone(),
            self.clock.clone(),
            |address| pods::transport(&[], address),
            options,
        );
        let devices = Arc::new(devices);
        let config = LeasesConfig::default();
        let leases = Leases::open(
            &config,
            self.store.clone(),
            self.clock.clone(),
            devices.clone(),
        );
        let leases = runtime.block_on(leases).unwrap();
        Process {
            runtime,
            devices,
            leases,
        }
    }
}

impl Process {
    /// Attach the pod; returns the device's id.
    fn attach(&self, world: &World) -> String {
        self.runtime.block_on(async {
            let pod = world.pod.clone();
            let attached = self.devices.attach_transport(ORG, "pod", "sim:pod", pod);
            attached.await.unwrap();
            self.devices.settle(WAIT).await;
        });
        self.devices.list(ORG)[0].record.id.clone()
    }

    fn acquire(&self, device: &str) -> Result<Granted, LeaseError> {
        let claim = Claim {
            lease_id: "a".into(),
            owner: "org/a".into(),
            holder: "run a".into(),
            device_name: "pod".into(),
            ttl_ms: 15_000,
        };
        self.runtime
            .block_on(self.leases.acquire(device, claim, Ask::ONCE))
    }

    fn command(&self, device: &str, command: &Value) -> Value {
        let pod = self.devices.pod_of(device).unwrap();
        let command = command.as_object().unwrap().clone();
        let answer = self.runtime.block_on(pod.command(command, WAIT));
        answer.unwrap()
    }

    fn switch_on(&self, device: &str) {
        self.command(
            device,
            &json!({"cmd": "target_power", "efuse": 1, "state": 1}),
        );
    }

    fn is_on(&self, device: &str) -> bool {
        self.command(device, &json!({"cmd": "target_status"}))["efuse1"]["enabled"] == 1
    }

    fn wait_until_free(&self, device: &str) {
        let begun = Instant::now();
        while self.leases.admit(device, NONE).is_err() {
            assert!(begun.elapsed() < WAIT, "it is never free");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Without a word.
    fn kill(self) {
        self.runtime.shutdown_background();
    }
}

#[test]
fn the_door_asks_whose_the_device_is_and_who_holds_it() {
    let world = World::new();
    let process = world.start();
    let device = process.attach(&world);
    let leases = &process.leases;
    let (all, none) = (|_: &str| true, |_: &str| false);
    let mine = Caller {
        org: ORG,
        may_use: &all,
        shown: MINE,
    };
    let strangers = [
        Caller {
            org: "another",
            ..mine
        },
        Caller {
            may_use: &none,
            ..mine
        },
    ];
    for stranger in &strangers {
        for refused in [
            leases.look(stranger, &device).err(),
            leases.enter(stranger, &device).err(),
            leases.join(stranger, &device).err(),
        ] {
            assert_eq!(refused, Some(EntryError::NoDevice));
        }
    }
    process.acquire(&device).unwrap();
    assert!(leases.enter(&mine, &device).is_ok());
    let other = Caller {
        shown: Shown {
            lease_id: None,
            owner: "org/b",
        },
        ..mine
    };
    let beside = leases.look(&other, &device).unwrap();
    assert!(leases.drive(beside, other.shown).is_err());
    assert!(leases.join(&other, &device).unwrap().1.is_err());
    let refused = leases.enter(&other, &device).err();
    assert!(matches!(refused, Some(EntryError::Held(busy)) if busy.holder.is_some()));
    process.devices.stop();
    let refused = leases.enter(&mine, &device).err();
    assert_eq!(refused, Some(EntryError::Offline));
    process.kill();
}

#[test]
fn a_lease_that_expired_while_nobody_was_there_is_followed_by_the_safe_state() {
    let world = World::new();
    let process = world.start();
    let device = process.attach(&world);
    process.acquire(&device).unwrap();
    process.switch_on(&device);
    process.kill();
    world.hand.advance_ms(15_000);
    let process = world.start();
    assert!(process.leases.admit(&device, MINE).unwrap_err().making_safe);
    let stored = process.runtime.block_on(world.store.leases_all()).unwrap();
    assert!(
        stored[0]
            .owes
            .as_ref()
            .is_some_and(|owes| owes.why == Why::Expired)
    );
    // After a minute it is said what it waits for.
    world.hand.advance_ms(60_000);
    let said = async {
        while process.leases.obstacle(&device).is_none() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    process
        .runtime
        .block_on(async { tokio::time::timeout(WAIT, said).await })
        .unwrap();
    let obstacle = Some("no pod is attached as this device".to_owned());
    assert_eq!(process.leases.obstacle(&device), obstacle);
    let busy = process.leases.admit(&device, MINE).unwrap_err();
    assert_eq!(busy.obstacle, obstacle);
    // Nor does it matter if the process ends again before its pod is attached.
    process.kill();
    let process = world.start();
    assert!(process.acquire(&device).is_err());
    let mut changes = process.leases.changes();
    assert_eq!(process.attach(&world), device);
    // Whoever waits for the device looks only when something has changed.
    let told = async {
        while process.leases.admit(&device, NONE).is_err() {
            changes.changed().await.unwrap();
        }
    };
    let told = async { tokio::time::timeout(WAIT, told).await };
    process.runtime.block_on(told).expect("nobody was told");
    assert!(!process.is_on(&device));
    let stored = process.runtime.block_on(world.store.leases_all()).unwrap();
    assert_eq!(stored, []);
}

#[test]
fn a_lease_goes_on_whatever_the_wall_clock_does_meanwhile() {
    let world = World::new();
    let process = world.start();
    let device = process.attach(&world);
    let granted = process.acquire(&device).unwrap();
    process.switch_on(&device);
    // Steps do not matter while the process lives.
    world.hand.set_ms(9_000_000);
    assert!(process.leases.admit(&device, MINE).is_ok());
    let renewed = process
        .runtime
        .block_on(process.leases.renew(&device, MINE, 15_000));
    assert!(renewed.unwrap().expires_ms > granted.expires_ms);
    process.kill();
    // Nor does a step back while it does not: no lease outlives its term.
    world.hand.set_ms(1_000);
    let process = world.start();
    process.attach(&world);
    assert!(process.leases.admit(&device, MINE).is_ok() && process.is_on(&device));
    world.hand.advance_ms(15_000);
    assert!(process.leases.admit(&device, MINE).is_err());
    let released = process
        .runtime
        .block_on(process.leases.release(&device, MINE));
    assert!(matches!(released, Ok(Released::Over { .. })));
    process.wait_until_free(&device);
    assert!(!process.is_on(&device));
}
