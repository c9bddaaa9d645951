//! Query parameters of a WebSocket that are for the host only: a browser cannot set headers there, so
//! a credential and a lease may come as parameters. Neither handlers nor logs see them.

use crate::http::percent;

/// The parameter for a credential.
const TOKEN: &str = "token";

/// The parameter for a lease.
const LEASE: &str = "lease";

/// The credential in a query string. Ours never need percent-encoding, so an encoded value is not
/// one.
#[must_use]
pub fn token(query: &str) -> Option<String> {
    value(query, TOKEN).map(str::to_owned)
}

/// The id of the lease in a query string. None if it does not decode to text.
#[must_use]
pub fn lease(query: &str) -> Option<String> {
    // Forms encode a space as `+`.
    percent::decode(&value(query, LEASE)?.replace('+', " "))
}

/// The query string without what stays in the host.
#[must_use]
pub fn without_secrets(query: &str) -> String {
    let is_secret = |pair: &&str| {
        let name = pair.split_once('=').map_or(*pair, |(name, _)| name);
        name == TOKEN || name == LEASE
    };
    let kept: Vec<&str> = query.split('&').filter(|pair| !is_secret(pair)).collect();
    kept.join("&")
}

fn value<'q>(query: &'q str, wanted: &str) -> Option<&'q str> {
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find_map(|(name, value)| (name == wanted).then_some(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_credential_does_not_travel_on() {
        assert_eq!(token("device=a&token=x.y.z").as_deref(), Some("x.y.z"));
        assert_eq!(token("device=a&tokens=x"), None);
        assert_eq!(
            without_secrets("token=s&device=a&token=t&lease=l&kind=uart&token&lease"),
            "device=a&kind=uart"
        );
        assert_eq!(without_secrets(""), "");
    }

    #[test]
    fn a_lease_comes_as_browsers_write_it() {
        let id = |text: &str| lease(&format!("rx=1&lease={text}&token=t"));
        assert_eq!(id("lease-0f").as_deref(), Some("lease-0f"));
        assert_eq!(id("run%20of+%C3%A4%2B").as_deref(), Some("run of ä+"));
        for broken in ["%", "%2", "%zz", "%ff"] {
            assert_eq!(id(broken), None, "{broken}");
        }
        assert_eq!(lease("leases=x"), None);
    }

    #[test]
    fn random_queries_do_no_harm() {
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state >> 33).unwrap()
        };
        let parts = ["token", "lease", "=", "&", "%", "%2", "%41", "+", "x", "ä"];
        for _ in 0..5_000 {
            let count = next() % 12;
            let query: String = (0..count).map(|_| parts[next() % parts.len()]).collect();
            let kept = without_secrets(&query);
            assert_eq!((token(&kept), lease(&kept)), (None, None), "{query}");
            assert_eq!(without_secrets(&kept), kept);
            let _ = (token(&query), lease(&query));
        }
    }
}
