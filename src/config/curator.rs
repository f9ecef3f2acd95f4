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
    pub(super) fn add_curator(&mut self, path: &Path, file: FileCurator) -> Result<()> {
        let origin = Origin::File(path.to_path_buf());
        let wrong = |message: String, hint: &str| Error::Config {
            path: Some(path.to_path_buf()),
            line: None,
            message: format!("curator: {message}"),
            hint: Some(hint.to_owned()),
        };
        if file.interval_hours == Some(0) {
            return Err(wrong(
                "interval_hours is 0".to_owned(),
                "at least 1; `enabled: false` switches the curator off",
            ));
        }
        if let Some(hours) = file
            .min_idle_hours
            .filter(|hours| !(0.0..=8_760.0).contains(hours))
        {
            return Err(wrong(
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
        let ageing = ageing(&own, Ageing::default(), "", &wrong)?;
        put(&mut curator.ageing, is_said.then_some(ageing), &origin);
        for (kind, periods, list) in [
            ("categories", file.categories, &mut curator.categories),
            ("tags", file.tags, &mut curator.tags),
        ] {
            for (name, periods) in periods {
                let place = format!("{kind}.{name}: ");
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

fn ageing(
    periods: &FilePeriods,
    otherwise: Ageing,
    place: &str,
    wrong: &dyn Fn(String, &str) -> Error,
) -> Result<Ageing> {
    let days = |period: &Option<Period>, key: &str, otherwise: Option<u32>| match period {
        None => Ok(otherwise),
        Some(Period::Days(days)) if (1..=LONGEST).contains(days) => Ok(Some(*days)),
        Some(Period::Word(word)) if word == "never" => Ok(None),
        Some(Period::Days(days)) => Err(wrong(
            format!("{place}{key} is {days}"),
            "a number of days from 1 to 365000, or `never`",
        )),
        Some(Period::Word(word)) => Err(wrong(
            format!("{place}{key} is `{word}`"),
            "a number of days from 1 to 365000, or `never`",
        )),
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
        return Err(wrong(
            format!(
                "{place}archive_after_days ({archive}) is smaller than stale_after_days ({stale})"
            ),
            "a skill is stale before it is archived: make it at least as large",
        ));
    }
    Ok(Ageing {
        stale_after,
        archive_after,
    })
}
