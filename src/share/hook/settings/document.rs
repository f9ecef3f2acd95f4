//! Owns reading a settings text: its hooks, their positions, and what makes it unfit for edits.

use jsonc_parser::ast::{Object, ObjectProp, StringLit, Value};
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};

use super::{FoundHook, SettingsError};

/// A hook and where it is.
pub(super) struct Hit {
    pub(super) found: FoundHook,
    /// The command's string literal.
    pub(super) command: Range,
    /// What goes when this hook goes.
    pub(super) place: Place,
}

/// A member, the property or element to be removed, and the object or array it is in.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) container: Range,
    pub(super) member: Range,
}

impl Place {
    fn new(container: Range, member: Range) -> Self {
        Self { container, member }
    }
}

/// A parsed text; all edits are cuts and insertions by its positions.
pub(super) struct Document<'a> {
    pub(super) text: &'a str,
    pub(super) root: Object<'a>,
    /// In text order, comments included.
    pub(super) tokens: Vec<TokenAndRange<'a>>,
}

impl<'a> Document<'a> {
    pub(super) fn parse(text: &'a str) -> Result<Self, SettingsError> {
        let collect = CollectOptions {
            comments: CommentCollectionStrategy::AsTokens,
            tokens: true,
        };
        let parsed =
            parse_to_ast(text, &collect, &accepted_syntax()).map_err(|error| SettingsError {
                line: u32::try_from(error.line_display()).ok(),
                column: u32::try_from(error.column_display()).ok(),
                message: format!("this is not valid JSON: {}", error.kind()),
            })?;
        let root = match parsed.value {
            Some(Value::Object(root)) => root,
            Some(other) => {
                let message = "the outermost value must be an object".into();
                return Err(error_at(text, other.start(), message));
            }
            None if text.trim().is_empty() => Object {
                range: Range::new(0, 0),
                properties: Vec::new(),
            },
            None => {
                let message = "there are comments but no object".into();
                return Err(SettingsError {
                    line: None,
                    column: None,
                    message,
                });
            }
        };
        let document = Self {
            text,
            root,
            tokens: parsed.tokens.unwrap_or_default(),
        };
        document.refuse_raw_control_characters()?;
        Ok(document)
    }

    /// The parser lets them pass, but the clients' parsers do not.
    fn refuse_raw_control_characters(&self) -> Result<(), SettingsError> {
        let strings = self
            .tokens
            .iter()
            .filter(|token| matches!(token.token, Token::String(_)));
        for token in strings {
            if let Some(offset) = slice(self.text, token.range).find(|c: char| c < ' ') {
                let message =
                    "this is not valid JSON: Unescaped control character in a string".into();
                return Err(error_at(self.text, token.range.start + offset, message));
            }
        }
        Ok(())
    }

