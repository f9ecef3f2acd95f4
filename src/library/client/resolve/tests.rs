//! The resolver against a made-up machine: home `/home/ada`, a repository in `/src/app`.

use super::super::find;
use super::*;

struct Machine {
    home: &'static str,
    cwd: &'static str,
    repository: Option<&'static str>,
    env: Vec<(&'static str, &'static str)>,
}

impl Machine {
    fn in_folder(cwd: &'static str) -> Self {
        Self {
            home: "/home/ada",
            cwd,
            repository: Some("/src/app"),
            env: Vec::new(),
        }
    }

    fn with_env(mut self, name: &'static str, value: &'static str) -> Self {
        self.env.push((name, value));
        self
    }

    fn ask<T>(&self, question: impl FnOnce(&Surroundings) -> T) -> T {
        let env = |name: &str| {
            let value = self.env.iter().find(|(known, _)| *known == name);
            value.map(|(_, value)| PathBuf::from(value))
        };
        let is_repo_root = |folder: &Path| {
            self.repository
                .is_some_and(|root| folder == Path::new(root))
        };
        question(&Surroundings {
            home: Path::new(self.home),
            cwd: Path::new(self.cwd),
            env: &env,
            is_repo_root: &is_repo_root,
        })
    }

    fn roots(&self, client: &str) -> Vec<ClientRoot> {
        self.ask(|around| roots(find(client).unwrap(), around))
    }

    fn paths(&self, client: &str) -> Vec<String> {
        let roots = self.roots(client);
        roots
            .iter()
            .map(|root| root.path.to_str().unwrap().to_owned())
            .collect()
    }

