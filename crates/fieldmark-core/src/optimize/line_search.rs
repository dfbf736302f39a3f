//! Step lengths: the line search of Moré & Thuente (1994).
//!
//! A search is told the loss and the slope along the direction at each step it asked for, and answers what
//! to do next; it never evaluates anything itself.

/// What a search wants next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Verdict {
    /// The step just tried is good.
    Accept,
    /// Try this step.
    Try(f64),
    /// No better step will be found; this one was the best so far (0 when none lowered the loss).
    Settle(f64),
}

/// Rounding noise of a loss of this size: differences below it say nothing.
pub(super) fn noise(loss: f64) -> f64 {
    64.0 * f64::EPSILON * loss.abs()
}

const LONGEST: f64 = 1e20;
const SHORTEST: f64 = 1e-20;

/// A step with the loss and the slope there.
#[derive(Clone, Copy, Debug)]
struct Point {
    step: f64,
    loss: f64,
    slope: f64,
}

/// The search of Moré & Thuente (1994) for a step that meets the strong Wolfe conditions
/// f(α) ≤ f(0) + ftol·α·f'(0) and |f'(α)| ≤ gtol·|f'(0)|.
///
/// It keeps an interval between `best` and `other` that holds such a step once `bracketed`. Where the loss
/// differs from f(0) by no more than rounding noise, the approximate Wolfe conditions of Hager & Zhang
/// (2005), which only look at slopes, replace the first condition.
#[derive(Clone, Debug)]
pub(super) struct MoreThuente {
    ftol: f64,
    gtol: f64,
    start: Point,
    best: Point,
    other: Point,
    bracketed: bool,
    /// Until a step with sufficient decrease and a rising loss was seen, the search looks at the loss
    /// minus the sufficient decrease.
    first_stage: bool,
    lower: f64,
    upper: f64,
    longest: f64,
    width: f64,
    previous_width: f64,
}

impl MoreThuente {
    /// A search from a point with this loss and (negative) slope, which first tries `step`.
    pub(super) fn new(loss: f64, slope: f64, step: f64, ftol: f64, gtol: f64) -> Self {
        let start = Point {
            step: 0.0,
            loss,
            slope,
        };
        MoreThuente {
            ftol,
            gtol,
            start,
            best: start,
            other: start,
            bracketed: false,
            first_stage: true,
            lower: 0.0,
            upper: 5.0 * step,
            longest: LONGEST,
            width: LONGEST - SHORTEST,
            previous_width: 2.0 * (LONGEST - SHORTEST),
        }
    }

    /// Takes the loss and slope at `step`.
    pub(super) fn advance(&mut self, step: f64, loss: f64, slope: f64) -> Verdict {
        if !loss.is_finite() || !slope.is_finite() {
            return self.retreat(step);
        }
        let required = self.ftol * self.start.slope;
        let bound = self.start.loss + step * required;
        if self.is_good(step, loss, slope) {
            return Verdict::Accept;
        }
        if step >= self.longest && loss <= bound && slope <= required {
            return Verdict::Accept;
        }
        if step <= SHORTEST && (loss > bound || slope >= required) {
            return self.settle();
        }
        if self.first_stage && loss <= bound && slope >= 0.0 {
            self.first_stage = false;
        }
        let trial = Point { step, loss, slope };
        let next = if self.first_stage && loss <= self.best.loss && loss > bound {
            self.interpolate_reduced(trial, required)
        } else {
            self.interpolate(trial)
        };
        self.next_step(next)
    }

    /// The best step when no more may be tried.
    pub(super) fn settle(&self) -> Verdict {
        Verdict::Settle(if self.best.loss < self.start.loss {
            self.best.step
        } else {
            0.0
        })
    }

    fn is_good(&self, step: f64, loss: f64, slope: f64) -> bool {
        let flat = slope.abs() <= -self.gtol * self.start.slope;
        let decreased = loss <= self.start.loss + step * self.ftol * self.start.slope;
        let approximate = loss <= self.start.loss + noise(self.start.loss)
            && slope <= (2.0 * self.ftol - 1.0) * self.start.slope;
        flat && (decreased || approximate)
    }

    /// The loss cannot be computed at `step`: stay well below it.
    fn retreat(&mut self, step: f64) -> Verdict {
        let gap = step - self.best.step;
        if gap.abs() <= SHORTEST {
            return self.settle();
        }
        self.bracketed = false;
        self.other = self.best;
        self.longest = self.best.step + 0.5 * gap;
        self.lower = self.best.step;
        self.upper = self.longest;
        Verdict::Try(self.best.step + 0.1 * gap)
    }

    /// [`MoreThuente::interpolate`] on the loss minus the sufficient decrease.
    fn interpolate_reduced(&mut self, mut trial: Point, required: f64) -> f64 {
        let shift = |point: &mut Point, by: f64| {
            point.loss -= by * point.step;
            point.slope -= by;
        };
        shift(&mut trial, required);
        shift(&mut self.best, required);
        shift(&mut self.other, required);
        let next = self.interpolate(trial);
        shift(&mut self.best, -required);
        shift(&mut self.other, -required);
        next
    }

