//! Requests that plugins make through the server: bounded in time and size, to no address but those that may be reached,
//! one at a time without following redirects. Each borrows a thread of its own, as messages to webhooks do.

use std::fmt;
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;
use ureq::Agent;
use ureq::http::{Method, Request};
use ureq::unversioned::resolver::{DefaultResolver, Resolver};
use ureq::unversioned::transport::{Connector as _, TcpConnector};

use crate::answer::Silence;
use crate::post::{HEAD_BYTES_MAX, USER_AGENT};
use crate::resolver::{Check, Guarded};
use crate::service::Notices;
use crate::tls::Tls;

/// For the name, and again for the connection.
const CONNECT_WAIT: Duration = Duration::from_secs(5);

/// What is sent.
pub struct Outgoing {
    /// Upper case: `POST`.
    pub method: String,
    /// As it is sent.
    pub url: String,
    /// Names and values.
    pub headers: Vec<(String, String)>,
    /// None is sent if it is empty.
    pub body: Vec<u8>,
    /// From the name to the last byte of the answer.
    pub total: Duration,
    /// Longest body of an answer, in bytes.
    pub answer_bytes_max: usize,
    /// Which addresses may be reached.
    pub check: Check,
}

/// What comes back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incoming {
    /// 100..=599
    pub status: u16,
    /// Names in lower case; values that are text.
    pub headers: Vec<(String, String)>,
    /// As it was sent: nothing is decompressed.
    pub body: Vec<u8>,
}

/// Why nothing comes back. Nothing of the URL, the headers or the bodies is in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unanswered {
    /// No connection may lead to any of its addresses.
    #[error("the server may not be reached: {0}")]
    Forbidden(base::reach::Refused),
    /// It took too long.
    #[error("the server did not answer in time")]
    Timeout,
    /// The answer is too large.
    #[error("the answer has more than {0} bytes")]
    TooLarge(usize),
    /// The request is none.
    #[error("the request cannot be sent: its method, URL or a header is malformed")]
    Malformed,
    /// The rest, as a sentence.
    #[error("{0}")]
    Broken(String),
}

