//! The state machine under random interleavings: a million steps of clients, a store that is slow or
//! fails, a pod that is slow, lost, or carries out abandoned commands late, tunnels that are slow to
//! close, clocks that step, and crashes that lose everything but the store.
//!
//! What must hold after every step, whatever came before:
//!
//! 1. **Never two drivers.** At most one lease is let in, and while one is, everybody let in before
//!    it has left.
//! 2. **Nobody drives before the device is safe.** A newly admitted lease finds everything off that
//!    another lease switched on, and no command of another lease or of a safe state still on its way.
//! 3. **A holder whose power-on was acknowledged keeps power** until its own release or expiry.
//! 4. **Every ended lease is followed by a safe state** as soon as the pod can be reached, across
//!    restarts: as long as anything that a lease switched on is on, the store has the lease or the
//!    debt, even if a pending write is lost or the process dies; and once things calm down, nothing
//!    is owed.
//!
//! An administrator who overrides a debt takes responsibility for 2 and 3 until their lease is
//! over.
//!
//! One assumption about pods, as [`payment`](crate::leases::payment) says: a pod that has answered on
//! a new link works through what it received on earlier ones within a second.

use std::collections::VecDeque;

use super::*;
use crate::leases::payment::{Answer, Payment, REST_MS, Step};
use base::seeded::Random;

const SEEDS: u64 = 250;
const STEPS: u64 = 4_000;

/// Commands of the safe state: the first releases the pins, the last switches the power off.
const SAFE: usize = 3;

const CLIENTS: [&str; 4] = ["a", "b", "c", "d"];

/// A command on its way to the pod.
#[derive(Debug, Clone, PartialEq)]
enum Command {
    /// Switch pins and power on, for the lease with this id.
    On(String),
    Safe(usize),
}

/// A connection, with what the pod has received on it but not carried out.
#[derive(Debug, Default)]
struct Connection {
    number: u64,
    received: VecDeque<Command>,
}

/// Who waits for the answer to the command on the current link.
#[derive(Debug, Clone, PartialEq)]
enum Waits {
    /// A driver under this fence.
    Driver(u64),
    /// The task that pays the debt with this fence.
    Payer(u64),
}

#[derive(Debug, Default)]
struct Pod {
    /// Leases that have switched pins and power on, if they are.
    pins: Option<String>,
    power: Option<String>,
    /// Abandoned links.
    former: Vec<Connection>,
    link: Option<Connection>,
    connections: u64,
}

#[derive(Debug, Clone)]
struct Stored {
    row: Row,
    expires_wall_ms: u64,
}

/// What is on its way to the store.
#[derive(Debug)]
struct Write(Option<Stored>);

#[derive(Debug)]
struct Visitor {
    fence: u64,
    lease: Option<String>,
}

struct Payer {
    fence: u64,
    payment: Payment,
    rests_until_ms: Option<u64>,
}

/// How often things happened, to show that the test covers them.
#[derive(Debug, Default)]
struct Seen {
    acknowledged: u64,
    paid: u64,
    crashes: u64,
    crashes_in_a_write: u64,
    late: u64,
    overridden: u64,
    removed: u64,
    expired_while_down: u64,
}

struct World {
    random: Random,
    now: Now,
    machine: Machine,
    store: Option<Stored>,
    write: Option<Write>,
    inside: Vec<Visitor>,
    pod: Pod,
    /// Of this process.
    links: u64,
    lease_link: Option<u64>,
    waits: Option<Waits>,
    payer: Option<Payer>,
    /// The lease whose power-on was acknowledged, and the fence it has now.
    acknowledged: Option<(String, u64)>,
    /// The lease that overrides a debt.
    overriding: Option<String>,
    /// A device that owes a safe state is being removed anyway.
    forgives: bool,
    /// Nothing is lost any more.
    is_calm: bool,
    seen: Seen,
}

