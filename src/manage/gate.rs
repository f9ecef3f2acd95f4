//! The gates a text and a name have to pass before anything is written. Pure; the gates that have to look at the
//! disk are in `place`.

use crate::error::{Error, Result};
use crate::library::is_reserved_name;
use crate::skill::{self, Code, ParseStatus, Severity};

/// Longest name of a skill and of a category, characters. The Agent Skills spec's limit for names.
const LONGEST_NAME: usize = 64;
/// Longest SKILL.md and supporting text, characters: beyond this a file is no text to show a model.
const LONGEST_TEXT: usize = 100_000;
/// Largest supporting file of other kinds, bytes.
const LARGEST_FILE: usize = 1_048_576;
/// Folders that a new supporting file may lie in; those of the Agent Skills spec, and templates.
const SUPPORT: [&str; 4] = ["assets", "references", "scripts", "templates"];

fn denied(code: &'static str, message: String, hint: Option<&str>) -> Error {
    Error::Denied {
        code,
        message,
        hint: hint.map(str::to_owned),
    }
}

/// Gate one: the name.
///
/// # Errors
/// [`Error::Denied`].
pub fn name(name: &str) -> Result<()> {
    if name.is_empty() {
        return Err(denied(
            "name-missing",
            "a skill needs a name".to_owned(),
            None,
        ));
    }
    plain_word("name", name)?;
    if is_reserved_name(name) || SUPPORT.contains(&name) {
        return Err(denied(
            "name-reserved",
            format!("`{name}` is a folder that is never looked into for skills"),
            Some("choose another name"),
        ));
    }
    Ok(())
}

/// Gate two: the category. Returns it without blanks around it; `None` for none.
///
/// # Errors
/// [`Error::Denied`].
pub fn category(category: Option<&str>) -> Result<Option<&str>> {
    let Some(category) = category
        .map(str::trim)
        .filter(|category| !category.is_empty())
    else {
        return Ok(None);
    };
    plain_word("category", category)?;
    if is_reserved_name(category) || SUPPORT.contains(&category) {
        return Err(denied(
            "name-reserved",
            format!("`{category}` is a folder that is never looked into for skills"),
            Some("choose another category"),
        ));
    }
    Ok(Some(category))
}

fn plain_word(what: &'static str, word: &str) -> Result<()> {
    let length = word.chars().count();
    if length > LONGEST_NAME {
        let code = if what == "name" {
            "name-too-long"
        } else {
            "category-too-long"
        };
        let message = format!("the {what} has {length} characters, more than {LONGEST_NAME}");
        return Err(denied(code, message, None));
    }
    let is_start = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_part = |c: char| is_start(c) || matches!(c, '.' | '_' | '-');
    if word.starts_with(is_start) && word.chars().all(is_part) {
        return Ok(());
    }
    let code = if what == "name" {
        "name-charset"
    } else {
        "category-charset"
    };
    Err(denied(
        code,
        format!("`{}` is no {what}", word.escape_debug()),
        Some(
            "use lower-case letters, digits, hyphens, dots and underscores, beginning with a letter or digit",
        ),
    ))
}

/// Gate three: the header of a skill file, and that something comes after it. What was wrong in `before` already may
/// stay; nothing may become wrong.
///
/// # Errors
/// [`Error::Denied`] with the line.
pub fn frontmatter(text: &str, folder: &str, before: Option<&str>) -> Result<()> {
    let known = before
        .map(|before| problems(before, folder))
        .unwrap_or_default();
    let mut left: Vec<&'static str> = known.iter().map(|problem| problem.code).collect();
    let new = problems(text, folder).into_iter().find(|problem| {
        let at = left.iter().position(|code| *code == problem.code);
        at.map(|at| left.swap_remove(at)).is_none()
    });
    match new {
        None => Ok(()),
        Some(problem) => Err(denied(
            problem.code,
            match problem.line {
                Some(line) => format!(
                    "the header would be wrong in line {line}: {}",
                    problem.message
                ),
                None => problem.message,
            },
            problem.hint.as_deref(),
        )),
    }
}

