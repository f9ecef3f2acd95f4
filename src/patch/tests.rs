//! Stories of the whole chain, and what holds whatever the texts are.

use proptest::prelude::{prop_assert, prop_assert_eq, prop_assert_ne, proptest};
use proptest::strategy::Strategy as Generator;

use super::{Miss, Reach, Strategy, apply};

fn patched(text: &str, find: &str, replace: &str) -> (Strategy, String) {
    let patched = apply(text, find, replace, Reach::One).unwrap();
    (patched.strategy, patched.text)
}

#[test]
fn blank_lines_around_the_text_are_overlooked() {
    let (strategy, text) = patched(
        "a\nfoo(bar)\nb\n",
        "\n\nfoo(bar)\n\n\n",
        "\n\nfoo(baz)\n\n\n",
    );
    assert_eq!(
        (strategy, text.as_str()),
        (Strategy::TrimmedBoundary, "a\nfoo(baz)\nb\n")
    );
}

#[test]
fn indentation_and_blanks_within_may_differ_at_once() {
    let (strategy, text) = patched(
        "if x:\n      a   =  1\n      b = 2\n",
        "a = 1\nb = 2",
        "a = 1\nb = 3\nc = 4",
    );
    assert_eq!(strategy, Strategy::IndentationFlexible);
    assert_eq!(text, "if x:\n      a   =  1\n      b = 3\n      c = 4\n");
}

#[test]
fn two_blocks_that_are_about_as_like_are_both_shown() {
    let text = "BEGIN\nlorem ipsum dolor\nEND\n\nBEGIN\nlorem ipsum color\nEND\n";
    let miss = apply(text, "BEGIN\nlorem ipsum molor\nEND", "X", Reach::One).unwrap_err();
    let Miss::CloseCall { places, .. } = miss else {
        panic!("{miss}")
    };
    assert_eq!(
        places.iter().map(|place| place.line).collect::<Vec<_>>(),
        [1, 5]
    );
}

#[test]
fn a_line_with_its_end_goes_without_leaving_an_empty_one() {
    let (_, text) = patched("a\n  gone \nb\n", "gone\n", "");
    assert_eq!(text, "a\n  gone \nb\n".replace("  gone \n", ""));
}

#[test]
fn a_place_that_says_so_already_is_told() {
    let miss = apply("  “a”\n", "\"a\"\n", "“a”\n", Reach::One).unwrap_err();
    assert_eq!(
        miss,
        Miss::NothingChanged {
            strategy: Strategy::UnicodeNormalized,
            line: 1
        }
    );
}

#[test]
fn the_nearest_lines_are_told_with_their_numbers() {
    let miss = apply(
        "one\n3. Make the tables.\nthree\n",
        "4. Make tables!",
        "x",
        Reach::One,
    );
    let places = miss.unwrap_err().places().to_vec();
    assert_eq!(
        (places[0].line, places[0].lines[1].as_str()),
        (2, "3. Make the tables.")
    );
}

/// Short lines of few characters, so that texts meet often.
fn a_text(lines: usize) -> impl Generator<Value = String> {
    proptest::collection::vec("[ab \t“-]{0,5}", 0..lines).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #[test]
    fn nothing_outside_the_place_is_touched(text in a_text(12), find in a_text(4), new in a_text(4)) {
        let Ok(patched) = apply(&text, &find, &new, Reach::One) else { return Ok(()) };
        prop_assert_eq!(patched.places.len(), 1);
        let lines: Vec<&str> = text.split('\n').collect();
        let (first, last) = patched.places[0];
        let before = lines[..first as usize - 1].join("\n");
        let after = lines[(last as usize).min(lines.len())..].join("\n");
        prop_assert!(patched.text.starts_with(&before));
        prop_assert!(patched.text.ends_with(&after), "{:?}", patched);
        prop_assert_ne!(patched.text, text);
    }

    #[test]
    fn line_ends_stay_those_of_the_file(text in a_text(8), find in a_text(3), new in a_text(3)) {
        let windows = format!("{}\r\n", text.replace('\n', "\r\n"));
        if let Ok(patched) = apply(&windows, &find, &new, Reach::All) {
            prop_assert_eq!(patched.text.replace("\r\n", "").matches('\n').count(), 0);
        }
    }

    #[test]
    fn what_is_there_once_is_replaced_exactly(before in "[a-c\n]{0,30}", after in "[a-c\n]{0,30}", new in "[x-z\n]{0,9}") {
        let text = format!("{before}#{after}");
        let (strategy, told) = patched(&text, "#", &format!("{new}!"));
        prop_assert_eq!(strategy, Strategy::Exact);
        prop_assert_eq!(told, format!("{before}{new}!{after}"));
    }
}