impl World {
    fn new(seed: u64) -> Self {
        Self {
            random: Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
            now: Now {
                steady_ms: 0,
                wall_ms: 1_000_000_000,
            },
            machine: Machine::default(),
            store: None,
            write: None,
            inside: Vec::new(),
            pod: Pod::default(),
            links: 0,
            lease_link: None,
            waits: None,
            payer: None,
            acknowledged: None,
            overriding: None,
            forgives: false,
            is_calm: false,
            seen: Seen::default(),
        }
    }

    fn step(&mut self) {
        let id = CLIENTS[self.random.index(CLIENTS.len())];
        let owner = format!("org/{id}");
        match self.random.below(1_000) {
            0..150 => self.change(id, &owner),
            150..280 => self.enter(id, &owner),
            280..450 => self.drive(),
            450..600 => self.carry_out(),
            600..760 => self.settle(),
            760..848 => self.end_write(true),
            848..860 => self.end_write(false),
            860..890 => self.lose_link(),
            890..930 => self.connect(),
            930..975 => self.pass(7_000),
            975..985 => self.now.wall_ms = 900_000_000 + self.random.below(200_000_000),
            985..990 => self.machine.open(),
            990..993 => self.crash(),
            _ => self.carry_out_late(),
        }
    }

    /// A change of the machine: one at a time, until the store has it.
    fn change(&mut self, id: &str, owner: &str) {
        if self.write.is_some() {
            return;
        }
        let now = self.now;
        if self.machine.expire(now).is_some() {
            return self.begin_write();
        }
        let shown = Shown {
            lease_id: Some(id),
            owner,
        };
        let ttl_s = 15 + self.random.below(60);
        match self.random.below(40) {
            0..13 => self.acquire(claim(id, ttl_s), IN_LINE),
            13..15 => self.acquire(claim(id, ttl_s), Ask::ONCE),
            15 => self.acquire(claim(id, ttl_s), OVERRIDING),
            16..24 => drop(self.machine.renew(shown, ttl_s * 1_000, now)),
            24..32 => drop(self.machine.release(shown, now)),
            32..34 => drop(self.machine.take_away(&format!("run {id}"), now)),
            34 => drop(self.machine.close(shown, "an update", now.steady_ms)),
            35 => self.machine.admitted(),
            36 => self.machine.keep(self.machine.fence()),
            _ => self.remove(id),
        }
        if self.machine.is_changed() {
            self.begin_write();
        }
    }

    fn acquire(&mut self, claim: Claim, ask: Ask) {
        let before = self.machine.fence();
        let owed = self.machine.debt().is_some();
        let Ok(held) = self.machine.acquire(claim, ask, self.now) else {
            return;
        };
        if held.fence != before {
            self.lease_link = (!owed).then_some(self.links);
            self.overriding = owed.then_some(held.claim.lease_id);
            self.seen.overridden += u64::from(owed);
        }
    }

    fn remove(&mut self, id: &str) {
        let overriding = self.random.below(4) == 0;
        let removal = Removal {
            holder: Some(&format!("run {id}")),
            overriding,
            reachable: self.pod.link.is_some(),
        };
        let owed = self.machine.debt().is_some();
        if self.machine.remove(removal, self.now).is_ok() && owed {
            self.forgives = true;
        }
    }

    /// Whatever is on, and on its way, goes with the device.
    fn forgive(&mut self) {
        let connections = self.pod.connections;
        self.pod = Pod {
            connections,
            ..Pod::default()
        };
        self.waits = None;
    }

    fn begin_write(&mut self) {
        let stored = self.machine.row().map(|row| {
            let expires_ms = match &row {
                Row::Held(held) => held.expires_ms,
                Row::Owing(_) => 0,
            };
            let left_ms = expires_ms.saturating_sub(self.now.steady_ms);
            Stored {
                row,
                expires_wall_ms: self.now.wall_ms + left_ms,
            }
        });
        self.write = Some(Write(stored));
    }

