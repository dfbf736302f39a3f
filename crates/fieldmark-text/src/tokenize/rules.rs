//! The built-in profiles: each is a rule that finds the end of the token that begins with a given cluster.
//!
//! A text is read once from left to right; a rule looks at most one cluster further than the token.

use super::clusters::{Cluster, Clusters};
use super::scan::Output;
use crate::characters::{is_bracket, is_dash, is_punctuation, is_quote, is_stop};

/// Calls `rule` where a token begins, with its first cluster; it pushes one or more tokens and says where
/// they end.
#[inline(always)]
fn scan(
    text: &str,
    output: &mut Output<'_>,
    rule: impl Fn(Clusters<'_>, usize, Cluster, &mut Output<'_>) -> usize,
) {
    let clusters = Clusters::new(text);
    let mut at = 0;
    while at < text.len() {
        at = match clusters.get(at) {
            Some(first) => rule(clusters, at, first, output),
            None => at + text[at..].chars().next().map_or(1, char::len_utf8),
        };
    }
}

/// Tokens whose neighbouring clusters all belong together.
#[inline(always)]
fn scan_runs(text: &str, output: &mut Output<'_>, belong: impl Fn(Cluster, Cluster) -> bool) {
    scan(text, output, |clusters, start, first, output| {
        let mut last = first;
        while let Some(next) = clusters.get(last.end).filter(|&next| belong(last, next)) {
            last = next;
        }
        output.push(start, last.end);
        last.end
    });
}

pub(super) fn whitespace(text: &str, output: &mut Output<'_>) {
    scan_runs(text, output, |_, _| true);
}

pub(super) fn punctuation(text: &str, output: &mut Output<'_>) {
    scan_runs(text, output, |left, right| {
        !is_punctuation(left.first) && !is_punctuation(right.first)
    });
}

pub(super) fn non_alphabetic(text: &str, output: &mut Output<'_>) {
    scan_runs(text, output, |left, right| left.is_letter() && right.is_letter());
}

pub(super) fn fine(text: &str, output: &mut Output<'_>) {
    scan_runs(text, output, |left, right| {
        left.is_alphanumeric() && left.kind == right.kind
    });
}

pub(super) fn abner(text: &str, output: &mut Output<'_>) {
    scan_runs(text, output, |left, right| match left.is_alphanumeric() {
        true => left.kind == right.kind,
        false => is_dash(left.first) && right.is_alphanumeric(),
    });
}

pub(super) fn dash(text: &str, output: &mut Output<'_>) {
    scan_runs(text, output, |left, right| {
        left.is_alphanumeric() && right.is_alphanumeric()
    });
}

pub(super) fn locants(text: &str, output: &mut Output<'_>) {
    scan(text, output, |clusters, start, first, output| {
        let end = match first.is_alphanumeric() {
            true => run(
                clusters,
                first,
                Cluster::is_alphanumeric,
                |left, joint| left.is_digit() && matches!(joint.first, '.' | ','),
                Cluster::is_digit,
            ),
            false => first.end,
        };
        output.push(start, end);
        end
    });
}

pub(super) fn punctuation_before_space(text: &str, output: &mut Output<'_>) {
    let is_mark = |cluster: Cluster| is_stop(cluster.first) || is_quote(cluster.first);
    scan(text, output, |clusters, start, first, output| {
        let mut last = first;
        let mut marks = if is_mark(first) { start } else { first.end };
        if is_bracket(first.first) {
            output.push(start, first.end);
            return first.end;
        }
        while let Some(next) = clusters.get(last.end).filter(|next| !is_bracket(next.first)) {
            if !is_mark(next) {
                marks = next.end;
            }
            last = next;
        }
        output.push(start, marks);
        while let Some(mark) = clusters.get(marks).filter(|_| marks < last.end) {
            output.push(marks, mark.end);
            marks = mark.end;
        }
        last.end
    });
}

pub(super) fn clinical(text: &str, output: &mut Output<'_>) {
    scan(text, output, |clusters, start, first, output| {
        let end = if first.is_letter() {
            abbreviation(clusters, first).unwrap_or_else(|| {
                let apostrophe = |_, joint: Cluster| matches!(joint.first, '\'' | '\u{2019}');
                run(
                    clusters,
                    first,
                    Cluster::is_alphanumeric,
                    apostrophe,
                    Cluster::is_alphanumeric,
                )
            })
        } else if first.is_digit() {
            let separator = |_, joint: Cluster| matches!(joint.first, '.' | ',');
            run(clusters, first, Cluster::is_digit, separator, Cluster::is_digit)
        } else {
            first.end
        };
        output.push(start, end);
        end
    });
}

/// The end of a run: clusters that are `inside`, and joints with the cluster before and `after` them right.
#[inline(always)]
fn run(
    clusters: Clusters<'_>,
    first: Cluster,
    inside: impl Fn(Cluster) -> bool,
    is_joint: impl Fn(Cluster, Cluster) -> bool,
    after: impl Fn(Cluster) -> bool,
) -> usize {
    let mut last = first;
    while let Some(next) = clusters.get(last.end) {
        let joint = || is_joint(last, next) && clusters.get(next.end).is_some_and(&after);
        if !inside(next) && !joint() {
            break;
        }
        last = next;
    }
    last.end
}

/// The end of two or more single letters, each with its point.
fn abbreviation(clusters: Clusters<'_>, first: Cluster) -> Option<usize> {
    let point = |letter: Cluster| clusters.get(letter.end).filter(|next| next.first == '.');
    let mut last = point(first)?;
    let mut letters = 1;
    while let Some(next) = clusters
        .get(last.end)
        .filter(|next| next.is_letter())
        .and_then(point)
    {
        last = next;
        letters += 1;
    }
    (letters >= 2).then_some(last.end)
}
