//! What to ask next.
//!
//! Most questions are those of the strategy, about a token or its whole sentence. Every tenth is a *test question*: a
//! whole sentence of the part that is held out, to measure models with. Where several people annotate, every fifth is
//! about the part that is shared, to see whether they agree: one that somebody else was asked or, if there is none, one
//! that others will be asked. Before there is a model, what lists and expressions find is asked in turn with random
//! tokens.

use super::state::{State, question_name, question_token};
use super::wire::{DocumentName, Question, Suggestion, Target};
use crate::project::{DocumentId, Error, Unit, UserId};
use fieldmark::learn::Strategy;

/// How much a question asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A token that the strategy chose.
    Token,
    /// A token that somebody else was asked.
    Compared,
    /// A whole sentence.
    Sentence,
}

/// A question that somebody has not answered yet.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Asked {
    pub kind: Kind,
    pub sequence: usize,
    /// The token in the numbering of the pool; the first of a sentence.
    pub position: usize,
    pub why: Option<String>,
}

/// Every so many questions are test questions.
const TEST: usize = 10;
/// Every so many questions are about what everybody annotates.
const COMPARE: usize = 5;
/// Sentences in which lists and expressions look for one question at most.
const LOOK_AHEAD: usize = 500;

impl State {
    /// The next question for somebody; the same as before, if that was not answered.
    pub fn ask(&mut self, user: UserId, document: Option<usize>) -> Option<Asked> {
        if let Some(number) = document {
            return self.ask_in(number, user);
        }
        if let Some(asked) = self.asked.get(&user).filter(|asked| self.is_open(asked, user)) {
            return Some(asked.clone());
        }
        let next = self.choose(user);
        match &next {
            Some(asked) => self.asked.insert(user, asked.clone()),
            None => self.asked.remove(&user),
        };
        next
    }

    fn choose(&mut self, user: UserId) -> Option<Asked> {
        let count = self.history.get(&user).map_or(0, |history| history.questions);
        if count % TEST == TEST - 1
            && let Some(asked) = self.ask_test(user)
        {
            return Some(asked);
        }
        if self.people() > 1
            && count % COMPARE == COMPARE / 2
            && let Some(asked) = self.ask_compared(user).or_else(|| self.ask_shared(user))
        {
            return Some(asked);
        }
        if !self.warm
            && count.is_multiple_of(2)
            && let Some(asked) = self.ask_prior(user)
        {
            return Some(asked);
        }
        self.ask_strategy(user, |_| true)
            .or_else(|| self.ask_test(user))
            .or_else(|| self.ask_compared(user))
    }

    /// Whether a question still waits for the answer of somebody.
    fn is_open(&self, asked: &Asked, user: UserId) -> bool {
        if asked.sequence >= self.pool.len() {
            return false;
        }
        let (number, index) = self.corpus.place(asked.sequence);
        if self.words.is_left_out(number, user) || self.skipped.contains(&(user, asked.position)) {
            return false;
        }
        let text = self.corpus.get(number);
        let has_said = |token: usize| self.words.has_said(number, user, token, &self.map);
        let token = asked.position - text.first_position;
        match asked.kind {
            // Where people contradict each other, more is to be said by those who have said nothing.
            Kind::Token => !self.pool.is_labelled(asked.position) && !has_said(token),
            Kind::Compared => !has_said(token),
            Kind::Sentence => !self.pool.is_complete(asked.sequence) && !text.sentence(index).all(has_said),
        }
    }

    fn is_asked_of_others(&self, sequence: usize, user: UserId) -> bool {
        let mut others = self.asked.iter().filter(|(other, _)| **other != user);
        others.any(|(_, asked)| asked.sequence == sequence)
    }

    /// The best question about what everybody annotates.
    fn ask_shared(&mut self, user: UserId) -> Option<Asked> {
        if self.settings.shared == 0.0 {
            return None;
        }
        let corpus = self.corpus.clone();
        self.ask_strategy(user, |sequence| {
            let (number, index) = corpus.place(sequence);
            corpus.get(number).shares(index)
        })
    }

