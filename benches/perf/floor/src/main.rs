//! The floor of what skilldb does: the same work with nothing else around it.
//!
//! Each subcommand does one job as directly as the machine allows (raw folder reads, `statx`,
//! bundled SQLite; no YAML, no settings, no messages). All but `show` print one line
//! with the time taken inside the process: `{"op":..,"ms":..,"cpu_ms":..,..}`. Linux only.
//!
//! | command | work |
//! |---|---|
//! | `fill DB SKILLS` | walk once; store the stat of every file and folder, and every skill's name |
//! | `rescan DB` | stat every stored file and folder again by absolute path and compare |
//! | `show DB NAME` | find a skill by name in that database, write its SKILL.md to stdout |
//! | `open DB` | open that database, ask it one thing, leave |
//! | `cold SKILLS DB` | index from nothing: stat all; read, hash and split every SKILL.md |
//! | `keep SKILLS DB` | store every SKILL.md and the supporting text files, compressed |
//! | `record DB NAME` | add one use of a skill to a database of skilldb |
//! | `count DB` | count the uses in a database of skilldb |
//! | `parse FILE...` | read files line by line and build a JSON value of every line |
//! | `ignore FILE...` | the same, but look at the JSON only and build nothing |
//! | `lines FILE...` | the same, but do not look at the lines |
//!
//! `cold` and `keep` write `DB.new` without a journal and rename it into place, so neither waits
//! for the disk. Skills are taken not to lie inside each other.

mod usage;

use rusqlite::{Connection, OpenFlags, OptionalExtension, params};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, StatxFlags, openat, statx};
use rustix::time::{ClockId, clock_gettime};
use sha2::{Digest, Sha256};
use std::ffi::{CStr, CString};
use std::mem::MaybeUninit;
use std::process::ExitCode;
use std::time::{Duration, Instant};

type Res<T> = Result<T, Box<dyn std::error::Error>>;

/// Supporting files above this size are not kept.
const KEEP_FILE: usize = 256 * 1000;
/// Once this many bytes of supporting files are kept, no more are.
const KEEP_ALL: usize = 64 << 20;

/// What the walk came across. Within a folder it comes in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Skill,
    /// A file that belongs to the skill seen last.
    Support,
    /// A file that belongs to no skill.
    Loose,
    Folder,
}

/// An entry: the folder it lies in, its absolute path, its name (of a folder: itself, "").
struct Seen<'a>(Kind, BorrowedFd<'a>, &'a str, &'a CStr);

