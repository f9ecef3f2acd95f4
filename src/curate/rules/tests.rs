//! The rules on single skills.

use super::*;
use crate::manage::Rule;
use crate::store::SkillFacts;

const NOW: &str = "2026-06-01T12:00:00.000Z";

fn row(origin: &str, state: &str) -> CurationRow {
    CurationRow {
        facts: SkillFacts {
            id: 1,
            root_id: 1,
            root: "/r".into(),
            root_kind: "local".to_owned(),
            is_writable: true,
            rel_path: "s".to_owned(),
            name: "s".to_owned(),
            file_name: "SKILL.md".to_owned(),
            origin: origin.to_owned(),
            state: state.to_owned(),
            is_pinned: false,
            human_edited_at: None,
            archived_from: None,
            has_ended: false,
            is_missing: false,
        },
        category: "ops/web".to_owned(),
        use_count: 0,
        created_at: ago(400),
        used_at: None,
        viewed_at: None,
        read_at: None,
        changed_at: None,
        restored_at: None,
        inherited_at: None,
    }
}

/// So many days before now.
fn ago(days: i64) -> String {
    now().days_before(days).to_string()
}

fn now() -> Timestamp {
    Timestamp::parse(NOW).unwrap()
}

fn decided(
    row: CurationRow,
    change: impl FnOnce(&mut Periods, &mut Policy, &mut Named),
) -> Decision {
    let (mut periods, mut policy, mut named) = Default::default();
    change(&mut periods, &mut policy, &mut named);
    let tags = HashMap::from([(1, vec!["seasonal".to_owned()])]);
    let rules = Rules {
        periods: &periods,
        policy: &policy,
        named: &named,
        tags: &tags,
        now: now(),
    };
    decide_all(vec![row], rules).remove(0)
}

fn outcome(row: CurationRow) -> Outcome {
    decided(row, |_, _, _| {}).outcome
}

#[test]
fn the_newest_of_all_that_counts_is_the_anchor() {
    let mut old = row("agent", "active");
    assert_eq!(outcome(old.clone()), Outcome::Archive);
    old.used_at = Some(ago(95));
    for (index, kind) in ["viewed", "file read", "changed", "restored", "absorbed"]
        .iter()
        .enumerate()
    {
        let mut row = old.clone();
        let moment = Some(ago(3));
        match index {
            0 => row.viewed_at = moment,
            1 => row.read_at = moment,
            2 => row.changed_at = moment,
            3 => row.restored_at = moment,
            _ => row.inherited_at = moment,
        }
        let decision = decided(row, |_, _, _| {});
        assert_eq!(
            (decision.outcome, decision.anchor.kind),
            (Outcome::Keep, *kind)
        );
        assert_eq!(decision.idle_days, Some(3));
    }
    // Having been made yesterday says nothing once something is known.
    old.created_at = ago(1);
    assert_eq!(outcome(old), Outcome::Archive);
}

#[test]
fn nothing_that_is_protected_is_ever_due() {
    let mut pinned = row("agent", "active");
    pinned.facts.is_pinned = true;
    let mut edited = row("agent", "active");
    edited.facts.human_edited_at = Some(ago(300));
    let mut read_only = row("agent", "active");
    read_only.facts.is_writable = false;
    let rows = [
        (pinned, "pinned"),
        (edited, "human-edited"),
        (read_only, "read-only-root"),
        (row("user", "active"), "user"),
        (row("hub", "stale"), "hub"),
        (row("external", "active"), "external"),
        (row("bundled", "active"), "bundled"),
        (row("unknown", "active"), "unknown-origin"),
    ];
    for (row, code) in rows {
        let decision = decided(row, |_, _, _| {});
        assert_eq!(decision.outcome, Outcome::Keep, "{code}");
        assert_eq!(decision.shields[0].code(), code);
    }
    let named = decided(row("agent", "active"), |_, _, named| {
        named.places.insert(1, "jobs.json:3".to_owned());
    });
    assert_eq!(
        (named.outcome, named.shields[0].code()),
        (Outcome::Keep, "automation")
    );
    let unread = decided(row("agent", "active"), |_, _, named| {
        named.unread.push("x".to_owned());
    });
    assert_eq!(
        (unread.outcome, unread.shields[0].code()),
        (Outcome::Keep, "unread-automation")
    );
    let protected = decided(row("agent", "active"), |_, policy, _| {
        policy.protected.push("s".to_owned());
    });
    assert_eq!(
        (protected.outcome, protected.shields[0].code()),
        (Outcome::Keep, "protected-name")
    );
}

