//! Finds the credential in a request. Knows only its outer form; the rest of `identity` decides
//! whether it is valid.

use base::id;

use super::error::AuthError;

/// Cookie that carries a user session.
pub const COOKIE_NAME: &str = "hostd_session";

/// Its name where the client came by HTTPS: browsers take a cookie of this name from nobody else, neither from another host
/// of the domain nor from a connection that somebody may have tampered with.
pub const SECURE_COOKIE_NAME: &str = "__Host-hostd_session";

/// Longest credential that is examined.
pub const CREDENTIAL_BYTES_MAX: usize = 8 << 10;

/// A credential by its outer form.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Presented<'r> {
    Key(KeyText<'r>),
    /// A JSON Web Token, judging by its dots.
    Token(&'r str),
}

/// The parts of `<prefix>_<kid>_<secret>`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct KeyText<'r> {
    pub(super) kid: &'r str,
    pub(super) secret: &'r str,
}

/// Characters of a new key's secret: 178 bits.
pub(super) const SECRET_LEN: usize = 30;

/// Secrets that are accepted; at least 128 bits, and room to grow.
const SECRET_LENS: std::ops::RangeInclusive<usize> = 22..=64;

/// Longest prefix of a key.
const PREFIX_LEN_MAX: usize = 16;

/// The credential of a request. A header wins over the query, the query over the cookie; a broken
/// one is an error and is not skipped for the next.
pub(super) fn find<'r>(
    authorization: Option<&'r str>,
    cookie: Option<&'r str>,
    query_token: Option<&'r str>,
) -> Result<Presented<'r>, AuthError> {
    if let Some(header) = authorization {
        return from_header(header);
    }
    if let Some(text) = query_token {
        return either(text);
    }
    match cookie.and_then(session_cookie) {
        Some(text) => token(text),
        None => Err(AuthError::Missing),
    }
}

/// Words before a credential, of ours and of others.
const SCHEMES: [&str; 4] = ["apikey", "bearer", "token", "basic"];

fn from_header(header: &str) -> Result<Presented<'_>, AuthError> {
    let header = header.trim();
    let (scheme, text) = header.split_once(' ').unwrap_or((header, ""));
    let text = text.trim();
    let is = |known: &[&str]| known.iter().any(|known| scheme.eq_ignore_ascii_case(known));
    if scheme.is_empty() || (is(&SCHEMES) && text.is_empty()) {
        return Err(AuthError::Empty);
    }
    if is(&["apikey"]) {
        key(text)
    } else if is(&["bearer"]) {
        // Many clients know no other scheme.
        either(text)
    } else {
        Err(AuthError::Scheme)
    }
}

fn either(text: &str) -> Result<Presented<'_>, AuthError> {
    if text.contains('.') {
        token(text)
    } else {
        key(text)
    }
}

/// The prefix is for people and secret scanners; any well-formed one is accepted, so that changing
/// it in the configuration does not invalidate existing keys.
fn key(text: &str) -> Result<Presented<'_>, AuthError> {
    if text.len() > CREDENTIAL_BYTES_MAX {
        return Err(AuthError::Invalid);
    }
    let mut parts = text.split('_');
    let (Some(prefix), Some(kid), Some(secret), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(AuthError::Invalid);
    };
    let well_formed = (1..=PREFIX_LEN_MAX).contains(&prefix.len())
        && kid.len() == id::KEY_ID_LEN
        && SECRET_LENS.contains(&secret.len())
        && [prefix, kid, secret].into_iter().all(base::id::is_base62);
    if !well_formed {
        return Err(AuthError::Invalid);
    }
    Ok(Presented::Key(KeyText { kid, secret }))
}

fn token(text: &str) -> Result<Presented<'_>, AuthError> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    if text.len() > CREDENTIAL_BYTES_MAX
        || text.bytes().filter(|b| *b == b'.').count() != 2
        || !text.bytes().all(plain)
    {
        return Err(AuthError::Invalid);
    }
    Ok(Presented::Token(text))
}

