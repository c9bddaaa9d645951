//! Who uses how much: what each user and organisation has queued and running, and the virtual time
//! of each, which decides whose turn it is.

use std::collections::HashMap;

use crate::limits::{Limits, Refused, is_within_share};
use crate::names::{OrgId, UserId};

/// Assumed cost of a task until its user has run some.
const COST_MS: u64 = 10_000;

/// Each attempt moves a user's mean cost by one part in this many.
const MEAN_WEIGHT: u64 = 8;

/// All users and organisations that ever submitted. There are no more than the store has.
#[derive(Debug, Default)]
pub(crate) struct Accounts {
    users: Vec<Account>,
    by_name: HashMap<(OrgId, UserId), usize>,
    orgs: Vec<Org>,
    org_by_name: HashMap<OrgId, usize>,
    queued: usize,
    /// Number of running attempts of all users.
    pub(crate) running: u32,
    /// Virtual times below which no returning user or organisation starts.
    floor: Had,
}

/// What somebody has had, and their organisation: who has had less has the next turn, first among the
/// organisations and then among the users of one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Had {
    /// Time on build slots, in milliseconds. An organisation's devices are its own, so what it has
    /// had of them does not count among organisations.
    pub(crate) org_ms: u64,
    /// Time on devices and slots.
    pub(crate) user_ms: u64,
}

/// What was charged for running attempts and has not been used yet, by user and by organisation.
#[derive(Debug, Default)]
pub(crate) struct Advances {
    pub(crate) users: HashMap<usize, u64>,
    pub(crate) orgs: HashMap<usize, u64>,
}

#[derive(Debug)]
struct Org {
    name: OrgId,
    queued: usize,
    running: u32,
    /// Running builds.
    builds: u32,
    /// Unfinished jobs.
    jobs: usize,
    /// Time on build slots that its users have had, including time charged in advance.
    virtual_ms: u64,
}

#[derive(Debug)]
struct Account {
    org: usize,
    name: UserId,
    /// Jobs with a waiting task.
    queued: usize,
    running: u32,
    /// Unfinished jobs.
    jobs: usize,
    /// Time on devices and slots that this user has had, including time charged in advance.
    virtual_ms: u64,
    /// Average cost of an attempt of this user.
    mean_ms: u64,
}

impl Accounts {
    /// An organisation that has submitted or has devices.
    pub(crate) fn known_org(&self, name: &OrgId) -> Option<usize> {
        self.org_by_name.get(name).copied()
    }

    pub(crate) fn org(&mut self, name: &OrgId) -> usize {
        if let Some(org) = self.org_by_name.get(name) {
            return *org;
        }
        self.orgs.push(Org {
            name: name.clone(),
            queued: 0,
            running: 0,
            builds: 0,
            jobs: 0,
            virtual_ms: self.floor.org_ms,
        });
        self.org_by_name.insert(name.clone(), self.orgs.len() - 1);
        self.orgs.len() - 1
    }

    pub(crate) fn user(&mut self, org: &OrgId, name: &UserId) -> usize {
        let key = (org.clone(), name.clone());
        if let Some(user) = self.by_name.get(&key) {
            return *user;
        }
        let org = self.org(org);
        self.users.push(Account {
            org,
            name: name.clone(),
            queued: 0,
            running: 0,
            jobs: 0,
            virtual_ms: self.floor.user_ms,
            mean_ms: COST_MS,
        });
        self.by_name.insert(key, self.users.len() - 1);
        self.users.len() - 1
    }

    pub(crate) fn org_of(&self, user: usize) -> usize {
        self.users[user].org
    }

    pub(crate) fn org_name(&self, org: usize) -> &OrgId {
        &self.orgs[org].name
    }

    pub(crate) fn user_name(&self, user: usize) -> &UserId {
        &self.users[user].name
    }

    pub(crate) fn had(&self, user: usize) -> Had {
        let account = &self.users[user];
        Had {
            org_ms: self.orgs[account.org].virtual_ms,
            user_ms: account.virtual_ms,
        }
    }

    pub(crate) fn mean_ms(&self, user: usize) -> u64 {
        self.users[user].mean_ms
    }

    /// Whether one more job of this user may wait. Who comes last finds room, too: an organisation has
    /// no more waiting jobs than it leaves room for others, and neither has a user of its organisation.
    pub(crate) fn may_queue(&self, user: usize, limits: &Limits) -> Result<(), Refused> {
        let account = &self.users[user];
        let org = self.orgs[account.org].queued;
        let left = limits.queued_max.saturating_sub(self.queued);
        if left == 0 {
            return Err(Refused::Full(self.queued));
        }
        if org >= limits.queued_per_org_max || (self.has_rivals() && org >= left) {
            return Err(Refused::OrgFull(org));
        }
        let left = limits.queued_per_org_max - org;
        if account.queued >= limits.queued_per_user_max.min(left) {
            return Err(Refused::UserFull(account.queued));
        }
        Ok(())
    }

