//! What a pod asks for: which of the two requests it is, and what it shows.

use http::Method;

/// Where pods ask, under either of the two names of the API.
const PREFIXES: [&str; 2] = ["/api/benchpod/", "/api/bench/"];

/// One of the two requests of a pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// For a nonce, by the device with this id.
    Challenge(String),
    /// For the WebSocket.
    Socket,
}

impl Step {
    /// The step that a path is for.
    #[must_use]
    pub fn of(path: &str) -> Option<Self> {
        let rest = PREFIXES
            .iter()
            .find_map(|prefix| path.strip_prefix(prefix))?;
        if rest == "ws" {
            return Some(Self::Socket);
        }
        let id = rest.strip_prefix("devices/")?.strip_suffix("/challenge")?;
        (!id.is_empty() && !id.contains('/')).then(|| Self::Challenge(id.to_owned()))
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Challenge(_) => "dial.challenge",
            Self::Socket => "dial.socket",
        }
    }

    pub(super) fn method(&self) -> Method {
        match self {
            Self::Challenge(_) => Method::POST,
            Self::Socket => Method::GET,
        }
    }
}

/// What a pod shows.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Proof<'q> {
    pub(super) device_id: &'q str,
    pub(super) nonce: &'q str,
    pub(super) signature: &'q str,
    pub(super) auth: Option<&'q str>,
}

impl<'q> Proof<'q> {
    /// Reads a query string. Nothing of it ever needs an escape.
    pub(super) fn read(query: &'q str) -> Self {
        let mut proof = Self::default();
        for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
            match name {
                "device_id" => proof.device_id = value,
                "nonce" => proof.nonce = value,
                "signature" => proof.signature = value,
                "auth" => proof.auth = Some(value),
                _ => {}
            }
        }
        proof
    }
}

#[cfg(test)]
mod tests {
    //! Which requests are a pod's.

    use super::*;

    #[test]
    fn two_paths_are_for_pods() {
        for prefix in PREFIXES {
            let of = |rest: &str| Step::of(&format!("{prefix}{rest}"));
            assert_eq!(of("ws"), Some(Step::Socket));
            assert_eq!(
                of("devices/01D/challenge"),
                Some(Step::Challenge("01D".to_owned()))
            );
            for other in [
                "",
                "ws/",
                "devices/01D",
                "devices//challenge",
                "devices/a/b/challenge",
            ] {
                assert_eq!(of(other), None, "{other}");
            }
        }
        assert_eq!(Step::of("/api/ws"), None);
    }

    #[test]
    fn a_proof_is_read_from_the_query() {
        let proof = Proof::read("device_id=d&nonce=n&signature=s&auth=v2&x=y&z");
        let wanted = Proof {
            device_id: "d",
            nonce: "n",
            signature: "s",
            auth: Some("v2"),
        };
        assert_eq!(proof, wanted);
        assert_eq!(Proof::read(""), Proof::default());
    }
}
