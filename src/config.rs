//! Settings: flags, environment, project file, home file, defaults, in this order. The only reader of
//! the environment.

mod curator;
mod file;
mod guard;
mod hermes;
mod policy;
mod roots;

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::library::client::{self, Scope, Surroundings};
use crate::library::{Root, RootKind};
use crate::manage::Policy;
use crate::time::{Clock, Timestamp};
pub use curator::Curator;
use file::parse;
pub use guard::GuardConfig;

/// The configuration file in the library's home.
pub const HOME_FILE: &str = "config.yaml";
/// The configuration file of a project, looked for from the current folder upwards.
pub const PROJECT_FILE: &str = ".skilldb.yaml";
const DEFAULT_SUPPORT_MIB: u64 = 64;

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A flag of the command line.
    Flag,
    /// An environment variable.
    Environment(&'static str),
    /// A configuration file.
    File(PathBuf),
    /// Nobody set it.
    Default,
}

/// A value and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting<T> {
    /// The value in force.
    pub value: T,
    /// Where it came from.
    pub origin: Origin,
}

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ColorChoice {
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What flags say; `None` where nothing was typed.
#[derive(Debug, Clone, Default)]
pub struct Flags {
    /// `--home`.
    pub home: Option<PathBuf>,
    /// `--color`.
    pub color: Option<ColorChoice>,
}

/// All settings in force.
#[derive(Debug, Clone)]
pub struct Config {
    /// The library's home folder.
    pub home: Setting<PathBuf>,
    /// When to colour.
    pub color: Setting<ColorChoice>,
    /// Roots from files and environment, in order.
    pub roots: Vec<Setting<Root>>,
    /// Clients whose folders are roots, too.
    pub clients: Vec<Setting<String>>,
    /// Most bytes of supporting files the history holds as newest versions.
    pub support_budget: Setting<u64>,
    /// Who may change what, as far as it differs from the built-in table.
    pub policy: Policy,
    /// What `write_policy` says, as written: actor, action (`*` for every), rule.
    pub policy_lines: Vec<Setting<(String, String, String)>>,
    /// Files of the user that name skills: rewritten by a rename.
    pub automations: Vec<Setting<PathBuf>>,
    /// When the curator runs, and what ages how fast.
    pub curator: Curator,
    /// Who is trusted, what follows from a verdict, which rules are in force.
    pub guard: GuardConfig,
    /// Who acts, where no flag says it.
    pub actor: Option<Setting<String>>,
    /// The session a change belongs to, where no flag says it.
    pub session: Option<Setting<String>>,
    /// Where "now" comes from.
    pub clock: Clock,
    /// The current folder, links resolved.
    pub cwd: PathBuf,
    /// The user's home folder, links resolved.
    pub user_home: PathBuf,
    /// This machine's name.
    pub machine: String,
}

/// Whose file it is: a project's may come from a stranger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trust {
    Own,
    Project,
}

#[expect(
    clippy::disallowed_methods,
    reason = "the only reader of the environment"
)]
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

fn word(name: &'static str) -> Option<Setting<String>> {
    variable(name).map(|value| Setting {
        value: value.to_string_lossy().into_owned(),
        origin: Origin::Environment(name),
    })
}

impl Config {
    /// Reads all settings.
    ///
    /// # Errors
    /// [`Error::Config`] naming file and line; [`Error::Io`] for a file that is there but cannot be read.
    pub fn load(flags: &Flags) -> Result<Self> {
        let cwd = std::env::current_dir().map_err(Error::io("find the current folder", "."))?;
        let mut config = Self::start(flags, cwd)?;
        let home_file = config.home.value.join(HOME_FILE);
        let project_file = config
            .cwd
            .ancestors()
            .map(|folder| folder.join(PROJECT_FILE))
            .find(|path| path.is_file());
        config.add_file(&home_file, Trust::Own)?;
        if let Some(path) = project_file.filter(|path| *path != home_file) {
            config.add_file(&path, Trust::Project)?;
        }
        config
            .policy
            .protected
            .clone_from(&config.curator.protect.value);
        config.policy.ages_bundled = config.curator.bundled.value;
        config.add_environment();
        if let Some(color) = flags.color {
            config.color = Setting {
                value: color,
                origin: Origin::Flag,
            };
        }
        Ok(config)
    }

    /// What is known before any file is read.
    fn start(flags: &Flags, cwd: PathBuf) -> Result<Self> {
        let user_home = user_home(flags)?;
        let home = home_setting(flags, &user_home, &cwd);
        #[cfg(feature = "stop-points")]
        if let Some(point) =
            variable("SKILLDB_STOP_AT").and_then(|text| text.to_str()?.parse().ok())
        {
            crate::stop::arm(point);
        }
        Ok(Self {
            home,
            color: Setting {
                value: ColorChoice::Auto,
                origin: Origin::Default,
            },
            roots: Vec::new(),
            clients: Vec::new(),
            support_budget: Setting {
                value: DEFAULT_SUPPORT_MIB * 1024 * 1024,
                origin: Origin::Default,
            },
            policy: Policy::default(),
            policy_lines: Vec::new(),
            automations: Vec::new(),
            curator: Curator::default(),
            guard: GuardConfig::default(),
            actor: word("SKILLDB_ACTOR"),
            session: word("SKILLDB_SESSION"),
            clock: clock()?,
            cwd,
            user_home,
            machine: rustix::system::uname()
                .nodename()
                .to_string_lossy()
                .into_owned(),
        })
    }

