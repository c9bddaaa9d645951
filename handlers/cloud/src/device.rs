//! Which device a request is about: the query parameter `device`, else the header `x-bench-device`.

use guest::devices::{self, Device, Error};
use guest::{ApiError, Credential, Query, Request, text};

/// Nothing that lasts: a job gets a token and hands it to nobody.
pub(crate) const CREDENTIALS: &[Credential] = &[Credential::CloudSession];

/// Drive devices.
pub(crate) const SCOPE: Option<&str> = Some("bench:control");

/// Longest device name.
const NAME_CHARS_MAX: usize = 64;

/// Name of the device that the request is about; `query` is read as far as that.
pub(crate) fn name(request: &Request, query: &mut Query) -> Result<String, ApiError> {
    let asked = query.optional("device", text(1..=NAME_CHARS_MAX));
    let asked = asked.or_else(|| request.header("x-bench-device").map(str::to_owned));
    asked.filter(|name| !name.is_empty()).ok_or_else(|| {
        ApiError::field(
            "device",
            "is required: the device's name, as query parameter or in the header X-Bench-Device",
        )
    })
}

/// The device with this name.
pub(crate) fn find(name: &str) -> Result<Device, ApiError> {
    devices::find(name).map_err(|error| match error {
        Error::NotFound => missing(name),
        Error::NameTaken
        | Error::Held(_)
        | Error::Forbidden(_)
        | Error::Conflict(_)
        | Error::Invalid(_) => ApiError::internal("the host refused a look-up"),
        Error::Other(cause) => ApiError::internal(cause),
    })
}

pub(crate) fn missing(name: &str) -> ApiError {
    ApiError::not_found("device", name)
}

/// The device of a request that has no other parameter.
pub(crate) fn of(request: &Request) -> Result<Device, ApiError> {
    let mut query = request.query()?;
    let name = name(request, &mut query);
    query.finish()?;
    find(&name?)
}

#[cfg(test)]
mod tests {
    use guest::testing::get;

    use super::name;

    fn asked(query: &str, header: Option<&str>) -> Result<String, u16> {
        let mut request = get(&[], query);
        request
            .headers
            .extend(header.map(|value| ("x-bench-device".to_owned(), value.to_owned())));
        let mut query = request.query().map_err(|e| e.status)?;
        name(&request, &mut query).map_err(|e| e.status)
    }

    #[test]
    fn the_query_wins_over_the_header() {
        assert_eq!(asked("device=a.b-1", Some("c")).as_deref(), Ok("a.b-1"));
        assert_eq!(asked("", Some("c")).as_deref(), Ok("c"));
        assert_eq!(asked("device=bench%201", None).as_deref(), Ok("bench 1"));
        for (query, header) in [("", None), ("", Some("")), ("kind=uart", None)] {
            assert_eq!(asked(query, header), Err(400), "{query} {header:?}");
        }
    }
}
