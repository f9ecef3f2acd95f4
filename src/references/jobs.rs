//! The list of jobs of Hermes (`cron/jobs.json`): which skills each job loads, read by its structure, and rewritten
//! in place. Everything that is not the name of a skill keeps its bytes.

use std::ops::Range;

use jsonc_parser::ast::{Array, Object, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use memchr::memchr_iter;

/// A skill that a job names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobSkill {
    /// The job's name, else its id.
    pub job: String,
    /// As it stands there: a leading slash and a category may be part of it.
    pub name: String,
    /// From 1.
    pub line: u32,
    /// Where it is, bytes, quotes included.
    pub range: Range<usize>,
}

/// The list after names were rewritten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewritten {
    /// The whole text.
    pub text: String,
    /// What became of each job that changed.
    pub jobs: Vec<JobChange>,
}

/// A job whose skills changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobChange {
    /// The job's name, else its id.
    pub job: String,
    /// The line its skills stand in, from 1.
    pub line: u32,
    /// The skills before.
    pub before: Vec<String>,
    /// The skills after: each once, in the order in which they stood.
    pub after: Vec<String>,
}

struct Job<'a> {
    name: String,
    object: Object<'a>,
    list: Option<Range<usize>>,
    /// Whether there is nothing but names in the list.
    is_plain: bool,
    skills: Vec<JobSkill>,
}

/// Finds the skills that jobs name.
///
/// # Errors
/// Where the text is no such list: line and reason.
pub fn find(text: &str) -> Result<Vec<JobSkill>, String> {
    Ok(read(text)?.into_iter().flat_map(|job| job.skills).collect())
}

/// Rewrites the skills of all jobs: `map` says what a name is from now on, `None` where it stays. A job that named
/// two skills which are one now names that once; the older key `skill` is the first of the list. `None` where nothing
/// changes.
///
/// # Errors
/// As [`find`].
pub fn rewrite(
    text: &str,
    map: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<Rewritten>, String> {
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    let mut jobs = Vec::new();
    for job in read(text)? {
        let before: Vec<String> = job.skills.iter().map(|skill| skill.name.clone()).collect();
        let mut after: Vec<String> = Vec::with_capacity(before.len());
        let mut is_mapped = false;
        for name in &before {
            let mapped = map(name);
            is_mapped |= mapped.is_some();
            let name = mapped.unwrap_or_else(|| name.clone());
            if !after.contains(&name) {
                after.push(name);
            }
        }
        let Some(first) = job.skills.first().filter(|_| is_mapped) else {
            continue;
        };
        if job.is_plain {
            edits.extend(job.edits(text, &after));
        } else {
            // What else is in the list stays where it is.
            edits.extend(job.skills.iter().filter_map(|skill| {
                let name = serde_json::to_string(&map(&skill.name)?).ok()?;
                Some((skill.range.clone(), name))
            }));
        }
        jobs.push(JobChange {
            job: job.name,
            line: first.line,
            before,
            after,
        });
    }
    if jobs.is_empty() {
        return Ok(None);
    }
    edits.sort_by_key(|(range, _)| range.start);
    let mut rewritten = String::with_capacity(text.len());
    let mut at = 0;
    for (range, new) in edits {
        rewritten.push_str(text.get(at..range.start).unwrap_or_default());
        rewritten.push_str(&new);
        at = range.end;
    }
    rewritten.push_str(text.get(at..).unwrap_or_default());
    Ok(Some(Rewritten {
        text: rewritten,
        jobs,
    }))
}

impl Job<'_> {
    /// What has to be written where, so that the job names these skills.
    fn edits(&self, text: &str, skills: &[String]) -> Vec<(Range<usize>, String)> {
        let quoted = |name: &str| serde_json::to_string(name).unwrap_or_default();
        let first = skills
            .first()
            .map_or("null".to_owned(), |name| quoted(name));
        let names: Vec<String> = skills.iter().map(|name| quoted(name)).collect();
        let list_like = |range: Option<&Range<usize>>| match range {
            Some(range) => array_like(
                text.get(range.clone()).unwrap_or_default(),
                text,
                range,
                &names,
            ),
            None => self.new_list(text, &names),
        };
        let single = self.property("skill");
        let gap = |key: &str| self.gap(text, key);
        let mut edits = Vec::new();
        match (&self.list, &single) {
            (Some(list), Some(single)) => {
                edits.push((list.clone(), list_like(Some(list))));
                edits.push((single.clone(), first));
            }
            (Some(list), None) => {
                let new = format!(
                    "{},{}\"skill\": {first}",
                    list_like(Some(list)),
                    gap("skills")
                );
                edits.push((list.clone(), new));
            }
            (None, Some(single)) => {
                // The list stands there as null, or not at all.
                match self.property("skills") {
                    Some(null) => {
                        edits.push((null, list_like(None)));
                        edits.push((single.clone(), first));
                    }
                    None => {
                        let new =
                            format!("{first},{}\"skills\": {}", gap("skill"), list_like(None));
                        edits.push((single.clone(), new));
                    }
                }
            }
            (None, None) => {}
        }
        edits
    }

    /// A list where none stood, laid out as the object is.
    fn new_list(&self, text: &str, names: &[String]) -> String {
        let outer = self.gap(text, "skill");
        let brace = indent_of(text, self.object.start());
        let Some(own) = outer.strip_prefix('\n') else {
            return format!("[{}]", names.join(", "));
        };
        let unit = own
            .strip_prefix(brace)
            .filter(|unit| !unit.is_empty())
            .unwrap_or("  ");
        let lines: Vec<String> = names
            .iter()
            .map(|name| format!("{outer}{unit}{name}"))
            .collect();
        format!("[{}{outer}]", lines.join(","))
    }

    /// What stands between two properties: a line end and blanks where a property has a line of its own.
    fn gap(&self, text: &str, key: &str) -> String {
        let start = self.object.get(key).map_or(0, Ranged::start);
        let line = text.get(..start).unwrap_or_default();
        match line.rsplit_once('\n') {
            Some((_, blanks)) if blanks.trim().is_empty() => format!("\n{blanks}"),
            _ => " ".to_owned(),
        }
    }

    /// Where the value of a property is.
    fn property(&self, key: &str) -> Option<Range<usize>> {
        let property = self.object.get(key)?;
        Some(property.value.start()..property.value.end())
    }
}