    /// Reads the settings without any file: for whoever must go on although a file cannot be read.
    ///
    /// # Errors
    /// [`Error::Config`] where the environment alone is not enough.
    pub fn load_without_files(flags: &Flags) -> Result<Self> {
        // Not even the current folder has to be there.
        let cwd = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        Self::start(flags, cwd)
    }

    fn add_environment(&mut self) {
        if let Some(list) = variable("SKILLDB_ROOTS") {
            let origin = Origin::Environment("SKILLDB_ROOTS");
            let paths: Vec<PathBuf> = std::env::split_paths(&list)
                .filter(|path| !path.as_os_str().is_empty())
                .collect();
            for path in paths {
                let value = self.root(&path, RootKind::Local);
                self.roots.push(Setting {
                    value,
                    origin: origin.clone(),
                });
            }
        }
        if let Some(color) = color_from_environment() {
            self.color = color;
        }
    }

    fn add_file(&mut self, path: &Path, trust: Trust) -> Result<()> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(Error::io("read", path)(error)),
        };
        let file = parse(path, &text)?;
        let origin = Origin::File(path.to_path_buf());
        let folder = path.parent().unwrap_or(Path::new("."));
        for root in file.roots {
            let value = self.file_root(path, folder, root, trust)?;
            self.roots.push(Setting {
                value,
                origin: origin.clone(),
            });
        }
        self.clients
            .extend(file.clients.into_iter().map(|value| Setting {
                value,
                origin: origin.clone(),
            }));
        if let Some(color) = file.color {
            self.color = Setting {
                value: color,
                origin: origin.clone(),
            };
        }
        if trust == Trust::Own {
            self.add_policy(path, file.write_policy)?;
            if let Some(curator) = file.curator {
                self.add_curator((path, &text), curator)?;
            }
            if let Some(guard) = file.guard {
                self.add_guard((path, &text), guard)?;
            }
            for automation in file.automations {
                let value = folder.join(self.expand(&automation));
                self.automations.push(Setting {
                    value,
                    origin: origin.clone(),
                });
            }
        }
        // How much is kept is the library's affair, not that of the project somebody stands in.
        let history = file.history.filter(|_| trust == Trust::Own);
        if let Some(mib) = history.and_then(|history| history.supporting_mib) {
            self.support_budget = Setting {
                value: mib.saturating_mul(1024 * 1024),
                origin,
            };
        }
        Ok(())
    }

    fn expand(&self, path: &str) -> PathBuf {
        match path.strip_prefix("~/") {
            Some(rest) => self.user_home.join(rest),
            None if path == "~" => self.user_home.clone(),
            None => PathBuf::from(path),
        }
    }

    /// Makes a root of a path: absolute, links resolved, with the client whose folder it is if there
    /// is exactly one.
    #[must_use]
    pub fn root(&self, path: &Path, kind: RootKind) -> Root {
        let path = self.cwd.join(path);
        let path = path.canonicalize().unwrap_or(path);
        let client = self.client_of(&path);
        Root {
            path,
            kind,
            priority: 0,
            writable: kind.is_writable(),
            client,
        }
    }

    /// The home of a client, whether it is there or not.
    #[must_use]
    pub fn client_home(&self, client: &str) -> PathBuf {
        let (name, default) = match client {
            "codex" => ("CODEX_HOME", ".codex"),
            "hermes" => ("HERMES_HOME", ".hermes"),
            _ => ("CLAUDE_CONFIG_DIR", ".claude"),
        };
        match variable(name) {
            Some(path) => self.cwd.join(path),
            None => self.user_home.join(default),
        }
    }

    /// The editor people want.
    #[must_use]
    pub fn editor(&self) -> String {
        let named = variable("VISUAL").or_else(|| variable("EDITOR"));
        named.map_or_else(
            || "vi".to_owned(),
            |editor| editor.to_string_lossy().into_owned(),
        )
    }

    /// How a hook has to call this program: by its name where a shell finds just this one, else by its
    /// path; with the library's home unless that is the usual one.
    ///
    /// # Errors
    /// [`Error::Usage`] for a path that is not UTF-8: settings hold text only.
    pub fn program(&self) -> Result<String> {
        let quoted = |path: &Path| {
            let text = path.to_str().and_then(|text| shlex::try_quote(text).ok());
            text.map(std::borrow::Cow::into_owned)
                .ok_or_else(|| Error::Usage {
                    message: format!("the path {} cannot stand in settings", path.display()),
                    hint: Some("use a path of plain text".to_owned()),
                })
        };
        let own = std::env::current_exe().and_then(|path| path.canonicalize());
        let paths = variable("PATH").unwrap_or_default();
        let found = std::env::split_paths(&paths)
            .map(|folder| folder.join("skilldb"))
            .find(|path| path.is_file());
        let mut words = match (own, found.and_then(|path| path.canonicalize().ok())) {
            (Ok(own), Some(found)) if own == found => "skilldb".to_owned(),
            (Ok(own), _) => quoted(&own)?,
            (Err(_), _) => "skilldb".to_owned(),
        };
        if self.home.origin != Origin::Default {
            words.push_str(" --home ");
            words.push_str(&quoted(&self.home.value)?);
        }
        Ok(words)
    }

    /// What this library is called in files it writes for others: the machine and its home.
    #[must_use]
    pub fn library(&self) -> String {
        format!("{}:{}", self.machine, self.home.value.display())
    }

    /// The library's own folder of skills, as soon as it is there. No client looks in it by itself.
    #[must_use]
    pub fn own_root(&self) -> Option<Root> {
        let path = self.home.value.join("skills").canonicalize().ok()?;
        path.is_dir().then_some(Root {
            path,
            kind: RootKind::Local,
            priority: 0,
            writable: true,
            client: None,
        })
    }

    /// Folders of a project belong to whoever works there: only a user's own folders name a client.
    fn client_of(&self, path: &Path) -> Option<String> {
        let is_its_own = |client: &&client::Client| {
            let roots = self.with_surroundings(|around| client::roots(client, around));
            roots
                .iter()
                .filter(|root| root.scope != Scope::Project)
                .any(|root| {
                    root.path == path || root.path.canonicalize().is_ok_and(|real| real == path)
                })
        };
        let mut owners = client::all()
            .iter()
            .filter(|client| !client.id.starts_with("agentskills"))
            .filter(is_its_own);
        match (owners.next(), owners.next()) {
            (Some(only), None) => Some(only.id.clone()),
            _ => None,
        }
    }

    /// Calls `ask` with what the resolver of client folders needs to know about the caller.
    pub fn with_surroundings<T>(&self, ask: impl FnOnce(&Surroundings<'_>) -> T) -> T {
        self.with_surroundings_in(&self.cwd, ask)
    }

    /// As [`Config::with_surroundings`], as if `cwd` were the current folder.
    pub fn with_surroundings_in<T>(
        &self,
        cwd: &Path,
        ask: impl FnOnce(&Surroundings<'_>) -> T,
    ) -> T {
        let env = |name: &str| variable(name).map(PathBuf::from);
        let is_repo_root = |folder: &Path| folder.join(".git").exists();
        ask(&Surroundings {
            home: &self.user_home,
            cwd,
            env: &env,
            is_repo_root: &is_repo_root,
        })
    }
}

/// Returns what the environment says about colour, for errors that come before all settings are read.
#[must_use]
pub fn color_from_environment() -> Option<Setting<ColorChoice>> {
    let setting = |value, name| Setting {
        value,
        origin: Origin::Environment(name),
    };
    if variable("NO_COLOR").is_some() {
        return Some(setting(ColorChoice::Never, "NO_COLOR"));
    }
    let forced = variable("CLICOLOR_FORCE").is_some_and(|value| value != "0");
    forced.then(|| setting(ColorChoice::Always, "CLICOLOR_FORCE"))
}

/// The user's home. Needed for the library's own home unless that is named; else only clients' folders
/// are looked for in it.
fn user_home(flags: &Flags) -> Result<PathBuf> {
    let home = variable("HOME")
        .map(PathBuf::from)
        .filter(|home| home.is_absolute());
    let is_named = flags.home.is_some() || variable("SKILLDB_HOME").is_some();
    match home {
        Some(home) => Ok(home.canonicalize().unwrap_or(home)),
        None if is_named => Ok(PathBuf::from("/")),
        None => Err(Error::Config {
            path: None,
            line: None,
            message: "HOME is not set to an absolute path".to_owned(),
            hint: Some("set it, or name the library's home with --home or SKILLDB_HOME".to_owned()),
        }),
    }
}

fn home_setting(flags: &Flags, user_home: &Path, cwd: &Path) -> Setting<PathBuf> {
    let (path, origin) = match (&flags.home, variable("SKILLDB_HOME")) {
        (Some(path), _) => (path.clone(), Origin::Flag),
        (None, Some(path)) => (PathBuf::from(path), Origin::Environment("SKILLDB_HOME")),
        (None, None) => (user_home.join(".skilldb"), Origin::Default),
    };
    Setting {
        value: cwd.join(path),
        origin,
    }
}

fn clock() -> Result<Clock> {
    let Some(text) = variable("SKILLDB_NOW") else {
        return Ok(Clock::System);
    };
    let text = text.to_string_lossy();
    Timestamp::parse(&text)
        .map(Clock::Fixed)
        .ok_or_else(|| Error::Config {
            path: None,
            line: None,
            message: format!("SKILLDB_NOW is `{text}`, which is no time"),
            hint: Some("write it like 2026-01-02T03:04:05.678Z".to_owned()),
        })
}
