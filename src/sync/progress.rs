//! How far something is, told to whoever wants to show it.

/// What steps are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Skills.
    Skills,
    /// Files.
    Files,
    /// Bytes of files.
    Bytes,
    /// Messages of a session database.
    Messages,
}

/// Shows how far something is. Two exist: a bar on a terminal, and silence.
pub trait Progress {
    /// A phase begins, of `total` steps where that is known.
    fn begin(&self, phase: &'static str, unit: Unit, total: Option<u64>);
    /// So many more steps are done.
    fn advance(&self, steps: u64);
    /// The phase is over.
    fn end(&self);
    /// Another process holds the lock.
    fn waiting(&self);
}

/// Says nothing at all.
#[derive(Debug, Clone, Copy)]
pub struct Silence;

impl Progress for Silence {
    fn begin(&self, _phase: &'static str, _unit: Unit, _total: Option<u64>) {}

    fn advance(&self, _steps: u64) {}

    fn end(&self) {}

    fn waiting(&self) {}
}
