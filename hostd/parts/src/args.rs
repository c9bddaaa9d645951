//! The fields of a request, read one at a time; a refusal names the field.

use std::ops::RangeInclusive;

use pod_protocol::LA_CHANNELS;
use serde_json::{Map, Value};

use crate::refuse::Refuse;

/// A request.
pub(crate) struct Args<'a>(pub(crate) &'a Map<String, Value>);

impl Args<'_> {
    fn value(&self, field: &str) -> Option<&Value> {
        self.0.get(field).filter(|value| !value.is_null())
    }

    /// A text.
    pub(crate) fn text(&self, field: &'static str) -> Result<Option<&str>, Refuse> {
        let want = "a string";
        let bad = || Refuse::Bad { field, want };
        let read = |value: &Value| value.as_str().map(str::len).ok_or_else(bad);
        self.value(field).map(read).transpose()?;
        Ok(self.value(field).and_then(Value::as_str))
    }

    /// A number.
    pub(crate) fn number(&self, field: &'static str) -> Result<Option<f64>, Refuse> {
        let want = "a number";
        let read = |value: &Value| value.as_f64().ok_or(Refuse::Bad { field, want });
        self.value(field).map(read).transpose()
    }

    /// An integer in a range.
    pub(crate) fn int(
        &self,
        field: &'static str,
        range: RangeInclusive<i64>,
    ) -> Result<Option<i64>, Refuse> {
        let Some(value) = self.value(field) else {
            return Ok(None);
        };
        let want = "an integer";
        let number = value.as_i64().ok_or(Refuse::Bad { field, want })?;
        if range.contains(&number) {
            return Ok(Some(number));
        }
        Err(Refuse::OutOfRange {
            field,
            min: *range.start(),
            max: *range.end(),
        })
    }

    /// An integer in a range of unsigned values.
    pub(crate) fn uint<T: TryFrom<i64>>(
        &self,
        field: &'static str,
        range: RangeInclusive<i64>,
    ) -> Result<Option<T>, Refuse> {
        let number = self.int(field, range)?;
        Ok(number.map(|number| {
            let fits = T::try_from(number).ok();
            fits.expect("the range lies within the type")
        }))
    }

    /// A Boolean, or 0 or 1.
    pub(crate) fn flag(&self, field: &'static str) -> Result<Option<bool>, Refuse> {
        let want = "true or false";
        match self.value(field) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(value) => match value.as_i64() {
                Some(0) => Ok(Some(false)),
                Some(1) => Ok(Some(true)),
                _ => Err(Refuse::Bad { field, want }),
            },
        }
    }

    /// A channel that must be given. It means no wire of the bench, but clients see it in use.
    pub(crate) fn la(&self, field: &'static str) -> Result<u8, Refuse> {
        let la = self.uint(field, 1..=i64::from(LA_CHANNELS))?;
        la.ok_or(Refuse::Missing { field })
    }
}
