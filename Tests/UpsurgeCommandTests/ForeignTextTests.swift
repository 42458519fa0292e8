import Foundation
import TestSupport
import Testing

@testable import Upsurge

/// What servers, shells and version control put in the place of a feed.
@Suite("Not a feed")
struct ForeignTextTests {
  static let foreign: [(text: String, what: String)] = [
    ("<!DOCTYPE html>\n<html><body>Log in</body></html>\n", "an HTML page"),
    ("\n\n  <HTML lang=en>\n<head>", "an HTML page"),
    ("<!-- cached -->\n<!doctype html>\n<p>", "an HTML page"),
    ("<head><title>302 Found</title></head>", "an HTML page"),
    ("<h1>Sorry, not found</h1>\n", "an HTML page"),
    ("<div class=\"a\"><div>x</div>, or so</div>", "an HTML page"),
    ("<?xml version=\"1.0\"?>\n<!DOCTYPE html PUBLIC \"x\">\n<html>", "an HTML page"),
    ("<?xml version=\"1.0\"?>\n<Error><Code>NoSuchKey</Code></Error>\n", "an XML document"),
    ("<Error><Code>AccessDenied</Code><Message>no, you may not</Message></Error>", "an XML document"),
    ("<ServiceException code=\"1\"/>\n", "an XML document"),
    (
      "version https://git-lfs.github.com/spec/v1\noid sha256:01\nsize 5\n",
      "a pointer of Git LFS, not the file that it stands for"
    ),
    (
      "/annex/objects/SHA256E-s5--01.csv\n", "a pointer of git-annex, not the file that it stands for"
    ),
    (
      "<br />\n<b>Warning</b>:  fopen(a.csv): failed to open stream in <b>/srv/a.php</b> on line <b>3</b><br />\n",
      "an HTML page"
    ),
    ("bash: line 1: mysql: command not found\n", "the error message of a command"),
    ("sh: 1: mysqldump: not found\n", "the error message of a command"),
    ("cat: a.csv: No such file or directory\n", "the error message of a command"),
    ("zsh: command not found: psql\n", "the error message of a command"),
    ("curl: (6) Could not resolve host: example.com\n", "the error message of a command"),
    (
      "ERROR 1045 (28000): Access denied for user 'a'@'b' (using password: NO)\n",
      "the error message of a command"
    ),
    (
      "fatal: not a git repository (or any of the parent directories): .git\n",
      "the error message of a command"
    ),
    (
      "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nKeyError: 'a'\n",
      "the error message of a command"
    ),
    ("404: Not Found", "the error message of a server"),
    ("404 page not found\n", "the error message of a server"),
    ("Too Many Requests.\n", "the error message of a server"),
  ]

  @Test(arguments: foreign.indices) func isKnown(_ index: Int) {
    let (text, what) = Self.foreign[index]
    #expect(ForeignText.detect(Array(text.utf8), isWhole: true)?.what == what, "\(text)")
  }

  /// Data that looks a little like it.
  static let data = [
    "<p>one</p>,1\n<p>two</p>,2\n", "<a href=x>one</a>,<b>two</b>\n<a href=y>one</a>,<b>two</b>\n",
    "<b>bold</b>\n<b>more</b>\n", "<id>,<name>\n1,Ann\n", "<10,5\n<20,7\n", "<html_column,x\n1,2\n",
    "version,https://git-lfs.github.com/spec/v1\n1,2\n", "version\nhttps://git-lfs.github.com/spec/v1\n",
    "path,message\na.csv,No such file or directory\n", "\"cat: a: No such file or directory\",1\n",
    "error,count\nerror 5,1\n", "curl,wget\n1,2\n", "fatal,ok\n1,2\n", "status\nnot found\nfound\n",
    "id,answer\n1,404: Not Found\n", "Forbidden,Allowed\n1,2\n", "{\"message\": \"Not Found\"}\n", "", "\n\n",
    "trees of the world,<html>\n1,2\n",
  ]

  @Test(arguments: data) func isData(_ text: String) {
    #expect(ForeignText.detect(Array(text.utf8), isWhole: true) == nil)
  }

  @Test func aLongLogIsData() {
    let log = String(repeating: "cat: a.csv: No such file or directory\n", count: 30)
    #expect(ForeignText.detect(Array(log.utf8), isWhole: true) == nil)
    #expect(ForeignText.detect(Array("curl: (6) x\n".utf8), isWhole: false) == nil)
  }

  @Test("Nothing is made, and the message says what it is")
  func refused() throws {
    let scratch = Scratch()
    let page = scratch.write("<!DOCTYPE html>\n<title>Log in, please</title>\n", to: "a.csv")
    let path = scratch.file("d.db")
    for arguments in [
      [], ["--format", "ndjson", "--on-error", "reject"], ["--no-header"], ["--names", "a"],
    ] {
      let outcome = try Command.run(["load", path, "t", page] + arguments)
      #expect(outcome.exitCode == 65, "\(outcome.talk)")
      #expect(
        outcome.talk.contains(
          """
          a.csv looks like an HTML page, not like records
          """), "\(outcome.talk)")
      #expect(outcome.talk.contains("  here: <!DOCTYPE html>\n"), "\(outcome.talk)")
      #expect(
        outcome.talk.contains(
          "  fix: open it in a browser: it says why the data did not come, and often asks for a login\n"),
        "\(outcome.talk)")
      #expect(!FileManager.default.fileExists(atPath: path))
    }
  }

  @Test(
    "Who says what it is gets it",
    arguments: [["--format", "csv"], ["--delimiter", ","], ["--skip-lines", "1"]])
  func allowed(_ arguments: [String]) throws {
    let scratch = Scratch()
    let page = scratch.write("<html>\n<b>id</b>\n1\n2\n", to: "a.csv")
    let outcome = try Command.run(["load", scratch.file("d.db"), "t", page] + arguments)
    #expect(outcome.exitCode == 0, "\(outcome.talk)")
  }

  @Test("A mirror whose server sends a page keeps its rows")
  func mirror() throws {
    let scratch = Scratch()
    let feed = scratch.write("id,name\n1,Ann\n", to: "feed.csv")
    let path = scratch.file("d.db")
    let arguments = ["mirror", path, "--table", "t", "--source", feed, "--key", "id", "--sweep", "hard"]
    #expect(try Command.run(arguments).exitCode == 0)
    _ = scratch.write("<html><body>maintenance</body></html>\n", to: "feed.csv")
    let outcome = try Command.run(arguments)
    #expect(outcome.exitCode == 65, "\(outcome.talk)")
    #expect(try Database(path).rows("SELECT * FROM t") == ["1|'Ann'"])
  }
}
