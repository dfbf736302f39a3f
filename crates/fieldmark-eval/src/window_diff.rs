//! [`WindowDiff`]: how well a text was cut into segments.

use crate::EvalError;
use crate::counts::ratio;
use crate::error::check_lengths;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

/// How wide the window is that slides over the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WindowWidth {
    /// Half the mean length of the reference segments of all documents.
    #[default]
    Corpus,
    /// Half the mean length of the reference segments of each document.
    Document,
    /// So many tokens.
    Fixed(NonZeroUsize),
}

/// WindowDiff (Pevzner & Hearst 2002): the share of windows in which reference and hypothesis differ in the
/// number of borders,
///
/// WD = 1/(N − k) · Σ_{i=1..N−k} [ |b(ref_i, ref_{i+k}) − b(hyp_i, hyp_{i+k})| > 0 ].
///
/// 0 is perfect. A border that is a few tokens off costs less than one that is missing. Half a mean length is
/// rounded to the nearest whole number, and up if two are near; it is at least 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WindowDiff {
    /// Number of windows.
    pub windows: u64,
    /// Windows in which the numbers of borders differ.
    pub differing: u64,
    /// Share of all windows that differ; 0 without windows.
    pub pooled: f64,
    /// The mean of that share over documents; 0 without documents that have windows.
    pub mean: f64,
    /// Documents with windows.
    pub documents: u64,
    /// Documents that are no longer than the window and count nowhere.
    pub too_short: u64,
}

/// Measures a segmentation of documents. Each document says for each token whether a segment begins with it, in
/// the reference and in the hypothesis; that one begins with the first token goes without saying and is ignored.
///
/// ```
/// use fieldmark_eval::{WindowWidth, window_diff};
/// let begins = |text: &str| text.chars().map(|token| token == '|').collect::<Vec<bool>>();
/// let document = (begins("...|...|..."), begins("....|......"));
/// let result = window_diff(&[document], WindowWidth::Corpus)?;
/// // 11 tokens in 3 segments: k = round(11 / 6) = 2. Windows differ around the border that is off by one
/// // (at its two sides) and around the one that is missing (2).
/// assert_eq!((result.windows, result.differing), (9, 4));
/// # Ok::<(), fieldmark_eval::EvalError>(())
/// ```
pub fn window_diff(
    documents: &[(Vec<bool>, Vec<bool>)],
    width: WindowWidth,
) -> Result<WindowDiff, EvalError> {
    for (reference, hypothesis) in documents {
        check_lengths(reference.len(), hypothesis.len())?;
    }
    let tokens = documents.iter().map(|(reference, _)| reference.len()).sum();
    let segments = documents.iter().map(|(reference, _)| segments(reference)).sum();
    let of_corpus = half_mean(tokens, segments);
    let mut result = WindowDiff::default();
    for (reference, hypothesis) in documents {
        let width = match width {
            WindowWidth::Corpus => of_corpus,
            WindowWidth::Document => half_mean(reference.len(), self::segments(reference)),
            WindowWidth::Fixed(width) => width.get(),
        };
        result.add(reference, hypothesis, width);
    }
    result.pooled = ratio(result.differing, result.windows);
    result.mean /= result.documents.max(1) as f64;
    Ok(result)
}

impl WindowDiff {
    /// Slides a window over a document; `mean` is a sum until the end.
    fn add(&mut self, reference: &[bool], hypothesis: &[bool], width: usize) {
        if reference.len() <= width {
            self.too_short += 1;
            return;
        }
        let windows = reference.len() - width;
        // The surplus of reference borders in the tokens 1 to `width` after the beginning of the window.
        let surplus = |token: usize| i64::from(reference[token]) - i64::from(hypothesis[token]);
        let mut difference: i64 = (1..=width).map(surplus).sum();
        let mut differing = u64::from(difference != 0);
        for window in 1..windows {
            difference += surplus(window + width) - surplus(window);
            differing += u64::from(difference != 0);
        }
        self.windows += windows as u64;
        self.differing += differing;
        self.mean += ratio(differing, windows as u64);
        self.documents += 1;
    }
}

/// Number of segments; none in an empty document.
fn segments(begins: &[bool]) -> usize {
    begins.len().min(1) + begins.iter().skip(1).filter(|&&begins| begins).count()
}

fn half_mean(tokens: usize, segments: usize) -> usize {
    let divisor = 2 * segments.max(1);
    ((tokens + segments) / divisor).max(1)
}