/// Calls `see` for every folder and file below `root`; hidden folders are left out.
fn walk(root: &str, mut see: impl FnMut(Seen<'_>) -> Res<()>) -> Res<()> {
    let root = std::fs::canonicalize(root)?;
    let mut path = root.to_str().ok_or("the path is not UTF-8")?.to_owned();
    step(open(CWD, root, OFlags::DIRECTORY)?.as_fd(), &mut path, false, &mut see)
}

fn step(
    dir: BorrowedFd<'_>,
    path: &mut String,
    owned: bool,
    see: &mut impl FnMut(Seen<'_>) -> Res<()>,
) -> Res<()> {
    see(Seen(Kind::Folder, dir, path, c""))?;
    let mut found: Vec<(Kind, CString)> = vec![];
    let mut buf = [MaybeUninit::uninit(); 1 << 14];
    let mut entries = RawDir::new(dir, &mut buf);
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let kind = match (entry.file_type(), entry.file_name().to_bytes()) {
            (FileType::Directory, [b'.', ..]) => continue,
            (FileType::Directory, _) => Kind::Folder,
            (_, b"SKILL.md") => Kind::Skill,
            _ => Kind::Loose,
        };
        found.push((kind, entry.file_name().to_owned()));
    }
    found.sort_by_key(|(kind, _)| *kind);
    let owned = owned || found.first().is_some_and(|(kind, _)| *kind == Kind::Skill);
    let end = path.len();
    for (kind, name) in &found {
        path.push('/');
        path.push_str(name.to_str()?);
        match kind {
            Kind::Folder => step(open(dir, name, OFlags::DIRECTORY)?.as_fd(), path, owned, see)?,
            Kind::Loose if owned => see(Seen(Kind::Support, dir, path, name))?,
            kind => see(Seen(*kind, dir, path, name))?,
        }
        path.truncate(end);
    }
    Ok(())
}

fn open(dir: BorrowedFd<'_>, path: impl rustix::path::Arg, how: OFlags) -> Res<OwnedFd> {
    let how = how | OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    Ok(openat(dir, path, how, Mode::empty())?)
}

/// Size, mtime, ctime and inode: what a change of a file would change.
fn stat(dir: BorrowedFd<'_>, path: impl rustix::path::Arg) -> rustix::io::Result<[i64; 4]> {
    let want = StatxFlags::SIZE | StatxFlags::MTIME | StatxFlags::CTIME | StatxFlags::INO;
    let how = AtFlags::SYMLINK_NOFOLLOW | AtFlags::STATX_DONT_SYNC | AtFlags::EMPTY_PATH;
    let s = statx(dir, path, how, want)?;
    let ns = |t: rustix::fs::StatxTimestamp| t.tv_sec * 1_000_000_000 + i64::from(t.tv_nsec);
    Ok([s.stx_size as i64, ns(s.stx_mtime), ns(s.stx_ctime), s.stx_ino as i64])
}

/// Reads a file; what was read is the start of `buf`, which only ever grows.
fn read<'b>(dir: BorrowedFd<'_>, name: &CStr, buf: &'b mut Vec<u8>) -> Res<&'b [u8]> {
    let file = open(dir, name, OFlags::empty())?;
    let mut n = 0;
    loop {
        if buf.len() < n + (1 << 16) {
            buf.resize((n + (1 << 16)) * 2, 0);
        }
        match rustix::io::read(&file, &mut buf[n..])? {
            0 => return Ok(&buf[..n]),
            more => n += more,
        }
    }
}

/// Name and description of the frontmatter by line, without a YAML library.
fn head(text: &[u8]) -> [String; 2] {
    let mut found = [String::new(), String::new()];
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut lines = text.split(|b| *b == b'\n');
    if lines.next().is_some_and(|l| l.starts_with(b"---")) {
        for line in lines.take_while(|l| !l.starts_with(b"---")) {
            for (to, key) in found.iter_mut().zip([&b"name:"[..], b"description:"]) {
                if let Some(v) = line.strip_prefix(key) {
                    *to = String::from_utf8_lossy(v.trim_ascii()).trim_matches('"').to_owned();
                }
            }
        }
    }
    found
}

fn read_only(db: &str) -> Res<Connection> {
    let how = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Ok(Connection::open_with_flags(db, how)?)
}

const LASTING: &str = "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL";
const QUICK: &str = "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;
    PRAGMA locking_mode=EXCLUSIVE; PRAGMA cache_size=-65536";

/// Builds a database aside, in one transaction, and renames it into place.
fn build<T>(db: &str, pragmas: &str, schema: &str, f: impl Fn(&Connection) -> Res<T>) -> Res<T> {
    for tail in [".new", ".new-wal", ".new-shm", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{db}{tail}"));
    }
    let new = format!("{db}.new");
    let c = Connection::open(&new)?;
    c.execute_batch(&format!("{pragmas}; BEGIN; {schema}"))?;
    let result = f(&c)?;
    c.execute_batch("COMMIT")?;
    c.close().map_err(|(_, e)| e)?;
    std::fs::rename(new, db)?;
    Ok(result)
}

fn fill(db: &str, skills: &str) -> Res<String> {
    let schema = "
        CREATE TABLE file(path TEXT PRIMARY KEY, size INT, mtime INT, ctime INT, ino INT)
            WITHOUT ROWID;
        CREATE TABLE dir(path TEXT PRIMARY KEY, mtime INT) WITHOUT ROWID;
        CREATE TABLE skill(name TEXT, path TEXT, PRIMARY KEY(name, path)) WITHOUT ROWID;";
    build(db, LASTING, schema, |c| {
        let mut file = c.prepare("INSERT INTO file VALUES(?1,?2,?3,?4,?5)")?;
        let mut dir = c.prepare("INSERT INTO dir VALUES(?1,?2)")?;
        let mut skill = c.prepare("INSERT INTO skill VALUES(?1,?2)")?;
        let (mut files, mut dirs, mut buf) = (0, 0, vec![]);
        walk(skills, |Seen(kind, at, path, name)| {
            let [size, mtime, ctime, ino] = stat(at, name)?;
            if kind == Kind::Folder {
                dirs += dir.execute(params![path, mtime])?;
                return Ok(());
            }
            files += file.execute(params![path, size, mtime, ctime, ino])?;
            if kind == Kind::Skill {
                let [name, _] = head(read(at, name, &mut buf)?);
                skill.execute([&name, path.trim_end_matches("/SKILL.md")])?;
            }
            Ok(())
        })?;
        Ok(format!("\"files\":{files},\"dirs\":{dirs}"))
    })
}

fn rescan(db: &str) -> Res<String> {
    let c = read_only(db)?;
    c.execute_batch("PRAGMA mmap_size=1073741824")?;
    let files = "SELECT path,size,mtime,ctime,ino FROM file";
    let folders = "SELECT path,NULL,mtime,NULL,NULL FROM dir";
    let mut q = c.prepare(&format!("{files} UNION ALL {folders}"))?;
    let (mut rows, mut seen, mut changed) = (q.query([])?, 0, 0);
    while let Some(r) = rows.next()? {
        let was: [Option<i64>; 4] = [r.get(1)?, r.get(2)?, r.get(3)?, r.get(4)?];
        let now = stat(CWD, r.get_ref(0)?.as_str()?).unwrap_or_default();
        seen += 1;
        changed += i32::from(was.iter().zip(now).any(|(w, n)| w.is_some_and(|w| w != n)));
    }
    Ok(format!("\"seen\":{seen},\"changed\":{changed}"))
}

fn show(db: &str, name: &str) -> Res<ExitCode> {
    let c = read_only(db)?;
    let q = "SELECT path FROM skill WHERE name=?1 LIMIT 1";
    let Some(folder) = c.query_row(q, [name], |r| r.get::<_, String>(0)).optional()? else {
        return Ok(ExitCode::FAILURE);
    };
    std::io::Write::write_all(&mut std::io::stdout(), &std::fs::read(folder + "/SKILL.md")?)?;
    Ok(ExitCode::SUCCESS)
}

fn cold(skills: &str, db: &str) -> Res<String> {
    let schema = "
        CREATE TABLE skill(id INTEGER PRIMARY KEY, path TEXT, name TEXT, description TEXT,
            size INT, mtime INT, ctime INT, ino INT, hash BLOB);
        CREATE TABLE support(skill INT, path TEXT, size INT, mtime INT, ctime INT, ino INT,
            PRIMARY KEY(skill, path)) WITHOUT ROWID;";
    build(db, QUICK, schema, |c| {
        let mut skill = c.prepare("INSERT INTO skill VALUES(NULL,?1,?2,?3,?4,?5,?6,?7,?8)")?;
        let mut support = c.prepare("INSERT INTO support VALUES(?1,?2,?3,?4,?5,?6)")?;
        let (mut id, mut start, mut buf) = (0, 0, vec![]);
        walk(skills, |Seen(kind, at, path, file)| {
            if kind == Kind::Folder {
                return Ok(());
            }
            let [size, mtime, ctime, ino] = stat(at, file)?;
            if kind == Kind::Skill {
                let text = read(at, file, &mut buf)?;
                let (hash, [name, about]) = (Sha256::digest(text), head(text));
                start = path.len() - "SKILL.md".len();
                let folder = &path[..start - 1];
                skill.execute(params![folder, name, about, size, mtime, ctime, ino, &hash[..]])?;
                id = c.last_insert_rowid();
            } else if kind == Kind::Support {
                support.execute(params![id, &path[start..], size, mtime, ctime, ino])?;
            }
            Ok(())
        })?;
        c.execute_batch("CREATE INDEX skill_name ON skill(name)")?;
        Ok(format!("\"skills\":{id}"))
    })
}

fn keep(skills: &str, db: &str) -> Res<String> {
    let schema = "CREATE TABLE blob(hash BLOB PRIMARY KEY, bytes BLOB) WITHOUT ROWID;";
    build(db, QUICK, schema, |c| {
        let mut put = c.prepare("INSERT OR IGNORE INTO blob VALUES(?1,?2)")?;
        let (mut kept, mut support, mut buf) = (0, 0, vec![]);
        walk(skills, |Seen(kind, at, _, name)| {
            if kind != Kind::Skill && (kind != Kind::Support || support >= KEEP_ALL) {
                return Ok(());
            }
            let bytes = read(at, name, &mut buf)?;
            if kind == Kind::Support {
                let text = !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok();
                if !text || bytes.len() > KEEP_FILE {
                    return Ok(());
                }
                support += bytes.len();
            }
            let packed = lz4_flex::block::compress_prepend_size(bytes);
            kept += put.execute(params![&Sha256::digest(bytes)[..], packed])?;
            Ok(())
        })?;
        Ok(format!("\"kept\":{kept},\"support_bytes\":{support}"))
    })
}

const USAGE: &str = "usage: skilldb-floor \
    fill|rescan|show|open|cold|keep|record|count|parse|ignore|lines ...";

fn main() -> Res<ExitCode> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let cpu = || Duration::try_from(clock_gettime(ClockId::ProcessCPUTime));
    let (wall, before) = (Instant::now(), cpu()?);
    let facts = match args[..] {
        ["fill", db, skills] => fill(db, skills)?,
        ["rescan", db] => rescan(db)?,
        ["cold", skills, db] => cold(skills, db)?,
        ["keep", skills, db] => keep(skills, db)?,
        ["show", db, name] => return show(db, name),
        ["record", db, name] => usage::record(db, name)?,
        ["count", db] => usage::count(db)?,
        ["parse", ref files @ ..] => usage::lines(files, usage::json::<serde_json::Value>)?,
        ["ignore", ref files @ ..] => usage::lines(files, usage::json::<serde::de::IgnoredAny>)?,
        ["lines", ref files @ ..] => usage::lines(files, |_| true)?,
        ["open", db] => read_only(db)?.query_row("PRAGMA user_version", [], |r| {
            Ok(format!("\"version\":{}", r.get::<_, i64>(0)?))
        })?,
        _ => return Err(USAGE.into()),
    };
    let (ms, cpu) = (wall.elapsed().as_secs_f64() * 1e3, (cpu()? - before).as_secs_f64() * 1e3);
    println!("{{\"op\":\"{}\",\"ms\":{ms:.4},\"cpu_ms\":{cpu:.4},{facts}}}", args[0]);
    Ok(ExitCode::SUCCESS)
}
