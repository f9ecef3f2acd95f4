//! `skilldb sql`.

use std::cell::RefCell;
use std::io::Read;

use clap::ValueEnum;
use serde_json::{Map, Value as Json, json};

use super::Context;
use super::output::{Output, SCHEMA_VERSION, Style, columns, one_line, plural};
use crate::error::{Error, ErrorKind, Result};
use crate::store::{LIST_VIEWS, NAMED, Named, RowSink, Store, Value};

/// Ask the database: one statement, read-only
///
/// The views (`v_skill` and the others that --list prints) are the public face: their columns stay.
/// Off a terminal: one row a line, tab-separated.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  skilldb sql --list
  skilldb sql duplicates
  skilldb sql 'SELECT category, count(*) FROM v_skill GROUP BY category'
  skilldb sql 'SELECT name, size FROM v_skill ORDER BY size DESC LIMIT 3' --format csv")]
pub(super) struct Args {
    /// A SELECT, the name of a named query, or `-` for standard input
    #[arg(value_name = "QUERY", allow_hyphen_values = true)]
    query: Option<String>,
    /// Print the named queries and the views with their columns
    #[arg(long)]
    list: bool,
    /// How to print rows
    #[arg(long, value_enum)]
    format: Option<Format>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Aligned columns with a heading
    Table,
    /// One object
    Json,
    /// Comma-separated with a heading, quoted as in RFC 4180, lines end in LF
    Csv,
    /// Tab-separated without a heading
    Tsv,
}

pub(super) fn run(context: &mut Context, args: &Args) -> Result<()> {
    if args.list {
        return list(context);
    }
    let sql = statement(args)?;
    context.mend()?;
    let store = Store::open_query(&context.config.home.value, context.now)?;
    let default = if context.out.width.is_some() {
        Format::Table
    } else {
        Format::Tsv
    };
    let format = if context.out.json {
        Format::Json
    } else {
        args.format.unwrap_or(default)
    };
    match format {
        Format::Table => {
            let rows = collect(&store, &sql)?;
            table(context, &rows)
        }
        Format::Json => json(&mut context.out, &store, &sql),
        Format::Csv => lines(
            &mut context.out,
            &store,
            &sql,
            Heading::Shown,
            ",",
            csv_cell,
        ),
        Format::Tsv => lines(
            &mut context.out,
            &store,
            &sql,
            Heading::None,
            "\t",
            one_line,
        ),
    }
}

/// All rows of a statement, for a table: its columns are as wide as their widest cell.
#[derive(Default)]
struct Rows {
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
}

fn collect(store: &Store, sql: &str) -> Result<Rows> {
    let mut columns = Vec::new();
    let mut rows = Vec::new();
    store.run_statement(
        sql,
        &mut RowSink {
            columns: &mut |names| {
                columns = names.to_vec();
                Ok(())
            },
            row: &mut |row| {
                rows.push(row.to_vec());
                Ok(())
            },
        },
    )?;
    Ok(Rows { columns, rows })
}

/// Whether the column names are the first line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Heading {
    Shown,
    None,
}

fn lines(
    out: &mut Output,
    store: &Store,
    sql: &str,
    heading: Heading,
    separator: &str,
    cell: fn(&str) -> String,
) -> Result<()> {
    let out = RefCell::new(out);
    let line = |cells: Vec<String>| out.borrow_mut().line(&cells.join(separator));
    store.run_statement(
        sql,
        &mut RowSink {
            columns: &mut |names| match heading {
                Heading::Shown => line(names.iter().map(|name| cell(name)).collect()),
                Heading::None => Ok(()),
            },
            row: &mut |row| line(row.iter().map(|value| cell(&text(value))).collect()),
        },
    )
}

/// One object, written as the rows come: a result may be larger than memory.
fn json(out: &mut Output, store: &Store, sql: &str) -> Result<()> {
    let names = RefCell::new(Vec::new());
    let out = RefCell::new(out);
    let mut is_first = true;
    let result = store.run_statement(
        sql,
        &mut RowSink {
            columns: &mut |columns| {
                *names.borrow_mut() = unique(columns);
                let columns = json!(*names.borrow());
                let head = format!("{{\n  \"schema_version\": {SCHEMA_VERSION},\n  \"columns\": {columns},\n  \"rows\": [");
                out.borrow_mut().bytes(head.as_bytes())
            },
            row: &mut |row| {
                let names = names.borrow();
                let cells = names.iter().cloned().zip(row.iter().map(json_value));
                let object = Json::Object(cells.collect::<Map<String, Json>>());
                let separator = if std::mem::take(&mut is_first) { "\n    " } else { ",\n    " };
                out.borrow_mut().bytes(format!("{separator}{object}").as_bytes())
            },
        },
    );
    let out = out.into_inner();
    let end = if is_first { "]" } else { "\n  ]" };
    match result {
        Ok(()) => out.bytes(format!("{end}\n}}\n").as_bytes()),
        // Nothing was printed yet, or nobody reads on: told like any other error.
        Err(error) if names.borrow().is_empty() || error.kind() == ErrorKind::Quiet => Err(error),
        Err(error) => {
            let told = json!({"code": error.code(), "message": error.to_string()});
            out.bytes(format!("{end},\n  \"error\": {told}\n}}\n").as_bytes())?;
            Err(Error::ProblemsFound)
        }
    }
}