    /// The best question of those about sequences that are wanted.
    fn ask_strategy(&mut self, user: UserId, wanted: impl Fn(usize) -> bool) -> Option<Asked> {
        let whole = self.settings.unit == Unit::Sentence;
        let Self {
            ranking,
            pool,
            corpus,
            words,
            map,
            asked,
            skipped,
            ..
        } = self;
        let sequence = |sequence: usize| {
            let (number, _) = corpus.place(sequence);
            let of_others = |(other, asked): (&UserId, &Asked)| *other != user && asked.sequence == sequence;
            // A whole sentence that was left out goes by its first token.
            let left_out = whole && skipped.contains(&(user, pool.positions(sequence).start));
            wanted(sequence) && !left_out && !words.is_left_out(number, user) && !asked.iter().any(of_others)
        };
        let position = |position: usize| {
            let number = corpus.number_at(position);
            let token = position - corpus.get(number).first_position;
            !pool.is_labelled(position)
                && !skipped.contains(&(user, position))
                && !words.has_said(number, user, token, map)
        };
        let question = ranking.ask_where(pool, sequence, position)?;
        let strategy = ranking.options().strategy;
        let why = match strategy {
            Strategy::Random => "chosen at random".to_owned(),
            _ => format!("{} {:.3}", strategy.title(), strategy.value(question.key)),
        };
        let asked = Asked {
            kind: Kind::Token,
            sequence: question.sequence,
            position: pool.positions(question.sequence).start + question.position,
            why: Some(why),
        };
        Some(self.in_units(asked))
    }

    /// A question about a token, or about its whole sentence if that is what people are asked.
    fn in_units(&self, asked: Asked) -> Asked {
        match self.settings.unit {
            Unit::Token => asked,
            Unit::Sentence => Asked {
                kind: Kind::Sentence,
                position: self.pool.positions(asked.sequence).start,
                ..asked
            },
        }
    }

    fn ask_test(&self, user: UserId) -> Option<Asked> {
        let open = |sequence: &usize| {
            let asked = self.whole(*sequence, "held out, to measure the model");
            self.is_open(&asked, user) && !self.is_asked_of_others(*sequence, user)
        };
        let sequence = self.held_out.iter().copied().find(open)?;
        Some(self.whole(sequence, "held out, to measure the model"))
    }

    fn whole(&self, sequence: usize, why: &str) -> Asked {
        Asked {
            kind: Kind::Sentence,
            sequence,
            position: self.pool.positions(sequence).start,
            why: Some(why.to_owned()),
        }
    }

    fn ask_compared(&self, user: UserId) -> Option<Asked> {
        let asked = |position: &usize| {
            let sequence = self.sequence_of(*position);
            Asked {
                kind: Kind::Compared,
                sequence,
                position: *position,
                why: Some("asked of several people, to see whether they agree".to_owned()),
            }
        };
        let open = |asked: &Asked| self.is_open(asked, user) && !self.pool.is_aside(asked.sequence);
        self.compared.iter().map(asked).find(open)
    }

    fn ask_prior(&mut self, user: UserId) -> Option<Asked> {
        if self.prior.is_empty() {
            return None;
        }
        let (first, all) = (self.prior_at.get(&user).copied().unwrap_or(0), self.pool.len());
        for sequence in first..(first + LOOK_AHEAD).min(all) {
            self.prior_at.insert(user, sequence);
            if self.pool.is_aside(sequence) || self.is_asked_of_others(sequence, user) {
                continue;
            }
            let (number, index) = self.corpus.place(sequence);
            let text = self.corpus.get(number);
            for found in self.prior.find(text, text.sentence(index)) {
                let asked = self.in_units(Asked {
                    kind: Kind::Token,
                    sequence,
                    position: text.first_position + found.tokens.start,
                    why: Some(format!("found by a {}", found.origin)),
                });
                if self.is_open(&asked, user) {
                    return Some(asked);
                }
            }
        }
        None
    }

