//! Where lines stand in a text, as whole lines.

use memchr::memmem;

/// Returns the number of the first line of every place in which the lines of `find` stand, from 0. Places
/// that overlap count as one.
pub(super) fn windows(text: &str, find: &str) -> Vec<usize> {
    // A line end in front of and behind both makes whole lines a plain search.
    let haystack = format!("\n{text}\n");
    let needle = format!("\n{find}\n");
    let finder = memmem::Finder::new(&needle);
    let mut found = Vec::new();
    let (mut from, mut line, mut counted) = (0, 0, 0);
    while let Some(at) = haystack
        .as_bytes()
        .get(from..)
        .and_then(|rest| finder.find(rest))
    {
        let start = from + at;
        line += memchr::memchr_iter(
            b'\n',
            haystack.as_bytes().get(counted..start).unwrap_or_default(),
        )
        .count();
        counted = start;
        found.push(line);
        // The last line end of one place is the first of the next.
        from = start + needle.len() - 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_lines_are_found() {
        assert_eq!(windows("ab\na\nb\na\nb", "a\nb"), [1, 3]);
        assert_eq!(windows("xx\nx", "x"), [1]);
        assert_eq!(windows("x\nx\nx", "x\nx"), [0]);
        assert_eq!(windows("x\nx", "x"), [0, 1]);
    }
}
