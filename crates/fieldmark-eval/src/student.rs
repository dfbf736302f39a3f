//! Student's t distribution, from the incomplete beta function.

/// The probability that |T| is at least |t|: I_x(ν/2, 1/2) with x = ν / (ν + t²).
pub(crate) fn two_tailed(t: f64, freedom: f64) -> f64 {
    if t.is_infinite() {
        return 0.0;
    }
    let square = t * t;
    // Both shares of the whole are computed, because 1 − x would lose the smaller one.
    let (x, rest) = (freedom / (freedom + square), square / (freedom + square));
    incomplete_beta(freedom / 2.0, x, rest)
}

/// The t that |T| exceeds with the given probability, which lies between 0 and 1.
pub(crate) fn two_tailed_quantile(probability: f64, freedom: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while two_tailed(high, freedom) > probability {
        (low, high) = (high, 2.0 * high);
        if high.is_infinite() {
            return high;
        }
    }
    loop {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            return high;
        }
        if two_tailed(middle, freedom) > probability {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// The regularised incomplete beta function I_x(a, ½), where `rest` is 1 − x.
fn incomplete_beta(a: f64, x: f64, rest: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if rest <= 0.0 {
        return 1.0;
    }
    // x^a·√(1 − x) / B(a, ½)
    let power = a * if rest < 0.5 { (-rest).ln_1p() } else { x.ln() };
    let front = gamma_ratio(a) * (rest / std::f64::consts::PI).sqrt() * power.exp();
    // The fraction converges fast below the mean of the distribution; above it, the other tail is computed.
    if x < (a + 1.0) / (a + 2.5) {
        front * continued_fraction(a, 0.5, x) / a
    } else {
        1.0 - front * continued_fraction(0.5, a, rest) / 0.5
    }
}

/// Γ(a + ½) / Γ(a): its asymptotic series (DLMF 5.11.13) for large a, to which Γ(a + 1) = a·Γ(a) leads.
fn gamma_ratio(mut a: f64) -> f64 {
    let mut factor = 1.0;
    while a < 200.0 {
        factor *= a / (a + 0.5);
        a += 1.0;
    }
    let n = 1.0 / a;
    factor * a.sqrt() * (1.0 + n * (-1.0 / 8.0 + n * (1.0 / 128.0 + n * (5.0 / 1024.0 - n * 21.0 / 32768.0))))
}

/// The continued fraction of the incomplete beta function (DLMF 8.17.22), by the algorithm of Lentz (1976) as
/// modified by Thompson & Barnett (1986).
fn continued_fraction(a: f64, b: f64, x: f64) -> f64 {
    let away_from_zero = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    // The number of terms grows with the square root of the parameters.
    for term in 1..100_000 {
        let m = f64::from(term);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let before = fraction;
        for numerator in [even, odd] {
            d = 1.0 / away_from_zero(1.0 + numerator * d);
            c = away_from_zero(1.0 + numerator / c);
            fraction *= d * c;
        }
        if (fraction - before).abs() <= f64::EPSILON * fraction.abs() {
            break;
        }
    }
    fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed with SciPy 1.17: `2 * scipy.stats.t.sf(t, freedom)`.
    #[test]
    fn tails_agree_with_scipy() {
        for (t, freedom, expected) in [
            (0.1, 1.0, 0.936548965138893),
            (1.5, 1.0, 0.3743340836219977),
            (1e-06, 4.0, 0.99999925),
            (0.5, 2.0, 0.6666666666666667),
            (2.0, 3.5, 0.12613852257591343),
            (2.2281388519649385, 10.0, 0.05000000000180864),
            (12.0, 10.0, 2.921408824769984e-07),
            (3.1, 29.0, 0.00427818237355557),
            (0.7, 17.776, 0.49298755366502606),
            (1.96, 1000.0, 0.050273184955748736),
            (4.0, 1000000.0, 6.33470340100481e-05),
            (40.0, 5.0, 1.8411962171772954e-07),
        ] {
            let ours = two_tailed(t, freedom);
            assert!(
                (ours / expected - 1.0).abs() < 1e-10,
                "t = {t}, ν = {freedom}: {ours} {expected}"
            );
            assert_eq!(ours, two_tailed(-t, freedom));
        }
    }

    /// The customary table of critical values (Fisher & Yates), 5 % and 1 %, two-tailed.
    #[test]
    fn critical_values_are_those_of_the_tables() {
        for (freedom, five, one) in [
            (1.0, 12.706, 63.657),
            (2.0, 4.303, 9.925),
            (5.0, 2.571, 4.032),
            (10.0, 2.228, 3.169),
            (29.0, 2.045, 2.756),
            (120.0, 1.980, 2.617),
        ] {
            assert!(
                (two_tailed_quantile(0.05, freedom) - five).abs() < 5e-4,
                "{freedom}"
            );
            assert!(
                (two_tailed_quantile(0.01, freedom) - one).abs() < 5e-4,
                "{freedom}"
            );
        }
    }

    #[test]
    fn borders_of_the_distribution() {
        assert_eq!(two_tailed(0.0, 3.0), 1.0);
        assert_eq!(two_tailed(f64::INFINITY, 3.0), 0.0);
        // With one degree of freedom it is the Cauchy distribution.
        assert!((two_tailed(1.0, 1.0) - 0.5).abs() < 1e-14);
    }
}