    /// The folders `client` loads of these, each named after its last part.
    fn loads(&self, client: &str, folders: &[&'static str]) -> Vec<&'static str> {
        let copies: Vec<Copy> = folders
            .iter()
            .map(|folder| Copy {
                name: folder.rsplit('/').next().unwrap(),
                folder: Path::new(*folder),
                is_linked: false,
            })
            .collect();
        let loaded = self.ask(|around| loaded(find(client).unwrap(), around, &copies));
        loaded.into_iter().map(|index| folders[index]).collect()
    }
}

/// The five files of case 12, `same-name-many-roots`.
const CASE_12: [&str; 5] = [
    "/input/home/.agents/skills/deploy",
    "/input/home/.claude/skills/deploy",
    "/input/home/.hermes/skills/media/cleanup",
    "/input/home/.hermes/skills/ops/cleanup",
    "/input/proj/.claude/skills/deploy",
];

fn case_12(client: &str) -> Vec<&'static str> {
    let machine = Machine {
        home: "/input/home",
        cwd: "/input/proj",
        repository: None,
        env: Vec::new(),
    };
    machine.loads(client, &CASE_12)
}

#[test]
fn claude_code_prefers_the_user_copy() {
    assert_eq!(
        case_12("claude-code"),
        ["/input/home/.claude/skills/deploy"]
    );
}

#[test]
fn the_client_guide_and_opencode_prefer_the_project_copy() {
    assert_eq!(
        case_12("agentskills-guide"),
        ["/input/proj/.claude/skills/deploy"]
    );
    assert_eq!(case_12("opencode"), ["/input/proj/.claude/skills/deploy"]);
    assert_eq!(case_12("goose"), ["/input/proj/.claude/skills/deploy"]);
}

#[test]
fn codex_does_not_see_the_claude_folders() {
    assert_eq!(case_12("codex"), ["/input/home/.agents/skills/deploy"]);
}

#[test]
fn hermes_lists_one_of_two_categories_with_the_same_name() {
    assert_eq!(
        case_12("hermes"),
        ["/input/home/.hermes/skills/media/cleanup"]
    );
}

#[test]
fn codex_keeps_both_copies_and_puts_the_project_first() {
    let home = "/home/ada/.agents/skills/deploy";
    let project = "/src/app/.agents/skills/deploy";
    assert_eq!(
        Machine::in_folder("/src/app").loads("codex", &[home, project]),
        [project, home]
    );
}

#[test]
fn two_names_never_hide_each_other() {
    let both = [
        "/home/ada/.claude/skills/deploy",
        "/src/app/.claude/skills/test",
    ];
    assert_eq!(
        Machine::in_folder("/src/app").loads("claude-code", &both),
        both
    );
}

#[test]
fn claude_code_looks_one_level_deep() {
    let folders = [
        "/home/ada/.claude/skills/ops/cleanup",
        "/home/ada/.claude/skills/deploy",
    ];
    assert_eq!(
        Machine::in_folder("/src/app").loads("claude-code", &folders),
        [folders[1]]
    );
}

#[test]
fn codex_looks_six_levels_deep() {
    let folders = [
        "/home/ada/.agents/skills/1/2/3/4/5/six",
        "/home/ada/.agents/skills/1/2/3/4/5/6/7",
    ];
    assert_eq!(
        Machine::in_folder("/src/app").loads("codex", &folders),
        [folders[0]]
    );
}

#[test]
fn hermes_looks_any_number_of_levels_deep() {
    let folders = ["/home/ada/.hermes/skills/1/2/3/4/5/6/7/8/deep"];
    assert_eq!(
        Machine::in_folder("/src/app").loads("hermes", &folders),
        folders
    );
}

#[test]
fn skipped_folders_are_never_loaded() {
    let machine = Machine::in_folder("/src/app");
    for (client, folder) in [
        ("hermes", "/home/ada/.hermes/skills/.archive/deploy"),
        ("hermes", "/home/ada/.hermes/skills/media/venv/deploy"),
        ("codex", "/home/ada/.agents/skills/.hidden"),
        (
            "cursor",
            "/src/app/.cursor/skills/deploy/node_modules/deploy",
        ),
    ] {
        assert_eq!(
            machine.loads(client, &[folder]),
            Vec::<&str>::new(),
            "{client} {folder}"
        );
    }
}

#[test]
fn a_copy_outside_every_root_is_never_loaded() {
    let folders = ["/srv/skills/deploy", "/home/ada/.claude/skills-old/deploy"];
    assert_eq!(
        Machine::in_folder("/src/app").loads("claude-code", &folders),
        Vec::<&str>::new()
    );
}

#[test]
fn a_root_is_not_a_skill_itself() {
    let folders = ["/home/ada/.claude/skills"];
    assert_eq!(
        Machine::in_folder("/src/app").loads("claude-code", &folders),
        Vec::<&str>::new()
    );
}

#[test]
fn project_places_walk_up_to_the_repository_root_nearest_first() {
    assert_eq!(
        Machine::in_folder("/src/app/web/ui").paths("agentskills-guide"),
        [
            "/src/app/web/ui/.agents/skills",
            "/src/app/web/ui/.claude/skills",
            "/src/app/web/.agents/skills",
            "/src/app/web/.claude/skills",
            "/src/app/.agents/skills",
            "/src/app/.claude/skills",
            "/home/ada/.agents/skills",
            "/home/ada/.claude/skills",
        ]
    );
}

#[test]
fn outside_a_repository_only_the_current_folder_counts() {
    assert_eq!(
        Machine::in_folder("/tmp/notes/today").paths("agentskills-guide"),
        [
            "/tmp/notes/today/.agents/skills",
            "/tmp/notes/today/.claude/skills",
            "/home/ada/.agents/skills",
            "/home/ada/.claude/skills",
        ]
    );
}

#[test]
fn a_place_without_ancestors_is_looked_for_in_the_current_folder_only() {
    assert_eq!(
        Machine::in_folder("/src/app/web").paths("windsurf"),
        [
            "/src/app/web/.windsurf/skills",
            "/home/ada/.codeium/windsurf/skills"
        ]
    );
}

#[test]
fn a_path_found_twice_keeps_its_better_rank() {
    let roots = Machine::in_folder("/home/ada").roots("claude-code");
    let personal: Vec<_> = roots
        .iter()
        .filter(|root| root.path.starts_with("/home/ada"))
        .collect();
    assert_eq!(personal.len(), 1);
    assert_eq!(personal[0].scope, Scope::User);
}

#[test]
fn ranks_count_from_zero_without_gaps() {
    for client in super::super::all() {
        let roots = Machine::in_folder("/home/ada").roots(&client.id);
        let ranks: Vec<u32> = roots.iter().map(|root| root.rank).collect();
        assert_eq!(
            ranks,
            (0..).take(roots.len()).collect::<Vec<u32>>(),
            "{}",
            client.id
        );
    }
}

#[test]
fn environment_variables_move_the_user_folders() {
    for (client, name, expected) in [
        ("claude-code", "CLAUDE_CONFIG_DIR", "/data/x/skills"),
        ("codex", "CODEX_HOME", "/data/x/skills/.system"),
        ("hermes", "HERMES_HOME", "/data/x/skills"),
        ("opencode", "XDG_CONFIG_HOME", "/data/x/opencode/skills"),
        ("gemini-cli", "GEMINI_CLI_HOME", "/data/x/.gemini/skills"),
    ] {
        let plain = Machine::in_folder("/src/app");
        assert!(
            !plain.paths(client).iter().any(|path| path == expected),
            "{client}"
        );
        let moved = Machine::in_folder("/src/app").with_env(name, "/data/x");
        assert!(
            moved.paths(client).iter().any(|path| path == expected),
            "{client}"
        );
        assert_eq!(
            moved.paths(client).len(),
            plain.paths(client).len(),
            "{client}"
        );
    }
}

#[test]
fn an_empty_variable_counts_as_unset() {
    let empty = Machine::in_folder("/src/app").with_env("CODEX_HOME", "");
    assert_eq!(
        empty.paths("codex"),
        Machine::in_folder("/src/app").paths("codex")
    );
}

#[test]
fn a_relative_variable_starts_in_the_current_folder() {
    let relative = Machine::in_folder("/src/app").with_env("HERMES_HOME", "agent");
    assert_eq!(relative.paths("hermes")[0], "/src/app/agent/skills");
}

#[test]
fn a_skill_shipped_with_codex_belongs_to_the_bundled_root() {
    let shipped = "/home/ada/.codex/skills/.system/deploy";
    let own = "/home/ada/.codex/skills/deploy";
    let machine = Machine::in_folder("/src/app");
    assert_eq!(machine.loads("codex", &[shipped, own]), [own, shipped]);
    let roots = machine.roots("codex");
    let root = roots
        .iter()
        .find(|root| root.path.ends_with(".system"))
        .unwrap();
    assert_eq!(
        (root.scope, root.writable, root.follows_links),
        (Scope::Bundled, false, false)
    );
}

#[test]
fn roots_the_caller_adds_take_part_by_their_rank() {
    let client = find("hermes").unwrap();
    let mut roots = Machine::in_folder("/src/app").roots("hermes");
    let external = PathBuf::from("/srv/shared");
    roots.push(ClientRoot {
        path: external,
        rank: 9,
        ..roots[0].clone()
    });
    let copies = [
        "/srv/shared/deploy",
        "/home/ada/.hermes/skills/deploy",
        "/srv/shared/test",
    ]
    .map(|folder| Copy {
        name: &folder[folder.len() - 4..],
        folder: Path::new(folder),
        is_linked: false,
    });
    assert_eq!(loaded_from(client, &roots, &copies), [1, 2]);
}

#[test]
fn a_linked_folder_is_not_loaded_by_a_client_that_follows_no_links() {
    let client = find("openclaw").unwrap();
    let root = ClientRoot {
        client: "openclaw".to_owned(),
        path: "/u/.openclaw/skills".into(),
        scope: Scope::User,
        rank: 0,
        max_depth: None,
        writable: true,
        follows_links: false,
    };
    let copy = |is_linked| Copy {
        name: "a",
        folder: Path::new("/u/.openclaw/skills/a"),
        is_linked,
    };
    let roots = [root];
    assert_eq!(loaded_from(client, &roots, &[copy(false)]), [0]);
    assert!(loaded_from(client, &roots, &[copy(true)]).is_empty());
}
