//! The headers of a part, and the boundary in a body's media type.

use super::FormError;

/// Longest name of a part, in bytes.
const NAME_BYTES_MAX: usize = 64;

/// Longest name of a file, in bytes.
const FILE_NAME_BYTES_MAX: usize = 255;

/// Longest media type, in bytes.
const TYPE_BYTES_MAX: usize = 127;

/// Longest boundary, in bytes (RFC 2046, 5.1.1).
const BOUNDARY_BYTES_MAX: usize = 70;

/// Transfer encodings that leave content as it is; any other would need decoding (RFC 7578, 4.7).
const AS_IT_IS: [&str; 3] = ["binary", "8bit", "7bit"];

/// The headers of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// Name of the field: 1 to 64 printable characters.
    pub name: String,
    /// Name of the file without folders, if it is one: 1 to 255 bytes without control characters.
    pub file_name: Option<String>,
    /// Media type; empty when none was sent.
    pub content_type: String,
}

impl Head {
    /// Parse the lines of a part's headers.
    ///
    /// # Errors
    /// [`FormError::Head`].
    pub fn parse(bytes: &[u8]) -> Result<Self, FormError> {
        let text = str::from_utf8(bytes).map_err(|_| FormError::Head("it is not UTF-8"))?;
        let (mut name, mut file_name, mut content_type) = (None, None, String::new());
        for line in text.split("\r\n").filter(|line| !line.is_empty()) {
            let (key, value) = line
                .split_once(':')
                .ok_or(FormError::Head("a line has no colon"))?;
            let value = value.trim();
            match key.trim().to_ascii_lowercase().as_str() {
                "content-disposition" => {
                    let (kind, rest) = value.split_once(';').unwrap_or((value, ""));
                    if !kind.trim().eq_ignore_ascii_case("form-data") {
                        return Err(FormError::Head("a part is no form-data"));
                    }
                    for (key, value) in parameters(rest)? {
                        match key.as_str() {
                            "name" => name = Some(value),
                            "filename" => file_name = Some(value),
                            _ => {}
                        }
                    }
                }
                "content-type" => content_type = media_type(value)?,
                "content-transfer-encoding"
                    if !AS_IT_IS
                        .iter()
                        .any(|known| value.eq_ignore_ascii_case(known)) =>
                {
                    return Err(FormError::Head("its transfer encoding is not binary"));
                }
                _ => {}
            }
        }
        Ok(Self {
            name: checked_name(name)?,
            file_name: file_name.map(|name| without_folders(&name)).transpose()?,
            content_type,
        })
    }
}

/// The boundary of a `multipart/form-data` media type; `None` if it is another type.
///
/// # Errors
/// It is one, but its boundary is missing or malformed.
pub fn boundary(media_type: &str) -> Result<Option<String>, FormError> {
    let (essence, rest) = media_type.split_once(';').unwrap_or((media_type, ""));
    if !essence.trim().eq_ignore_ascii_case("multipart/form-data") {
        return Ok(None);
    }
    let found = parameters(rest)?
        .into_iter()
        .find(|(key, _)| key == "boundary");
    let (_, boundary) = found.ok_or(FormError::Head("the media type names no boundary"))?;
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b" '()+_,-./:=?".contains(&b);
    if boundary.is_empty()
        || boundary.len() > BOUNDARY_BYTES_MAX
        || boundary.ends_with(' ')
        || !boundary.bytes().all(allowed)
    {
        return Err(FormError::Head(
            "the boundary in the media type is malformed",
        ));
    }
    Ok(Some(boundary))
}

/// `; key=value; key="value"`, keys in lower case.
fn parameters(text: &str) -> Result<Vec<(String, String)>, FormError> {
    let mut list = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (key, after) = rest
            .split_once('=')
            .ok_or(FormError::Head("a parameter has no value"))?;
        let key = key.trim().to_ascii_lowercase();
        let (value, after) = match after.strip_prefix('"') {
            Some(quoted) => unquoted(quoted)?,
            None => {
                let (value, after) = after.split_once(';').unwrap_or((after, ""));
                (value.trim().to_owned(), after)
            }
        };
        list.push((key, value));
        rest = after.trim_start_matches([';', ' ', '\t']);
    }
    Ok(list)
}

/// The text up to the closing quote, and what follows. Only quotes and backslashes are unescaped: some
/// clients write folders with plain backslashes.
fn unquoted(text: &str) -> Result<(String, &str), FormError> {
    let mut value = String::new();
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Ok((value, &text[at + 1..])),
            '\\' => match letters.next_if(|(_, next)| matches!(next, '"' | '\\')) {
                Some((_, escaped)) => value.push(escaped),
                None => value.push('\\'),
            },
            other => value.push(other),
        }
    }
    Err(FormError::Head("a quote is not closed"))
}

fn checked_name(name: Option<String>) -> Result<String, FormError> {
    let name = name.ok_or(FormError::Head("a part has no name"))?;
    if !(1..=NAME_BYTES_MAX).contains(&name.len()) || name.chars().any(char::is_control) {
        return Err(FormError::Head(
            "the name of a part must have 1 to 64 bytes without control characters",
        ));
    }
    Ok(name)
}

fn without_folders(name: &str) -> Result<String, FormError> {
    let last = name.rsplit(['/', '\\']).next().unwrap_or(name);
    if !(1..=FILE_NAME_BYTES_MAX).contains(&last.len())
        || matches!(last, "." | "..")
        || last.chars().any(char::is_control)
    {
        return Err(FormError::Head(
            "the name of a file must have 1 to 255 bytes, no control characters, and be no folder",
        ));
    }
    Ok(last.to_owned())
}

fn media_type(value: &str) -> Result<String, FormError> {
    if value.len() > TYPE_BYTES_MAX || !value.bytes().all(|b| matches!(b, b' '..=b'~')) {
        return Err(FormError::Head("the media type of a part is malformed"));
    }
    Ok(value.to_owned())
}
