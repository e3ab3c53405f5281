//! Sums of the answers to one statement, the same on all DBMSs that give the same answers.

mod moment;
mod number;
mod plain;

use std::hash::Hasher;

use twox_hash::XxHash64;

use self::plain::Plain;
use crate::wire::RowSink;

/// The sum of one statement's rows; their order counts when it is defined.
pub struct Sum {
    ordered: bool,
    /// Numbers are told apart from the rest, to be compared with a tolerance.
    keeps_numbers: bool,
    pub rows: u64,
    pub affected: u64,
    pub hash: u64,
    /// Of each row the hash of all else, and its numbers.
    kept: Vec<(u64, Vec<f64>)>,
}

impl Sum {
    pub fn new(ordered: bool, keeps_numbers: bool) -> Self {
        Self {
            ordered,
            keeps_numbers,
            rows: 0,
            affected: 0,
            hash: 0,
            kept: Vec::new(),
        }
    }

    /// All numbers of all rows. Rows without an order are sorted, so that those next to each other on two targets belong
    /// together.
    pub fn numbers(&self) -> Vec<f64> {
        let mut rows: Vec<_> = self.kept.iter().collect();
        if !self.ordered {
            rows.sort_by(|one, other| {
                let numbers = one.1.iter().zip(&other.1);
                let first_difference = numbers.map(|(a, b)| a.total_cmp(b)).find(|order| order.is_ne());
                one.0
                    .cmp(&other.0)
                    .then(first_difference.unwrap_or(std::cmp::Ordering::Equal))
            });
        }
        rows.into_iter().flat_map(|(_, numbers)| numbers).copied().collect()
    }
}

impl RowSink for Sum {
    fn row(&mut self, values: &[Option<&[u8]>]) {
        let mut numbers = Vec::new();
        let keep = self.keeps_numbers.then_some(&mut numbers);
        let of_row = hash_of_row(values, keep);
        // Chained, the sum depends on the order of rows; added up, it does not.
        self.hash = if self.ordered {
            let mut chain = XxHash64::with_seed(self.hash);
            chain.write_u64(of_row);
            chain.finish()
        } else {
            self.hash.wrapping_add(of_row)
        };
        if self.keeps_numbers {
            self.kept.push((of_row, numbers));
        }
    }
}

/// With `numbers`, these go there, and the hash has only that they are some.
fn hash_of_row(values: &[Option<&[u8]>], mut numbers: Option<&mut Vec<f64>>) -> u64 {
    let mut hash = XxHash64::with_seed(0);
    let mut write = |kind: u8, bytes: &[u8]| {
        hash.write_u8(kind);
        hash.write_u64(bytes.len() as u64);
        hash.write(bytes);
    };
    for value in values {
        match (Plain::of(*value), &mut numbers) {
            (Plain::Null, _) => write(0, b""),
            (Plain::Number(number), Some(numbers)) => {
                numbers.push(number.as_float());
                write(2, b"");
            }
            (Plain::Number(number), None) => write(2, number.to_string().as_bytes()),
            (Plain::Text(text), _) => write(1, text),
            (Plain::Rewritten(text), _) => write(1, &text),
        }
    }
    hash.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(ordered: bool, keeps_numbers: bool, rows: &[&[Option<&str>]]) -> Sum {
        let mut sum = Sum::new(ordered, keeps_numbers);
        for row in rows {
            let values: Vec<_> = row.iter().map(|value| value.map(str::as_bytes)).collect();
            sum.row(&values);
        }
        sum
    }

    fn sum_of(ordered: bool, rows: &[&[Option<&str>]]) -> u64 {
        sum(ordered, false, rows).hash
    }

    #[test]
    fn the_order_of_rows_counts_only_where_it_is_defined() {
        let (a, b): (&[_], &[_]) = (&[Some("1"), Some("x")], &[Some("2"), None]);
        assert_eq!(sum_of(false, &[a, b]), sum_of(false, &[b, a]));
        assert_ne!(sum_of(true, &[a, b]), sum_of(true, &[b, a]));
        assert_ne!(sum_of(false, &[a]), sum_of(false, &[a, a, a]));
    }

    #[test]
    fn trailing_blanks_do_not_count_but_null_and_borders_between_values_do() {
        assert_eq!(sum_of(false, &[&[Some("ab  ")]]), sum_of(false, &[&[Some("ab")]]));
        assert_ne!(sum_of(false, &[&[Some(" ab")]]), sum_of(false, &[&[Some("ab")]]));
        assert_ne!(sum_of(false, &[&[Some("")]]), sum_of(false, &[&[None]]));
        assert_ne!(
            sum_of(false, &[&[Some("ab"), Some("c")]]),
            sum_of(false, &[&[Some("a"), Some("bc")]])
        );
    }

    #[test]
    fn numbers_with_a_tolerance_are_no_part_of_the_sum() {
        let (a, b): (&[_], &[_]) = (&[Some("x"), Some("1.5")], &[Some("y"), Some("2.5")]);
        let near: &[_] = &[Some("x"), Some("1.5000001")];
        let (one, other) = (sum(false, true, &[a, b]), sum(false, true, &[b, near]));
        assert_eq!(one.hash, other.hash);
        let (mine, theirs) = (one.numbers(), other.numbers());
        assert!(
            mine.iter().zip(&theirs).all(|(a, b)| (a - b).abs() < 1e-6),
            "{mine:?} {theirs:?}"
        );
        assert_ne!(one.hash, sum(false, true, &[a]).hash);
        assert_eq!(sum(true, true, &[b, a]).numbers(), [2.5, 1.5]);
        assert!(sum(true, false, &[a]).numbers().is_empty());
    }
}