/// Columns of one name get a number, so that none of them is lost in an object.
fn unique(columns: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(columns.len());
    for column in columns {
        let mut name = column.clone();
        let mut number = 0;
        while names.contains(&name) || (number > 0 && columns.contains(&name)) {
            number += 1;
            name = format!("{column}:{number}");
        }
        names.push(name);
    }
    names
}

fn csv_cell(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}

fn statement(args: &Args) -> Result<String> {
    let typed = match args.query.as_deref() {
        Some("-") => {
            let mut sql = String::new();
            std::io::stdin()
                .read_to_string(&mut sql)
                .map_err(Error::io("read", "stdin"))?;
            sql
        }
        Some(typed) => typed.to_owned(),
        None => {
            return Err(Error::Usage {
                message: "no statement".to_owned(),
                hint: Some(
                    "skilldb sql 'SELECT name FROM v_skill', or skilldb sql --list".to_owned(),
                ),
            });
        }
    };
    if let Some(named) = NAMED.iter().find(|named| named.name == typed) {
        return Ok(named.sql.to_owned());
    }
    let is_one_word = !typed.trim().is_empty()
        && typed
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if is_one_word {
        let near = NAMED.iter().map(|named| named.name).max_by(|a, b| {
            strsim::jaro_winkler(a, &typed).total_cmp(&strsim::jaro_winkler(b, &typed))
        });
        return Err(Error::Usage {
            message: format!("`{typed}` is no named query"),
            hint: near
                .map(|near| format!("did you mean `{near}`? `skilldb sql --list` prints all")),
        });
    }
    Ok(typed)
}

fn list(context: &mut Context) -> Result<()> {
    let views = match Store::open_query(&context.config.home.value, context.now) {
        Ok(store) => collect(&store, LIST_VIEWS)?,
        // The named queries can be read about before there is a library.
        Err(Error::NoLibrary { .. }) => Rows::default(),
        Err(error) => return Err(error),
    };
    if context.out.json {
        let named: Vec<Json> = NAMED
            .iter()
            .map(|named| json!({"name": named.name, "question": named.question, "sql": named.sql}))
            .collect();
        let views: Vec<Json> = views
            .rows
            .iter()
            .map(|row| json!({"name": row.first().map(text), "columns": row.get(1).map(text)}))
            .collect();
        return context
            .out
            .object(json!({"queries": named, "views": views}));
    }
    let queries: Vec<Vec<String>> = NAMED
        .iter()
        .map(|Named { name, question, .. }| vec![(*name).to_owned(), (*question).to_owned()])
        .collect();
    let heading = context.out.paint(Style::Bold, "Named queries");
    context.out.line(&heading)?;
    for line in columns(&queries) {
        context.out.line(&format!("  {line}"))?;
    }
    if !views.rows.is_empty() {
        let heading = context.out.paint(Style::Bold, "Views");
        context.out.line(&heading)?;
        let lines: Vec<Vec<String>> = views
            .rows
            .iter()
            .map(|row| row.iter().map(text).collect())
            .collect();
        for line in columns(&lines) {
            context.out.line(&format!("  {line}"))?;
        }
    }
    Ok(())
}

fn table(context: &mut Context, rows: &Rows) -> Result<()> {
    let is_number = |column: usize| {
        let mut values = rows
            .rows
            .iter()
            .filter_map(|row| row.get(column))
            .filter(|value| **value != Value::Null)
            .peekable();
        values.peek().is_some()
            && values.all(|value| matches!(value, Value::Integer(_) | Value::Real(_)))
    };
    let heading: Vec<String> = rows.columns.iter().map(|name| one_line(name)).collect();
    let mut lines = vec![heading];
    lines.extend(
        rows.rows
            .iter()
            .map(|row| row.iter().map(|value| one_line(&text(value))).collect()),
    );
    for column in (0..rows.columns.len()).filter(|column| is_number(*column)) {
        let width = lines
            .iter()
            .filter_map(|line| line.get(column))
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or(0);
        for cell in lines.iter_mut().filter_map(|line| line.get_mut(column)) {
            *cell = format!("{cell:>width$}");
        }
    }
    context.out.table(&lines)?;
    context.out.flush()?;
    context
        .out
        .say(&format!("{}.", plural(rows.rows.len() as u64, "row")));
    Ok(())
}

fn json_value(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Integer(number) => json!(number),
        Value::Real(number) => json!(number),
        Value::Text(words) => json!(words),
        Value::Blob(length) => json!(format!("({length} bytes)")),
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(words) => words.clone(),
        Value::Blob(length) => format!("({length} bytes)"),
    }
}
