//! Which device a request is about: the query parameter `device`, else the header `x-bench-device`.

use guest::devices::{self, Device, Error};
use guest::{ApiError, Credential, Operation, Request, members, text};

/// Nothing long-lived: a job gets a token and passes it to nobody.
pub(crate) const CREDENTIALS: &[Credential] = &[Credential::CloudSession];

/// Drive devices.
pub(crate) const SCOPE: Option<&str> = Some("bench:control");

/// Longest device name.
const NAME_CHARS_MAX: usize = 64;

/// The header that names the device when the query does not.
const HEADER: &str = "X-Bench-Device";

members! {
    /// The query of an endpoint that has no other parameter.
    struct Asked {
        /// Device name; or in the header X-Bench-Device.
        device: Option<String> = optional(named()),
    }
}

/// A device's name.
pub(crate) fn named() -> impl guest::Shape<Value = String> {
    text(1..=NAME_CHARS_MAX)
}

/// Which device a request is about, as [`of`] finds out.
pub(crate) fn describe(operation: &mut Operation) {
    operation.query::<Asked>();
    describe_header(operation);
}

pub(crate) fn describe_header(operation: &mut Operation) {
    operation.header(HEADER, "Device name, when the query has none.");
}

/// Name of the device that the request is about; `asked` is what the query says.
pub(crate) fn name(request: &Request, asked: Option<String>) -> Result<String, ApiError> {
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
    let asked: Asked = request.query()?.read()?;
    find(&name(request, asked.device)?)
}

#[cfg(test)]
mod tests {
    use guest::testing::get;

    use super::{Asked, name};

    fn asked(query: &str, header: Option<&str>) -> Result<String, u16> {
        let mut request = get(&[], query);
        request
            .headers
            .extend(header.map(|value| ("x-bench-device".to_owned(), value.to_owned())));
        let query = request.query().and_then(|query| query.read::<Asked>());
        let asked = query.and_then(|asked| name(&request, asked.device));
        asked.map_err(|error| error.status)
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
