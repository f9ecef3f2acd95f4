//! `curator` in a configuration file.

use std::path::Path;

use super::file::{FileCurator, FilePeriods, Period};
use super::{Config, Origin, Setting};
use crate::error::{Error, Result};
use crate::skill::lifecycle::Ageing;

/// Names that are protected where the configuration says nothing: a skill that Hermes needs for its own work.
const PROTECTED: [&str; 1] = ["plan"];
/// Longest period, days: a thousand years.
const LONGEST: u32 = 365_000;

/// When the curator runs, and what ages how fast.
#[derive(Debug, Clone, PartialEq)]
pub struct Curator {
    /// Whether it runs at all.
    pub enabled: Setting<bool>,
    /// Hours between two runs.
    pub interval_hours: Setting<u32>,
    /// Hours without foreground activity before a run.
    pub min_idle_hours: Setting<f64>,
    /// The periods where nothing else is said.
    pub ageing: Setting<Ageing>,
    /// Whether what came with a client ages, too.
    pub bundled: Setting<bool>,
    /// Names of skills that are never put away.
    pub protect: Setting<Vec<String>>,
    /// Periods of categories, by folder; those below it included.
    pub categories: Vec<Setting<(String, Ageing)>>,
    /// Periods of tags.
    pub tags: Vec<Setting<(String, Ageing)>>,
}

fn default<T>(value: T) -> Setting<T> {
    Setting {
        value,
        origin: Origin::Default,
    }
}

impl Default for Curator {
    fn default() -> Self {
        Self {
            enabled: default(true),
            interval_hours: default(168),
            min_idle_hours: default(2.0),
            ageing: default(Ageing::default()),
            bundled: default(false),
            protect: default(PROTECTED.map(str::to_owned).to_vec()),
            categories: Vec::new(),
            tags: Vec::new(),
        }
    }
}

impl Config {
    /// Takes over how skills age: the library's affair, not that of the project somebody stands in.
    ///
    /// # Errors
    /// [`Error::Config`] for a period that makes no sense.
    pub(super) fn add_curator(
        &mut self,
        (path, text): (&Path, &str),
        file: FileCurator,
    ) -> Result<()> {
        let origin = Origin::File(path.to_path_buf());
        let wrong = |place: &[&str], message: String, hint: &str| Error::Config {
            path: Some(path.to_path_buf()),
            line: line_of(text, place),
            message: format!("curator: {message}"),
            hint: Some(hint.to_owned()),
        };
        if file.interval_hours == Some(0) {
            return Err(wrong(
                &["interval_hours"],
                "interval_hours is 0".to_owned(),
                "at least 1; `enabled: false` switches the curator off",
            ));
        }
        if let Some(hours) = file
            .min_idle_hours
            .filter(|hours| !(0.0..=8_760.0).contains(hours))
        {
            return Err(wrong(
                &["min_idle_hours"],
                format!("min_idle_hours is {hours}"),
                "a number of hours from 0 to 8760",
            ));
        }
        fn put<T>(setting: &mut Setting<T>, value: Option<T>, origin: &Origin) {
            if let Some(value) = value {
                *setting = Setting {
                    value,
                    origin: origin.clone(),
                };
            }
        }
        let curator = &mut self.curator;
        put(&mut curator.enabled, file.enabled, &origin);
        put(&mut curator.interval_hours, file.interval_hours, &origin);
        put(&mut curator.min_idle_hours, file.min_idle_hours, &origin);
        put(&mut curator.bundled, file.bundled, &origin);
        put(&mut curator.protect, file.protect, &origin);
        let own = FilePeriods {
            stale_after_days: file.stale_after_days,
            archive_after_days: file.archive_after_days,
        };
        let is_said = own.stale_after_days.is_some() || own.archive_after_days.is_some();
        let ageing = ageing(&own, Ageing::default(), &[], &wrong)?;
        put(&mut curator.ageing, is_said.then_some(ageing), &origin);
        for (kind, periods, list) in [
            ("categories", file.categories, &mut curator.categories),
            ("tags", file.tags, &mut curator.tags),
        ] {
            for (name, periods) in periods {
                let place = [kind, name.as_str()];
                let ageing = self::ageing(&periods, curator.ageing.value, &place, &wrong)?;
                list.push(Setting {
                    value: (name.trim_matches('/').to_owned(), ageing),
                    origin: origin.clone(),
                });
            }
        }
        Ok(())
    }
}

/// Makes an error: the keys that lead to its place, what is wrong, what would be right.
type Wrong<'a> = &'a dyn Fn(&[&str], String, &str) -> Error;

fn ageing(
    periods: &FilePeriods,
    otherwise: Ageing,
    place: &[&str],
    wrong: Wrong<'_>,
) -> Result<Ageing> {
    let prefix = if place.is_empty() {
        String::new()
    } else {
        format!("{}: ", place.join("."))
    };
    let days = |period: &Option<Period>, key: &str, otherwise: Option<u32>| {
        let found = match period {
            None => return Ok(otherwise),
            Some(Period::Word(word)) if word == "never" => return Ok(None),
            Some(Period::Word(word)) => format!("`{word}`"),
            Some(Period::Days(days)) => match u32::try_from(*days) {
                Ok(days) if (1..=LONGEST).contains(&days) => return Ok(Some(days)),
                _ => days.to_string(),
            },
        };
        Err(wrong(
            &[place, &[key]].concat(),
            format!("{prefix}{key} is {found}"),
            "a whole number of days from 1 to 365000, or `never`",
        ))
    };
    let stale_after = days(
        &periods.stale_after_days,
        "stale_after_days",
        otherwise.stale_after,
    )?;
    let archive_after = days(
        &periods.archive_after_days,
        "archive_after_days",
        otherwise.archive_after,
    )?;
    if let (Some(archive), Some(stale)) = (archive_after, stale_after)
        && archive < stale
    {
        let said = if periods.archive_after_days.is_some() {
            "archive_after_days"
        } else {
            "stale_after_days"
        };
        return Err(wrong(
            &[place, &[said]].concat(),
            format!(
                "{prefix}archive_after_days ({archive}) is smaller than stale_after_days ({stale})"
            ),
            "a skill is stale before it is archived: make it at least as large",
        ));
    }
    Ok(Ageing {
        stale_after,
        archive_after,
    })
}

/// The line in which the last of some keys stands, each after the one before; `None` where they cannot be found.
fn line_of(text: &str, keys: &[&str]) -> Option<u32> {
    let mut lines = text.lines().zip(1..).peekable();
    let mut found = None;
    for key in std::iter::once(&"curator").chain(keys) {
        found = loop {
            let (line, number) = *lines.peek()?;
            let names = line.split_once('#').map_or(line, |(before, _)| before);
            if names.contains(&format!("{key}:")) || names.contains(&format!("{key}\":")) {
                break Some(number);
            }
            lines.next();
        };
    }
    found
}
