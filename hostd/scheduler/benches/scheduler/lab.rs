//! Devices and jobs for the benches: abilities are bits, and a job may require one thing more.

use scheduler::{Class, Clocks, Requirement, Submission, Task, Work};

/// Abilities, and the further requirement, which no device here meets unless it is 0.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Need(pub(crate) u32, pub(crate) u32);

impl Requirement for Need {
    type Device = (u32, bool);

    fn misfit(&self, (caps, has_all): &(u32, bool)) -> Option<String> {
        let fits = self.0 & !caps == 0 && (self.1 == 0 || *has_all);
        (!fits).then(|| format!("lacks {:#b} or {}", self.0 & !caps, self.1))
    }

    fn excludes(&self, _: &(u32, bool)) -> bool {
        false
    }

    fn rank((caps, _): &(u32, bool)) -> u32 {
        caps.count_ones()
    }
}

/// A job of an organisation that builds.
pub(crate) fn build(number: usize, org: &str, user: usize) -> Submission<Need> {
    let mut build = job(number, user, Class::Normal, Need(0, 0));
    build.org = org.into();
    build.tasks[0].work = Work::Build;
    build
}

/// A job of one task on one device.
pub(crate) fn job(number: usize, user: usize, class: Class, need: Need) -> Submission<Need> {
    let long = 1 << 40;
    Submission {
        job: format!("job-{number}").as_str().into(),
        org: "org".into(),
        user: format!("user-{user}").as_str().into(),
        class,
        tasks: vec![Task {
            work: Work::Bench(need),
            needs: Vec::new(),
            run_ms: long,
        }],
        retries_max: 1,
        clocks: Clocks {
            queue_ms: long,
            start_ms: long,
            stop_ms: long,
            job_ms: long,
        },
    }
}