    fn end_write(&mut self, ok: bool) {
        let Some(Write(stored)) = self.write.take() else {
            return;
        };
        // After a failure, nobody knows what the disk has.
        if ok || self.random.below(2) == 0 {
            self.store = stored;
        }
        let was_owing = self.machine.debt().is_some();
        self.machine.stored(ok, self.now);
        self.seen.removed += u64::from(was_owing && self.machine.is_gone());
    }

    fn enter(&mut self, id: &str, owner: &str) {
        let lease_id = (self.random.below(4) > 0).then_some(id);
        let shown = Shown { lease_id, owner };
        if self.inside.len() < 6
            && let Ok(fence) = self.machine.admit(shown, self.now.steady_ms)
        {
            let held = self.machine.held();
            let lease = held.map(|held| held.claim.lease_id.clone());
            self.inside.push(Visitor { fence, lease });
        }
    }

    /// A visitor leaves, or sends a command, even when it should be leaving.
    fn drive(&mut self) {
        if self.inside.is_empty() {
            return;
        }
        let at = self.random.index(self.inside.len());
        let Visitor { fence, lease } = &self.inside[at];
        let (fence, lease) = (*fence, lease.clone());
        if let (Some(lease), None, Some(link), true) = (
            lease,
            &self.waits,
            &mut self.pod.link,
            self.random.below(2) == 0,
        ) {
            link.received.push_back(Command::On(lease));
            self.waits = Some(Waits::Driver(fence));
        } else {
            self.inside.swap_remove(at);
        }
    }

    /// The pod carries out what came over the current link, and answers; or the answer is lost.
    fn carry_out(&mut self) {
        let Some(link) = &mut self.pod.link else {
            return;
        };
        let Some(command) = link.received.pop_front() else {
            return;
        };
        self.pod.obey(&command);
        let waits = self.waits.take();
        if !self.is_calm && self.random.below(12) == 0 {
            self.waits = waits;
            return self.lose_link();
        }
        match waits {
            Some(Waits::Payer(fence)) => self.tell_payer(fence, Answer::Done),
            Some(Waits::Driver(fence)) => {
                let Command::On(lease) = command else { return };
                if self.machine.is_given(fence) && self.inside.iter().any(|v| v.fence == fence) {
                    self.acknowledged = Some((lease, fence));
                    self.seen.acknowledged += 1;
                }
            }
            None => {}
        }
    }

    fn tell_payer(&mut self, fence: u64, answer: Answer) {
        if let Some(payer) = self.payer.as_mut().filter(|payer| payer.fence == fence) {
            payer.payment.answered(self.links, answer);
        }
    }

    /// The link breaks, or is abandoned since an answer takes too long. The pod may still carry out
    /// what it has received on it.
    fn lose_link(&mut self) {
        let Some(link) = self.pod.link.take() else {
            return;
        };
        self.pod.former.push(link);
        if let Some(Waits::Payer(fence)) = self.waits.take() {
            self.tell_payer(fence, Answer::None);
        }
    }

    fn connect(&mut self) {
        if self.pod.link.is_none() {
            self.links += 1;
            self.pod.connections += 1;
            self.pod.link = Some(Connection {
                number: self.pod.connections,
                received: VecDeque::new(),
            });
        }
    }

    fn carry_out_late(&mut self) {
        if self.pod.former.is_empty() {
            return;
        }
        let at = self.random.index(self.pod.former.len());
        match self.pod.former[at].received.pop_front() {
            Some(command) => {
                self.pod.obey(&command);
                self.seen.late += 1;
            }
            None => drop(self.pod.former.swap_remove(at)),
        }
    }

