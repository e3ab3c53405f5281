//! Which client is of which role: the first clients of the first role, and so on.

use std::collections::BTreeMap;

use super::definition::Share;
use crate::drive::pace::open_loop::Arrivals;

/// What all clients of a role have in common.
#[derive(Debug, Clone)]
pub struct Role {
    pub name: Option<String>,
    pub clients: u32,
    pub arrivals: Option<Arrivals>,
    pub counted: bool,
    /// Roles are indices.
    pub share: Share<usize>,
}

/// A client's place.
#[derive(Debug, Clone, Copy)]
pub struct Seat {
    pub role: usize,
    /// Among the clients of its role, from 0.
    pub number: u32,
    /// Of its role.
    pub clients: u32,
    pub arrivals: Option<Arrivals>,
    pub counted: bool,
}

#[derive(Debug, Clone)]
pub struct Seats {
    pub roles: Vec<Role>,
}

impl Seat {
    /// The seed of its streams of parameters; of the first role that of the row, as in a test without roles.
    pub fn seed(&self, seed: u64) -> u64 {
        seed ^ (self.role as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

impl Seats {
    /// Of a test without roles.
    pub fn alike(clients: u32) -> Self {
        Self {
            roles: vec![Role {
                name: None,
                clients,
                arrivals: None,
                counted: true,
                share: Share::default(),
            }],
        }
    }

    pub fn clients(&self) -> u32 {
        self.roles.iter().map(|role| role.clients).sum()
    }

    /// Clients in a closed loop.
    pub fn closed(&self) -> u32 {
        self.roles
            .iter()
            .filter(|role| role.arrivals.is_none())
            .map(|role| role.clients)
            .sum()
    }

    pub fn has_arrivals(&self) -> bool {
        self.roles.iter().any(|role| role.arrivals.is_some())
    }

    pub fn are_named(&self) -> bool {
        self.roles.iter().any(|role| role.name.is_some())
    }

    /// Operations of all roles that have so many to do; None: no role has.
    pub fn operations(&self) -> Option<u64> {
        let of_roles = self.roles.iter().filter_map(|role| role.share.operations);
        of_roles.reduce(|sum, one| sum.saturating_add(one))
    }

    /// What there is one of for each role, by name; nothing of a test without roles.
    pub fn named<T: Copy>(&self, values: &[T]) -> BTreeMap<String, T> {
        let pairs = self.roles.iter().zip(values);
        pairs
            .filter_map(|(role, value)| Some((role.name.clone()?, *value)))
            .collect()
    }

    /// The number of a role's first client among all.
    pub fn first_of(&self, role: usize) -> u32 {
        self.roles[..role].iter().map(|role| role.clients).sum()
    }

    /// The seat of a client by its number among all.
    pub fn seat(&self, client: u32) -> Seat {
        let mut number = client;
        for (index, role) in self.roles.iter().enumerate() {
            if number < role.clients {
                return Seat {
                    role: index,
                    number,
                    clients: role.clients,
                    arrivals: role.arrivals,
                    counted: role.counted,
                };
            }
            number -= role.clients;
        }
        unreachable!("client {client} of {}", self.clients())
    }

    /// The number of a client among those in a closed loop, from 0.
    pub fn closed_number(&self, seat: &Seat) -> u32 {
        let before = self.roles[..seat.role].iter().filter(|role| role.arrivals.is_none());
        before.map(|role| role.clients).sum::<u32>() + seat.number
    }
}

/// A client's share of `ops`: as equal as whole numbers allow, first clients first.
pub fn share(ops: u64, client: u32, clients: u32) -> u64 {
    let (client, clients) = (u64::from(client), u64::from(clients));
    ops / clients + u64::from(client < ops % clients)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn clients_are_seated_role_by_role() {
        let arrivals = serde_json::from_value(json!({"kind": "constant", "rate": 5})).unwrap();
        let role = |clients, arrivals| Role {
            name: Some(String::new()),
            clients,
            arrivals,
            counted: true,
            share: Share::default(),
        };
        let seats = Seats {
            roles: vec![role(2, None), role(3, Some(arrivals)), role(1, None)],
        };
        let of = |client| {
            (
                seats.seat(client).role,
                seats.seat(client).number,
                seats.seat(client).clients,
            )
        };
        assert_eq!(
            [of(0), of(1), of(2), of(4), of(5)],
            [(0, 0, 2), (0, 1, 2), (1, 0, 3), (1, 2, 3), (2, 0, 1)]
        );
        assert_eq!((seats.clients(), seats.closed(), seats.first_of(2)), (6, 3, 5));
        assert_eq!(seats.closed_number(&seats.seat(5)), 2);
        // Streams of the first role are those of a test without roles.
        assert_eq!(seats.seat(1).seed(99), 99);
        assert_ne!(seats.seat(2).seed(99), 99);
    }
}
