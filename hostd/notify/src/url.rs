//! URLs of receivers, as people give them.

use std::net::IpAddr;

use base::reach::Reach;
use ureq::http::Uri;

/// Longest URL, in bytes.
pub(crate) const URL_BYTES_MAX: usize = 2000;

/// What is wrong with a URL, as a fragment that follows a name.
pub(crate) fn check(url: &str, reach: &Reach) -> Result<(), String> {
    let wrong = |rule: &str| Err(rule.to_owned());
    if url.len() > URL_BYTES_MAX {
        return Err(format!("must have at most {URL_BYTES_MAX} bytes"));
    }
    if !url.bytes().all(|b| b.is_ascii_graphic()) || url.contains('#') {
        return wrong("must be a URL without spaces and fragment");
    }
    let parsed = url.parse::<Uri>().ok();
    let Some(authority) = parsed.as_ref().and_then(Uri::authority) else {
        return wrong("must be a URL such as https://chat.example/hooks/bench");
    };
    let scheme = parsed.as_ref().and_then(Uri::scheme_str);
    if !matches!(scheme, Some("http" | "https")) {
        return wrong("must begin with http:// or https://");
    }
    if authority.as_str().contains('@') {
        return wrong("must carry no user and no password: the signature says who sends");
    }
    let host = authority.host();
    let after = authority.as_str().strip_prefix(host).unwrap_or_default();
    if host.is_empty() || (!after.is_empty() && authority.port_u16().is_none_or(|port| port == 0)) {
        return wrong("must name a host, and a port from 1 to 65535 if it names one");
    }
    let plain = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    if let Ok(address) = plain.unwrap_or(host).parse::<IpAddr>() {
        let refused =
            |refused| format!("must lead elsewhere: {refused}, which webhooks may not reach");
        reach.check(address).map_err(refused)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use base::seeded::Random;

    use super::*;

    #[test]
    fn only_what_can_be_reached_is_taken() {
        let reach = Reach::new("", "", "denied").unwrap();
        for good in [
            "https://chat.example/hooks/bench?token=x",
            "http://10.0.0.9:8080/",
            "http://bench",
            "https://[2001:db8::1]:8443/x",
        ] {
            assert_eq!(check(good, &reach), Ok(()), "{good}");
        }
        for bad in [
            "",
            "chat.example",
            "/hooks",
            "ftp://chat.example/",
            "https://",
            "https:///x",
            "https://u:p@chat.example/",
            "https://chat.example:0/",
            "https://chat.example:99999/",
            "https://chat.example/#x",
            "https://chat.example/a b",
            "http://127.0.0.1/",
            "http://[::1]:80/",
            "http://169.254.169.254/latest/meta-data/",
        ] {
            assert!(check(bad, &reach).is_err(), "{bad}");
        }
        assert!(check(&format!("http://a/{}", "x".repeat(2000)), &reach).is_err());
    }

    #[test]
    fn mutated_urls_never_panic_and_never_hide_a_user() {
        let reach = Reach::new("", "", "denied").unwrap();
        let mut random = Random(0x0dd);
        let valid = b"https://user@[::1]:8443/hooks/%20bench?token=1#x";
        for _ in 0..20_000 {
            let mut url = valid.to_vec();
            for _ in 0..=random.below(6) {
                let at = random.index(url.len());
                match random.below(3) {
                    0 => url[at] = random.next().to_le_bytes()[0],
                    1 => drop(url.remove(at)),
                    _ => url.insert(at, b"@:/[]#?%."[random.index(9)]),
                }
            }
            let url = String::from_utf8_lossy(&url);
            if check(&url, &reach).is_ok() {
                let uri: Uri = url.parse().unwrap();
                assert!(!uri.authority().unwrap().as_str().contains('@'), "{url}");
                assert!(matches!(uri.scheme_str(), Some("http" | "https")), "{url}");
            }
        }
    }
}
