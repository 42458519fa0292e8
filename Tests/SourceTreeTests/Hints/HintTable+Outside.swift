extension HintTable {
  /// The hints that no test can follow, each with its reason.
  static let outside: [String: String] = {
    var reasons: [String: String] = [:]
    for (reason, hints) in outsideByReason {
      for hint in hints { reasons[hint] = reason }
    }
    return reasons
  }()

  /// Advice about the world outside: disks, rights, servers, other programs.
  private static let outsideByReason: [(reason: String, hints: [String])] = [
    (
      "Another program makes text of the file.",
      [
        "extract its tables into CSV, with tabula or pdftotext -layout",
        "get the data that it shows as a text file",
        "save it as text",
      ]
    ),
    (
      "The disk is full or fails: a test has no such disk.",
      [
        "make room where the database lies and in the temporary folder, then run again",
        "make room where the database lies, then run again",
        "make room where the database lies, or give more --memory",
        "make room there, then run the same command again",
        "make room there, or let records be committed as they come: leave out --atomic (of a mirror, atomic: bounded)",
        "make room, or give another path to …",
        "see what the system's log says of the disk and its file system, then run again",
        "--scratch DIR names a folder with more room",
        "the disk or its connection fails (dmesg says more); copy the file elsewhere and load the copy",
        "try to read it with another program: cat… >/dev/null",
        "TMPDIR names the temporary folder: give one that is there, can be written and has room",
        "what is left of the rejects is written beside the file: its folder needs room and the right to write",
        "all rows are stored; after a power loss look whether the file is there",
        "nothing is stored; run again",
        "nothing is stored; run again, and the records go into what it has made",
        "nothing more was written; run again",
      ]
    ),
    (
      "The machine has no memory left, which a test must not bring about.",
      [
        "free some memory",
        "--memory BYTES bounds what is used",
        "the system may have no process or memory left",
        "raise the limit: ulimit -n 4096",
        "raise the limits of open files and memory: ulimit -n 4096",
        "let the shell expand it: leave the quotes off",
      ]
    ),
    (
      "The rights of files and folders are the user's, and tests may run as root.",
      [
        "give yourself the right to write the file and its folder",
        "give yourself the right to write the file and its folder, or let its owner open it once",
        "its owner can give you the right to read it",
        "run it again, or as the database's owner",
        "run this as the database's owner, or let its owner open it once",
        "give user … the right to read it and to enter its folders (namei -l…)",
        "give the right to write to its folder, and to the target",
        "the folder must exist and be writable",
        "the folder of … must exist and be writable",
        "--scratch DIR names a folder that can be written",
        "WAL needs a local file system with shared memory",
        "name a folder on the same disk",
      ]
    ),
    (
      "A server must take over without its last commits: FailoverTests and StoreModelTests do what it says.",
      [
        "load all of it again: with --key, rows that are there count as unchanged; from a file, the run goes back by itself"
      ]
    ),
    (
      "Another process must act, or end, at one moment; the suites of kills and locks cover what upsurge does then.",
      [
        "another program must not touch the file; run again",
        "another program must not touch it; run again",
        "run again; --durability off is for new files only",
        "run it again: records are read for the table as it is then, after the last commit",
        "run again",
        "start the replay again",
        "wait until it has ended, then run again",
        "load it when its writer is done; writers should write to a new name and rename",
        "the same command loads everything, also what is in the table already; leave upsurge_runs alone while a run is at work",
        "upsurge runs … lists what has not ended; one that is not listed has ended, or was forgotten",
        "the reader must stay",
        "look again which rows would go",
        "let that finish, then start this one again",
        "--busy-timeout MS waits longer: so many milliseconds, 60000 for a minute",
        ", or end it: kill …",
        "wait until it has ended",
        "wait until it has ended, or end it: kill …",
        "wait until that has ended, or give another path to …",
        "write it under a name that ends with .tmp, and rename it",
        "bring it back as it was; or delete what that run has stored, and then --resume never loads everything",
        "end it first: upsurge replay … …; or give another path to --rejects",
        "move it back to …, where what is left of it lies too, and replay it there",
        "put that file back; without it nobody knows which records of the first part are not stored",
        "put them back to let it go on. If … is another file by now, forget that replay: the next one then tries all its records, also stored ones (without a key they are stored again): DELETE FROM upsurge_replays WHERE path = …",
        "run that load again: it reads them again, and writes the file anew",
        "run the job again: it compares all of them",
        "this job was completed by a run that began …, whose ledger was not shown; nothing is read. --resume never loads again, and stores rows without a key a second time",
        "leave out --durability off",
        "move it elsewhere; it is no database that an earlier run has left",
        "move it elsewhere; it is no file of an earlier run",
        "put a file there, or name it as a source of its own",
        "put the file itself there, or name the link as a source of its own",
      ]
    ),
    (
      "The database is damaged: what a backup or .recover brings back is not upsurge's.",
      [
        "PRAGMA integrity_check shows where; restore a backup, or try the sqlite3 shell's .recover",
        "INSERT INTO t(t) VALUES ('rebuild') makes the FTS5 table t anew; PRAGMA integrity_check looks at all else",
        "bring it back from a backup; or rename upsurge_rejects, and load its records from their inputs",
        "use the version that wrote it, or delete the row to begin anew",
        "use the upsurge that wrote them, or a newer one",
      ]
    ),
    (
      "No test has the later version that wrote the table; OwnLayoutCommandTests refuse what it would have left.",
      ["use a newer upsurge, at least the version that wrote that table"]
    ),
    (
      "What the server must mend is its owner's; the tests of feeds cover what upsurge does then.",
      [
        "curl -sIL shows each step; name the last URL that is right",
        "curl -v shows the whole answer; its owner can fix that",
        "exec:'curl -fsS --compressed URL' undoes that",
        "name that URL itself if it is to be trusted",
        "name the URL that is right",
        "ask its owner where it is now",
        "cannot fetch …: the server answered …",
        "check the URL",
        "check the credentials: ~/.netrc holds them as `machine … login USER password PASSWORD`",
        "curl -v fetches it and shows each step (SSL_CERT_FILE names other certificates)",
        "curl -v fetches it and shows the whole answer",
        "have the server, or the proxy before it, send the right length",
        "load it again; what a cut body lacks is not known",
        "there is no …: the server answered …",
        "try again later; curl -v fetches it and shows each step",
        "try again when it is made",
        "the server names the encoding …, but the text is … and read as that (--encoding … reads it as the server says)",
        "the server names the encoding …, which is not known; the text was taken for … (--encoding NAME says what it is)",
        "name its encoding with --encoding NAME (iconv -l lists the names), or have it sent as UTF-8",
        "write special characters as %XX (a space is %20), also in a user or password",
        "… has no content now: the server answered …",
        "… is gone for good: the server answered …",
        "… may not be fetched: the server answered …",
        "install it: apt-get install libarchive13 (Debian, Ubuntu), dnf install libarchive (Fedora)",
        "install it: apt-get install libcurl4 (Debian, Ubuntu), dnf install libcurl (Fedora)",
        "install it: apt-get install libyaml-0-2 (Debian, Ubuntu), dnf install libyaml (Fedora)",
        "install it: apt-get install libpq5 (Debian, Ubuntu), dnf install libpq (Fedora)",
        "ask for the address by itself, until data comes",
        "open it in a browser: it says why the data did not come, and often asks for a login",
        "read it: as a rule it is an error document that says why the data did not come",
        "git annex get fetches the file itself",
        "git lfs pull fetches the file itself",
        "run the command that makes the data by itself, until it succeeds",
      ]
    ),
    (
      "Users, databases and limits of a server are its owner's; UpsurgePostgresTests have what is said then.",
      [
        "check user and password: the URL, PGPASSWORD, ~/.pgpass or a service file gives them, as with psql",
        "createdb makes a database, psql -l lists those of the server; a URL without a database means that of the user's name",
        "sslmode in the URL says what both sides must have: ?sslmode=prefer takes a server with TLS or without",
        "pg_isready -h HOST -p PORT says whether a server answers there; check host and port of the URL",
        "postgres://USER@HOST:PORT/DATABASE?sslmode=require is its form; other signs are written as %XX: @ is %40",
        "name the table after the URL, without # or ?query=; a # of the database's own name is %23",
        "CREATE SCHEMA makes it, or name another one: SCHEMA.TABLE",
        "its owner can GRANT that right; or name a user in the URL who has it",
        "… gives what is missing; the owner may run it",
        "write …", "write …; PGPASSWORD or ~/.pgpass gives the password",
        "a server is postgres://USER@HOST:PORT/DATABASE, in small letters; a file of SQLite is named by its path",
        "give postgres://HOST/DATABASE#TABLE, or 'postgres://HOST/DATABASE?query=SELECT …'",
        "statement_timeout of the server, or pg_cancel_backend, has ended it; ALTER ROLE … SET statement_timeout changes the first",
        "name all hosts in the URL, with ?target_session_attrs=read-write; default_transaction_read_only must be off",
        "--commit-every 10000 makes statements shorter, where a limit of the server or of its pooler ends long ones",
        "set pool_mode = transaction or session in the pooler, or name the server itself",
        "ALTER ROLE, ALTER DATABASE or the server's settings set it; or name a user who may write",
        "leave out --atomic: a limit of the server may end what is one long transaction",
        "of a server's: upsurge load, upsurge inspect and upsurge runs. Its rejects: correct the source, and load it again by key",
      ]
    ),
    (
      "It is about a move to or from a server: UpsurgeMoveTests follow it on a real one.",
      [
        "wait until it has ended, or end it: it resumes",
        "bring the options back as they were; or drop the tables of that move, and …, and move again",
        "drop it there; or leave the table out: --except …",
        "where a program has written one of them meanwhile: drop the tables of the move and … in the target, and move again",
        "give the file another name for the move",
        "sqlite:PATH names it, without a table; --table NAME moves only some of its tables",
        "sqlite3 shop.db '.backup copy.db' copies a file of SQLite",
        "pg_dump copies a database of PostgreSQL: pg_dump -Fc shop | pg_restore -d copy",
        "move as the owner of the table, or as a role with BYPASSRLS; or leave it out: --except …",
        "postgres://USER@HOST/DATABASE names it, without a table; --table NAME moves only some of its tables",
        "--type TABLE.COLUMN:TYPE, as in orders.note:text",
        "--type TABLE.COLUMN:TYPE names one of its columns",
        "--type … moves these values under another type",
        "correct these rows in the source; nothing was written",
        "upsurge inspect shows what a database holds",
        "rename it in the source; or leave it out: --except …",
        "rename it in the source: ALTER TABLE … RENAME",
        "rename one of them in the source; or leave one out: --except …",
        "GRANT TEMPORARY ON DATABASE … TO … lets a role make them",
      ]
    ),
    (
      "It is about tables of a server: UpsurgePostgresTests follow it on a real one.",
      [
        "once the server answers, remove it: …",
        "the database's owner allows it: GRANT CREATE ON DATABASE … TO …",
        "--create-key makes one; its keys: …",
        "--key COLS names one key: …",
        "--key COLS names the columns that say which row a record is about; its keys: …",
        "REINDEX INDEX … builds it again",
        "without … the run resumes; without … it begins again, in …",
        "give the table another name",
        "give that table another name",
        "its keys: …",
        "make it NOT DEFERRABLE, or name another key: …",
        "name columns that both have; --rename OLD=NEW gives a field the column's name",
        "give that table another name: runs are kept in one of this name",
        "give that table another name, use the version of upsurge that wrote it, or name another schema by --state-schema",
        "name columns that have a PRIMARY KEY or UNIQUE index together",
        "local-edits: repair; or mirror into a file of SQLite",
        "local-edits: repair; or RESTRICT or NO ACTION in the foreign key",
        "atomic: table; or leave out row-state",
        "leave out row-state and owned-by; or mirror into a file of SQLite",
        "leave out update-if and merge: newer; or mirror into a file of SQLite",
        "make the table first; or give one source",
        "leave out --state-schema",
        "leave out atomic, or …",
        "atomic: table; or sweep: none",
        "upsurge mirror with --table tries one of them alone",
        "mirror all but one of them by another job",
        "upsurge runs … lists what has not ended",
        "give the table a shorter name",
        "load each partition on its own server",
        "load the table on its own server",
        "load the table that it shows",
        "load the tables that it is made of",
        "--columns A,B leaves it out; ALTER COLUMN … SET GENERATED BY DEFAULT lets values in",
        "--rename OLD=NEW gives it a shorter name; --columns A,B leaves it out",
        "--rename OLD=NEW gives it another name; --columns A,B leaves it out",
        "--key COLS names the columns of its key",
        "make a trigger of the rule, and DROP RULE … ON …",
        "let the trigger or policy remove those rows, or leave them out by a scope",
        "run it as that user; or delete the rows of the feed yourself",
      ]
    ),
    (
      "Another program does the work, which the test machine may not have.",
      [
        "pip install … brings what it needs",
        "unpack it, and load the files",
        "unpack it, and load the files: a folder or a glob takes any number of them",
        "unpack the archive and load the file: most programs let the last one win",
        "unpack the archive with its password, and load the files",
        "name the member that it stands for, or unpack the archive and load the file",
        "…; or unpack both, and load the files",
        "--memory … allows it; or compress it again with xz -9",
        "an Excel workbook (.xlsx) is one too: save the sheet as CSV",
        "save the sheet as CSV and load that",
        "name the member if it holds several",
        "export the table: sqlite3 -csv -header FILE 'SELECT * FROM t' | upsurge load DB TABLE -",
        "--memory … allows it; or compress it again with --long=27",
      ]
    ),
    (
      "The file is cut or damaged: only who made it has the rest.",
      [
        "the file may be cut; get it again",
        "get it again",
        "it holds no file at all",
        "gzip -t",
        "zstd -t",
        "… -t",
        "… -dc",
        "zstd -D DICTIONARY -dc",
        "…; head -c … keeps the part before, if that is all there should be",
        "deliver it again, with a line end after the last value",
        "correct the text there, or name its true encoding with --encoding",
      ]
    ),
    (
      "Only Swift code that calls the library sees it; the command never does.",
      [
        "a larger Settings.memory; a record may have a quarter of it",
        "another format, or a larger limit of readLine",
        "what was committed stands",
        "gather the rows first; what gives the rows of a call, or takes its rejects, must not begin another one",
        "make the table first",
        "give it another name",
        "mark rows in a column of their own",
        "tables: names them, each with its source",
        "give it one feed",
        "owned-by: crm",
        "source: names a file, glob, folder or URL",
        "sweep: hard, or leave out scope",
        "sweep: hard, or row-state: true in its place",
        "kind: snapshot, or leave out sweep",
        "leave out durability: off",
        "give NAME: VALUE in one line",
        "a name of at most 255 bytes, at most 127 arguments, and no statement that uses it at work",
        "--alter adds …; --columns A,B loads only the columns named",
        "give one of them another name, or leave it out",
        "give one of them another name: SQLite does not tell A from a",
        "key: [COLS] names the columns that say which row a record is about",
      ]
    ),
    (
      "Part of a message, not the way out; the hint beside it is in the table.",
      [
        "--infer full reads the input twice",
        "a second document (---); a job file has one",
        "cannot start any token",
        "could not find expected",
        "did not find expected",
        "escape character",
        "mapping values are not allowed",
        " or ",
        "--json-path …",
        "# were rejected) are good. A run that is missed while the machine is off is not made up for; --systemd does that.",
        "nothing of it is in the table; ",
        "the same command goes on, or reads all again; ",
      ]
    ),
    (
      "It changes how long a run takes, and nothing in the table.",
      [
        "only hidden rowids of new rows could tell; --input-order stores them as they come",
        "keys arrive in no order, so records are sorted by … before they are stored, at most … MiB of them at once; --input-order stores them as they come",
        "--rows N measures the first N of them",
        "… of … records stand in parts that the last delivery had, too; they were not compared (--verify does)",
        "the scratch folder is in memory (…); --scratch DIR names one on the disk that counts",
        "a longer deadline gives it more time, --explain-time of upsurge load says where it goes",
      ]
    ),
    (
      "Only gigabytes of input bring it about.",
      [
        "load less into one database",
        "no --max-statement helps: SQLite takes … bytes by default",
        "make it several jobs",
        "use the suite unchanged, or leave out --file",
        "--columns A,B loads fewer of them",
      ]
    ),
    (
      "It says what an option does not do; nothing is to be followed.",
      [
        "--triggers guarded changes nothing: no trigger of … asks upsurge_is_synchronizing() (…)",
        "--triggers guarded changes nothing: the table … has no trigger",
      ]
    ),
    (
      "No CREATE TABLE is known for which it comes; it keeps rows safe from one.",
      ["make the table again by hand, as https://www.sqlite.org/lang_altertable.html#otheralter says"]
    ),
  ]
}
