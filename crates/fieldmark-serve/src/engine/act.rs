//! Doing what people ask for: a request becomes a deed, the deed a row of the database, and then the pool changes.

use super::once::Content;
use super::question::Asked;
use super::state::State;
use super::view::Drawn;
use super::wire::{ActionAnswer, ActionRequest, ActionSummary, NamedAssertion, News, Question};
use super::words::places;
use crate::project::{
    Action, ActionId, Assertion, Borders, Deed, DocumentId, Error, NewAction, Place, TypeId, UserId,
};
use std::ops::Range;
use std::time::Instant;

/// Longer names of requests, and longer comments, are refused.
const LONGEST_NAME: usize = 200;
const LONGEST_COMMENT: usize = 20_000;
/// Characters of a wrong id that are shown.
const LONGEST_SHOWN: usize = 40;

/// What an action touched: documents, and sentences of each.
type Touched = Vec<(usize, Vec<usize>)>;

impl State {
    /// Does what somebody asks for, once.
    pub fn act(&mut self, user: UserId, request: &ActionRequest) -> Result<Done, Error> {
        check_name(&request.request)?;
        let content = Content::of_action(request);
        if let Some(action) = self.done_once(user, &request.request, &content)? {
            return self.done_before(user, action);
        }
        let (deed, document) = self.deed(user, request)?;
        let seconds = request
            .seconds
            .filter(|seconds| seconds.is_finite() && *seconds >= 0.0);
        let new = NewAction {
            request: &request.request,
            user,
            document: Some(document),
            question: request.question.as_deref(),
            seconds,
            deed: &deed,
        };
        let action = self.record(&new, &content)?;
        self.answered(user, request.question.as_deref());
        self.perform(action)
    }

    /// Stores an action with what was asked for.
    fn record(&mut self, new: &NewAction<'_>, content: &Content) -> Result<Action, Error> {
        self.project.store_mut().atomically(|writing| {
            content.keep(writing, new.user, new.request)?;
            writing.record(new)
        })
    }

    /// Takes back the last thing that somebody did, or does it again.
    pub fn undo(&mut self, user: UserId, request: &str, back: bool) -> Result<Done, Error> {
        check_name(request)?;
        let content = Content::of_turn(back);
        if let Some(action) = self.done_once(user, request, &content)? {
            return self.done_before(user, action);
        }
        let history = self.history.get(&user);
        let target = history.and_then(|history| match back {
            true => history.last_done(),
            false => history.last_undone(),
        });
        let Some(target) = target else {
            let what = if back { "undo" } else { "redo" };
            return Err(Error::Conflict(format!("there is nothing to {what}")));
        };
        let before = self.project.store().action(target)?;
        let deed = match back {
            true => Deed::Undo { action: target },
            false => Deed::Redo { action: target },
        };
        let new = NewAction {
            request,
            user,
            document: before.as_ref().and_then(|action| action.document),
            question: None,
            seconds: None,
            deed: &deed,
        };
        let action = self.record(&new, &content)?;
        let mut done = self.perform(action)?;
        if back {
            done.again = before.and_then(|action| action.question);
            // It is asked once more, in place of the one that is open.
            if let Some(asked) = done.again.as_deref().and_then(|name| self.asked_by_name(name)) {
                self.asked.insert(user, asked);
            }
        }
        Ok(done)
    }

    fn answered(&mut self, user: UserId, question: Option<&str>) {
        let is_open = |asked: &Asked| question == Some(self.name_of(asked).as_str());
        if self.asked.get(&user).is_some_and(is_open) {
            self.asked.remove(&user);
        }
    }

    /// Changes what is known as an action says, which is stored already.
    fn perform(&mut self, action: Action) -> Result<Done, Error> {
        let numbers = self.note(&action);
        let (target, again) = match action.deed {
            Deed::Undo { action } | Deed::Redo { action } => (Some(action), true),
            _ => (None, false),
        };
        let touched = self.touched_by(&numbers, target, &action.deed);
        for &number in &numbers {
            let text = self.corpus.get(number);
            if again {
                self.words.recompute(number, text);
            } else if action.deed.is_answer() {
                self.words.apply_last(number, text);
            }
        }
        let unranked = self.spread(&touched)?;
        self.fresh += usize::from(action.deed.is_answer() || again);
        self.last_answer = Instant::now();
        Ok(Done {
            action,
            touched,
            unranked,
            again: None,
        })
    }

    /// What an action did when it was done for the first time, as things are now.
    fn done_before(&mut self, user: UserId, action: Action) -> Result<Done, Error> {
        let (target, numbers) = match action.deed {
            Deed::Undo { action } | Deed::Redo { action } => (Some(action), self.words.documents_of(action)),
            _ => (None, self.words.documents_of(action.id)),
        };
        let touched = self.touched_by(&numbers, target, &action.deed);
        let again = match action.deed {
            Deed::Undo { action } => self
                .project
                .store()
                .action(action)?
                .and_then(|action| action.question),
            _ => None,
        };
        self.answered(user, action.question.as_deref());
        Ok(Done {
            action,
            touched,
            unranked: Vec::new(),
            again,
        })
    }

