//! What waiting tasks wait for, in sentences: for one that somebody asks about, and for all at once.

use std::collections::HashMap;
use std::ops::ControlFlow;

use crate::accounts::{Advances, Had};
use crate::cause::Ending;
use crate::groups::Kind;
use crate::names::{DeviceId, JobId};
use crate::order::{LineKey, Walk};
use crate::scheduler::Scheduler;
use crate::submission::Requirement;
use crate::task::{TaskKey, TaskState};
use crate::why::Blocked;

/// Devices that a sentence names.
const NAMED_MAX: usize = 8;

/// What a task waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wait {
    /// The job.
    pub job: JobId,
    /// The task, by its index in the submission.
    pub task: u32,
    /// One or two sentences.
    pub sentence: String,
}

/// What tasks of a group have before them, beside those whose turn is earlier.
pub(crate) struct Outlook {
    sentence: String,
    /// Nothing that is known will ever fit.
    is_hopeless: bool,
}

impl<R: Requirement> Scheduler<R> {
    /// What all waiting tasks wait for, and those that will wait in vain. `name` is what people call a
    /// device.
    #[must_use]
    pub fn waits(&self, name: impl Fn(&DeviceId) -> String) -> Vec<Wait> {
        let mut outlooks: HashMap<usize, Outlook> = HashMap::new();
        let mut waits = Vec::new();
        for is_build in [true, false] {
            self.walk(is_build, |line, key, ahead| {
                let sentence = match line.kind {
                    Kind::Build => self.why_waiting(key, ahead, None),
                    Kind::Bench(group) => {
                        let outlook = outlooks
                            .entry(group)
                            .or_insert_with(|| self.outlook(group, &name));
                        self.why_waiting(key, ahead, Some(&*outlook))
                    }
                };
                waits.push(self.wait(key, sentence));
                ControlFlow::Continue(())
            });
        }
        for (number, job) in &self.jobs {
            for (task, entry) in (0..).zip(&job.tasks) {
                let (TaskState::Blocked, Kind::Bench(group)) = (&entry.state, entry.kind) else {
                    continue;
                };
                let outlook = outlooks
                    .entry(group)
                    .or_insert_with(|| self.outlook(group, &name));
                if outlook.is_hopeless {
                    waits.push(self.wait((*number, task), outlook.sentence.clone()));
                }
            }
        }
        waits
    }

    fn wait(&self, key: TaskKey, sentence: String) -> Wait {
        Wait {
            job: self.jobs[&key.0].id.clone(),
            task: key.1,
            sentence,
        }
    }

    /// How many tasks for the same kind of place are ahead of this one, if no others come.
    pub(crate) fn ahead(&self, key: TaskKey) -> usize {
        let mut found = 0;
        let is_build = self.jobs[&key.0].task(key.1).kind == Kind::Build;
        self.walk(is_build, |_, next, ahead| {
            if next != key {
                return ControlFlow::Continue(());
            }
            found = ahead;
            ControlFlow::Break(())
        });
        found
    }

    /// Walks through all tasks that wait for a build slot, or for a device, in order; with each, how many
    /// of its rivals are ahead of it, if no others come.
    fn walk(
        &self,
        is_build: bool,
        mut visit: impl FnMut(LineKey, TaskKey, usize) -> ControlFlow<()>,
    ) {
        let accounts = &self.accounts;
        let mut charged = Advances::default();
        let mut ahead: HashMap<Option<usize>, usize> = HashMap::new();
        let had = |charged: &Advances, user: usize| {
            let Had { org_ms, user_ms } = accounts.had(user);
            let org = charged.orgs.get(&accounts.org_of(user));
            Had {
                org_ms: org_ms + org.unwrap_or(&0),
                user_ms: user_ms + charged.users.get(&user).unwrap_or(&0),
            }
        };
        let mut walk = Walk::new(&self.lines, None, self.now_ms, |user| accounts.had(user));
        while let Some((line, next)) = walk.next(|user| had(&charged, user)) {
            if (line.kind == Kind::Build) == is_build {
                let org = accounts.org_of(line.user);
                // Slots are everybody's, devices the organisation's own.
                let ahead = ahead.entry((!is_build).then_some(org)).or_default();
                if visit(line, next, *ahead).is_break() {
                    return;
                }
                *ahead += 1;
                let cost_ms = accounts.mean_ms(line.user);
                *charged.users.entry(line.user).or_default() += cost_ms;
                if is_build {
                    *charged.orgs.entry(org).or_default() += cost_ms;
                }
            }
            walk.pass_on(line, next, had(&charged, line.user));
        }
    }