    /// The next action of the current fence's task.
    fn settle(&mut self) {
        let fence = self.machine.fence();
        if self.payer.as_ref().is_some_and(|p| p.fence != fence) {
            self.payer = None;
        }
        match self.machine.duty(fence) {
            Some(Duty::Clear) if self.inside.iter().all(|v| v.fence >= fence) => {
                self.machine.left(fence);
            }
            Some(Duty::Pay) => self.pay(fence),
            Some(duty) if self.write.is_none() => self.write_due(duty, fence),
            _ => {}
        }
    }

    fn write_due(&mut self, duty: Duty, fence: u64) {
        if self.machine.store_again(fence) {
            self.begin_write();
        } else if self.machine.settle(fence) {
            if std::mem::take(&mut self.forgives) && duty == Duty::Remove {
                self.forgive();
            }
            self.payer = None;
            self.seen.paid += 1;
            self.write = Some(Write(None));
        }
    }

    fn pay(&mut self, fence: u64) {
        let link = self.lease_link;
        let payer = self.payer.get_or_insert_with(|| Payer {
            fence,
            payment: Payment::new(SAFE, link),
            rests_until_ms: None,
        });
        match payer.payment.step() {
            Step::Await => {
                if self.pod.link.is_some() {
                    payer.payment.online(self.links);
                }
            }
            Step::Send(index) => {
                if self.waits.is_none()
                    && let Some(link) = &mut self.pod.link
                {
                    link.received.push_back(Command::Safe(index));
                    self.waits = Some(Waits::Payer(fence));
                }
            }
            Step::Rest(rest_ms) => {
                let now_ms = self.now.steady_ms;
                let until_ms = *payer.rests_until_ms.get_or_insert(now_ms + rest_ms);
                if until_ms > now_ms {
                    return;
                }
                payer.rests_until_ms = None;
                payer.payment.rested();
                if rest_ms == REST_MS {
                    let present = self.pod.link.as_ref().map_or(u64::MAX, |link| link.number);
                    let former = std::mem::take(&mut self.pod.former);
                    let (worked_off, rest) = former
                        .into_iter()
                        .partition(|connection| connection.number < present);
                    self.pod.former = rest;
                    let worked_off: Vec<Connection> = worked_off;
                    for command in worked_off.iter().flat_map(|c| &c.received) {
                        self.pod.obey(command);
                    }
                }
            }
            Step::Done => self.machine.paid(fence),
        }
    }

    fn pass(&mut self, ms_max: u64) {
        let ms = self.random.below(ms_max);
        self.now.steady_ms += ms;
        self.now.wall_ms += ms;
    }

    /// The process dies; what was on its way to the store may have arrived. It starts again later.
    fn crash(&mut self) {
        self.seen.crashes += 1;
        if let Some(Write(stored)) = self.write.take() {
            self.seen.crashes_in_a_write += 1;
            if self.random.below(2) == 0 {
                self.store = stored;
            }
        }
        self.pod.former.extend(self.pod.link.take());
        let fence = self.machine.fence();
        let before = self.acknowledged.take().filter(|(_, of)| *of == fence);
        self.machine = Machine::default();
        self.forgives = false;
        self.inside.clear();
        (self.waits, self.payer, self.lease_link) = (None, None, None);
        self.links = 0;
        self.pass(30_000);
        let Some(Stored {
            row,
            expires_wall_ms,
        }) = self.store.clone()
        else {
            return;
        };
        let left_ms = expires_wall_ms.saturating_sub(self.now.wall_ms);
        self.machine.restore(row, left_ms, self.now);
        if let Some(held) = self.machine.held() {
            let goes_on = before.filter(|(lease, _)| *lease == held.claim.lease_id);
            self.acknowledged = goes_on.map(|(lease, _)| (lease, held.fence));
        }
        if self.machine.is_changed() {
            self.seen.expired_while_down += 1;
            self.begin_write();
        }
    }