#[test]
fn the_configuration_lets_bundled_ones_age_and_asks_or_denies() {
    let bundled = decided(row("bundled", "active"), |_, policy, _| {
        policy.ages_bundled = true;
    });
    assert_eq!(bundled.outcome, Outcome::Archive);
    let rule = |rule| {
        decided(row("agent", "active"), |_, policy, _| {
            policy.set(Actor::Curator, Some(Action::Archive), rule);
        })
        .outcome
    };
    assert_eq!(rule(Rule::Ask), Outcome::Ask);
    assert_eq!(rule(Rule::Deny), Outcome::Keep);
}

#[test]
fn a_time_in_the_future_is_told_and_moves_nothing() {
    let mut row = row("agent", "stale");
    row.used_at = Some(ago(-9));
    row.use_count = 1;
    let decision = decided(row.clone(), |_, _, _| {});
    assert_eq!(decision.outcome, Outcome::Keep);
    assert!(
        decision.notices[0].contains("lies in the future"),
        "{:?}",
        decision.notices
    );
    // A clock that is a little ahead is no news.
    row.used_at = Some(Timestamp::from_millis(now().millis() + 60_000).to_string());
    let decision = decided(row, |_, _, _| {});
    assert_eq!(
        (decision.outcome, decision.notices.len()),
        (Outcome::Reactivate, 0)
    );
}

#[test]
fn the_longest_of_the_periods_that_fit_counts() {
    let ageing = |stale_after, archive_after| Ageing {
        stale_after,
        archive_after,
    };
    let with = |categories: &[(&str, Ageing)], tags: &[(&str, Ageing)]| {
        let owned = |list: &[(&str, Ageing)]| {
            list.iter()
                .map(|(name, ageing)| ((*name).to_owned(), *ageing))
                .collect()
        };
        decided(row("agent", "active"), |periods, _, _| {
            periods.categories = owned(categories);
            periods.tags = owned(tags);
        })
        .outcome
    };
    let (short, long, never) = (
        ageing(Some(5), Some(10)),
        ageing(Some(300), Some(500)),
        ageing(None, None),
    );
    assert_eq!(with(&[("ops", long)], &[]), Outcome::MarkStale);
    assert_eq!(
        with(&[("op", never), ("web", never)], &[]),
        Outcome::Archive
    );
    assert_eq!(
        with(&[("ops/web", short)], &[("seasonal", never)]),
        Outcome::Keep
    );
}

#[test]
fn a_use_without_a_time_is_told() {
    let mut row = row("agent", "active");
    row.use_count = 2;
    row.created_at = ago(20);
    let decision = decided(row, |_, _, _| {});
    assert_eq!(decision.reason, "made 20 d ago");
    assert_eq!(decision.notices.len(), 1);
}

mod at_random {
    use proptest::prelude::*;

    use super::*;

    fn moment() -> impl Strategy<Value = Option<String>> {
        proptest::option::of((-40..200i64).prop_map(ago))
    }

    fn any_row() -> impl Strategy<Value = CurationRow> {
        let whose = ("agent|user|hub|external|bundled|unknown", "active|stale");
        let marks = (any::<bool>(), any::<bool>(), any::<bool>(), 0..3u64);
        let moments = (moment(), moment(), moment(), moment(), moment(), moment());
        (whose, marks, moments, -10..400i64).prop_map(|((origin, state), marks, moments, made)| {
            let mut row = row(&origin, &state);
            row.facts.is_pinned = marks.0;
            row.facts.human_edited_at = marks.1.then(|| ago(300));
            row.facts.is_writable = marks.2;
            row.use_count = marks.3;
            row.created_at = ago(made);
            (row.used_at, row.viewed_at, row.read_at) = (moments.0, moments.1, moments.2);
            (row.changed_at, row.restored_at, row.inherited_at) = (moments.3, moments.4, moments.5);
            row
        })
    }

    proptest! {
        #[test]
        fn what_is_protected_is_never_due_and_planning_twice_is_the_same(row in any_row(), named in any::<bool>()) {
            let name = |_: &mut Periods, _: &mut Policy, all: &mut Named| {
                if named {
                    all.places.insert(1, "x:1".to_owned());
                }
            };
            let decision = decided(row.clone(), name);
            prop_assert_eq!(&decision, &decided(row.clone(), name));
            let facts = &row.facts;
            let is_protected = facts.origin != "agent" || facts.is_pinned || facts.human_edited_at.is_some() || !facts.is_writable || named;
            if is_protected {
                prop_assert_eq!(decision.outcome, Outcome::Keep);
                prop_assert!(!decision.shields.is_empty());
            }
            // Nothing that was in use within the period is put away, whatever the clocks say.
            if decision.idle_days.is_none_or(|days| days < 90) {
                prop_assert_ne!(decision.outcome, Outcome::Archive);
            }
            // Once done, the same moment asks for nothing more.
            if let Some(state) = decision.outcome.state().filter(|state| *state != State::Archived) {
                let mut after = row;
                state.as_str().clone_into(&mut after.facts.state);
                prop_assert_eq!(decided(after, name).outcome, Outcome::Keep);
            }
        }
    }
}
