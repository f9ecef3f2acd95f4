//! `skilldb show`.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::Context;
use super::list::skill_object;
use super::named::find;
use super::output::{Style, plural, size};
use crate::error::{Error, Result};
use crate::library::files::{MAX_SKILL_BYTES, leads_to_markdown, open_regular, read_into};
use crate::library::{Contained, contained};
use crate::skill::{self, SkillText};
use crate::store::{SkillAddress, SkillDetail, Store};

/// Show one skill, or one file of it
///
/// Prints the file as it is on disk now. NAME is a declared name, a folder name, the end of a path
/// (`category/folder`), a path, or `#id`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb show release-notes
  skilldb show release-notes/references/style.md
  skilldb show '#12' --json")]
pub(super) struct Args {
    /// The skill, and after a slash the file in it
    #[arg(value_name = "NAME[/FILE]")]
    name: String,
}

pub(super) fn run(context: &mut Context, args: &Args) -> Result<()> {
    let store = context.read()?;
    let typed = args.name.trim_end_matches('/');
    let (skill, file) = find(context, &store, if typed.is_empty() { "/" } else { typed })?;
    match file.filter(|file| *file != skill.file_name) {
        Some(file) => print_file(context, &skill, &file),
        None if context.out.json => print_object(context, &store, &skill),
        None => print_skill(context, &store, &skill),
    }
}

fn print_file(context: &mut Context, skill: &SkillAddress, file: &str) -> Result<()> {
    let folder = Path::new(&skill.path);
    let path = match contained(folder, file) {
        Contained::Inside(path) if path.is_file() => path,
        Contained::Outside => {
            return Err(Error::Escapes {
                name: skill.name.clone(),
                file: file.to_owned(),
            });
        }
        Contained::Inside(_) | Contained::Missing => {
            let store = context.read()?;
            let files = store
                .skill_detail(skill.id)?
                .files
                .into_iter()
                .map(|(path, ..)| path)
                .collect();
            return Err(Error::FileNotFound {
                name: skill.name.clone(),
                file: file.to_owned(),
                files,
            });
        }
    };
    let mut file = open_regular(&path).map_err(Error::io("read", &path))?;
    if !context.out.json {
        return context.out.copy(&mut file);
    }
    let mut bytes = Vec::new();
    read_into(&path, MAX_SKILL_BYTES, &mut bytes).map_err(Error::io("read", &path))?;
    {
        let text = String::from_utf8_lossy(&bytes);
        context.out.object(json!({"file": {"skill_id": skill.id, "skill": skill.name, "path": path.to_string_lossy(), "size": bytes.len(), "text": text}}))
    }
}

fn read_skill_file(skill: &SkillAddress) -> Result<Vec<u8>> {
    let path = Path::new(&skill.path).join(&skill.file_name);
    if !leads_to_markdown(&path) {
        return Err(Error::Escapes {
            name: skill.name.clone(),
            file: skill.file_name.clone(),
        });
    }
    let mut bytes = Vec::new();
    read_into(&path, MAX_SKILL_BYTES, &mut bytes).map_err(Error::io("read", path))?;
    Ok(bytes)
}

fn print_skill(context: &mut Context, store: &Store, skill: &SkillAddress) -> Result<()> {
    let bytes = read_skill_file(skill)?;
    if context.out.width.is_some() {
        let detail = store.skill_detail(skill.id)?;
        let heading = format!(
            "#{}  {}  {}  {}",
            skill.id,
            skill.path,
            size(bytes.len() as u64),
            plural(detail.files.len() as u64, "supporting file")
        );
        context
            .out
            .say(&context.out.paint_err(Style::Dim, &heading));
    }
    context.out.bytes(&bytes)?;
    if context.out.width.is_some() && !bytes.ends_with(b"\n") {
        context.out.bytes(b"\n")?;
    }
    // Whoever reads the text, an agent above all, should know.
    let verdict = store.verdict_of(skill.id)?;
    if let Some(verdict) = verdict.filter(|verdict| verdict != "safe") {
        context.out.flush()?;
        context.out.warn(&format!(
            "`{}` is flagged as {verdict}: skilldb scan {}",
            skill.name, skill.name
        ));
    }
    Ok(())
}

