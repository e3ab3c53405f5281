//! Times and dates as servers write them.

use crate::workload::values::days_from_civil;

const US_PER_SECOND: i128 = 1_000_000;

/// Of `2024-02-29`, `2024-02-29 23:05:06.12`, `2024-02-29T23:05:06+01:30`: seconds since 1970-01-01 UTC, or microseconds where
/// the moment is no whole second. Without a zone it is in UTC.
pub fn read(text: &[u8]) -> Option<i128> {
    let mut text = Reader(text);
    let (year, month, day) = (text.number(4)?, text.after(b'-')?, text.after(b'-')?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let days = days_from_civil(year, month, day);
    if text.0.is_empty() {
        return Some(i128::from(days * 86_400));
    }
    if !text.skip(b' ') && !text.skip(b'T') {
        return None;
    }
    let (hour, minute, second) = (text.number(2)?, text.after(b':')?, text.after(b':')?);
    let fraction = if text.skip(b'.') { text.fraction()? } else { 0 };
    let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - text.zone()?;
    let us = i128::from(seconds) * US_PER_SECOND + i128::from(fraction);
    Some(if us % US_PER_SECOND == 0 {
        us / US_PER_SECOND
    } else {
        us
    })
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn number(&mut self, digits: usize) -> Option<i64> {
        let (taken, rest) = self.0.split_at_checked(digits)?;
        if !taken.iter().all(u8::is_ascii_digit) {
            return None;
        }
        self.0 = rest;
        std::str::from_utf8(taken).ok()?.parse().ok()
    }

    /// Two digits after this mark.
    fn after(&mut self, mark: u8) -> Option<i64> {
        if self.skip(mark) { self.number(2) } else { None }
    }

    fn skip(&mut self, mark: u8) -> bool {
        match self.0.strip_prefix(&[mark]) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    /// Microseconds of one to six digits.
    fn fraction(&mut self) -> Option<i64> {
        let digits = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if !(1..=6).contains(&digits) {
            return None;
        }
        Some(self.number(digits)? * 10i64.pow(6 - digits as u32))
    }

    /// Seconds east of UTC, up to the end of the text.
    fn zone(&mut self) -> Option<i64> {
        if self.0.is_empty() || self.0 == b"Z" {
            return Some(0);
        }
        let sign = match (self.skip(b'+'), self.skip(b'-')) {
            (true, _) => 1,
            (_, true) => -1,
            _ => return None,
        };
        let hours = self.number(2)?;
        self.skip(b':');
        let minutes = if self.0.is_empty() { 0 } else { self.number(2)? };
        self.0.is_empty().then_some(sign * (hours * 3600 + minutes * 60))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_instants() {
        for (text, expected) in [
            ("1970-01-01", 0),
            ("2024-02-29 23:05:06", 1_709_247_906),
            ("2024-02-29T23:05:06Z", 1_709_247_906),
            ("2024-02-29 23:05:06.000000", 1_709_247_906),
            ("2024-02-29 23:05:06+00", 1_709_247_906),
            ("2024-03-01 00:35:06+01:30", 1_709_247_906),
            ("2024-02-29 18:05:06-0500", 1_709_247_906),
            ("2024-02-29 23:05:06.12", 1_709_247_906_120_000),
            ("1969-12-31 23:59:59.999999", -1),
        ] {
            assert_eq!(read(text.as_bytes()), Some(expected), "{text}");
        }
    }

    #[test]
    fn all_else_is_none() {
        for text in [
            "",
            "2024",
            "2024-02",
            "2024-13-01",
            "0000-00-00",
            "2024-02-29 ",
            "2024-02-29 23",
            "2024-02-29x",
            "2024-02-29 23:05:06.",
            "2024-02-29 23:05:06.1234567",
            "2024-02-29 23:05:06 CET",
            "12-34-56",
        ] {
            assert_eq!(read(text.as_bytes()), None, "{text}");
        }
    }
}
