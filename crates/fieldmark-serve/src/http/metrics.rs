//! [`Metrics`]: what requests there were, in the text format of Prometheus.

use axum::http::{Method, StatusCode};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Upper ends of the times that are told apart, in seconds.
const SECONDS: [f64; 11] = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 60.0];

/// Counts requests by path, method and status, and how long they took.
#[derive(Debug, Default)]
pub struct Metrics {
    requests: Mutex<BTreeMap<(String, Method, u16), u64>>,
    times: Mutex<BTreeMap<String, Times>>,
    under_way: AtomicU64,
}

#[derive(Clone, Debug, Default)]
struct Times {
    /// By the first of [`SECONDS`] that is not exceeded; the last is for longer ones.
    buckets: [u64; SECONDS.len() + 1],
    sum: f64,
}

/// A request under way.
pub(super) struct UnderWay<'m>(&'m Metrics);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.under_way.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Metrics {
    pub(super) fn begin(&self) -> UnderWay<'_> {
        self.under_way.fetch_add(1, Ordering::Relaxed);
        UnderWay(self)
    }

    /// `path` is one of the routes, not what a client made up: there are not many.
    pub(super) fn count(&self, path: &str, method: Method, status: StatusCode, time: Duration) {
        let key = (path.to_owned(), method, status.as_u16());
        *locked(&self.requests).entry(key).or_default() += 1;
        let seconds = time.as_secs_f64();
        let mut times = locked(&self.times);
        let times = times.entry(path.to_owned()).or_default();
        times.buckets[SECONDS.partition_point(|&end| end < seconds)] += 1;
        times.sum += seconds;
    }

    /// Everything so far.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut text);
        text
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        heading(
            out,
            "fieldmark_requests_total",
            "counter",
            "Requests that were answered.",
        )?;
        for ((path, method, status), count) in &*locked(&self.requests) {
            let path = quoted(path);
            writeln!(
                out,
                "fieldmark_requests_total{{path=\"{path}\",method=\"{method}\",status=\"{status}\"}} {count}"
            )?;
        }
        let name = "fieldmark_request_seconds";
        heading(
            out,
            name,
            "histogram",
            "Seconds until the answer to a request began.",
        )?;
        for (path, times) in &*locked(&self.times) {
            let path = quoted(path);
            let mut sum = 0;
            let ends = SECONDS.iter().map(f64::to_string).chain(["+Inf".to_owned()]);
            for (end, count) in ends.zip(times.buckets) {
                sum += count;
                writeln!(out, "{name}_bucket{{path=\"{path}\",le=\"{end}\"}} {sum}")?;
            }
            writeln!(out, "{name}_sum{{path=\"{path}\"}} {}", times.sum)?;
            writeln!(out, "{name}_count{{path=\"{path}\"}} {sum}")?;
        }
        let name = "fieldmark_requests_under_way";
        heading(out, name, "gauge", "Requests whose answer has not begun.")?;
        writeln!(out, "{name} {}", self.under_way.load(Ordering::Relaxed))
    }
}

/// The two lines before the values of a metric.
pub fn heading(out: &mut String, name: &str, kind: &str, help: &str) -> std::fmt::Result {
    writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}")
}

/// A value of a label: backslashes, quotes and line ends are escaped.
pub fn quoted(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_fall_into_their_buckets_and_buckets_add_up() {
        let metrics = Metrics::default();
        for milliseconds in [1, 2, 2000, 100_000] {
            let time = Duration::from_millis(milliseconds);
            metrics.count("/x", Method::GET, StatusCode::OK, time);
        }
        metrics.count("/x", Method::POST, StatusCode::BAD_REQUEST, Duration::ZERO);
        let _under_way = metrics.begin();
        let text = metrics.to_text();
        for line in [
            "fieldmark_requests_total{path=\"/x\",method=\"GET\",status=\"200\"} 4",
            "fieldmark_requests_total{path=\"/x\",method=\"POST\",status=\"400\"} 1",
            "fieldmark_request_seconds_bucket{path=\"/x\",le=\"0.001\"} 2",
            "fieldmark_request_seconds_bucket{path=\"/x\",le=\"0.003\"} 3",
            "fieldmark_request_seconds_bucket{path=\"/x\",le=\"1\"} 3",
            "fieldmark_request_seconds_bucket{path=\"/x\",le=\"3\"} 4",
            "fieldmark_request_seconds_bucket{path=\"/x\",le=\"60\"} 4",
            "fieldmark_request_seconds_bucket{path=\"/x\",le=\"+Inf\"} 5",
            "fieldmark_request_seconds_count{path=\"/x\"} 5",
            "fieldmark_requests_under_way 1",
        ] {
            assert!(text.lines().any(|one| one == line), "{line}\n{text}");
        }
    }

    #[test]
    fn values_are_escaped() {
        assert_eq!(quoted("a\"b\\c\nd"), "a\\\"b\\\\c\\nd");
    }
}
