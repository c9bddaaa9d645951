//! Rows as data: requests to a route, and the required answer to each.

use std::borrow::Cow;

use serde_json::Value;

/// One request. `<name>` in the path, in a header or in a text body stands for an object that
/// `objects.rs` makes.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// Below `/api`, with its query.
    pub(crate) path: Cow<'static, str>,
    /// Media type and bytes.
    pub(crate) body: Option<(&'static str, Cow<'static, [u8]>)>,
    pub(crate) headers: Vec<(&'static str, &'static str)>,
}

/// A request without a body, made with a credential that the route accepts.
pub(crate) fn call(path: impl Into<Cow<'static, str>>) -> Call {
    Call {
        path: path.into(),
        body: None,
        headers: Vec::new(),
    }
}

impl Call {
    pub(crate) fn json(self, body: &'static str) -> Self {
        self.bytes("application/json", body.as_bytes())
    }

    pub(crate) fn bytes(mut self, media_type: &'static str, body: &'static [u8]) -> Self {
        self.body = Some((media_type, Cow::Borrowed(body)));
        self
    }

    /// Add a header. `authorization` replaces the credential.
    pub(crate) fn header(mut self, name: &'static str, value: &'static str) -> Self {
        self.headers.push((name, value));
        self
    }

    /// The body as text, when it is one.
    pub(crate) fn text(&self) -> Option<&str> {
        let (_, body) = self.body.as_ref()?;
        std::str::from_utf8(body).ok()
    }

    /// The body as JSON, when it is one.
    pub(crate) fn json_body(&self) -> Option<Value> {
        let (media_type, _) = self.body.as_ref()?;
        let is_json = *media_type == "application/json";
        serde_json::from_str(self.text().filter(|_| is_json)?).ok()
    }

    pub(crate) fn is_form(&self) -> bool {
        let body = self.body.as_ref();
        body.is_some_and(|(media_type, _)| media_type.starts_with("multipart/form-data"))
    }

    /// Whether it has a credential of its own.
    pub(crate) fn has_own_credential(&self) -> bool {
        let mut headers = self.headers.iter();
        headers.any(|(name, _)| *name == "authorization") || self.path.contains("token=")
    }

    /// The same request with a different body.
    pub(crate) fn with_body(
        &self,
        media_type: &'static str,
        body: impl Into<Cow<'static, [u8]>>,
    ) -> Self {
        let body = Some((media_type, body.into()));
        Self {
            body,
            ..self.clone()
        }
    }

    pub(crate) fn with_json(&self, body: &Value) -> Self {
        self.with_body("application/json", body.to_string().into_bytes())
    }

    /// The same request with one more query parameter.
    pub(crate) fn with_parameter(&self, name: &str, value: &str) -> Self {
        let (path, query) = self.path.split_once('?').unwrap_or((&self.path, ""));
        let others = query.split('&').filter(|pair| {
            let given = pair.split('=').next().unwrap_or_default();
            !given.is_empty() && given != name
        });
        let encoded: String = value.bytes().map(encoded).collect();
        let mut pairs: Vec<String> = others.map(str::to_owned).collect();
        pairs.push(format!("{name}={encoded}"));
        let path = format!("{path}?{}", pairs.join("&")).into();
        Self {
            path,
            ..self.clone()
        }
    }

    /// The same form with one more text part. Forms of rows have the boundary `B`.
    pub(crate) fn with_part(&self, name: &str, value: &str) -> Self {
        let (media_type, form) = self.body.as_ref().expect("a form");
        let form = std::str::from_utf8(form).expect("files of rows are text");
        let head = format!("\r\nContent-Disposition: form-data; name=\"{name}\"");
        let others = form.split("--B").filter(|part| {
            let is_it = part
                .strip_prefix(&*head)
                .is_some_and(|rest| rest.starts_with([';', '\r']));
            !is_it && !part.is_empty() && *part != "--\r\n"
        });
        let mut whole: String = others.map(|part| format!("--B{part}")).collect();
        whole += &format!("--B{head}\r\n\r\n{value}\r\n--B--\r\n");
        self.with_body(media_type, whole.into_bytes())
    }

    /// Names of the objects that it uses.
    pub(crate) fn objects(&self) -> Vec<&str> {
        let texts = [Some(&*self.path), self.text()].into_iter().flatten();
        texts.flat_map(names).collect()
    }
}

/// Names between angle brackets.
pub(crate) fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split('<').skip(1).filter_map(|rest| {
        let (name, _) = rest.split_once('>')?;
        let plain = |b: u8| b.is_ascii_lowercase() || matches!(b, b'-' | b'.');
        (!name.is_empty() && name.bytes().all(plain)).then_some(name)
    })
}

/// The requests and answers that one route must satisfy.
#[derive(Debug)]
pub(crate) struct Rows {
    /// The operationId.
    pub(crate) route: &'static str,
    /// Requests that succeed with this status, in order. General refusals (credentials, methods,
    /// sizes) are tried on the first.
    pub(crate) success: Vec<(u16, Call)>,
    /// Requests that the route refuses with this status and code.
    pub(crate) refusals: Vec<(u16, &'static str, Call)>,
}

pub(crate) fn rows(route: &'static str) -> Rows {
    Rows {
        route,
        success: Vec::new(),
        refusals: Vec::new(),
    }
}

impl Rows {
    pub(crate) fn success(mut self, status: u16, call: Call) -> Self {
        self.success.push((status, call));
        self
    }

    pub(crate) fn refusal(mut self, status: u16, code: &'static str, call: Call) -> Self {
        self.refusals.push((status, code, call));
        self
    }

    pub(crate) fn calls(&self) -> impl Iterator<Item = &Call> {
        let success = self.success.iter().map(|(_, call)| call);
        success.chain(self.refusals.iter().map(|(_, _, call)| call))
    }
}

/// A byte in a query. Letters stand for themselves: long texts have to fit.
fn encoded(byte: u8) -> String {
    match byte.is_ascii_alphanumeric() {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    }
}