    /// The best question in one document.
    fn ask_in(&self, number: usize, user: UserId) -> Option<Asked> {
        let text = self.corpus.get(number);
        let positions = text.first_position..text.first_position + text.tokens();
        let keys = self.ranking.keys();
        let open = positions
            .filter(|&position| !keys[position].is_nan() && !self.pool.is_labelled(position))
            .map(|position| {
                let asked = self.in_units(Asked {
                    kind: Kind::Token,
                    sequence: self.sequence_of(position),
                    position,
                    why: None,
                });
                (keys[position], asked)
            })
            .filter(|(_, asked)| self.is_open(asked, user));
        let best = open.min_by(|(one, _), (other, _)| one.total_cmp(other));
        best.map(|(_, asked)| asked).or_else(|| {
            let sequences = text.first_sequence..text.first_sequence + text.sentences();
            let held_out = sequences.filter(|&sequence| self.pool.is_aside(sequence));
            held_out
                .map(|sequence| self.whole(sequence, "held out, to measure the model"))
                .find(|asked| self.is_open(asked, user))
        })
    }

    /// The sequence that a position is in.
    pub fn sequence_of(&self, position: usize) -> usize {
        let number = self.corpus.number_at(position);
        let text = self.corpus.get(number);
        text.first_sequence + text.sentence_of(position - text.first_position)
    }

    /// A question by its name.
    pub fn asked_by_name(&self, name: &str) -> Option<Asked> {
        let mut parts = name.split('-');
        let (kind, document) = (parts.next()?, parts.next()?.parse::<DocumentId>().ok()?);
        let text = self.corpus.get(self.corpus.find(document)?);
        let token = question_token(name).filter(|&token| token < text.tokens())?;
        let sequence = text.first_sequence + text.sentence_of(token);
        Some(Asked {
            kind: match kind {
                "t" => Kind::Token,
                "c" => Kind::Compared,
                "s" => Kind::Sentence,
                _ => return None,
            },
            sequence,
            position: text.first_position + token,
            why: None,
        })
    }

    /// The name of a question.
    pub fn name_of(&self, asked: &Asked) -> String {
        let (number, _) = self.corpus.place(asked.sequence);
        let text = self.corpus.get(number);
        let kind = match asked.kind {
            Kind::Token => 't',
            Kind::Compared => 'c',
            Kind::Sentence => 's',
        };
        question_name(kind, text.id, asked.position - text.first_position)
    }

    /// A question as the page shows it.
    pub fn show(&self, asked: &Asked, user: UserId) -> Result<Question, Error> {
        let (number, index) = self.corpus.place(asked.sequence);
        let text = self.corpus.get(number);
        let tokens = text.sentence(index);
        let (estimating, drawn) = (self.estimating(), self.draw(number, index, user));
        let estimated = estimating.estimate(number, index, &drawn.cells)?;
        let sentence = estimating.shown(drawn, &estimated);
        let token = asked.position - text.first_position;
        let (kind, target, suggestion, choices) = match asked.kind {
            Kind::Sentence => {
                let target = Target {
                    start: tokens.start,
                    end: tokens.end,
                };
                ("sentence", target, None, Vec::new())
            }
            Kind::Token | Kind::Compared => {
                let choices = self.choices(&estimated, token - tokens.start);
                let around = estimated
                    .spans
                    .iter()
                    .find(|(range, ..)| range.contains(&(token - tokens.start)));
                let suggestion = match around {
                    Some((range, kind, probability)) => Suggestion {
                        start: tokens.start + range.start,
                        end: tokens.start + range.end,
                        kind: Some(kind.clone()),
                        probability: *probability,
                    },
                    None => Suggestion {
                        start: token,
                        end: token + 1,
                        kind: None,
                        probability: estimated.answers(token - tokens.start, &self.map)[0],
                    },
                };
                let target = Target {
                    start: token,
                    end: token + 1,
                };
                ("token", target, Some(suggestion), choices)
            }
        };
        Ok(Question {
            id: self.name_of(asked),
            kind,
            test: self.pool.is_aside(asked.sequence),
            document: DocumentName {
                id: text.id,
                name: text.name.clone(),
            },
            sentence,
            target,
            suggestion,
            choices,
            why: asked.why.clone(),
        })
    }
}
