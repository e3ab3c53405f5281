//! Days and seconds of the proleptic Gregorian calendar, in UTC.

const US_PER_SECOND: i64 = 1_000_000;
pub const US_PER_DAY: i64 = 86_400 * US_PER_SECOND;

/// A moment taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    pub year: i32,
    pub month: u8,
    pub day: u8,
    pub hour: u8,
    pub minute: u8,
    pub second: u8,
    pub us: u32,
}

impl Moment {
    /// From microseconds since 1970-01-01 UTC.
    pub fn of_us(us: i64) -> Self {
        let of_day = us.rem_euclid(US_PER_DAY);
        let seconds = of_day / US_PER_SECOND;
        Self {
            hour: (seconds / 3600) as u8,
            minute: (seconds / 60 % 60) as u8,
            second: (seconds % 60) as u8,
            us: (of_day % US_PER_SECOND) as u32,
            ..Self::of_days(us.div_euclid(US_PER_DAY))
        }
    }

    /// Midnight, from days since 1970-01-01. Source: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms",
    /// `civil_from_days`: years begin in March, eras are 400 years.
    pub fn of_days(days: i64) -> Self {
        let shifted = days + 719_468;
        let era = shifted.div_euclid(146_097);
        let day_of_era = shifted.rem_euclid(146_097);
        let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * day_of_year + 2) / 153;
        let month = if shifted_month < 10 {
            shifted_month + 3
        } else {
            shifted_month - 9
        };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        Self {
            year: year as i32,
            month: month as u8,
            day: (day_of_year - (153 * shifted_month + 2) / 5 + 1) as u8,
            hour: 0,
            minute: 0,
            second: 0,
            us: 0,
        }
    }
}

/// Days from 1970-01-01 to a day of a month from 1 to 12. Source: as for `of_days`, `days_from_civil`.
pub fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let shifted_month = (month + 9) % 12;
    let day_of_year = (153 * shifted_month + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_dates_are_each_others_inverse() {
        for (days, date) in [
            (0, (1970, 1, 1)),
            (-1, (1969, 12, 31)),
            (11_016, (2000, 2, 29)),
            (19_782, (2024, 2, 29)),
            (-719_528, (0, 1, 1)),
            (2_932_896, (9999, 12, 31)),
        ] {
            let moment = Moment::of_days(days);
            assert_eq!((moment.year, moment.month, moment.day), date);
            assert_eq!(
                days_from_civil(date.0.into(), date.1.into(), date.2.into()),
                days,
                "{date:?}"
            );
        }
        for days in (-800_000..800_000).step_by(17) {
            let moment = Moment::of_days(days);
            assert_eq!(
                days_from_civil(moment.year.into(), moment.month.into(), moment.day.into()),
                days
            );
        }
    }

    #[test]
    fn moments_before_1970_have_a_time_of_day_too() {
        let moment = Moment::of_us(-1);
        assert_eq!((moment.year, moment.hour, moment.second), (1969, 23, 59));
        assert_eq!(moment.us, 999_999);
    }
}
