//! In which organisation a caller without a credential is answered.

use std::sync::Arc;

use plugins::grant::Grant;

/// The organisation that `org=` of the query names, or the only one that opened the plugin to such callers.
pub(super) fn org(grants: &[Arc<Grant>], query: &str) -> Option<String> {
    let open: Vec<&str> = grants
        .iter()
        .filter(|grant| grant.rights.public)
        .map(|grant| grant.org.as_str())
        .collect();
    let named = query.split('&').find_map(|pair| pair.strip_prefix("org="));
    let found = match (named, open.as_slice()) {
        (Some(named), _) => open.iter().find(|org| **org == named).copied(),
        (None, [only]) => Some(*only),
        (None, _) => None,
    };
    found.map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plugins::grant::Devices;
    use plugins::wants::Wants;

    fn grant(org: &str, public: bool) -> Arc<Grant> {
        let wants = Wants {
            public,
            ..Wants::default()
        };
        let id = "acme.x".parse().unwrap();
        Arc::new(Grant::of_all(org, &id, &wants, Devices::All, "user", 1))
    }

    #[test]
    fn callers_without_a_credential_are_sent_to_who_opened_the_plugin() {
        let one = [grant("a", true), grant("b", false)];
        assert_eq!(org(&one, ""), Some("a".to_owned()));
        assert_eq!(org(&one, "x=1&org=b"), None);
        let two = [grant("a", true), grant("b", true)];
        assert_eq!(org(&two, "y=2"), None);
        assert_eq!(org(&two, "org=b"), Some("b".to_owned()));
        assert_eq!(org(&[], "org=b"), None);
    }
}
