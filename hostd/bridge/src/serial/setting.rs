//! A setting of the line as one client knows it, such as the rate: what was asked for is answered when the line has it.

/// Settings of one kind that were asked for and not answered. A client waits for an answer before it asks again.
pub(super) const WAITING_MAX: u32 = 8;

/// A setting of one kind.
#[derive(Debug)]
pub(super) struct Setting<T> {
    /// What was last asked for, or what the line has.
    is: T,
    /// How often it was asked for without an answer.
    waiting: u32,
}

impl<T: Copy + PartialEq> Setting<T> {
    /// What the line has at the beginning.
    pub(super) fn new(is: T) -> Self {
        Self { is, waiting: 0 }
    }

    /// What to pass on of a wish, which is none for a value that the line cannot have. Nothing if it has that value
    /// already, or too much was asked for.
    pub(super) fn ask(&mut self, wish: Option<T>) -> Option<T> {
        let wish = wish.filter(|wish| *wish != self.is && self.waiting < WAITING_MAX)?;
        self.is = wish;
        self.waiting += 1;
        Some(wish)
    }

    /// What the line has, unless answers are still to come that say it.
    pub(super) fn settled(&self) -> Option<T> {
        (self.waiting == 0).then_some(self.is)
    }

    /// The line has this value now. Whether that answers the client: what another one asked for is not told, since a
    /// client takes it for an answer.
    pub(super) fn becomes(&mut self, value: T) -> bool {
        let is_answer = self.waiting > 0;
        self.waiting = self.waiting.saturating_sub(1);
        // Otherwise it is what was asked for last that counts.
        if self.waiting == 0 {
            self.is = value;
        }
        is_answer
    }
}
