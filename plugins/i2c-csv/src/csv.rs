//! Lines of comma-separated values (RFC 4180).

/// A line of these fields, quoted where they must be, with its end.
pub(crate) fn line<'f>(fields: impl IntoIterator<Item = &'f str>) -> String {
    let fields: Vec<String> = fields.into_iter().map(field).collect();
    format!("{}\r\n", fields.join(","))
}

fn field(text: &str) -> String {
    if text.contains([',', '"', '\r', '\n']) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        assert_eq!(line(["a", "", "b c"]), "a,,b c\r\n");
        assert_eq!(
            line(["a,b", "say \"hi\"", "two\nlines", "\r"]),
            "\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\",\"\r\"\r\n"
        );
    }
}
