//! The commands that change skills: what they all take, and how they tell what they did.

pub(super) mod create;
pub(super) mod crontab;
pub(super) mod edit;
pub(super) mod files;
pub(super) mod marks;
pub(super) mod merge;
pub(super) mod patch;
pub(super) mod places;
pub(super) mod rename;
mod tell;

use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::named::find;
use super::output::plural;
use super::{Context, progress};
use crate::error::{Error, Result};
use crate::library::RootKind;
use crate::manage::{self, GateSettings, Outcome, Preview, Request, Settings, Who, Writer};
use crate::store::{Actor, RootRow, SkillAddress, Store};

pub(super) use tell::{outcome_object, plan_object, tell_outcome, tell_recovered};

/// What every command that writes takes.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Change options")]
pub(super) struct Writing {
    /// Who acts: user, agent, background-review, curator [default: $SKILLDB_ACTOR, else agent where
    /// $SKILLDB_SESSION is set, else user]
    #[arg(long, value_name = "WHO")]
    pub(super) actor: Option<String>,
    /// The session this belongs to [default: $SKILLDB_SESSION]
    #[arg(long, value_name = "ID")]
    pub(super) session: Option<String>,
    /// Why, for the history
    #[arg(long, value_name = "TEXT")]
    pub(super) reason: Option<String>,
    /// Say what would be done and do nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Answer yes to what would be asked
    #[arg(short, long)]
    pub(super) yes: bool,
}

impl Writing {
    /// Who acts.
    ///
    /// # Errors
    /// [`Error::Usage`] for an unknown word.
    pub(super) fn who(&self, context: &Context) -> Result<Who> {
        let setting = |setting: &Option<crate::config::Setting<String>>| {
            setting.as_ref().map(|setting| setting.value.clone())
        };
        let around = setting(&context.config.actor);
        let session = setting(&context.config.session);
        // What runs inside a session is an agent at work, unless somebody says otherwise for all of it.
        let around = match (around, &session) {
            (Some(word), _) => parse_actor(&word)?,
            (None, Some(_)) => Actor::Agent,
            (None, None) => Actor::User,
        };
        let actor = match &self.actor {
            None => around,
            Some(word) => parse_actor(word)?,
        };
        if rank(actor) > rank(around) {
            return Err(Error::Denied {
                code: "actor-too-high",
                message: format!(
                    "this runs as {}: it cannot act as {}",
                    around.as_str(),
                    actor.as_str()
                ),
                hint: Some(
                    "SKILLDB_ACTOR and SKILLDB_SESSION say who acts; a person's shell has neither"
                        .to_owned(),
                ),
            });
        }
        Ok(Who {
            actor,
            session: self.session.clone().or(session),
            reason: self.reason.clone(),
        })
    }
}

fn parse_actor(word: &str) -> Result<Actor> {
    Actor::ALL
        .into_iter()
        .find(|actor| actor.as_str() == word.replace('-', "_"))
        .ok_or_else(|| Error::Usage {
            message: format!("`{word}` is no actor"),
            hint: Some(format!(
                "one of {}",
                Actor::ALL.map(Actor::as_str).join(", ")
            )),
        })
}

/// How much an actor may: a caller can give rights up and never take any.
fn rank(actor: Actor) -> u8 {
    match actor {
        Actor::User => 2,
        Actor::Agent => 1,
        Actor::BackgroundReview | Actor::Curator => 0,
    }
}

/// What the configuration says about changes.
pub(super) fn settings(context: &Context) -> Settings {
    let config = &context.config;
    let row = |root: &crate::library::Root| RootRow {
        id: 0,
        path: root.path.clone(),
        kind: root.kind.to_string(),
        priority: root.priority,
        writable: root.writable,
        client: root.client.clone(),
    };
    let mut roots: Vec<RootRow> = config.roots.iter().map(|root| row(&root.value)).collect();
    roots.push(RootRow {
        id: 0,
        path: own_root(context),
        kind: RootKind::Local.to_string(),
        priority: 0,
        writable: true,
        client: None,
    });
    Settings {
        home: config.home.value.clone(),
        roots,
        own_root: own_root(context),
        policy: config.policy.clone(),
        support_budget: config.support_budget.value,
        automations: config
            .automations
            .iter()
            .map(|file| file.value.clone())
            .collect(),
        gate: gate(context),
        is_rehearsal: false,
        now: context.now,
    }
}

/// What the configuration says about the guard.
fn gate(context: &Context) -> GateSettings {
    let guard = &context.config.guard;
    let trust = guard.trust.iter().map(|setting| setting.value.clone());
    GateSettings {
        rules: guard.rules.clone(),
        policy: guard.policy.clone(),
        trust: trust.collect(),
        consent: on_terminal,
    }
}