struct Problem {
    code: &'static str,
    line: Option<u32>,
    message: String,
    hint: Option<String>,
}

fn problems(text: &str, folder: &str) -> Vec<Problem> {
    let whole = |code, message: &str, hint: &str| Problem {
        code,
        line: None,
        message: message.to_owned(),
        hint: Some(hint.to_owned()),
    };
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return vec![whole(
            "text-empty",
            "the text is empty",
            "give the whole SKILL.md, with its header",
        )];
    }
    if text.starts_with("\u{feff}\u{feff}") {
        return vec![whole(
            "byte-order-mark",
            "the text starts with two byte order marks, which hide its header",
            "leave both out",
        )];
    }
    let read = skill::read(text.as_bytes(), folder);
    let mut found: Vec<Problem> = Vec::new();
    for finding in &read.findings {
        // The rules for names are gate one's, and which of two names counts is told below.
        let is_ours = matches!(
            finding.code,
            Code::NameCharset
                | Code::NameHyphenEdge
                | Code::NameDoubleHyphen
                | Code::NameTooLong
                | Code::NameMismatch
                | Code::NameNotPlain
        );
        let is_problem = finding.code.strict() == Severity::Error
            || matches!(
                finding.code,
                Code::YamlDuplicateKey | Code::YamlTag | Code::CommentCutValue | Code::BareCr
            );
        if is_problem && !is_ours {
            found.push(Problem {
                code: finding.code.as_str(),
                line: Some(finding.line),
                message: finding.message.clone(),
                hint: finding
                    .suggestion
                    .clone()
                    .map(|text| format!("write `{text}`")),
            });
        }
    }
    if found.is_empty() && read.status == ParseStatus::Unreadable {
        found.push(whole(
            "frontmatter-unreadable",
            "the header cannot be read",
            "`skilldb validate` says why",
        ));
    }
    if let Some(declared) = &read.declared_name {
        if let Err(error) = plain_word("name", declared) {
            found.push(Problem {
                code: error.code(),
                line: None,
                message: format!("the header's `name` would be wrong: {error}"),
                hint: error.hint(),
            });
        }
        if !folder.is_empty() && declared != folder {
            found.push(Problem {
                code: "name-mismatch",
                line: None,
                message: format!(
                    "the header's `name` is `{declared}` and the folder is `{folder}`"
                ),
                hint: Some("both have to be the same; `skilldb rename` changes both".to_owned()),
            });
        }
    }
    let body = text.as_bytes().get(read.body_offset..).unwrap_or_default();
    if found.is_empty() && body.trim_ascii().is_empty() {
        found.push(whole(
            "body-empty",
            "nothing comes after the header, so the skill tells an agent nothing",
            "write what an agent should do",
        ));
    }
    found
}

/// Gate four: the size of a text.
///
/// # Errors
/// [`Error::Denied`].
pub fn size(file: &str, text: &str, before: Option<&str>) -> Result<()> {
    let length = text.chars().count();
    // What was too long already may become shorter step by step.
    let known = before.map_or(0, |before| before.chars().count());
    if length <= LONGEST_TEXT || length < known {
        return Ok(());
    }
    Err(denied(
        "too-large",
        format!(
            "{file} would have {} characters, more than {}",
            grouped(length),
            grouped(LONGEST_TEXT)
        ),
        Some("split it: details belong into files under references/"),
    ))
}

/// Gate four for supporting files: text by characters, anything else by bytes.
///
/// # Errors
/// [`Error::Denied`].
pub fn file_size(file: &str, bytes: &[u8]) -> Result<()> {
    match std::str::from_utf8(bytes) {
        Ok(text) => size(file, text, None),
        Err(_) if bytes.len() <= LARGEST_FILE => Ok(()),
        Err(_) => Err(denied(
            "too-large",
            format!(
                "{file} would have {} bytes, more than {}",
                grouped(bytes.len()),
                grouped(LARGEST_FILE)
            ),
            None,
        )),
    }
}

fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Where a file of a skill may lie. Returns the path with its plain parts only.
///
/// # Errors
/// [`Error::Denied`].
pub fn file_path(typed: &str, is_there: impl Fn(&str) -> bool) -> Result<String> {
    let refuse = |code, message: String| {
        Err(denied(
            code,
            message,
            Some("name a file under references/, templates/, scripts/ or assets/"),
        ))
    };
    if typed.trim().is_empty() {
        return refuse("path-missing", "no file is named".to_owned());
    }
    if typed.contains('\0') || typed.chars().any(char::is_control) {
        return refuse(
            "path-charset",
            format!(
                "`{}` holds characters that no file name should",
                typed.escape_debug()
            ),
        );
    }
    if typed.starts_with('/') {
        return refuse("path-escapes", format!("`{typed}` is an absolute path"));
    }
    let parts: Vec<&str> = typed
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect();
    if parts.contains(&"..") {
        return refuse(
            "path-escapes",
            format!("`{typed}` leads out of where it begins"),
        );
    }
    let path = parts.join("/");
    let is_skill_file = |part: &&str| part.eq_ignore_ascii_case("SKILL.md");
    match parts.split_last() {
        Some((last, [])) if is_skill_file(last) => return Ok(path),
        Some((last, _)) if is_skill_file(last) => {
            return refuse(
                "nested-skill",
                format!("`{path}` would be a skill inside a skill"),
            );
        }
        _ => {}
    }
    if let Some(part) = parts.iter().find(|part| is_reserved_name(part)) {
        return refuse(
            "name-reserved",
            format!("`{part}` in `{path}` is never looked into"),
        );
    }
    if is_there(&path) {
        return Ok(path);
    }
    match parts.as_slice() {
        [folder] if SUPPORT.contains(folder) => refuse(
            "path-is-folder",
            format!("`{typed}` is a folder, not a file"),
        ),
        [folder, _, ..] if SUPPORT.contains(folder) => {
            if typed.ends_with('/') {
                return refuse(
                    "path-is-folder",
                    format!("`{typed}` is a folder, not a file"),
                );
            }
            Ok(path)
        }
        _ => refuse(
            "path-elsewhere",
            format!("a new file cannot lie at `{typed}`"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(result: Result<()>) -> &'static str {
        result.err().map_or("fine", |error| error.code())
    }

    const FINE: &str = "---\nname: a\ndescription: d\n---\nbody\n";

    #[test]
    fn what_was_wrong_before_may_stay_and_nothing_may_become_wrong() {
        let broken = "---\nname: a\ndescription: use when: x\n---\nbody\n";
        assert_eq!(code(frontmatter(broken, "a", None)), "yaml-repaired");
        assert_eq!(
            code(frontmatter(
                &broken.replace("body", "text"),
                "a",
                Some(broken)
            )),
            "fine"
        );
        assert_eq!(
            code(frontmatter(
                &broken.replace("name: a", "name: A b"),
                "a",
                Some(broken)
            )),
            "name-charset"
        );
        assert_eq!(code(frontmatter(FINE, "a", Some(broken))), "fine");
    }

    #[test]
    fn name_and_folder_are_the_same() {
        assert_eq!(code(frontmatter(FINE, "b", None)), "name-mismatch");
        assert_eq!(code(frontmatter(FINE, "a", None)), "fine");
    }

    #[test]
    fn files_that_are_there_may_be_written_wherever_they_lie() {
        assert_eq!(file_path("docs/a.md", |_| true).unwrap(), "docs/a.md");
        assert_eq!(
            file_path("docs/a.md", |_| false).unwrap_err().code(),
            "path-elsewhere"
        );
        assert_eq!(
            file_path("references/SKILL.md", |_| true)
                .unwrap_err()
                .code(),
            "nested-skill"
        );
    }

    #[test]
    fn a_text_that_was_too_long_may_become_shorter() {
        let long = "x".repeat(100_002);
        assert_eq!(code(size("SKILL.md", &long, None)), "too-large");
        assert_eq!(
            code(size("SKILL.md", long.get(1..).unwrap(), Some(&long))),
            "fine"
        );
    }
}