    fn touched_by(&self, numbers: &[usize], target: Option<ActionId>, deed: &Deed) -> Touched {
        let one = |number: usize| {
            let found = target.and_then(|action| self.words.deed_of(number, action));
            let deed = found.as_deref().unwrap_or(deed);
            let text = self.corpus.get(number);
            let mut sentences: Vec<usize> = places(deed, text.id, text.tokens())
                .into_iter()
                .flat_map(|range| text.sentences_of(range))
                .collect();
            sentences.sort_unstable();
            sentences.dedup();
            (number, sentences)
        };
        numbers.iter().map(|&number| one(number)).collect()
    }

    /// Lets the pool and the order of questions know what has changed. Returns the sequences that are yet to be ranked.
    fn spread(&mut self, touched: &Touched) -> Result<Vec<usize>, Error> {
        let mut sequences = Vec::new();
        for (number, sentences) in touched {
            let first = self.corpus.get(*number).first_sequence;
            for &index in sentences {
                self.refresh(*number, index..index + 1)?;
                sequences.push(first + index);
            }
        }
        self.rank_some(sequences)
    }

    /// The question that a request answers: one that could have been asked about its document.
    fn checked_question(&self, name: &str, document: Option<DocumentId>) -> Result<Asked, Error> {
        let found = self
            .asked_by_name(name)
            .filter(|asked| self.name_of(asked) == name);
        let Some(asked) = found else {
            let shown: String = name.chars().take(LONGEST_SHOWN).collect();
            return Err(Error::refused(format_args!(
                "there is no question {shown:?}; send the id of the question as it came, or none"
            )));
        };
        let own = self.corpus.get(self.corpus.number_at(asked.position)).id;
        match document {
            Some(document) if document != own => Err(Error::refused(format_args!(
                "the question {name:?} is about document {own}, but the action is about document {document}"
            ))),
            _ => Ok(asked),
        }
    }

    /// What a request asks to be done, and the document that it is about.
    fn deed(&self, user: UserId, request: &ActionRequest) -> Result<(Deed, DocumentId), Error> {
        let asked = match request.question.as_deref() {
            Some(name) => Some(self.checked_question(name, request.document)?),
            None => None,
        };
        let of_question = asked.as_ref().map(|asked| self.corpus.number_at(asked.position));
        let number = match request.document {
            Some(id) => self.corpus.find(id),
            None => of_question,
        };
        let Some(number) = number else {
            return Err(match request.document {
                Some(id) => Error::missing(format_args!("there is no document {id}")),
                None => Error::refused(format_args!(
                    "the action {:?} does not say which document it is about",
                    request.kind
                )),
            });
        };
        let text = self.corpus.get(number);
        let tokens = text.tokens();
        let deed = match request.kind.as_str() {
            "assert" => Deed::Assert {
                assertions: self.assertions(request.assertions.as_deref(), 0..tokens, false)?,
            },
            "adjudicate" => {
                let given = request.assertions.as_deref().or(request.spans.as_deref());
                let assertions = self.assertions(given, 0..tokens, false)?;
                Deed::Adjudicate {
                    regions: self.decided_regions(number, &assertions),
                    assertions,
                }
            }
            "clear" => {
                let range = range_of(request.start, request.end, tokens)?;
                Deed::Clear {
                    start: range.start as u32,
                    end: range.end as u32,
                }
            }
            "sentence" => {
                let range = range_of(request.start, request.end, tokens)?;
                Deed::Whole {
                    start: range.start as u32,
                    end: range.end as u32,
                    spans: self.assertions(
                        Some(request.spans.as_deref().unwrap_or_default()),
                        range,
                        true,
                    )?,
                }
            }
            "document" => Deed::Whole {
                start: 0,
                end: tokens as u32,
                spans: self.assertions(
                    Some(request.spans.as_deref().unwrap_or_default()),
                    0..tokens,
                    true,
                )?,
            },
            "equal" => {
                let range = range_of(request.start, request.end, tokens)?;
                let kind = request
                    .type_name
                    .as_deref()
                    .map(|name| self.kind(name))
                    .transpose()?;
                let places = match request.scope.as_deref() {
                    Some("project") => self.equal_places(user, number, range, 0..self.corpus.len()),
                    Some("document") | None => self.equal_places(user, number, range, number..number + 1),
                    Some(other) => {
                        return Err(Error::refused(format_args!(
                            "the scope is {other:?}, expected \"document\" or \"project\""
                        )));
                    }
                };
                Deed::Equal { places, kind }
            }
            "comment" => comment(request, tokens)?,
            "skip" => match asked {
                Some(asked) => Deed::SkipQuestion {
                    token: (asked.position - text.first_position) as u32,
                },
                None => Deed::Skip,
            },
            "flag" => Deed::Flag {
                on: request.on.unwrap_or(true),
            },
            "done" => Deed::Done {
                on: request.on.unwrap_or(true),
            },
            other => {
                return Err(Error::refused(format_args!(
                    "there is no action {other:?}; choose from assert, clear, sentence, document, equal, comment, skip, \
                     flag, done, adjudicate"
                )));
            }
        };
        Ok((deed, text.id))
    }