/// Asks whoever sits at the terminal; off one the answer is no.
fn on_terminal(question: &str) -> bool {
    ask(&Writing::default(), question).is_ok()
}

/// The answer of a person who said `--yes`.
fn always(_: &str) -> bool {
    true
}

/// The library's own folder of skills, whether it is there or not.
pub(super) fn own_root(context: &Context) -> PathBuf {
    let home = &context.config.home.value;
    let home = home.canonicalize().unwrap_or_else(|_| home.clone());
    home.join("skills")
}

/// Opens the door, and tells what was found cut short.
pub(super) fn open(context: &Context) -> Result<Writer> {
    let writer = Writer::open(settings(context), progress::for_stderr().as_ref())?;
    tell_recovered(context, writer.recovered());
    Ok(writer)
}

/// As [`open`], for a person who may have answered already what would be asked.
pub(super) fn open_for(context: &Context, writing: &Writing) -> Result<Writer> {
    let mut settings = settings(context);
    if writing.yes && writing.who(context)?.actor == Actor::User {
        settings.gate.consent = always;
    }
    let writer = Writer::open(settings, progress::for_stderr().as_ref())?;
    tell_recovered(context, writer.recovered());
    Ok(writer)
}

/// The library as a command that changes it has it: opened once, with the lock, or only to be read for a dry run.
pub(super) enum Session {
    Dry(Box<Store>),
    Wet(Box<Writer>),
}

impl Session {
    pub(super) fn open(context: &Context, writing: &Writing) -> Result<Self> {
        if writing.dry_run {
            Ok(Self::Dry(Box::new(context.read_only()?)))
        } else {
            let writer = open_for(context, writing)?;
            Ok(Self::Wet(Box::new(writer)))
        }
    }

    pub(super) fn store(&self) -> &Store {
        match self {
            Self::Dry(store) => store,
            Self::Wet(writer) => writer.store(),
        }
    }

    fn act(&mut self, context: &Context, writing: &Writing, request: &Request) -> Result<Told> {
        let who = writing.who(context)?;
        match self {
            Self::Dry(store) => {
                let preview = manage::preview(store, &settings(context), &who, request)?;
                Ok(Told::Would(Box::new(preview)))
            }
            Self::Wet(writer) => writer.run(&who, request).map(Told::Did),
        }
    }
}

/// The skill that is meant, and its file where one is named.
pub(super) fn target(
    context: &Context,
    store: &Store,
    typed: &str,
) -> Result<(SkillAddress, Option<String>)> {
    find(context, store, typed.trim_end_matches('/'))
}

/// The skill that is meant, where no file makes sense.
pub(super) fn skill(context: &Context, store: &Store, typed: &str) -> Result<SkillAddress> {
    match target(context, store, typed)? {
        (skill, None) => Ok(skill),
        (_, Some(_)) => Err(Error::SkillNotFound {
            name: typed.to_owned(),
            similar: Vec::new(),
        }),
    }
}

/// Does one request, or says what it would do. What is asked for is made of what the library knows.
pub(super) fn perform(
    context: &mut Context,
    writing: &Writing,
    request: impl FnOnce(&Context, &Store) -> Result<Request>,
) -> Result<()> {
    let mut session = Session::open(context, writing)?;
    let request = request(context, session.store())?;
    let told = session.act(context, writing, &request)?;
    told.tell(context, &request)
}

/// What is to be told about one request.
enum Told {
    Would(Box<Preview>),
    Did(Outcome),
}

impl Told {
    fn tell(&self, context: &mut Context, request: &Request) -> Result<()> {
        match self {
            Self::Would(preview) => tell::preview(context, request.action(), preview),
            Self::Did(outcome) => tell_outcome(context, outcome),
        }
    }

    fn object(&self, request: &Request) -> Value {
        match self {
            Self::Would(preview) => plan_object(request.action(), preview),
            Self::Did(outcome) => outcome_object(outcome),
        }
    }
}

/// Does the same to several skills, one change each. One that is refused does not stop the others. As data always a
/// list, however many there are.
pub(super) fn perform_all(
    context: &mut Context,
    writing: &Writing,
    names: &[String],
    request: impl Fn(&SkillAddress) -> Request,
) -> Result<()> {
    let mut results = Results::default();
    let mut session = Session::open(context, writing)?;
    for name in names {
        let done = skill(context, session.store(), name).and_then(|skill| {
            let request = request(&skill);
            let told = session.act(context, writing, &request)?;
            if context.out.json {
                return Ok(Some(told.object(&request)));
            }
            told.tell(context, &request).map(|()| None)
        });
        results.add(context, names.len(), done)?;
    }
    results.end(context, "skill")
}

