//! Bodies of routes that take a file: a `multipart/form-data` form whose file goes from the
//! connection to disk without passing through here, or an equivalent JSON object without a file.
//!
//! ```ignore
//! let mut form = form::receive(request, &[PART], BYTES_MAX)?;
//! let image = form.file(PART);
//! let terms: Terms = form.fields.read()?;
//! ```

use crate::{ApiError, Fields, JSON_BODY_BYTES_MAX, Request, streamed, uploads};

/// Most bytes of a form besides its files: texts, heads of parts, and whatever follows its end.
const BESIDE_BYTES_MAX: u32 = 2 << 20;

/// The body limit of a route whose files are at most this large in total.
#[must_use]
pub const fn limit(files_bytes_max: u32) -> u32 {
    streamed(files_bytes_max + BESIDE_BYTES_MAX)
}

/// What a request says, and the files that it brings.
#[derive(Debug)]
pub struct Form {
    /// Members of the JSON object, or the form's parts that are text.
    pub fields: Fields,
    /// None when the body is JSON.
    pub files: Vec<uploads::FormFile>,
}

/// Receive the body of a request to a route whose body limit comes from [`limit`]. The parts named in
/// `files` are files, together at most `bytes_max` bytes.
///
/// # Errors
/// 415 for another media type, 400 for a malformed body; and while the body has not arrived yet, a
/// response to return at once. Nothing may have been changed before.
pub fn receive(request: &Request, files: &[&str], bytes_max: u64) -> Result<Form, ApiError> {
    let media_type = request.header("content-type").unwrap_or_default();
    if is_form(media_type) {
        let files: Vec<String> = files.iter().map(|&name| name.to_owned()).collect();
        let form = uploads::receive_form(media_type, &files, bytes_max).map_err(refusal)?;
        return Ok(Form {
            fields: Fields::of_texts(form.texts),
            files: form.files,
        });
    }
    let body = uploads::read(JSON_BODY_BYTES_MAX).map_err(refusal)?;
    Ok(Form {
        fields: request.json_in(&body)?,
        files: Vec::new(),
    })
}

impl Form {
    /// Take the file of a part.
    pub fn file(&mut self, name: &str) -> Option<uploads::FormFile> {
        let at = self.files.iter().position(|file| file.name == name)?;
        Some(self.files.swap_remove(at))
    }
}

fn is_form(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("multipart/form-data")
}

/// Why a body cannot be received, or not yet; return it at once.
#[must_use]
pub fn refusal(error: uploads::Error) -> ApiError {
    match error {
        uploads::Error::TooLarge(bytes) => ApiError::new(
            413,
            "body_too_large",
            format!("the file is over the {bytes} bytes that there is room for"),
        ),
        // Nobody sees this: the host enters the handler again once the body is there.
        uploads::Error::Later => ApiError::new(503, "overloaded", "the body has not arrived yet"),
        uploads::Error::Malformed(why) => {
            ApiError::invalid(format!("the body cannot be read: {why}"))
        }
        uploads::Error::NoBody => ApiError::internal("the host streams no body to this route"),
        uploads::Error::Other(cause) => ApiError::internal(cause),
    }
}

#[cfg(test)]
mod tests {
    use super::{is_form, refusal};
    use crate::uploads::Error;

    #[test]
    fn forms_are_told_by_their_media_type() {
        assert!(is_form("Multipart/Form-Data; boundary=x"));
        for other in ["", "application/json", "multipart/mixed; boundary=x"] {
            assert!(!is_form(other), "{other}");
        }
    }

    #[test]
    fn refusals() {
        for (error, status, code) in [
            (Error::TooLarge(5), 413, "body_too_large"),
            (Error::Later, 503, "overloaded"),
            (
                Error::Malformed("no boundary".into()),
                400,
                "invalid_request",
            ),
            (Error::NoBody, 500, "internal"),
            (Error::Other("disk".into()), 500, "internal"),
        ] {
            let error = refusal(error);
            assert_eq!((error.status, error.code), (status, code));
        }
    }
}
