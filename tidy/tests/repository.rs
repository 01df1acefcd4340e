//! The rules of the house, kept by the whole repository.

use tidy::rules::{self, Rule};

/// Fails with every finding, one per line, so that one run is enough to fix them all.
fn keeps(rule: Rule) {
    let repository = tidy::Repository::read().expect("the repository can be read");
    let found: Vec<String> = rule(&repository).iter().map(ToString::to_string).collect();
    assert!(found.is_empty(), "{} to fix:\n{}", found.len(), found.join("\n"));
}

#[test]
fn lines_are_narrow() {
    keeps(rules::line_width);
}

#[test]
fn nothing_is_marked_unfinished() {
    keeps(rules::no_unfinished_marks);
}

#[test]
fn no_banned_identifier_is_used() {
    keeps(rules::banned_identifiers);
}

#[test]
fn words_are_those_of_the_field() {
    keeps(rules::words);
}

#[test]
fn no_path_of_one_machine_is_named() {
    keeps(rules::no_machine_paths);
}

#[test]
fn no_scheme_is_known_by_name_elsewhere() {
    keeps(rules::scheme_names);
}

#[test]
fn schemes_do_not_use_each_others_files() {
    keeps(rules::scheme_imports);
}

#[test]
fn scheme_files_have_one_order() {
    keeps(rules::scheme_order);
}

#[test]
fn steps_of_the_pipeline_are_those_of_the_architecture() {
    keeps(rules::steps);
}

#[test]
fn documents_point_at_what_is_there() {
    keeps(rules::dead_links);
}

#[test]
fn unsafe_code_stands_in_known_places() {
    keeps(rules::unsafe_code);
}

#[test]
fn crates_keep_their_layers() {
    keeps(rules::layers);
    keeps(rules::arrows);
}

#[test]
fn structure_that_was_won_is_kept() {
    keeps(rules::structure);
}

#[test]
fn nothing_bulky_is_tracked() {
    keeps(rules::no_bulk);
}

#[test]
fn demands_of_other_documents_are_shown_by_tests() {
    keeps(rules::conformance);
}

#[test]
fn sentences_name_their_subject() {
    keeps(rules::openings);
}

#[test]
fn programs_and_packets_are_not_people() {
    keeps(rules::people);
}

#[test]
fn numbers_have_a_noun() {
    keeps(rules::amounts);
}

#[test]
fn sentences_are_short() {
    keeps(rules::sentence_length);
}