    /// Whether one more attempt of this user may run under the limits of the user and the
    /// organisation.
    pub(crate) fn may_run(&self, user: usize, limits: &Limits) -> bool {
        let account = &self.users[user];
        let org = &self.orgs[account.org];
        let free = limits.running_max.saturating_sub(self.running);
        account.running < limits.running_per_user_max
            && org.running < limits.running_per_org_max
            && (!self.has_rivals() || is_within_share(org.running, free))
    }

    /// Whether a build of this user may have one of the `free` slots.
    pub(crate) fn may_build(&self, user: usize, free: u32) -> bool {
        let org = &self.orgs[self.org_of(user)];
        free > 0 && (!self.has_rivals() || is_within_share(org.builds, free))
    }

    /// Whether there is more than one organisation.
    fn has_rivals(&self) -> bool {
        self.orgs.len() > 1
    }

    pub(crate) fn count_queued(&mut self, user: usize, is_queued: bool) {
        let account = &mut self.users[user];
        let counts = [
            &mut account.queued,
            &mut self.orgs[account.org].queued,
            &mut self.queued,
        ];
        for count in counts {
            *count = if is_queued {
                *count + 1
            } else {
                count.saturating_sub(1)
            };
        }
    }

    /// A job begins. A user or an organisation without other jobs starts level with the least served
    /// of the others, so that nobody saves up turns by staying away; if there are no others, all become
    /// equal again. `advances` may be given back: nobody starts behind what others have not had.
    pub(crate) fn job_begins(&mut self, user: usize, advances: &Advances) {
        let org = self.org_of(user);
        if self.orgs[org].jobs == 0 {
            let all = self.orgs.iter().map(|org| (org.jobs, org.virtual_ms));
            let start = start(all, &advances.orgs);
            self.floor.org_ms = self.floor.org_ms.max(start);
            let org = &mut self.orgs[org];
            org.virtual_ms = org.virtual_ms.max(start);
        }
        if self.users[user].jobs == 0 {
            let all = self.users.iter().map(|user| (user.jobs, user.virtual_ms));
            let start = start(all, &advances.users);
            self.floor.user_ms = self.floor.user_ms.max(start);
            let account = &mut self.users[user];
            account.virtual_ms = account.virtual_ms.max(start);
        }
        self.users[user].jobs += 1;
        self.orgs[org].jobs += 1;
    }

    pub(crate) fn job_ends(&mut self, user: usize) {
        let org = self.org_of(user);
        self.users[user].jobs -= 1;
        self.orgs[org].jobs -= 1;
    }

    /// An attempt begins; returns what it is charged in advance.
    pub(crate) fn run_begins(&mut self, user: usize, is_build: bool) -> u64 {
        let account = &mut self.users[user];
        account.running += 1;
        account.virtual_ms += account.mean_ms;
        let org = &mut self.orgs[account.org];
        org.running += 1;
        if is_build {
            org.builds += 1;
            org.virtual_ms += account.mean_ms;
        }
        self.running += 1;
        account.mean_ms
    }

    /// A running attempt has used `used_ms`, of which `charged_ms` were charged; returns the new
    /// charge.
    pub(crate) fn charge(
        &mut self,
        user: usize,
        is_build: bool,
        charged_ms: u64,
        used_ms: u64,
    ) -> u64 {
        let more = used_ms.saturating_sub(charged_ms);
        let account = &mut self.users[user];
        account.virtual_ms += more;
        if is_build {
            self.orgs[account.org].virtual_ms += more;
        }
        charged_ms + more
    }

    /// An attempt ends after `used_ms`: an excess charge is given back. `None`: it did not begin at
    /// all.
    pub(crate) fn run_ends(
        &mut self,
        user: usize,
        is_build: bool,
        charged_ms: u64,
        used_ms: Option<u64>,
    ) {
        let account = &mut self.users[user];
        let used = used_ms.unwrap_or_default();
        let settle = |virtual_ms: u64| (virtual_ms + used).saturating_sub(charged_ms);
        account.virtual_ms = settle(account.virtual_ms);
        if used_ms.is_some() {
            account.mean_ms = (account.mean_ms * (MEAN_WEIGHT - 1) + used.max(1)) / MEAN_WEIGHT;
        }
        account.running -= 1;
        let org = &mut self.orgs[account.org];
        org.running -= 1;
        if is_build {
            org.builds -= 1;
            org.virtual_ms = settle(org.virtual_ms);
        }
        self.running -= 1;
    }
}

