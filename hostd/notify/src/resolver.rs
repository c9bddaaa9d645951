//! Resolves names to the addresses that may be reached. The connection goes to one of these, so a name cannot mean another
//! address by then.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use base::reach::{Reach, Refused};
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{NextTimeout, time};

/// Says whether an address may be reached.
pub type Check = Arc<dyn Fn(IpAddr) -> Result<(), Refused> + Send + Sync>;

/// Looks names up, and leaves out what may not be reached.
pub(crate) struct Guarded<R = DefaultResolver> {
    check: Check,
    names: R,
}

/// Looks names up on the thread that asks, however long that takes: with a bound, [`DefaultResolver`] begins another thread
/// and leaves it behind. So whatever the thread that asks holds is held until the look-up has ended.
#[derive(Debug)]
pub(crate) struct OnThisThread<R>(R);

impl Guarded {
    /// Those that `check` lets through.
    pub(crate) fn new(check: Check) -> Self {
        Self {
            check,
            names: DefaultResolver::default(),
        }
    }
}

impl<R: Resolver> Guarded<OnThisThread<R>> {
    /// The same, of what `names` finds on the thread that asks.
    pub(crate) fn on_this_thread(check: Check, names: R) -> Self {
        Self {
            check,
            names: OnThisThread(names),
        }
    }
}

/// What a reach says; without one, any address may be reached.
pub(crate) fn check_of(reach: Option<Reach>) -> Check {
    Arc::new(move |address| reach.as_ref().map_or(Ok(()), |reach| reach.check(address)))
}

impl<R: Resolver> Resolver for Guarded<R> {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let found = self.names.resolve(uri, config, timeout)?;
        let mut kept = self.empty();
        let mut refused = None::<Refused>;
        for address in found.iter() {
            match (self.check)(address.ip()) {
                Ok(()) => kept.push(*address),
                Err(why) => refused = Some(why),
            }
        }
        match refused {
            Some(why) if kept.is_empty() => Err(ureq::Error::Other(Box::new(why))),
            _ => Ok(kept),
        }
    }
}

impl<R: Resolver> Resolver for OnThisThread<R> {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let begun = Instant::now();
        let unbounded = NextTimeout {
            after: time::Duration::NotHappening,
            ..timeout
        };
        let found = self.0.resolve(uri, config, unbounded)?;
        // Nobody waits any more, so nothing is sent.
        if begun.elapsed() > *timeout.after {
            return Err(ureq::Error::Timeout(timeout.reason));
        }
        Ok(found)
    }
}

impl<R> fmt::Debug for Guarded<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guarded").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::net::{SocketAddr, TcpListener};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use ureq::Agent;
    use ureq::unversioned::transport::DefaultConnector;

    use super::*;

    /// A name server whose answer changes with every question: what it says first, and the loopback from then on.
    #[derive(Debug)]
    struct Rebinding {
        first: Vec<SocketAddr>,
        asked: Arc<AtomicUsize>,
        then: SocketAddr,
    }

    impl Resolver for Rebinding {
        fn resolve(
            &self,
            _: &Uri,
            _: &Config,
            _: NextTimeout,
        ) -> Result<ResolvedSocketAddrs, ureq::Error> {
            let mut found = self.empty();
            match self.asked.fetch_add(1, Ordering::Relaxed) {
                0 => self.first.iter().for_each(|address| found.push(*address)),
                _ => found.push(self.then),
            }
            Ok(found)
        }
    }

    fn get(first: &[&str], then: SocketAddr) -> (Result<u16, ureq::Error>, usize) {
        let asked = Arc::<AtomicUsize>::default();
        let guarded = Guarded {
            check: check_of(Some(Reach::new("", "", "denied").unwrap())),
            names: Rebinding {
                first: first.iter().map(|text| text.parse().unwrap()).collect(),
                asked: asked.clone(),
                then,
            },
        };
        let config = Agent::config_builder()
            .proxy(None)
            .timeout_connect(Some(Duration::from_millis(200)))
            .timeout_global(Some(Duration::from_millis(400)))
            .build();
        let agent = Agent::with_parts(config, DefaultConnector::default(), guarded);
        let answer = agent.get("http://rebinding.example/").call();
        let status = answer.map(|answer| answer.status().as_u16());
        (status, asked.load(Ordering::Relaxed))
    }

    #[test]
    fn a_name_is_looked_up_once_and_never_leads_to_what_may_not_be_reached() {
        let own = TcpListener::bind("127.0.0.1:0").unwrap();
        own.set_nonblocking(true).unwrap();
        let then = own.local_addr().unwrap();
        let loopback = then.to_string();
        // An address of documentation, where nobody answers.
        for first in [
            vec![loopback.as_str()],
            vec!["192.0.2.1:80"],
            vec!["192.0.2.1:80", loopback.as_str()],
        ] {
            let (status, asked) = get(&first, then);
            assert!(status.is_err(), "{first:?}");
            assert_eq!(asked, 1, "{first:?}");
        }
        let reached = own.accept();
        assert!(reached.is_err(), "{reached:?}");
    }
}
