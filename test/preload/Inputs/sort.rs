// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two threads add lines under one lock. The first one holds the lock until the
// other one waits for it.

use std::fs;
use std::path::Path;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

type Lines = Mutex<Vec<String>>;

#[inline(never)]
fn add(lines: &mut Vec<String>, n: usize) {
    for i in 0..n {
        lines.push(format!("line {}", i));
    }
}

// Returns whether the thread sleeps in a futex call for this lock.
fn waits_for(task: &Path, lock: &Lines) -> bool {
    let call = fs::read_to_string(task.join("syscall")).unwrap();
    let word = call.split(' ').nth(1).unwrap_or("").trim_start_matches("0x");
    let begin = lock as *const Lines as usize;
    call.starts_with("202 ")
        && usize::from_str_radix(word, 16)
            .map_or(false, |w| w >= begin && w - begin < std::mem::size_of::<Lines>())
}

// Lets another thread add lines, and returns when it waits for the lock. A
// function of its own, so that `fill` waits only for the lock.
#[inline(never)]
fn start_other(lock: &Arc<Lines>) -> thread::JoinHandle<usize> {
    let (sender, receiver) = channel();
    let other = lock.clone();
    let second = thread::spawn(move || {
        sender.send(fs::read_link("/proc/thread-self").unwrap()).unwrap();
        fill(&other, || ())
    });
    let task = Path::new("/proc").join(receiver.recv().unwrap());
    while !waits_for(&task, lock) {
        thread::sleep(Duration::from_millis(1));
    }
    second
}

// holds: called when the thread holds the lock.
#[inline(never)]
fn fill(lock: &Lines, holds: impl FnOnce()) -> usize {
    let mut lines = lock.lock().unwrap();
    holds();
    add(&mut lines, 5000);
    let n = lines.len();
    drop(lines);
    std::hint::black_box(n)
}

fn main() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let lock = lines.clone();
    let mut second = None;
    fill(&lines, || second = Some(start_other(&lock)));
    second.unwrap().join().unwrap();
}