    /// What is in the way of a waiting task. `outlook` is that of its devices, if it waits for one.
    pub(crate) fn why_waiting(
        &self,
        key: TaskKey,
        ahead: usize,
        outlook: Option<&Outlook>,
    ) -> String {
        let before = match ahead {
            0 => "It is next".to_owned(),
            1 => "One task is before it".to_owned(),
            ahead => format!("{ahead} tasks are before it"),
        };
        if self.is_draining {
            return "The server is about to stop. It stays queued and starts after the restart."
                .to_owned();
        }
        if let Some(outlook) = outlook
            && outlook.is_hopeless
        {
            return outlook.sentence.clone();
        }
        let user = self.jobs[&key.0].user;
        if !self.accounts.may_run(user, &self.limits) {
            let limits = &self.limits;
            return format!(
                "{before}. It waits until less runs: a user may have {} attempts at once, an organisation {}, and some are left to other organisations.",
                limits.running_per_user_max, limits.running_per_org_max
            );
        }
        if let Some(outlook) = outlook {
            return format!("{before}. {}", outlook.sentence);
        }
        let slots = self.limits.build_slots;
        if self.builds_running < slots {
            return format!(
                "{before}. It starts when another build of the organisation has ended: the last free one of {slots} build slots is left to other organisations."
            );
        }
        format!("{before}. It starts when one of the {slots} build slots is free.")
    }

    /// What tasks of the group have before them.
    pub(crate) fn outlook(&self, group: usize, name: impl Fn(&DeviceId) -> String) -> Outlook {
        let devices = self.blocked_for(group);
        let names = |which: fn(&Blocked) -> bool| -> Option<String> {
            let named = devices.iter().filter(|(_, blocked)| which(blocked));
            let mut named: Vec<String> = named.map(|(id, _)| name(id)).collect();
            if named.len() > NAMED_MAX {
                let others = named.len() - (NAMED_MAX - 1);
                named.truncate(NAMED_MAX - 1);
                named.push(format!("one of {others} others"));
            }
            (!named.is_empty()).then(|| named.join(" or "))
        };
        let busy = || names(|b| matches!(b, Blocked::Busy { .. } | Blocked::Held { .. }));
        let offline = || names(|b| matches!(b, Blocked::Offline));
        let sick = || names(|b| matches!(b, Blocked::Quarantined(_)));
        let sentence = if devices.iter().any(|(_, blocked)| *blocked == Blocked::Free) {
            "It waits until less runs on the server.".to_owned()
        } else if let Some(busy) = busy() {
            format!("It starts when {busy} becomes free.")
        } else if let Some(offline) = offline() {
            format!("It starts when {offline} is back: check cable and power.")
        } else if let Some(sick) = sick() {
            format!("It starts when somebody re-admits {sick}.")
        } else {
            let misfits = misfits(&devices);
            return Outlook {
                sentence: unmatched(&misfits, name),
                is_hopeless: true,
            };
        };
        Outlook {
            sentence,
            is_hopeless: false,
        }
    }
}

/// What each of these devices lacks; those that lack nothing are left out.
#[must_use]
pub fn misfits(devices: &[(DeviceId, Blocked)]) -> Vec<(DeviceId, String)> {
    let misfits = devices.iter().filter_map(|(id, blocked)| match blocked {
        Blocked::Misfit(lack) => Some((id.clone(), lack.clone())),
        Blocked::Quarantined(_)
        | Blocked::Offline
        | Blocked::Busy { .. }
        | Blocked::Held { .. }
        | Blocked::Free => None,
    });
    misfits.collect()
}

/// That no device is what a task asks for, and what each of them lacks. `name` is what people call one.
#[must_use]
pub fn unmatched(misfits: &[(DeviceId, String)], name: impl Fn(&DeviceId) -> String) -> String {
    let mut sentence = Ending::NoMatchingDevice.sentence().to_owned();
    if misfits.is_empty() {
        sentence.push_str(" It has none at all.");
        return sentence;
    }
    let shown = misfits.iter().take(NAMED_MAX);
    let mut lacks: Vec<String> = shown
        .map(|(id, lack)| format!("{}: {lack}", name(id)))
        .collect();
    if let more @ 1.. = misfits.len().saturating_sub(NAMED_MAX) {
        lacks.push(format!("{more} others do not fit either"));
    }
    format!("{sentence} {}.", lacks.join("; "))
}
