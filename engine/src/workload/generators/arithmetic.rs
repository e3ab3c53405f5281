//! Arithmetic of expressions. Integers stay integers as long as they can, and wrap around.

use crate::workload::values::Number;
use Number::{Float, Integer};

impl Number {
    /// Rounded down; beyond the integers the nearest of them.
    pub fn integer(self) -> i64 {
        match self {
            Integer(value) => value,
            Float(value) => value.floor() as i64,
        }
    }

    pub fn is_true(self) -> bool {
        self != Integer(0) && self != Float(0.0)
    }

    pub fn sum(self, other: Self) -> Self {
        self.combine(other, i64::wrapping_add, |left, right| left + right)
    }

    pub fn subtract(self, other: Self) -> Self {
        self.combine(other, i64::wrapping_sub, |left, right| left - right)
    }

    pub fn multiply(self, other: Self) -> Self {
        self.combine(other, i64::wrapping_mul, |left, right| left * right)
    }

    /// Of integers rounded down; what divides is never 0.
    pub fn divide(self, other: Self) -> Self {
        self.combine(other, floor_div, |left, right| left / right)
    }

    pub fn floor_divide(self, other: Self) -> Self {
        self.combine(other, floor_div, |left, right| (left / right).floor())
    }

    /// Of the sign of what divides, which is never 0.
    pub fn modulo(self, other: Self) -> Self {
        let of_integers = |left: i64, right: i64| left.wrapping_sub(floor_div(left, right).wrapping_mul(right));
        self.combine(other, of_integers, |left, right| left - right * (left / right).floor())
    }

    pub fn negate(self) -> Self {
        match self {
            Integer(value) => Integer(value.wrapping_neg()),
            Float(value) => Float(-value),
        }
    }

    pub fn absolute(self) -> Self {
        match self {
            Integer(value) => Integer(value.wrapping_abs()),
            Float(value) => Float(value.abs()),
        }
    }

    #[inline]
    fn combine(self, other: Self, integers: impl Fn(i64, i64) -> i64, floats: impl Fn(f64, f64) -> f64) -> Self {
        match (self, other) {
            (Integer(left), Integer(right)) => Integer(integers(left, right)),
            _ => Float(floats(self.as_float(), other.as_float())),
        }
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        match (self, other) {
            (Integer(left), Integer(right)) => left.partial_cmp(right),
            _ => self.as_float().partial_cmp(&other.as_float()),
        }
    }
}

fn floor_div(left: i64, right: i64) -> i64 {
    let quotient = left.wrapping_div(right);
    let is_inexact = left.wrapping_rem(right) != 0;
    quotient - i64::from(is_inexact && (left < 0) != (right < 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_divide_downwards() {
        for (left, right, quotient, rest) in [(7, 2, 3, 1), (-7, 2, -4, 1), (7, -2, -4, -1), (-8, 2, -4, 0)] {
            assert_eq!(Integer(left).divide(Integer(right)), Integer(quotient));
            assert_eq!(Integer(left).modulo(Integer(right)), Integer(rest));
        }
        assert_eq!(Integer(i64::MIN).divide(Integer(-1)), Integer(i64::MIN));
        assert_eq!(Float(-7.0).modulo(Integer(2)), Float(1.0));
        assert_eq!(Integer(7).divide(Float(2.0)), Float(3.5));
        assert_eq!(Float(-0.5).integer(), -1);
    }
}