/// The blanks at the front of the line in which a place lies.
fn indent_of(text: &str, at: usize) -> &str {
    let line = text.get(..at).unwrap_or_default();
    let line = line.rsplit('\n').next().unwrap_or_default();
    line.get(..line.len() - line.trim_start().len())
        .unwrap_or_default()
}

/// An array that is broken into lines where the one before was.
fn array_like(before: &str, text: &str, range: &Range<usize>, names: &[String]) -> String {
    if !before.contains('\n') || names.is_empty() {
        return format!("[{}]", names.join(", "));
    }
    let inner = before
        .lines()
        .nth(1)
        .map(|line| line.len() - line.trim_start().len())
        .and_then(|blanks| before.lines().nth(1)?.get(..blanks))
        .unwrap_or("  ");
    let outer = indent_of(text, range.start);
    let lines: Vec<String> = names.iter().map(|name| format!("{inner}{name}")).collect();
    format!("[\n{}\n{outer}]", lines.join(",\n"))
}

fn read(text: &str) -> Result<Vec<Job<'_>>, String> {
    let collect = CollectOptions {
        comments: CommentCollectionStrategy::Off,
        tokens: false,
    };
    let strict = ParseOptions {
        allow_comments: false,
        allow_loose_object_property_names: false,
        allow_trailing_commas: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_extended_string_escapes: false,
        allow_non_finite_numbers: false,
    };
    let parsed = parse_to_ast(text, &collect, &strict)
        .map_err(|error| format!("line {}: {}", error.line_display(), error.kind()))?;
    let jobs = match parsed.value {
        Some(Value::Object(mut object)) => match object.take("jobs").map(|jobs| jobs.value) {
            Some(Value::Array(jobs)) => jobs,
            Some(_) => return Err("`jobs` is no list".to_owned()),
            None => return Ok(Vec::new()),
        },
        Some(Value::Array(jobs)) => jobs,
        Some(_) => return Err("it is neither an object nor a list".to_owned()),
        None => return Ok(Vec::new()),
    };
    Ok(jobs
        .elements
        .into_iter()
        .filter_map(|job| match job {
            Value::Object(object) => Some(read_job(text, object)),
            _ => None,
        })
        .collect())
}

