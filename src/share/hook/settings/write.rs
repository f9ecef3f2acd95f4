//! Owns the writing of new JSON values.

/// A value to be written.
pub(super) enum Json<'a> {
    Text(&'a str),
    Number(u32),
    Block {
        open: char,
        close: char,
        items: Vec<(Option<&'a str>, Json<'a>)>,
    },
}

impl<'a> Json<'a> {
    pub(super) fn list(items: Vec<Json<'a>>) -> Self {
        Self::Block {
            open: '[',
            close: ']',
            items: items.into_iter().map(|item| (None, item)).collect(),
        }
    }

    pub(super) fn map(items: Vec<(&'a str, Json<'a>)>) -> Self {
        Self::Block {
            open: '{',
            close: '}',
            items: items
                .into_iter()
                .map(|(key, item)| (Some(key), item))
                .collect(),
        }
    }
}

/// How inserted values are written.
pub(super) struct Layout<'a> {
    pub(super) newline: &'a str,
    pub(super) unit: &'a str,
    pub(super) base: String,
    /// One line per member, else all on one line.
    pub(super) pretty: bool,
    /// With a blank behind colons and commas.
    pub(super) spaced: bool,
}

impl Layout<'_> {
    pub(super) fn space(&self) -> &'static str {
        if self.spaced { " " } else { "" }
    }

    pub(super) fn line(&self, depth: usize) -> String {
        format!("{}{}{}", self.newline, self.base, self.unit.repeat(depth))
    }

    pub(super) fn render(&self, key: Option<&str>, value: &Json<'_>) -> String {
        let mut out = String::new();
        self.write(key, value, 0, &mut out);
        out
    }

    fn write(&self, key: Option<&str>, value: &Json<'_>, depth: usize, out: &mut String) {
        if let Some(key) = key {
            out.push_str(&quoted(key));
            out.push(':');
            out.push_str(self.space());
        }
        let (open, close, items) = match value {
            Json::Text(text) => return out.push_str(&quoted(text)),
            Json::Number(number) => return out.push_str(&number.to_string()),
            Json::Block { open, close, items } => (*open, *close, items),
        };
        out.push(open);
        for (index, (key, item)) in items.iter().enumerate() {
            out.push_str(if index > 0 { "," } else { "" });
            if self.pretty {
                out.push_str(&self.line(depth + 1));
            } else if index > 0 {
                out.push_str(self.space());
            }
            self.write(*key, item, depth + 1, out);
        }
        if self.pretty {
            out.push_str(&self.line(depth));
        }
        out.push(close);
    }
}

/// `text` as a JSON string literal.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => out.extend(format!("\\u{:04x}", u32::from(c)).chars()),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
