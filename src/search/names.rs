//! Skills by their names: exact, by how they begin, and with a slip of the finger.

/// How a name was found, the surest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Named {
    /// The query is the name, or spells it.
    Exact,
    /// The name begins with the query.
    Prefix,
    /// The name is the query but for a letter or two.
    Near,
}

/// Most names that are offered by how they begin or by likeness.
const MOST: usize = 20;

/// The names a query means, the surest and shortest first: places among `names`, which are [`normal`].
#[must_use]
pub fn find(query: &str, names: &[String]) -> Vec<(usize, Named)> {
    let whole = normal(query.trim().trim_start_matches(['/', '$', '@']));
    let spelled = spelled(query);
    let is_one_word = !query.trim().contains(char::is_whitespace);
    let mut found: Vec<(Named, usize, usize)> = Vec::new();
    for (place, name) in names.iter().enumerate() {
        let how = if *name == whole || spelled.contains(name) {
            Named::Exact
        } else if is_one_word && whole.len() >= 2 && name.starts_with(&whole) {
            Named::Prefix
        } else if is_near(&whole, name) {
            Named::Near
        } else {
            continue;
        };
        found.push((how, name.len(), place));
    }
    found.sort_unstable();
    // Where a name is exact nobody meant one that is nearly so.
    if found.first().is_some_and(|(how, ..)| *how != Named::Near) {
        found.retain(|(how, ..)| *how != Named::Near);
    }
    found.truncate(MOST);
    found
        .into_iter()
        .map(|(how, _, place)| (place, how))
        .collect()
}

/// Names as people type them: `PDF Tables`, `pdf_tables`.
#[must_use]
pub fn normal(name: &str) -> String {
    name.chars()
        .map(|letter| match letter {
            ' ' | '_' => '-',
            other => other.to_ascii_lowercase(),
        })
        .collect()
}

/// Words of a query that can only be names: with hyphens, or called by a client's sign.
fn spelled(query: &str) -> Vec<String> {
    query
        .split(|letter: char| letter.is_whitespace() || "\"'`,;()[]".contains(letter))
        .filter_map(|word| {
            let called = word.starts_with(['/', '$']) && !word[1..].contains('/');
            let name = word
                .trim_start_matches(['/', '$'])
                .trim_end_matches(['.', ':', '?', '!']);
            let is_name = called || name.contains(['-', '_']);
            (is_name && name.len() >= 3).then(|| normal(name))
        })
        .collect()
}

fn is_near(query: &str, name: &str) -> bool {
    let most = match query.len() {
        0..=3 => return false,
        4..=7 => 1,
        _ => 2,
    };
    // The first letter is seldom the slip, and comparing all names costs milliseconds.
    query.len().abs_diff(name.len()) <= most
        && query.bytes().next() == name.bytes().next()
        && strsim::osa_distance(query, name) <= most
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(query: &str) -> Vec<(&'static str, Named)> {
        const NAMES: [&str; 5] = [
            "pdf-tables",
            "pdf",
            "release-notes",
            "notes",
            "Meeting Notes",
        ];
        let names: Vec<String> = NAMES.map(normal).to_vec();
        find(query, &names)
            .into_iter()
            .map(|(place, how)| (NAMES[place], how))
            .collect()
    }

    #[test]
    fn names_are_found_as_people_type_them() {
        assert_eq!(found("/pdf-tables"), [("pdf-tables", Named::Exact)]);
        assert_eq!(found("PDF tables"), [("pdf-tables", Named::Exact)]);
        assert_eq!(found("meeting_notes"), [("Meeting Notes", Named::Exact)]);
        assert_eq!(
            found("run release-notes for v2."),
            [("release-notes", Named::Exact)]
        );
        assert_eq!(
            found("pdf"),
            [("pdf", Named::Exact), ("pdf-tables", Named::Prefix)]
        );
        assert_eq!(found("rel"), [("release-notes", Named::Prefix)]);
        assert_eq!(found("relaese-notes"), [("release-notes", Named::Near)]);
        assert_eq!(found("write the notes"), []);
        assert_eq!(found(""), []);
    }
}