fn read_job<'a>(text: &str, object: Object<'a>) -> Job<'a> {
    let word = |key: &str| match &object.get(key)?.value {
        Value::StringLit(word) => Some(word.value.to_string()),
        _ => None,
    };
    let name = word("name").or_else(|| word("id")).unwrap_or_default();
    let list: Option<&Array<'_>> = match object.get("skills").map(|property| &property.value) {
        Some(Value::Array(list)) => Some(list),
        _ => None,
    };
    let single = object.get("skill").map(|property| &property.value);
    let values: Vec<&Value<'_>> = match list {
        Some(list) if !list.elements.is_empty() => list.elements.iter().collect(),
        _ => single.into_iter().collect(),
    };
    let skills = values
        .into_iter()
        .filter_map(|value| match value {
            Value::StringLit(literal) => Some(JobSkill {
                job: name.clone(),
                name: literal.value.to_string(),
                line: line_of(text, literal.start()),
                range: literal.start()..literal.end(),
            }),
            _ => None,
        })
        .collect();
    Job {
        is_plain: list.is_none_or(|list| {
            let mut elements = list.elements.iter();
            elements.all(|element| matches!(element, Value::StringLit(_)))
        }),
        list: list.map(|list| list.start()..list.end()),
        name,
        skills,
        object,
    }
}

fn line_of(text: &str, at: usize) -> u32 {
    let before = text.as_bytes().get(..at).unwrap_or_default();
    u32::try_from(memchr_iter(b'\n', before).count() + 1).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(text: &str) -> Option<String> {
        let map = |name: &str| {
            let name = name.trim_start_matches('/');
            (name == "a" || name == "b").then(|| "u".to_owned())
        };
        rewrite(text, &map).unwrap().map(|new| new.text)
    }

    #[test]
    fn only_the_names_change() {
        let text = "{\n \"jobs\": [\n  {\"id\": \"1\",   \"skills\": [\n    \"x\",\n    \"a\",\n    \"b\"\n   ], \"skill\": \"x\", \"prompt\": \"says a\"}\n ]\n}";
        let wanted = "{\n \"jobs\": [\n  {\"id\": \"1\",   \"skills\": [\n    \"x\",\n    \"u\"\n  ], \"skill\": \"x\", \"prompt\": \"says a\"}\n ]\n}";
        assert_eq!(rewritten(text).unwrap(), wanted);
        assert_eq!(
            rewritten("{\"jobs\": [{\"skills\": [\"x\"], \"name\": \"a\"}]}"),
            None
        );
    }

    #[test]
    fn the_older_key_and_the_list_say_the_same() {
        for (before, after) in [
            (
                "[{\"skill\": \"/a\"}]",
                "[{\"skill\": \"u\", \"skills\": [\"u\"]}]",
            ),
            (
                "[{\"skill\": \"a\", \"skills\": null}]",
                "[{\"skill\": \"u\", \"skills\": [\"u\"]}]",
            ),
            (
                "[{\"skills\": [\"a\"]}]",
                "[{\"skills\": [\"u\"], \"skill\": \"u\"}]",
            ),
            ("[{\"skills\": [\"a\", 5]}]", "[{\"skills\": [\"u\", 5]}]"),
            (
                "[\"junk\", {\"skills\": [], \"skill\": \"a\"}]",
                "[\"junk\", {\"skills\": [\"u\"], \"skill\": \"u\"}]",
            ),
        ] {
            assert_eq!(rewritten(before).as_deref(), Some(after), "{before}");
        }
    }

    #[test]
    fn a_new_list_is_laid_out_as_the_rest() {
        let text = "[\n  {\n    \"skill\": \"/a\",\n    \"on\": true\n  }\n]";
        let wanted = "[\n  {\n    \"skill\": \"u\",\n    \"skills\": [\n      \"u\"\n    ],\n    \"on\": true\n  }\n]";
        assert_eq!(rewritten(text).unwrap(), wanted);
    }

    #[test]
    fn what_cannot_be_read_is_told_with_its_line() {
        let error = find("{\"jobs\": [\n{\"id\": 1").unwrap_err();
        assert!(error.starts_with("line 2"), "{error}");
        assert!(find("3").is_err() && find("{\"jobs\": 3}").is_err());
        assert_eq!(find("{}").unwrap(), []);
    }
}
