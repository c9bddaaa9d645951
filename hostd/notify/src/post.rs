//! One request to a receiver: bounded in time and size, to no address but those that may be reached, without following
//! redirects. It borrows a thread of its own, since the pool's are for the disk.

use std::thread;

use base::reach::Reach;
use tokio::sync::oneshot;
use ureq::Agent;
use ureq::unversioned::transport::{Connector as _, TcpConnector};

use crate::answer::{Answer, Pause, Silence};
use crate::limits::Limits;
use crate::resolver::{Guarded, check_of};
use crate::tls::Tls;

/// Longest head of an answer, in bytes.
pub(crate) const HEAD_BYTES_MAX: usize = 16 << 10;

/// How this server calls itself.
pub(crate) const USER_AGENT: &str = concat!("hostd/", env!("CARGO_PKG_VERSION"));

/// What is sent.
pub(crate) struct Post {
    pub(crate) url: String,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: String,
    /// Which addresses may be reached; none: any.
    pub(crate) reach: Option<Reach>,
}

impl Post {
    /// Sends it, and waits for the head of the answer.
    ///
    /// # Errors
    /// There is none.
    pub(crate) async fn send(self, limits: &Limits, tls: &Tls) -> Result<Answer, Silence> {
        let (limits, tls) = (limits.clone(), tls.clone());
        let (tell, told) = oneshot::channel();
        let work = move || {
            // Whoever asked may be gone.
            let _ = tell.send(self.send_blocking(&limits, tls));
        };
        let thread = thread::Builder::new().name("notice".to_owned());
        thread.spawn(work).map_err(|_| Silence::NotBegun)?;
        told.await.unwrap_or(Err(Silence::NotBegun))
    }

    fn send_blocking(self, limits: &Limits, tls: Tls) -> Result<Answer, Silence> {
        let config = Agent::config_builder()
            // A proxy would resolve the name itself.
            .proxy(None)
            .max_redirects(0)
            .http_status_as_error(false)
            .max_response_header_size(HEAD_BYTES_MAX)
            .timeout_resolve(Some(limits.connect))
            .timeout_connect(Some(limits.connect))
            .timeout_recv_response(Some(limits.answer))
            .timeout_global(Some(limits.total))
            .user_agent(USER_AGENT)
            .build();
        let resolver = Guarded::new(check_of(self.reach));
        let connector = ().chain(TcpConnector::default()).chain(tls);
        let agent = Agent::with_parts(config, connector, resolver);
        let mut request = agent.post(&self.url);
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let answer = request.send(self.body)?;
        let wish = answer.headers().get("retry-after");
        let wish = wish.and_then(|value| value.to_str().ok());
        Ok(Answer {
            status: answer.status().as_u16(),
            wish: wish.and_then(Pause::parse),
        })
    }
}
