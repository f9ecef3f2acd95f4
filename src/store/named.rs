//! Queries people ask for by name. Each is one SELECT on the public views.

/// A query with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Named {
    /// What to type.
    pub name: &'static str,
    /// The question it answers.
    pub question: &'static str,
    /// The statement.
    pub sql: &'static str,
}

/// Lists the views with their columns.
pub const LIST_VIEWS: &str = "SELECT v.name, (SELECT group_concat(name, ', ') FROM pragma_table_info(v.name)) FROM sqlite_schema v WHERE v.type = 'view' AND v.name LIKE 'v\\_%' ESCAPE '\\' ORDER BY v.name";

/// All named queries, in the order they are listed.
pub const NAMED: &[Named] = &[
    Named {
        name: "never-used",
        question: "Which skills were never used?",
        sql: "SELECT name, origin, date(created_at) AS since, view_count AS views, path FROM v_never_used ORDER BY created_at, name, path",
    },
    Named {
        name: "most-used",
        question: "Which skills are used most?",
        sql: "SELECT name, use_count AS uses, view_count AS views, failure_count AS failures, last_activity_at, path FROM v_skill WHERE state <> 'archived' AND use_count + view_count > 0 ORDER BY use_count DESC, view_count DESC, name LIMIT 50",
    },
    Named {
        name: "not-installed",
        question: "What is called but not installed (typos, made-up names, removed skills)?",
        sql: "SELECT name, calls, failures, last_at, clients, copies FROM v_not_installed ORDER BY calls DESC, name",
    },
    Named {
        name: "trend",
        question: "What rises and what falls: the last four weeks against the four before?",
        sql: "SELECT name, coalesce(sum(events) FILTER (WHERE day > date('now', '-28 days')), 0) AS last_4_weeks, coalesce(sum(events) FILTER (WHERE day <= date('now', '-28 days')), 0) AS four_before FROM v_usage_daily WHERE skill_id IS NOT NULL AND kind IN ('use', 'view') AND background = 0 AND day > date('now', '-56 days') GROUP BY skill_id ORDER BY last_4_weeks - four_before DESC, name",
    },
    Named {
        name: "triggers",
        question: "Who pulls the trigger (a model, a person, a subagent, a schedule), in which client?",
        sql: "SELECT name, CASE WHEN channel = 'cron' THEN 'automation' WHEN subagent IS NOT NULL THEN 'subagent' ELSE \"trigger\" END AS pulled_by, client, count(*) AS uses FROM v_usage WHERE kind IN ('use', 'view') GROUP BY name, pulled_by, client ORDER BY name, uses DESC, pulled_by",
    },
    Named {
        name: "tokens",
        question: "Which skills cost the most tokens, and per use?",
        sql: "SELECT name, sum(tokens_in) AS tokens_in, sum(tokens_out) AS tokens_out, count(*) AS uses, (sum(tokens_in) + coalesce(sum(tokens_out), 0)) / count(*) AS per_use FROM v_usage WHERE tokens_in IS NOT NULL GROUP BY name ORDER BY sum(tokens_in) + coalesce(sum(tokens_out), 0) DESC, name LIMIT 20",
    },
    Named {
        name: "duplicates",
        question: "Which names stand in more than one place?",
        sql: "SELECT name, copies, paths FROM v_duplicate_name ORDER BY copies DESC, name",
    },
    Named {
        name: "twins",
        question: "Which skills have the same text?",
        sql: "SELECT count(*) AS copies, group_concat(path, '  ') AS paths FROM v_skill WHERE state <> 'archived' GROUP BY text_hash HAVING count(*) > 1 ORDER BY 1 DESC, 2",
    },
    Named {
        name: "problems",
        question: "Which files have errors, by the spec's measure?",
        sql: "SELECT path, line, code, message FROM v_diagnostic WHERE coalesce(strict_severity, severity) = 'error' ORDER BY path, line",
    },
    Named {
        name: "codes",
        question: "Which findings are most frequent?",
        sql: "SELECT code, count(*) AS findings, count(DISTINCT path) AS files FROM v_diagnostic GROUP BY code ORDER BY findings DESC, code",
    },
    Named {
        name: "categories",
        question: "How many skills are in each category?",
        sql: "SELECT root, category, count(*) AS skills, sum(size) AS bytes FROM v_skill WHERE state <> 'archived' GROUP BY root, category ORDER BY skills DESC, root, category",
    },
    Named {
        name: "largest",
        question: "Which skills cost the most room when they are loaded?",
        sql: "SELECT name, size AS bytes, size / 4 AS about_tokens, path FROM v_skill WHERE state <> 'archived' ORDER BY size DESC, path LIMIT 20",
    },
    Named {
        name: "long-descriptions",
        question: "Which descriptions does a client cut (Hermes shows 60 characters, the spec allows 1,024)?",
        sql: "SELECT name, length(description) AS characters, substr(description, 1, 57) || '...' AS shown_by_hermes FROM v_skill WHERE state <> 'archived' AND length(description) > 60 ORDER BY characters DESC, name",
    },
    Named {
        name: "files",
        question: "What lies beside the SKILL.md files?",
        sql: "SELECT kind, count(*) AS files, sum(size) AS bytes, count(DISTINCT skill_id) AS skills FROM v_file GROUP BY kind ORDER BY bytes DESC",
    },
    Named {
        name: "recent",
        question: "Which skills changed last?",
        sql: "SELECT modified_at, name, path FROM v_skill WHERE state <> 'archived' ORDER BY modified_at DESC, path LIMIT 20",
    },
    Named {
        name: "history",
        question: "What changed when, and who changed it?",
        sql: "SELECT at, actor, action, outcome, name, title, path, substr(before_hash, 1, 8) AS before, substr(after_hash, 1, 8) AS after FROM v_patch_history ORDER BY change_id DESC, revision_id DESC, path LIMIT 100",
    },
    Named {
        name: "transitions",
        question: "What moved from which state to which, when and why?",
        sql: "SELECT at, name, from_state || ' -> ' || to_state AS moved, reason, actor, absorbed_into_name FROM v_transition ORDER BY id DESC LIMIT 100",
    },
    Named {
        name: "missing",
        question: "Which folders vanished?",
        sql: "SELECT id, name, root, rel_path, missing_since FROM v_missing ORDER BY missing_since DESC, name",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_that_no_statement_starts_with() {
        for named in NAMED {
            assert!(
                named
                    .name
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c == '-'),
                "{}",
                named.name
            );
            assert!(named.question.ends_with('?'), "{}", named.name);
        }
    }
}