/// The value of our cookie, if the header names it: of the one that nobody else can have set, or else of the other, which is
/// not here where the client came by HTTPS.
fn session_cookie(header: &str) -> Option<&str> {
    let value_of = |wanted: &str| {
        header.split(';').find_map(|pair| {
            let (name, value) = pair.trim().split_once('=')?;
            (name == wanted).then_some(value)
        })
    };
    value_of(SECURE_COOKIE_NAME).or_else(|| value_of(COOKIE_NAME))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "bk_AAAAAAAAAAAA_0123456789012345678901";

    fn is_key(found: Result<Presented<'_>, AuthError>) -> bool {
        matches!(found, Ok(Presented::Key(k)) if k.kid == "AAAAAAAAAAAA")
    }

    #[test]
    fn the_header_wins_and_schemes_ignore_case() {
        for scheme in ["ApiKey", "apikey", "APIKEY"] {
            let header = format!("{scheme} {KEY}");
            assert!(is_key(find(
                Some(&header),
                Some("hostd_session=a.b.c"),
                Some("x.y.z")
            )));
        }
        assert!(matches!(
            find(Some("Bearer a.b.c"), None, None),
            Ok(Presented::Token("a.b.c"))
        ));
        assert!(matches!(
            find(Some("Bearer bad"), None, Some(KEY)),
            Err(AuthError::Invalid)
        ));
        assert!(is_key(find(
            Some(&format!("Bearer {KEY}")),
            Some("hostd_session=a.b.c"),
            None
        )));
    }

    #[test]
    fn a_header_in_another_form_is_told_the_right_one() {
        let token = format!("Token {KEY}");
        for (header, expected) in [
            (KEY, AuthError::Scheme),
            (&token, AuthError::Scheme),
            ("Basic dXNlcjpwYXNz", AuthError::Scheme),
            ("a.b.c", AuthError::Scheme),
            ("", AuthError::Empty),
            (" ", AuthError::Empty),
            ("ApiKey", AuthError::Empty),
            ("ApiKey  ", AuthError::Empty),
            ("bearer", AuthError::Empty),
            ("Basic", AuthError::Empty),
            ("ApiKey bk", AuthError::Invalid),
        ] {
            let error = find(Some(header), None, None).err();
            assert_eq!(error, Some(expected), "{header}");
            assert_eq!(expected.code(), "invalid_credential");
            let says = expected.to_string();
            let says_how = says.contains("Authorization: ApiKey <key>");
            assert_eq!(says_how, expected != AuthError::Invalid, "{says}");
        }
    }

    #[test]
    fn query_takes_both_and_cookie_takes_sessions() {
        assert!(is_key(find(None, None, Some(KEY))));
        assert!(matches!(
            find(None, None, Some("a.b.c")),
            Ok(Presented::Token("a.b.c"))
        ));
        let cookies = "theme=dark; hostd_session=a.b.c; x";
        assert!(matches!(
            find(None, Some(cookies), None),
            Ok(Presented::Token("a.b.c"))
        ));
        // The secure one first, wherever it stands; a broken one is not skipped for the other.
        for (cookies, token) in [
            ("hostd_session=a.b.c; __Host-hostd_session=x.y.z", "x.y.z"),
            ("__Host-hostd_session=x.y.z; hostd_session=a.b.c", "x.y.z"),
            ("x__Host-hostd_session=x.y.z; hostd_session=a.b.c", "a.b.c"),
        ] {
            let found = find(None, Some(cookies), None);
            assert!(
                matches!(found, Ok(Presented::Token(t)) if t == token),
                "{cookies}"
            );
        }
        let broken = "hostd_session=a.b.c; __Host-hostd_session=";
        assert!(matches!(
            find(None, Some(broken), None),
            Err(AuthError::Invalid)
        ));
        let key = format!("hostd_session={KEY}");
        assert!(matches!(
            find(None, Some(&key), None),
            Err(AuthError::Invalid)
        ));
        assert!(matches!(
            find(None, Some("theme=dark"), None),
            Err(AuthError::Missing)
        ));
        assert!(matches!(find(None, None, None), Err(AuthError::Missing)));
    }

    #[test]
    fn malformed_keys_are_invalid() {
        let long = format!("ApiKey bk_AAAAAAAAAAAA_{}", "0".repeat(65));
        for bad in [
            "ApiKey bk",
            "ApiKey _AAAAAAAAAAAA_0123456789012345678901",
            "ApiKey bk_AAAAAAAAAAA_0123456789012345678901",
            "ApiKey bk_AAAAAAAAAAAA_012345678901234567890",
            "ApiKey bk_AAAAAAAAAAAA_0123456789012345678901_",
            "ApiKey bk_AAAAAAAAAAAA_012345678901234567890é",
            "Bearer a.b",
            "Bearer a.b.c.d",
            "Bearer a.b.c d",
            &long,
        ] {
            assert!(
                matches!(find(Some(bad), None, None), Err(AuthError::Invalid)),
                "{bad}"
            );
        }
    }
}
