//! Pinning of the calling thread, and of the threads it starts, to CPUs.

use std::io;
use std::mem::{size_of, zeroed};

/// The CPUs on which a thread may run.
#[derive(Clone, Copy)]
pub struct CpuSet(libc::cpu_set_t);

impl CpuSet {
    pub fn of_this_thread() -> io::Result<Self> {
        // SAFETY: a cpu_set_t is plain bits, for which zero is valid, and it outlives the call.
        let (set, status) = unsafe {
            let mut set: libc::cpu_set_t = zeroed();
            let status = libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set);
            (set, status)
        };
        if status == 0 {
            Ok(Self(set))
        } else {
            Err(io::Error::last_os_error())
        }
    }

    /// Fails for a number that no set can hold.
    pub fn of(cpus: &[usize]) -> io::Result<Self> {
        // SAFETY: a cpu_set_t is plain bits, for which zero is valid.
        let mut set: libc::cpu_set_t = unsafe { zeroed() };
        for &cpu in cpus {
            if cpu >= libc::CPU_SETSIZE as usize {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    format!("there is no CPU {cpu}"),
                ));
            }
            // SAFETY: `cpu` is within the set.
            unsafe { libc::CPU_SET(cpu, &mut set) };
        }
        Ok(Self(set))
    }

    pub fn apply_to_this_thread(&self) -> io::Result<()> {
        // SAFETY: the set outlives the call.
        match unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &self.0) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl PartialEq for CpuSet {
    fn eq(&self, other: &Self) -> bool {
        // SAFETY: both sets are valid.
        unsafe { libc::CPU_EQUAL(&self.0, &other.0) }
    }
}

/// Keeps the calling thread pinned; gives it back its CPUs when dropped.
pub struct Pin {
    before: Option<CpuSet>,
}

impl Pin {
    /// Pins the calling thread to `cpus`; does nothing when there are none.
    pub fn this_thread_to(cpus: &[usize]) -> io::Result<Self> {
        if cpus.is_empty() {
            return Ok(Self { before: None });
        }
        let before = CpuSet::of_this_thread()?;
        CpuSet::of(cpus)?.apply_to_this_thread()?;
        Ok(Self { before: Some(before) })
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // CPUs may have gone offline meanwhile; then the pin stays.
            let _ = before.apply_to_this_thread();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pin_holds_for_new_threads_and_ends_when_dropped() {
        std::thread::spawn(|| {
            let before = CpuSet::of_this_thread().unwrap();
            let pin = Pin::this_thread_to(&[0]).unwrap();
            let inherited = std::thread::spawn(|| CpuSet::of_this_thread().unwrap()).join().unwrap();
            assert!(inherited == CpuSet::of(&[0]).unwrap());
            drop(pin);
            assert!(CpuSet::of_this_thread().unwrap() == before);
            assert!(Pin::this_thread_to(&[100_000]).is_err());
        })
        .join()
        .unwrap();
    }
}