fn print_object(context: &mut Context, store: &Store, skill: &SkillAddress) -> Result<()> {
    let bytes = read_skill_file(skill)?;
    let folder = Path::new(&skill.path)
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let text = skill::read(&bytes, &folder);
    let detail = store.skill_detail(skill.id)?;
    let row = store.skill_row(skill.id)?;
    let mut object = row.as_ref().map(skill_object).unwrap_or_default();
    if object.is_empty() {
        object.insert("id".to_owned(), json!(skill.id));
        object.insert("name".to_owned(), json!(skill.name));
        object.insert("path".to_owned(), json!(skill.path));
        object.insert("parse_status".to_owned(), json!("unreadable"));
    }
    // The file is the truth of the moment: where the mirror is behind, say what the file says.
    object.insert("description".to_owned(), json!(text.description));
    object.insert("declared_name".to_owned(), json!(text.declared_name));
    add_text(&mut object, &text);
    add_detail(&mut object, &detail);
    let findings: Vec<Value> = text
        .findings
        .iter()
        .map(|finding| {
            json!({
                "code": finding.code.as_str(),
                "severity": finding.code.lenient().map(skill::Severity::as_str),
                "strict_severity": finding.code.strict().as_str(),
                "line": finding.line,
                "column": finding.column,
                "message": finding.message,
                "suggestion": finding.suggestion,
            })
        })
        .collect();
    object.insert("diagnostics".to_owned(), Value::Array(findings));
    let body = bytes.get(text.body_offset..).unwrap_or_default();
    object.insert("body".to_owned(), json!(String::from_utf8_lossy(body)));
    context.out.object(json!({"skill": object}))
}

/// Header fields that have a place of their own in the object.
const OWN_PLACE: [&str; 9] = [
    "name",
    "description",
    "license",
    "compatibility",
    "metadata",
    "allowed-tools",
    "argument-hint",
    "disable-model-invocation",
    "user-invocable",
];

fn add_text(object: &mut Map<String, Value>, text: &SkillText) {
    let extra: Map<String, Value> = text
        .header
        .iter()
        .filter(|(key, _)| !OWN_PLACE.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let metadata = text.header.get("metadata").cloned().unwrap_or(Value::Null);
    let fields = &text.fields;
    let parts = [
        ("license", json!(fields.license)),
        ("compatibility", json!(fields.compatibility)),
        ("argument_hint", json!(fields.argument_hint)),
        ("when_to_use", json!(fields.when_to_use)),
        ("allowed_tools", json!(fields.allowed_tools)),
        (
            "disable_model_invocation",
            json!(fields.disable_model_invocation),
        ),
        ("user_invocable", json!(fields.user_invocable)),
        ("related", json!(fields.related)),
        ("metadata", metadata),
        ("extra", Value::Object(extra)),
        ("frontmatter", Value::Object(text.header.clone())),
        ("body_offset", json!(text.body_offset)),
    ];
    object.extend(
        parts
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value)),
    );
}

fn add_detail(object: &mut Map<String, Value>, detail: &SkillDetail) {
    let conditions: Vec<Value> = detail
        .conditions
        .iter()
        .map(|(kind, value)| json!({"kind": kind, "value": value}))
        .collect();
    let requirements: Vec<Value> = detail
        .requirements
        .iter()
        .map(|(kind, name, description, required)| json!({"kind": kind, "name": name, "description": description, "required": required}))
        .collect();
    let config: Vec<Value> = detail
        .config
        .iter()
        .map(|(key, description, default, prompt)| json!({"key": key, "description": description, "default": default, "prompt": prompt}))
        .collect();
    let files: Vec<Value> = detail
        .files
        .iter()
        .map(|(path, kind, size, mode, target)| json!({"path": path, "kind": kind, "size": size, "mode": format!("{mode:04o}"), "link_target": target}))
        .collect();
    let parts = [
        ("text_hash", json!(detail.text_hash)),
        ("tags", json!(detail.tags)),
        ("conditions", Value::Array(conditions)),
        ("requirements", Value::Array(requirements)),
        ("config", Value::Array(config)),
        ("files", Value::Array(files)),
    ];
    object.extend(
        parts
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value)),
    );
}