    /// A step from the cubic and quadratic through `best` and the trial, which then takes its place in the
    /// interval (Moré & Thuente 1994, section 4).
    fn interpolate(&mut self, trial: Point) -> f64 {
        let (best, other) = (self.best, self.other);
        let opposite = trial.slope * best.slope.signum() < 0.0;
        let next = if trial.loss > best.loss {
            // Case 1: the loss rose, so a minimum lies between.
            let cubic = cubic_minimum(best, trial);
            let quadratic = best.step
                + best.slope / ((best.loss - trial.loss) / (trial.step - best.step) + best.slope) / 2.0
                    * (trial.step - best.step);
            self.bracketed = true;
            if (cubic - best.step).abs() < (quadratic - best.step).abs() {
                cubic
            } else {
                cubic + (quadratic - cubic) / 2.0
            }
        } else if opposite {
            // Case 2: the slope changed its sign, so a minimum lies between.
            let cubic = cubic_minimum(trial, best);
            let secant = secant(trial, best);
            self.bracketed = true;
            if (cubic - trial.step).abs() > (secant - trial.step).abs() {
                cubic
            } else {
                secant
            }
        } else if trial.slope.abs() < best.slope.abs() {
            self.extrapolate(trial)
        } else if self.bracketed {
            // Case 4: the loss fell and falls as steeply as before.
            cubic_minimum(trial, other)
        } else if trial.step > best.step {
            self.upper
        } else {
            self.lower
        };
        if trial.loss > best.loss {
            self.other = trial;
        } else {
            if opposite {
                self.other = best;
            }
            self.best = trial;
        }
        next
    }

    /// Case 3: the loss fell and falls less steeply, so the minimum lies beyond the trial.
    fn extrapolate(&self, trial: Point) -> f64 {
        let (best, other) = (self.best, self.other);
        let theta = 3.0 * (best.loss - trial.loss) / (trial.step - best.step) + best.slope + trial.slope;
        let scale = theta.abs().max(best.slope.abs()).max(trial.slope.abs());
        let square = (theta / scale).powi(2) - (best.slope / scale) * (trial.slope / scale);
        let mut gamma = scale * square.max(0.0).sqrt();
        if trial.step > best.step {
            gamma = -gamma;
        }
        let ratio = (gamma - trial.slope + theta) / (gamma + (best.slope - trial.slope) + gamma);
        let cubic = if ratio < 0.0 && gamma != 0.0 {
            trial.step + ratio * (best.step - trial.step)
        } else if trial.step > best.step {
            self.upper
        } else {
            self.lower
        };
        let secant = secant(trial, best);
        let cubic_is_closer = (cubic - trial.step).abs() < (secant - trial.step).abs();
        if !self.bracketed {
            let next = if cubic_is_closer { secant } else { cubic };
            return next.clamp(self.lower, self.upper.max(self.lower));
        }
        let next = if cubic_is_closer { cubic } else { secant };
        let limit = trial.step + 0.66 * (other.step - trial.step);
        if trial.step > best.step {
            next.min(limit)
        } else {
            next.max(limit)
        }
    }

    /// Keeps the interval shrinking and the next step inside it.
    fn next_step(&mut self, mut next: f64) -> Verdict {
        if !next.is_finite() && !self.bracketed {
            return self.settle();
        }
        if self.bracketed {
            let width = (self.other.step - self.best.step).abs();
            if width >= 0.66 * self.previous_width || !next.is_finite() {
                next = self.best.step + 0.5 * (self.other.step - self.best.step);
            }
            self.previous_width = self.width;
            self.width = width;
            self.lower = self.best.step.min(self.other.step);
            self.upper = self.best.step.max(self.other.step);
        } else {
            let step = self.best.step;
            self.lower = next + 1.1 * (next - step);
            self.upper = next + 4.0 * (next - step);
        }
        next = next.max(SHORTEST).min(self.longest);
        let narrow = self.upper - self.lower <= f64::EPSILON * self.upper;
        if self.bracketed && (next <= self.lower || next >= self.upper || narrow) {
            return self.settle();
        }
        Verdict::Try(next)
    }
}

/// Minimum of the cubic that has the losses and slopes of both points.
fn cubic_minimum(from: Point, to: Point) -> f64 {
    let theta = 3.0 * (from.loss - to.loss) / (to.step - from.step) + from.slope + to.slope;
    let scale = theta.abs().max(from.slope.abs()).max(to.slope.abs());
    let square = (theta / scale).powi(2) - (from.slope / scale) * (to.slope / scale);
    let mut gamma = scale * square.max(0.0).sqrt();
    if to.step < from.step {
        gamma = -gamma;
    }
    let ratio = (gamma - from.slope + theta) / (gamma - from.slope + gamma + to.slope);
    from.step + ratio * (to.step - from.step)
}

/// Minimum of the parabola that has the slopes of both points.
fn secant(from: Point, to: Point) -> f64 {
    from.step + from.slope / (from.slope - to.slope) * (to.step - from.step)
}
