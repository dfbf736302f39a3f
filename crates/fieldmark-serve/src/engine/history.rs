//! [`History`]: what somebody can undo and redo.

use crate::project::ActionId;

/// What somebody did and can take back, and what he took back and can do again.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    done: Vec<ActionId>,
    undone: Vec<ActionId>,
    /// Questions that he answered or left out.
    pub questions: usize,
}

impl History {
    /// Something new was done: what was taken back before stays taken back.
    pub fn did(&mut self, action: ActionId) {
        self.done.push(action);
        self.undone.clear();
    }

    /// An action was taken back.
    pub fn undo(&mut self, action: ActionId) {
        self.done.retain(|&other| other != action);
        self.undone.push(action);
    }

    /// An action was done again.
    pub fn redo(&mut self, action: ActionId) {
        self.undone.retain(|&other| other != action);
        self.done.push(action);
    }

    /// What would be taken back next.
    pub fn last_done(&self) -> Option<ActionId> {
        self.done.last().copied()
    }

    /// What would be done again next.
    pub fn last_undone(&self) -> Option<ActionId> {
        self.undone.last().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undo_and_redo_go_back_and_forth() {
        let mut history = History::default();
        assert_eq!((history.last_done(), history.last_undone()), (None, None));
        for action in 1..=3 {
            history.did(action);
        }
        history.undo(3);
        history.undo(2);
        assert_eq!((history.last_done(), history.last_undone()), (Some(1), Some(2)));
        history.redo(2);
        assert_eq!((history.last_done(), history.last_undone()), (Some(2), Some(3)));
        history.did(9);
        assert_eq!((history.last_done(), history.last_undone()), (Some(9), None));
    }
}
