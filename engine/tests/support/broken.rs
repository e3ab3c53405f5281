//! Conversations that are broken at random: clear errors, no panic, no memory on a server's word.
//!
//! A fixed number of tries from a fixed seed, or as many as `DBVERSUS_FUZZ_SECONDS` gives time for, from `DBVERSUS_FUZZ_SEED` on.
//! Each try has a seed of its own, which a failure tells: `DBVERSUS_FUZZ_SEED=SEED DBVERSUS_FUZZ_SECONDS=0` repeats it alone.

use std::alloc::{GlobalAlloc, Layout, System};
use std::env;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use dbversus_engine::wire::WireResult;
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Keeps the largest request in mind.
struct Watched;

static LARGEST: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Watched = Watched;

// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        LARGEST.fetch_max(size, Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// A generous bound: buffers of the wire, of one statement of `load_rows`, and of the test harness.
const MOST_AT_ONCE: usize = 4 << 20;
/// Of each conversation.
const TRIES: u64 = 4000;
const SEED: u64 = 20_261_121;

/// Says which try it was when one panics.
struct Repeat(u64);

impl Drop for Repeat {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let test = env::current_exe().unwrap_or_default();
            let seed = self.0;
            eprintln!(
                "repeat it: DBVERSUS_FUZZ_SEED={seed} DBVERSUS_FUZZ_SECONDS=0 {} broken",
                test.display()
            );
        }
    }
}

/// Cuts each conversation anywhere, then breaks them at random.
pub fn hold_broken<T>(conversations: &[Vec<u8>], hold: impl Fn(Vec<u8>) -> WireResult<T>) {
    for bytes in conversations {
        for cut in 0..bytes.len() {
            assert!(hold(bytes[..cut].to_vec()).is_err(), "cut at {cut}");
        }
    }
    let began = Instant::now();
    let seconds = number("DBVERSUS_FUZZ_SECONDS").map(Duration::from_secs);
    let first = number("DBVERSUS_FUZZ_SEED").unwrap_or(SEED);
    let tries = TRIES * conversations.len() as u64;
    for (seed, number) in (first..).zip(0..) {
        if number > 0 && seconds.map_or(number == tries, |seconds| began.elapsed() >= seconds) {
            println!("{number} broken conversations from seed {first}");
            return;
        }
        let _repeat = Repeat(seed);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let bytes = &conversations[random.random_range(0..conversations.len())];
        if let Err(error) = hold(mutate(bytes, &mut random)) {
            assert!(!error.message.is_empty());
        }
        let largest = LARGEST.load(Ordering::Relaxed);
        assert!(largest <= MOST_AT_ONCE, "{largest} bytes were allocated at once");
    }
}

fn number(variable: &str) -> Option<u64> {
    env::var(variable).ok().map(|text| text.parse().expect(variable))
}

/// Flips, replaces, removes or repeats some bytes; often in a header, where it matters most.
fn mutate(bytes: &[u8], random: &mut Xoshiro256PlusPlus) -> Vec<u8> {
    let mut broken = bytes.to_vec();
    for _ in 0..random.random_range(1..4) {
        let at = random.random_range(0..broken.len());
        let odd = [0, 1, 0x3f, 0x7f, 0x80, 0xfb, 0xfc, 0xfd, 0xfe, 0xff];
        match random.random_range(0..5) {
            0 => broken[at] ^= 1 << random.random_range(0..8),
            1 => broken[at] = odd[random.random_range(0..odd.len())],
            2 => drop(broken.remove(at)),
            3 => broken.insert(at, random.random()),
            _ => {
                let end = (at + random.random_range(1..40)).min(broken.len());
                let piece = broken[at..end].to_vec();
                broken.splice(at..at, piece);
            }
        }
    }
    broken
}