    /// The type of a name.
    pub fn kind(&self, name: &str) -> Result<TypeId, Error> {
        let found = self.types.iter().find(|one| one.name == name && !one.removed);
        found.map(|one| one.id).ok_or_else(|| {
            Error::refused(format_args!(
                "there is no type {name:?}; make it first, or load the page again"
            ))
        })
    }

    /// Assertions by the numbers of their types, inside a range; without overlaps, if they are spans of one answer.
    fn assertions(
        &self,
        named: Option<&[NamedAssertion]>,
        range: Range<usize>,
        spans: bool,
    ) -> Result<Vec<Assertion>, Error> {
        let named = named.unwrap_or_default();
        if named.is_empty() && !spans {
            return Err(Error::refused("the action says nothing: it has no assertions"));
        }
        let mut all = Vec::with_capacity(named.len());
        for one in named {
            let place = one.start as usize..one.end as usize;
            if place.is_empty() || place.start < range.start || place.end > range.end {
                return Err(Error::refused(format_args!(
                    "tokens {}..{} are not inside {}..{}, which the action is about",
                    one.start, one.end, range.start, range.end
                )));
            }
            all.push(Assertion {
                start: one.start,
                end: one.end,
                kind: one.kind.as_deref().map(|name| self.kind(name)).transpose()?,
                borders: if spans { Borders::Exact } else { one.borders },
            });
        }
        if spans {
            all.sort_by_key(|one| one.start);
            if let Some(pair) = all.windows(2).find(|pair| pair[1].start < pair[0].end) {
                return Err(Error::refused(format_args!(
                    "the spans {}..{} and {}..{} share tokens; a token is in one span",
                    pair[0].start, pair[0].end, pair[1].start, pair[1].end
                )));
            }
        }
        Ok(all)
    }

    /// The places in some documents whose tokens are the same as these. Where somebody has said something already, his
    /// words stay; the place itself is always among them.
    fn equal_places(
        &self,
        user: UserId,
        number: usize,
        range: Range<usize>,
        documents: Range<usize>,
    ) -> Vec<Place> {
        let origin = self.corpus.get(number);
        let wanted: Vec<&str> = range.clone().map(|at| &origin.text[origin.bytes(at)]).collect();
        let mut places = Vec::new();
        for other in documents {
            let text = self.corpus.get(other);
            let same = |at: usize, word: &str| &text.text[text.bytes(at)] == word;
            let mut at = 0;
            while at + wanted.len() <= text.tokens() {
                let here = (at..).zip(&wanted).all(|(at, word)| same(at, word));
                let is_origin = other == number && at == range.start;
                let free = || {
                    let cells = self.view(other, user, at..at + wanted.len());
                    cells.iter().all(|cell| !cell.said.is_something())
                };
                let over = other == number && !is_origin && at < range.end && range.start < at + wanted.len();
                if here && !over && (is_origin || free()) {
                    places.push(Place {
                        document: text.id,
                        start: at as u32,
                        end: (at + wanted.len()) as u32,
                    });
                    at += wanted.len();
                } else {
                    at += 1;
                }
            }
        }
        places
    }

    /// The answer to an action, and the sentences that belong to it, which are yet to be estimated.
    pub fn answer(
        &mut self,
        user: UserId,
        done: &Done,
        wants_next: bool,
        news: News,
    ) -> Result<(ActionAnswer, Vec<Drawn>), Error> {
        let own = done.action.document.and_then(|id| self.corpus.find(id));
        let touched = done.touched.iter().filter(|(number, _)| Some(*number) == own);
        let sentences = touched.flat_map(|(number, touched)| touched.iter().map(|&index| (*number, index)));
        let sentences = sentences.map(|(number, index)| self.draw(number, index, user));
        let sentences = sentences.collect();
        let asked = match &done.again {
            Some(name) => self.asked_by_name(name),
            None if wants_next => self.ask(user, None),
            None => None,
        };
        let next: Option<Question> = asked.map(|asked| self.show(&asked, user)).transpose()?;
        let (can_undo, can_redo) = self.can_undo_redo(user);
        let answer = ActionAnswer {
            action: self.summary(&done.action),
            sentences: Vec::new(),
            next,
            project: news,
            can_undo,
            can_redo,
        };
        Ok((answer, sentences))
    }

