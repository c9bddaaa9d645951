//! Rows as data: requests to a route, and what each of them must be answered with.

use std::borrow::Cow;

/// One request. `<name>` in the path, in a header or in a text body stands for an object that
/// `objects.rs` makes.
#[derive(Debug)]
pub(crate) struct Call {
    /// Below `/api`, with its query.
    pub(crate) path: &'static str,
    /// Media type and bytes.
    pub(crate) body: Option<(&'static str, Cow<'static, [u8]>)>,
    pub(crate) headers: Vec<(&'static str, &'static str)>,
}

/// A request without a body, made with a credential that the route accepts.
pub(crate) fn call(path: &'static str) -> Call {
    Call {
        path,
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

    /// Names of the objects that it is about.
    pub(crate) fn objects(&self) -> Vec<&str> {
        let texts = [Some(self.path), self.text()].into_iter().flatten();
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

/// What one route is held to.
#[derive(Debug)]
pub(crate) struct Rows {
    /// The operationId.
    pub(crate) route: &'static str,
    /// Requests that succeed with this status, in order. What is refused in general (credentials,
    /// methods, sizes) is tried on the first.
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