    /// Refuses a repeated key because readers see only one of the two, and not all the same one.
    fn unique<'d>(
        &self,
        object: &'d Object<'a>,
        key: &str,
    ) -> Result<Option<&'d ObjectProp<'a>>, SettingsError> {
        let mut props = object
            .properties
            .iter()
            .filter(|prop| prop.name.as_str() == key);
        let first = props.next();
        match props.next() {
            Some(second) => Err(error_at(
                self.text,
                second.start(),
                format!("the key `{key}` is there twice"),
            )),
            None => Ok(first),
        }
    }

    /// The root's `hooks` property, whose value is an object.
    pub(super) fn hooks(&self) -> Result<Option<&ObjectProp<'a>>, SettingsError> {
        match self.unique(&self.root, "hooks")? {
            Some(prop) if prop.value.as_object().is_none() => Err(error_at(
                self.text,
                prop.value.start(),
                "`hooks` must be an object".into(),
            )),
            prop => Ok(prop),
        }
    }

    /// All hooks of the file; groups of another shape hold none.
    pub(super) fn hits(&self) -> Result<Vec<Hit>, SettingsError> {
        let mut hits = Vec::new();
        let Some(prop) = self.hooks()? else {
            return Ok(hits);
        };
        let Some(hooks) = prop.value.as_object() else {
            return Ok(hits);
        };
        let whole = Place::new(self.root.range, prop.range);
        for event in &hooks.properties {
            let name = event.name.as_str();
            self.unique(hooks, name)?;
            let Some(groups) = event.value.as_array() else {
                let message = format!("`hooks.{name}` must be an array");
                return Err(error_at(self.text, event.value.start(), message));
            };
            let alone = hooks.properties.len() == 1;
            let place = self.outermost(whole, Place::new(hooks.range, event.range), alone);
            let alone = groups.elements.len() == 1;
            for group in groups.elements.iter().filter_map(Value::as_object) {
                let place = self.outermost(place, Place::new(groups.range, group.range), alone);
                self.hits_of_group(name, group, place, &mut hits)?;
            }
        }
        Ok(hits)
    }

    fn hits_of_group(
        &self,
        event: &str,
        group: &Object<'a>,
        place: Place,
        hits: &mut Vec<Hit>,
    ) -> Result<(), SettingsError> {
        let hooks = self.unique(group, "hooks")?;
        let Some(list) = hooks.and_then(|prop| prop.value.as_array()) else {
            return Ok(());
        };
        let alone = list.elements.len() == 1;
        let matcher = text_of(group, "matcher");
        for hook in list.elements.iter().filter_map(Value::as_object) {
            let Some(command) = text_of(hook, "command") else {
                continue;
            };
            hits.push(Hit {
                found: FoundHook {
                    event: event.to_owned(),
                    matcher: matcher.map(|matcher| matcher.value.to_string()),
                    command: command.value.to_string(),
                },
                command: command.range,
                place: if alone {
                    place
                } else {
                    Place::new(list.range, hook.range)
                },
            });
        }
        Ok(())
    }

    /// `above` if the removal at `place` leaves nothing in it, else `place`.
    ///
    /// Comments and the mark of a container that was empty before the install keep `above` alive.
    fn outermost(&self, above: Place, place: Place, alone: bool) -> Place {
        let commented = self.tokens.iter().any(|token| {
            let outside = !contains(place.member, token.range);
            is_comment(token) && contains(above.member, token.range) && outside
        });
        if alone && !commented && !self.is_marked(&place) {
            above
        } else {
            place
        }
    }
}

/// Looking around in the text.
impl Document<'_> {
    pub(super) fn before(&self, position: usize) -> Option<&TokenAndRange<'_>> {
        self.tokens
            .iter()
            .rev()
            .find(|token| token.range.end <= position)
    }

    pub(super) fn after(&self, position: usize) -> Option<&TokenAndRange<'_>> {
        self.tokens
            .iter()
            .find(|token| token.range.start >= position)
    }

    pub(super) fn value_before(&self, position: usize) -> Option<&TokenAndRange<'_>> {
        self.tokens
            .iter()
            .rev()
            .find(|token| token.range.end <= position && !is_comment(token))
    }

    pub(super) fn comma_before(&self, position: usize) -> Option<Range> {
        self.value_before(position)
            .filter(|token| token.token == Token::Comma)
            .map(Ranged::range)
    }

    pub(super) fn comma_after(&self, position: usize) -> Option<Range> {
        let next = self
            .tokens
            .iter()
            .find(|token| token.range.start >= position && !is_comment(token));
        next.filter(|token| token.token == Token::Comma)
            .map(Ranged::range)
    }

    pub(super) fn has_newline(&self, range: Range) -> bool {
        slice(self.text, range).contains(['\n', '\r'])
    }
}

fn accepted_syntax() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_loose_object_property_names: false,
        allow_trailing_commas: true,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// The string at a key; of a repeated key the last, which is the one most readers use.
fn text_of<'d, 'a>(object: &'d Object<'a>, key: &str) -> Option<&'d StringLit<'a>> {
    let mut props = object.properties.iter().rev();
    props
        .find(|prop| prop.name.as_str() == key)?
        .value
        .as_string_lit()
}

fn contains(outer: Range, inner: Range) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

pub(super) fn is_comment(token: &TokenAndRange<'_>) -> bool {
    matches!(token.token, Token::CommentLine(_) | Token::CommentBlock(_))
}

pub(super) fn slice(text: &str, range: Range) -> &str {
    text.get(range.start..range.end).unwrap_or_default()
}

fn error_at(text: &str, position: usize, message: String) -> SettingsError {
    let above = slice(text, Range::new(0, position));
    let line = above.matches('\n').count() + 1;
    let column = above
        .rsplit('\n')
        .next()
        .unwrap_or_default()
        .chars()
        .count()
        + 1;
    SettingsError {
        line: u32::try_from(line).ok(),
        column: u32::try_from(column).ok(),
        message,
    }
}