/// What became of several requests.
#[derive(Default)]
pub(super) struct Results {
    objects: Vec<Value>,
    count: u64,
    failed: u64,
}

impl Results {
    /// Takes one result: its object where data is printed. The only one that was asked for fails as a whole.
    pub(super) fn add(
        &mut self,
        context: &mut Context,
        asked: usize,
        done: Result<Option<Value>>,
    ) -> Result<()> {
        self.count += 1;
        match done {
            Ok(object) => self.objects.extend(object),
            Err(error) if asked == 1 => return Err(error),
            Err(error) => {
                self.failed += 1;
                if context.out.json {
                    self.objects.push(super::output::error_object(&error));
                } else {
                    context.out.flush()?;
                    super::output::fail(&error, false, context.config.color.value);
                }
            }
        }
        Ok(())
    }

    /// Prints the data, and says how many were refused.
    pub(super) fn end(self, context: &mut Context, noun: &str) -> Result<()> {
        if context.out.json {
            let object = json!({"results": self.objects, "failed": self.failed});
            context.out.object(object)?;
        }
        if self.failed == 0 {
            return Ok(());
        }
        context.out.flush()?;
        context.out.say(&format!(
            "{} of {} refused.",
            self.failed,
            plural(self.count, noun)
        ));
        Err(Error::ProblemsFound)
    }
}

/// Reads what is to be written: a file, or standard input.
pub(super) fn content(from: Option<&Path>) -> Result<Vec<u8>> {
    match from {
        Some(path) if path != Path::new("-") => {
            std::fs::read(path).map_err(Error::io("read", path))
        }
        from => {
            if from.is_none() && std::io::stdin().is_terminal() {
                return Err(Error::Usage {
                    message: "nothing to write was given".to_owned(),
                    hint: Some("name a file with --from, or pipe the text in".to_owned()),
                });
            }
            let mut bytes = Vec::new();
            std::io::stdin()
                .lock()
                .read_to_end(&mut bytes)
                .map_err(Error::io("read", "standard input"))?;
            Ok(bytes)
        }
    }
}

/// As [`content`], as text.
pub(super) fn text(from: Option<&Path>) -> Result<String> {
    String::from_utf8(content(from)?).map_err(|_| Error::Usage {
        message: "what was given is not UTF-8 text".to_owned(),
        hint: None,
    })
}

/// Asks a person. Off a terminal the answer is no.
pub(super) fn ask(writing: &Writing, question: &str) -> Result<()> {
    if writing.yes {
        return Ok(());
    }
    let refused = |hint: &str| Error::Denied {
        code: "not-confirmed",
        message: "not confirmed: nothing was done".to_owned(),
        hint: Some(hint.to_owned()),
    };
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Err(refused("say --yes"));
    }
    super::output::tell(&format!("{question} [y/N]"));
    let mut answer = String::new();
    std::io::stdin()
        .read_line(&mut answer)
        .map_err(Error::io("read", "the answer"))?;
    if matches!(answer.trim(), "y" | "Y" | "yes") {
        Ok(())
    } else {
        Err(refused("answer y, or say --yes"))
    }
}

impl Context {
    /// Refuses what only people may, where the surroundings say that somebody else is at work.
    ///
    /// # Errors
    /// [`Error::Denied`].
    pub(super) fn check_person(&self, what: &str) -> Result<()> {
        let nothing = Writing::default();
        manage::only_people(nothing.who(self)?.actor, what)
    }

    /// Opens the database for reading, after settling what a kill cut short.
    ///
    /// # Errors
    /// As [`Store::open_read`].
    pub(super) fn read(&self) -> Result<Store> {
        let store = self.read_only()?;
        // Asked of the connection that is there: opening one costs more than most commands do.
        if !store.has_journal()? {
            return Ok(store);
        }
        drop(store);
        self.mend()?;
        self.read_only()
    }

    /// Opens the database for reading and leaves everything as it is: for whoever must not write.
    ///
    /// # Errors
    /// As [`Store::open_read`].
    pub(super) fn read_only(&self) -> Result<Store> {
        Store::open_read(&self.config.home.value, self.now)
    }

    /// Settles what a kill cut short, and tells of it.
    ///
    /// # Errors
    /// What the database says. Where the library cannot be written everything stays as it is.
    pub(super) fn mend(&self) -> Result<()> {
        match manage::mend(&self.config.home.value, self.now) {
            Ok(recovered) => {
                tell_recovered(self, &recovered);
                Ok(())
            }
            Err(Error::Io { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The same for whoever holds the library's lock already.
    pub(super) fn mender(&self) -> impl Fn(&mut Store) -> Result<()> + '_ {
        |store| {
            let recovered = manage::recover(store, self.now)?;
            tell_recovered(self, &recovered);
            Ok(())
        }
    }
}
