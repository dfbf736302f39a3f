//! How much memory there is, and how much the process used, where the system tells.

/// Bytes of memory that were in use at the peak.
pub fn peak() -> Option<u64> {
    kilobytes("/proc/self/status", "VmHWM:")
}

/// Bytes of memory that are free for programs.
pub fn available() -> Option<u64> {
    kilobytes("/proc/meminfo", "MemAvailable:")
}

fn kilobytes(file: &str, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// A number of bytes for people: `1.5 GB`.
pub fn shown(bytes: u64) -> String {
    let units = ["B", "kB", "MB", "GB", "TB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    let digits = usize::from(unit > 0 && value < 9.95);
    format!("{value:.digits$} {}", units[unit])
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_system_tells() {
        if cfg!(target_os = "linux") {
            assert!(super::peak().unwrap() > 100_000 && super::available().is_some());
        }
    }

    #[test]
    fn bytes_for_people() {
        for (bytes, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1_500, "1.5 kB"),
            (203_000_000, "203 MB"),
            (999_600_000, "1.0 GB"),
        ] {
            assert_eq!(super::shown(bytes), text);
        }
    }
}