impl fmt::Debug for Outgoing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outgoing")
            .field("method", &self.method)
            .field("body_bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}

impl Notices {
    /// Sends a request and waits for its answer. `place` is held until nothing of it is under way any more, also if
    /// nobody waits for it by then.
    ///
    /// # Errors
    /// There is no answer.
    pub async fn fetch(
        &self,
        outgoing: Outgoing,
        place: impl Send + 'static,
    ) -> Result<Incoming, Unanswered> {
        let tls = self.inner.tls.clone();
        outgoing.fetch(DefaultResolver::default(), tls, place).await
    }
}

impl Outgoing {
    /// Sends it from a thread of its own, which gives `place` back when it ends.
    async fn fetch(
        self,
        names: impl Resolver,
        tls: Tls,
        place: impl Send + 'static,
    ) -> Result<Incoming, Unanswered> {
        let total = self.total;
        let (tell, told) = oneshot::channel();
        let work = move || {
            let answer = self.send(names, tls);
            drop(place);
            // Whoever asked may be gone.
            let _ = tell.send(answer);
        };
        let thread = thread::Builder::new().name("plugin-http".to_owned());
        let not_begun = || Unanswered::Broken(Silence::NotBegun.to_string());
        thread.spawn(work).map_err(|_| not_begun())?;
        // Nothing ends a look-up of a name. The thread then goes on, and the place with it.
        match tokio::time::timeout(total, told).await {
            Ok(told) => told.unwrap_or_else(|_| Err(not_begun())),
            Err(_) => Err(Unanswered::Timeout),
        }
    }

    fn send(self, names: impl Resolver, tls: Tls) -> Result<Incoming, Unanswered> {
        let config = Agent::config_builder()
            // A proxy would resolve the name itself.
            .proxy(None)
            .max_redirects(0)
            .http_status_as_error(false)
            .max_response_header_size(HEAD_BYTES_MAX)
            .timeout_resolve(Some(CONNECT_WAIT))
            .timeout_connect(Some(CONNECT_WAIT))
            .timeout_global(Some(self.total))
            .accept_encoding("identity")
            .user_agent(USER_AGENT)
            .build();
        let connector = ().chain(TcpConnector::default()).chain(tls);
        let names = Guarded::on_this_thread(self.check, names);
        let agent = Agent::with_parts(config, connector, names);
        let method = Method::from_bytes(self.method.as_bytes());
        let method = method.map_err(|_| Unanswered::Malformed)?;
        let mut request = Request::builder().method(method).uri(&self.url);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let sent = if self.body.is_empty() {
            let request = request.body(()).map_err(|_| Unanswered::Malformed)?;
            agent.run(request)
        } else {
            let request = request.body(self.body).map_err(|_| Unanswered::Malformed)?;
            agent.run(request)
        };
        let (head, body) = sent?.into_parts();
        let most = self.answer_bytes_max;
        // One more, to tell an answer that ends there from one that goes on.
        let body = body.into_with_config().limit(most as u64 + 1).read_to_vec();
        let body = match body {
            Ok(body) if body.len() <= most => body,
            Ok(_) | Err(ureq::Error::BodyExceedsLimit(_)) => {
                return Err(Unanswered::TooLarge(most));
            }
            Err(error) => return Err(error.into()),
        };
        let headers = head.headers.iter();
        let headers = headers.filter_map(|(name, value)| {
            let value = value.to_str().ok()?;
            Some((name.as_str().to_owned(), value.to_owned()))
        });
        Ok(Incoming {
            status: head.status.as_u16(),
            headers: headers.collect(),
            body,
        })
    }
}

impl From<ureq::Error> for Unanswered {
    fn from(error: ureq::Error) -> Self {
        match Silence::from(error) {
            Silence::Refused(why) => Self::Forbidden(why),
            Silence::Timeout => Self::Timeout,
            other => Self::Broken(other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;
    use std::path::Path;
    use std::sync::{Arc, Mutex, mpsc};

    use base::reach::Refused;
    use tokio::sync::oneshot::error::TryRecvError;
    use ureq::config::Config;
    use ureq::http::Uri;
    use ureq::unversioned::resolver::ResolvedSocketAddrs;
    use ureq::unversioned::transport::NextTimeout;

    use super::*;

    /// A name server that is silent until it is told to go on. As the one of the system, it looks up elsewhere what has a
    /// bound.
    #[derive(Debug)]
    struct Silent(Mutex<mpsc::Receiver<()>>);

    impl Resolver for Silent {
        fn resolve(
            &self,
            _: &Uri,
            _: &Config,
            timeout: NextTimeout,
        ) -> Result<ResolvedSocketAddrs, ureq::Error> {
            if !timeout.after.is_not_happening() {
                return Err(ureq::Error::Timeout(timeout.reason));
            }
            self.0.lock().unwrap().recv().unwrap();
            Err(ureq::Error::HostNotFound)
        }
    }

    #[tokio::test]
    async fn a_place_is_held_until_the_name_has_been_looked_up() {
        let (go_on, silence) = mpsc::channel();
        let (place, mut given_back) = oneshot::channel::<()>();
        let outgoing = Outgoing {
            method: "GET".into(),
            url: "http://silent.example/".into(),
            headers: Vec::new(),
            body: Vec::new(),
            total: Duration::from_millis(1),
            answer_bytes_max: 1,
            check: Arc::new(|_: IpAddr| Ok::<_, Refused>(())),
        };
        let tls = Tls::open(Path::new("")).unwrap();
        let names = Silent(Mutex::new(silence));
        let answer = outgoing.fetch(names, tls, place).await;
        assert_eq!(answer, Err(Unanswered::Timeout));
        assert_eq!(given_back.try_recv(), Err(TryRecvError::Empty));
        go_on.send(()).unwrap();
        // The place goes without a word.
        assert!(given_back.await.is_err());
    }
}
