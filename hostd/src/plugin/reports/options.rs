//! The options of a report, from the query of the request.

use http::StatusCode;

use crate::http::error::ApiError;
use crate::http::percent;

/// Longest query in bytes, as sent.
const QUERY_BYTES_MAX: usize = 8 << 10;

/// The pairs of a query, each of them one of the `known` options.
///
/// # Errors
/// 400: it is too long, badly encoded, or has something unknown or twice.
pub(super) fn of(
    query: &str,
    known: &[(String, String)],
) -> Result<Vec<(String, String)>, ApiError> {
    if query.len() > QUERY_BYTES_MAX {
        return Err(invalid(format!(
            "the query string is over {QUERY_BYTES_MAX} bytes"
        )));
    }
    let mut options: Vec<(String, String)> = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (Some(name), Some(value)) = (decoded(name), decoded(value)) else {
            return Err(invalid("the query string is not percent-encoded UTF-8"));
        };
        if !known.iter().any(|(id, _)| *id == name) {
            let shown: String = name.chars().take(32).collect();
            let names: Vec<&str> = known.iter().map(|(id, _)| id.as_str()).collect();
            let takes = match names.as_slice() {
                [] => "none".to_owned(),
                names => names.join(", "),
            };
            return Err(invalid(format!(
                "the report has no option {shown:?}; it takes {takes}"
            )));
        }
        if options.iter().any(|(id, _)| *id == name) {
            return Err(invalid(format!("the option {name} is given twice")));
        }
        options.push((name, value));
    }
    Ok(options)
}

/// Forms encode a space as `+`.
fn decoded(text: &str) -> Option<String> {
    percent::decode(&text.replace('+', " "))
}

fn invalid(sentence: impl Into<String>) -> ApiError {
    ApiError::new(StatusCode::BAD_REQUEST, "invalid_request", sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(query: &str) -> Result<Vec<(String, String)>, ApiError> {
        let known = ["sda", "scl"].map(|id| (id.to_owned(), String::new()));
        of(query, &known)
    }

    #[test]
    fn pairs_come_decoded_and_in_order() {
        let pairs = read("scl=LA+1&&sda=%22a%22").unwrap();
        let wanted = [("scl", "LA 1"), ("sda", "\"a\"")];
        let wanted = wanted.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(pairs, wanted);
        assert_eq!(read("sda").unwrap(), [("sda".to_owned(), String::new())]);
        assert!(read("").unwrap().is_empty());
    }

    #[test]
    fn what_is_unknown_twice_or_damaged_is_refused() {
        let long = format!("sda={}", "x".repeat(QUERY_BYTES_MAX));
        for query in ["x=1", "sda=1&sda=2", "sda=%f", "sda=%ff", "=1", &long] {
            let refused = read(query).unwrap_err();
            assert_eq!(refused.code(), "invalid_request", "{query}");
        }
    }
}
