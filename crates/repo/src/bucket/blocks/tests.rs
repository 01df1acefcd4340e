#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use super::*;

fn key(number: u64) -> BlockKey {
    (Arc::from("a"), number)
}

fn come(state: &mut State, key: &BlockKey) {
    state.jobs.retain(|job| job.key != *key);
    state.blocks.get_mut(key).unwrap().content = Content::Here(Arc::new(Vec::new()));
}

fn is_here(state: &mut State, key: &BlockKey) -> bool {
    matches!(state.look(key, BLOCK), Ok(Look::Here(_)))
}

#[test]
fn memory_is_bounded_and_blocks_on_their_way_stay() {
    let mut state = State::default();
    for number in 0..2 * MOST as u64 {
        state.look(&key(number), BLOCK).unwrap();
    }
    assert_eq!((state.blocks.len(), state.jobs.len()), (MOST, MOST));
    for number in 0..MOST as u64 {
        come(&mut state, &key(number));
        assert!(is_here(&mut state, &key(number)));
    }
    // The least recently used one makes room.
    state.look(&key(100), BLOCK).unwrap();
    assert_eq!(state.blocks.len(), MOST);
    assert!(!state.blocks.contains_key(&key(0)) && state.blocks.contains_key(&key(1)));
}

#[test]
fn blocks_for_later_take_the_places_of_read_ones_only() {
    let mut state = State::default();
    for number in 0..MOST as u64 {
        state.request(&key(number), BLOCK, false);
        come(&mut state, &key(number));
    }
    state.request(&key(100), BLOCK, false);
    assert!(!state.blocks.contains_key(&key(100)));
    assert!(is_here(&mut state, &key(7)));
    state.done(&key(7));
    state.request(&key(100), BLOCK, false);
    assert!(state.blocks.contains_key(&key(100)) && !state.blocks.contains_key(&key(7)));
}

#[test]
fn blocks_whose_readers_gave_up_make_room() {
    let mut state = State::default();
    for number in 0..MOST as u64 {
        state.look(&key(number), BLOCK).unwrap();
        come(&mut state, &key(number));
    }
    // They are never read. A waiting reader looks again and again.
    for _ in 0..=MOST {
        state.look(&key(100), BLOCK).unwrap();
    }
    assert!(state.blocks.contains_key(&key(100)));
    assert_eq!(state.blocks.len(), MOST);
}

#[test]
fn a_failure_is_for_all_that_wait() {
    let mut state = State::default();
    state.look(&key(0), BLOCK).unwrap();
    let (kind, why) = (io::ErrorKind::NotFound, "gone".to_owned());
    let at = now();
    state.blocks.get_mut(&key(0)).unwrap().content = Content::Failed { kind, why, at };
    for _ in 0..3 {
        assert_eq!(state.look(&key(0), BLOCK).err().unwrap().kind(), kind);
    }
    // Later, it is requested again.
    let at = now().checked_sub(AGAIN).unwrap();
    let slot = state.blocks.get_mut(&key(0)).unwrap();
    slot.content = Content::Failed { kind, why: String::new(), at };
    assert!(matches!(state.look(&key(0), BLOCK), Ok(Look::Wait)));
}