/// Where one who has no jobs starts, given the jobs and the virtual times of all: level with the least
/// served of those who have some.
fn start(all: impl Iterator<Item = (usize, u64)> + Clone, advances: &HashMap<usize, u64>) -> u64 {
    let had = |(number, (_, virtual_ms)): (usize, (usize, u64))| {
        virtual_ms.saturating_sub(advances.get(&number).copied().unwrap_or_default())
    };
    let all = all.enumerate();
    let active = all.clone().filter(|(_, (jobs, _))| *jobs > 0);
    let least = active.map(had).min();
    least.or(all.map(had).max()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::{Accounts, Advances, Had};
    use crate::limits::Limits;

    fn user_ms(accounts: &Accounts, user: usize) -> u64 {
        accounts.had(user).user_ms
    }

    #[test]
    fn whoever_returns_starts_at_the_least_served_of_those_who_are_there() {
        let mut accounts = Accounts::default();
        let [a, b] = ["a", "b"].map(|name| accounts.user(&"o".into(), &name.into()));
        accounts.job_begins(a, &Advances::default());
        let charged = accounts.run_begins(a, false);
        accounts.run_ends(a, false, charged, Some(500_000));
        assert_eq!(user_ms(&accounts, a), 500_000);
        accounts.job_begins(b, &Advances::default());
        assert_eq!(user_ms(&accounts, b), 500_000);
    }

    #[test]
    fn after_a_rest_of_all_nobody_is_behind() {
        let mut accounts = Accounts::default();
        let [a, b] = ["a", "b"].map(|name| accounts.user(&"o".into(), &name.into()));
        accounts.job_begins(a, &Advances::default());
        let charged = accounts.run_begins(a, false);
        accounts.run_ends(a, false, charged, Some(500_000));
        accounts.job_ends(a);
        accounts.job_begins(b, &Advances::default());
        accounts.job_begins(a, &Advances::default());
        assert_eq!(user_ms(&accounts, a), user_ms(&accounts, b));
    }

    #[test]
    fn what_was_charged_in_advance_is_settled_at_the_end() {
        let mut accounts = Accounts::default();
        let a = accounts.user(&"o".into(), &"a".into());
        accounts.job_begins(a, &Advances::default());
        let charged = accounts.run_begins(a, false);
        assert_eq!(user_ms(&accounts, a), charged);
        let charged = accounts.charge(a, false, charged, 60_000);
        assert_eq!((user_ms(&accounts, a), charged), (60_000, 60_000));
        accounts.run_ends(a, false, charged, Some(61_000));
        assert_eq!(user_ms(&accounts, a), 61_000);
        let charged = accounts.run_begins(a, false);
        accounts.run_ends(a, false, charged, None);
        assert_eq!(user_ms(&accounts, a), 61_000);
    }

    #[test]
    fn nobody_starts_behind_what_others_were_charged_and_have_not_had() {
        let mut accounts = Accounts::default();
        let [a, b] = ["a", "b"].map(|name| accounts.user(&"o".into(), &name.into()));
        accounts.job_begins(a, &Advances::default());
        let charged = accounts.run_begins(a, false);
        // The attempt has run for 40 ms, and then ends.
        let advances = Advances {
            users: HashMap::from([(a, charged - 40)]),
            ..Advances::default()
        };
        accounts.job_begins(b, &advances);
        assert_eq!(user_ms(&accounts, b), 40);
        accounts.run_ends(a, false, charged, Some(40));
        assert_eq!(user_ms(&accounts, a), user_ms(&accounts, b));
    }
    #[test]
    fn organisations_are_compared_by_builds_alone_and_return_like_users() {
        let mut accounts = Accounts::default();
        let [a, b] = ["a", "b"].map(|org| accounts.user(&org.into(), &"u".into()));
        accounts.job_begins(a, &Advances::default());
        for is_build in [true, false] {
            let charged = accounts.run_begins(a, is_build);
            accounts.run_ends(a, is_build, charged, Some(500_000));
        }
        let had = Had {
            org_ms: 500_000,
            user_ms: 1_000_000,
        };
        assert_eq!(accounts.had(a), had);
        accounts.job_begins(b, &Advances::default());
        assert_eq!(accounts.had(b), had);
    }

    #[test]
    fn with_others_about_an_organisation_leaves_a_slot_and_room_to_wait() {
        let limits = Limits {
            queued_max: 8,
            queued_per_org_max: 8,
            queued_per_user_max: 8,
            running_max: 4,
            ..Limits::default()
        };
        let mut accounts = Accounts::default();
        let a = accounts.user(&"a".into(), &"u".into());
        accounts.run_begins(a, true);
        assert!(accounts.may_build(a, 1), "it is alone");
        let b = accounts.user(&"b".into(), &"u".into());
        assert!(!accounts.may_build(a, 1) && accounts.may_build(a, 2));
        assert!(accounts.may_build(b, 1) && !accounts.may_build(b, 0));
        accounts.run_begins(a, false);
        assert!(accounts.may_run(a, &limits));
        accounts.run_begins(a, false);
        assert!(!accounts.may_run(a, &limits) && accounts.may_run(b, &limits));
        let mut fill = |user: usize| {
            let mut count = 0;
            while accounts.may_queue(user, &limits).is_ok() {
                accounts.count_queued(user, true);
                count += 1;
            }
            count
        };
        assert_eq!([fill(a), fill(b)], [4, 2]);
    }
}