    fn check(&self) {
        let fence = self.machine.fence();
        let now_ms = self.now.steady_ms;
        let admitted = |id: &&&str| {
            let shown = Shown {
                lease_id: Some(**id),
                owner: &format!("org/{id}"),
            };
            self.machine.admit(shown, now_ms).is_ok()
        };
        let drivers: Vec<_> = CLIENTS.iter().filter(admitted).collect();
        let lease = self.machine.held().map(|held| held.claim.lease_id.as_str());
        let is_overriding = lease.is_some() && lease == self.overriding.as_deref();
        if !drivers.is_empty() && !is_overriding {
            let is_own = |id: &str| lease == Some(id);
            let on = [&self.pod.pins, &self.pod.power];
            let mut on = on.into_iter().flatten();
            assert!(on.all(|by| is_own(by)), "2: it is not safe: {:?}", self.pod);
            let mut late = self.pod.former.iter().flat_map(|c| &c.received);
            let is_ours = |command: &Command| matches!(command, Command::On(by) if is_own(by));
            assert!(
                late.all(is_ours),
                "2: something is on its way: {:?}",
                self.pod
            );
        }
        if let (Some(lease), false) = (lease, drivers.is_empty()) {
            assert_eq!(drivers, [&lease], "1: another one drives");
            let is_former = |visitor: &Visitor| visitor.fence < fence;
            assert!(!self.inside.iter().any(is_former), "1: one is still inside");
        }
        if let Some((lease, of)) = &self.acknowledged
            && *of == fence
            && self.machine.held().is_some()
            && !is_overriding
        {
            assert_eq!(self.pod.power.as_ref(), Some(lease), "3: its power was cut");
        }
        let is_on = self.pod.power.is_some() || self.pod.pins.is_some();
        let lost = self.write.as_ref().is_some_and(|Write(to)| to.is_none());
        if is_on {
            assert!(self.store.is_some() && !lost, "4: a crash now leaves it on");
        }
    }

    /// From now on everything works, so nothing is owed in the end.
    fn calm_down(&mut self) {
        self.is_calm = true;
        for _ in 0..200 {
            self.connect();
            self.end_write(true);
            let fence = self.machine.fence();
            self.inside.retain(|visitor| visitor.fence >= fence);
            self.settle();
            while self.waits.is_some() && self.pod.link.is_some() {
                let before = self.waits.clone();
                self.carry_out();
                if self.waits == before {
                    // Nobody will answer that.
                    self.lose_link();
                }
            }
            self.now.steady_ms += 250;
            self.now.wall_ms += 250;
            self.check();
        }
        assert!(self.machine.debt().is_none(), "4: it is still owed");
        let free = self.machine.held().is_none();
        assert!(!free || self.pod.power.is_none(), "4: it is still on");
    }
}

impl Pod {
    fn obey(&mut self, command: &Command) {
        match command {
            Command::On(lease) => {
                self.pins = Some(lease.clone());
                self.power = Some(lease.clone());
            }
            Command::Safe(0) => self.pins = None,
            Command::Safe(index) if index + 1 == SAFE => self.power = None,
            Command::Safe(_) => {}
        }
    }
}

#[test]
fn a_million_random_steps_keep_the_rules() {
    let mut total = Seen::default();
    for seed in 1..=SEEDS {
        let mut world = World::new(seed);
        for _ in 0..STEPS {
            world.step();
            world.check();
        }
        world.calm_down();
        let seen = &world.seen;
        total.acknowledged += seen.acknowledged;
        total.paid += seen.paid;
        total.crashes += seen.crashes;
        total.crashes_in_a_write += seen.crashes_in_a_write;
        total.late += seen.late;
        total.overridden += seen.overridden;
        total.removed += seen.removed;
        total.expired_while_down += seen.expired_while_down;
    }
    for count in [
        total.acknowledged,
        total.paid,
        total.crashes,
        total.crashes_in_a_write,
        total.late,
        total.overridden,
        total.removed,
        total.expired_while_down,
    ] {
        assert!(count > 100, "{total:?}");
    }
}
