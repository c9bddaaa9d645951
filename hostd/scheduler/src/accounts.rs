//! Who uses how much: what each user and organisation has queued and running, and each user's
//! virtual time, which decides whose turn it is.

use std::collections::HashMap;

use crate::limits::{Limits, Refused};
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
    /// Virtual time below which no returning user starts.
    floor_ms: u64,
}

#[derive(Debug)]
struct Org {
    name: OrgId,
    queued: usize,
    running: u32,
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
    pub(crate) fn org(&mut self, name: &OrgId) -> usize {
        if let Some(org) = self.org_by_name.get(name) {
            return *org;
        }
        self.orgs.push(Org {
            name: name.clone(),
            queued: 0,
            running: 0,
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
            virtual_ms: self.floor_ms,
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

    pub(crate) fn virtual_ms(&self, user: usize) -> u64 {
        self.users[user].virtual_ms
    }

    pub(crate) fn mean_ms(&self, user: usize) -> u64 {
        self.users[user].mean_ms
    }

    /// Whether one more job of this user may wait.
    pub(crate) fn may_queue(&self, user: usize, limits: &Limits) -> Result<(), Refused> {
        let account = &self.users[user];
        if account.queued >= limits.queued_per_user_max {
            return Err(Refused::UserFull(account.queued));
        }
        let org = self.orgs[account.org].queued;
        if org >= limits.queued_per_org_max {
            return Err(Refused::OrgFull(org));
        }
        if self.queued >= limits.queued_max {
            return Err(Refused::Full(self.queued));
        }
        Ok(())
    }

    /// Whether one more attempt of this user may run under the limits of the user and the
    /// organisation.
    pub(crate) fn may_run(&self, user: usize, limits: &Limits) -> bool {
        let account = &self.users[user];
        account.running < limits.running_per_user_max
            && self.orgs[account.org].running < limits.running_per_org_max
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

    /// A job begins. A user without other jobs starts level with the least served of the other
    /// users, so that nobody saves up turns by staying away; if there are no other users, all
    /// become equal again. `advances` is what each user was charged for running attempts and has not
    /// used yet, which may be given back: nobody starts behind what others have not had.
    pub(crate) fn job_begins(&mut self, user: usize, advances: &HashMap<usize, u64>) {
        if self.users[user].jobs == 0 {
            let had = |(number, other): (usize, &Account)| {
                let advance = advances.get(&number).copied().unwrap_or_default();
                other.virtual_ms.saturating_sub(advance)
            };
            let all = || self.users.iter().enumerate();
            let least = all().filter(|(_, other)| other.jobs > 0).map(had).min();
            let start = least.or(all().map(had).max()).unwrap_or_default();
            self.floor_ms = self.floor_ms.max(start);
            let account = &mut self.users[user];
            account.virtual_ms = account.virtual_ms.max(start);
        }
        self.users[user].jobs += 1;
    }

    pub(crate) fn job_ends(&mut self, user: usize) {
        self.users[user].jobs -= 1;
    }

    /// An attempt begins; returns what it is charged in advance.
    pub(crate) fn run_begins(&mut self, user: usize) -> u64 {
        let account = &mut self.users[user];
        account.running += 1;
        account.virtual_ms += account.mean_ms;
        self.orgs[account.org].running += 1;
        self.running += 1;
        account.mean_ms
    }

    /// A running attempt has used `used_ms`, of which `charged_ms` were charged; returns the new
    /// charge.
    pub(crate) fn charge(&mut self, user: usize, charged_ms: u64, used_ms: u64) -> u64 {
        let more = used_ms.saturating_sub(charged_ms);
        self.users[user].virtual_ms += more;
        charged_ms + more
    }

    /// An attempt ends after `used_ms`: an excess charge is given back. `None`: it did not begin at
    /// all.
    pub(crate) fn run_ends(&mut self, user: usize, charged_ms: u64, used_ms: Option<u64>) {
        let account = &mut self.users[user];
        let used = used_ms.unwrap_or_default();
        account.virtual_ms = (account.virtual_ms + used).saturating_sub(charged_ms);
        if used_ms.is_some() {
            account.mean_ms = (account.mean_ms * (MEAN_WEIGHT - 1) + used.max(1)) / MEAN_WEIGHT;
        }
        account.running -= 1;
        self.orgs[account.org].running -= 1;
        self.running -= 1;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::Accounts;

    #[test]
    fn whoever_returns_starts_at_the_least_served_of_those_who_are_there() {
        let mut accounts = Accounts::default();
        let [a, b] = ["a", "b"].map(|name| accounts.user(&"o".into(), &name.into()));
        accounts.job_begins(a, &HashMap::new());
        let charged = accounts.run_begins(a);
        accounts.run_ends(a, charged, Some(500_000));
        assert_eq!(accounts.virtual_ms(a), 500_000);
        accounts.job_begins(b, &HashMap::new());
        assert_eq!(accounts.virtual_ms(b), 500_000);
    }

    #[test]
    fn after_a_rest_of_all_nobody_is_behind() {
        let mut accounts = Accounts::default();
        let [a, b] = ["a", "b"].map(|name| accounts.user(&"o".into(), &name.into()));
        accounts.job_begins(a, &HashMap::new());
        let charged = accounts.run_begins(a);
        accounts.run_ends(a, charged, Some(500_000));
        accounts.job_ends(a);
        accounts.job_begins(b, &HashMap::new());
        accounts.job_begins(a, &HashMap::new());
        assert_eq!(accounts.virtual_ms(a), accounts.virtual_ms(b));
    }

    #[test]
    fn what_was_charged_in_advance_is_settled_at_the_end() {
        let mut accounts = Accounts::default();
        let a = accounts.user(&"o".into(), &"a".into());
        accounts.job_begins(a, &HashMap::new());
        let charged = accounts.run_begins(a);
        assert_eq!(accounts.virtual_ms(a), charged);
        let charged = accounts.charge(a, charged, 60_000);
        assert_eq!((accounts.virtual_ms(a), charged), (60_000, 60_000));
        accounts.run_ends(a, charged, Some(61_000));
        assert_eq!(accounts.virtual_ms(a), 61_000);
        let charged = accounts.run_begins(a);
        accounts.run_ends(a, charged, None);
        assert_eq!(accounts.virtual_ms(a), 61_000);
    }

    #[test]
    fn nobody_starts_behind_what_others_were_charged_and_have_not_had() {
        let mut accounts = Accounts::default();
        let [a, b] = ["a", "b"].map(|name| accounts.user(&"o".into(), &name.into()));
        accounts.job_begins(a, &HashMap::new());
        let charged = accounts.run_begins(a);
        // The attempt has run for 40 ms, and then ends.
        accounts.job_begins(b, &HashMap::from([(a, charged - 40)]));
        assert_eq!(accounts.virtual_ms(b), 40);
        accounts.run_ends(a, charged, Some(40));
        assert_eq!(accounts.virtual_ms(a), accounts.virtual_ms(b));
    }
}