    /// Whether somebody can undo and redo something.
    pub fn can_undo_redo(&self, user: UserId) -> (bool, bool) {
        let history = self.history.get(&user);
        (
            history.is_some_and(|history| history.last_done().is_some()),
            history.is_some_and(|history| history.last_undone().is_some()),
        )
    }

    fn summary(&self, action: &Action) -> ActionSummary {
        let number = action.document.and_then(|id| self.corpus.find(id));
        let target = match action.deed {
            Deed::Undo { action } | Deed::Redo { action } => {
                number.and_then(|number| self.words.deed_of(number, action))
            }
            _ => None,
        };
        let what = self.describe(number, target.as_deref().unwrap_or(&action.deed));
        let summary = match action.deed {
            Deed::Undo { .. } => format!("undone: {what}"),
            Deed::Redo { .. } => format!("done again: {what}"),
            _ => what,
        };
        ActionSummary {
            id: action.id,
            kind: action.deed.name().to_owned(),
            document: action.document,
            summary,
        }
    }

    fn describe(&self, number: Option<usize>, deed: &Deed) -> String {
        let words = |start: u32, end: u32| {
            const MOST: usize = 60;
            let text = number.map(|number| self.corpus.get(number));
            let words = text.map_or("", |text| text.words(start as usize..end as usize));
            match words.char_indices().nth(MOST) {
                Some((at, _)) => format!("{}…", &words[..at]),
                None => words.to_owned(),
            }
        };
        let name = |kind: Option<TypeId>| kind.map_or("outside", |kind| self.type_name(kind));
        match deed {
            Deed::Assert { assertions } | Deed::Adjudicate { assertions, .. } => {
                match assertions.as_slice() {
                    [one] => format!("“{}” is {}", words(one.start, one.end), name(one.kind)),
                    all => format!("{} places", all.len()),
                }
            }
            Deed::Clear { start, end } => format!("“{}” is open again", words(*start, *end)),
            Deed::Whole { spans, .. } => match spans.len() {
                0 => "no span".to_owned(),
                1 => "1 span".to_owned(),
                many => format!("{many} spans"),
            },
            Deed::Equal { places, kind } => {
                let s = if places.len() == 1 { "" } else { "s" };
                format!("{} place{s}: {}", places.len(), name(*kind))
            }
            Deed::Comment { .. } => "comment".to_owned(),
            Deed::SkipQuestion { .. } => "question left out".to_owned(),
            Deed::Skip => "document left out".to_owned(),
            Deed::Flag { on: true } => "flag".to_owned(),
            Deed::Flag { on: false } => "no flag".to_owned(),
            Deed::Done { on: true } => "document done".to_owned(),
            Deed::Done { on: false } => "document not done".to_owned(),
            Deed::Undo { .. } | Deed::Redo { .. } | Deed::Type { .. } | Deed::Settings { .. } => {
                String::new()
            }
        }
    }
}

/// What was done.
#[derive(Debug)]
pub(super) struct Done {
    pub action: Action,
    pub touched: Touched,
    /// Sequences that are yet to be ranked.
    pub unranked: Vec<usize>,
    /// A question that is open again.
    pub again: Option<String>,
}

pub(super) fn check_name(request: &str) -> Result<(), Error> {
    if request.is_empty() || request.len() > LONGEST_NAME {
        return Err(Error::refused(format_args!(
            "the name of the request has {} bytes, expected 1 to {LONGEST_NAME}",
            request.len()
        )));
    }
    Ok(())
}

fn range_of(start: Option<u32>, end: Option<u32>, tokens: usize) -> Result<Range<usize>, Error> {
    let (Some(start), Some(end)) = (start, end) else {
        return Err(Error::refused(
            "the action does not say which tokens it is about: start and end",
        ));
    };
    if start >= end || end as usize > tokens {
        return Err(Error::refused(format_args!(
            "tokens {start}..{end} are none of the document, which has {tokens}"
        )));
    }
    Ok(start as usize..end as usize)
}

fn comment(request: &ActionRequest, tokens: usize) -> Result<Deed, Error> {
    let text = request.text.as_deref().unwrap_or_default().trim();
    let characters = text.chars().count();
    if characters == 0 || characters > LONGEST_COMMENT {
        return Err(Error::refused(format_args!(
            "the comment has {characters} characters, expected 1 to {LONGEST_COMMENT}"
        )));
    }
    let place = match (request.start, request.end) {
        (None, None) => None,
        (start, end) => {
            let range = range_of(start, end, tokens)?;
            Some((range.start as u32, range.end as u32))
        }
    };
    Ok(Deed::Comment {
        place,
        text: text.to_owned(),
    })
}
