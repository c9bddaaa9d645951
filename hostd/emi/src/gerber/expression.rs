//! Expressions in macros: `$1x2+0.5` (4.5.4.2).

use super::format::decimal;

/// Variables of a macro, from `$1`.
pub(super) type Variables = std::collections::BTreeMap<u32, f64>;

/// Evaluates an expression; `None` if it is none, nests deeper than `depth`, or is not finite.
pub(super) fn evaluate(text: &[u8], variables: &Variables, depth: usize) -> Option<f64> {
    let mut reader = Reader {
        text,
        at: 0,
        variables,
    };
    let value = reader.sum(depth)?;
    reader.skip();
    (reader.at == text.len() && value.is_finite()).then_some(value)
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    variables: &'a Variables,
}

impl Reader<'_> {
    fn skip(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn peek(&mut self) -> Option<u8> {
        self.skip();
        self.text.get(self.at).copied()
    }

    fn sum(&mut self, depth: usize) -> Option<f64> {
        let mut value = self.product(depth)?;
        while let Some(sign @ (b'+' | b'-')) = self.peek() {
            self.at += 1;
            let next = self.product(depth)?;
            value = if sign == b'+' {
                value + next
            } else {
                value - next
            };
        }
        Some(value)
    }

    fn product(&mut self, depth: usize) -> Option<f64> {
        let mut value = self.signed(depth)?;
        while let Some(sign @ (b'x' | b'X' | b'/')) = self.peek() {
            self.at += 1;
            let next = self.signed(depth)?;
            value = if sign == b'/' {
                value / next
            } else {
                value * next
            };
        }
        Some(value)
    }

    fn signed(&mut self, depth: usize) -> Option<f64> {
        let mut sign = 1.0;
        while let Some(byte @ (b'+' | b'-')) = self.peek() {
            if byte == b'-' {
                sign = -sign;
            }
            self.at += 1;
        }
        Some(sign * self.single(depth)?)
    }

    fn single(&mut self, depth: usize) -> Option<f64> {
        match self.peek()? {
            b'(' => {
                let depth = depth.checked_sub(1)?;
                self.at += 1;
                let value = self.sum(depth)?;
                if self.peek()? != b')' {
                    return None;
                }
                self.at += 1;
                Some(value)
            }
            b'$' => {
                self.at += 1;
                let digits = self.digits(u8::is_ascii_digit);
                let index = std::str::from_utf8(digits).ok()?.parse().ok()?;
                // A variable that nothing was assigned to is 0.
                Some(self.variables.get(&index).copied().unwrap_or_default())
            }
            _ => decimal(self.digits(|byte| byte.is_ascii_digit() || *byte == b'.')),
        }
    }

    fn digits(&mut self, is_part: impl Fn(&u8) -> bool) -> &[u8] {
        let rest = &self.text[self.at..];
        let length = rest.iter().position(|byte| !is_part(byte));
        let digits = &rest[..length.unwrap_or(rest.len())];
        self.at += digits.len();
        digits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_have_the_usual_precedence() {
        let variables = Variables::from([(1, 2.0), (2, 0.5)]);
        let value = |text: &str| evaluate(text.as_bytes(), &variables, 4);
        assert_eq!(value("$1x2+0.5"), Some(4.5));
        assert_eq!(value("0.5-$1x($2+-1)"), Some(1.5));
        assert_eq!(value("-$1/4"), Some(-0.5));
        assert_eq!(value("$9"), Some(0.0));
        assert_eq!(value("((((1))))"), Some(1.0));
        for bad in ["", "1+", "(1", "1/0", "$", "1 2", "(((((1)))))", "nan"] {
            assert_eq!(value(bad), None, "{bad}");
        }
    }
}
