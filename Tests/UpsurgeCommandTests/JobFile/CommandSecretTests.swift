import Foundation
import TestSupport
import Testing
import Upsurge

@testable import UpsurgeCommand

/// What `${env:NAME}` and `${file:PATH}` stand for in a command is a value there, and never shell text.
@Suite("Secrets in commands") struct CommandSecretTests {
  let scratch = Scratch()

  private static let secret = #"a'b"c$(touch evil)`touch evil`;touch evil #\$HOME*  d'"'"'; touch evil; '"#

  @Test(
    "A secret with quotes, dollars and blanks is what the command gets, wherever it stands",
    arguments: [
      (#"printf %s @"#, "@"), (#"printf %s x@y"#, "x@y"), (#"printf %s "<@>""#, "<@>"),
      (#"printf %s '<@>'"#, "<@>"),
      (#"printf %s '@''@'"#, "@@"), (#"printf %s "it's <@>""#, "it's <@>"), (#"printf %s \"@"#, "\"@"),
      (#"printf %s \'@\'"#, "'@'"), (#"printf %s "\"@\"""#, "\"@\""), (#"printf %s '\'@"#, "\\@"),
      (#"printf %s "$(printf %s @)""#, "@"), (#"printf %s "$(printf %s '<@>')""#, "<@>"),
      (#"printf %s "<$(printf %s "<@>")>""#, "<<@>>"), (#"printf %s "$(printf %s ")")@""#, ")@"),
      (#"printf %s "`printf %s '@'`""#, "@"), ("# don't\nprintf %s @", "@"), ("printf %s don\\'t@", "don't@"),
      (#"(printf %s @)"#, "@"), (#"case x in x) printf %s @;; esac"#, "@"), (#"V=@; printf %s "$V""#, "@"),
      (##"printf %s 'x#' "#@""##, "x##@"), (#"printf %s "($(printf %s "(")@""#, "((@"),
      ("cat <<END >/dev/null; printf %s @\nEND", "@"),
    ])
  func values(command: String, expected: String) throws {
    _ = scratch.write(Self.secret + "\n", to: "secret")
    for (database, reference) in [("a.db", "${env:PW}"), ("b.db", "${file:secret}")] {
      let job = scratch.write(
        """
        tables:
          t:
            key: id
            source: |-
              exec:cd '\(scratch.path)' && { \(command.replacing("@", with: reference).replacing("\n", with: "\n      "))
              } > out; printf 'id\\n1\\n'
        """, to: "job.yaml")
      let outcome = try Command.run(
        ["mirror", scratch.file(database), job, "-v"],
        script: "PW=$(cat '\(scratch.file("secret"))'); export PW; exec \"$0\" \"$@\"")
      #expect(outcome.exitCode == 0, "\(outcome.talk)")
      let value = String(decoding: try readFile(scratch.file("out")), as: UTF8.self)
      #expect(value == expected.replacing("@", with: Self.secret))
      #expect(!FileManager.default.fileExists(atPath: scratch.file("evil")))
      #expect(!outcome.talk.contains("touch evil"), "\(outcome.talk)")
    }
  }

  private func expand(_ text: String, _ found: inout JobSecrets.Found) throws -> String {
    let place = JobPlace(file: "job.yaml", line: 1, column: 1)
    let values = ["A": "one", "B": "two", "C": "exec:run 'it"]
    return try JobSecrets(paths: JobPaths(file: "job.yaml")) { values[$0] }.expand(
      text, path: "source", place: place, noting: &found)
  }

  @Test("The text refers to variables, the same for the same value")
  func texts() throws {
    var found = JobSecrets.Found()
    let text = #"exec:a ${env:A} '${env:B}' "${env:A}" $${x} $X"#
    #expect(
      try expand(text, &found)
        == #"exec:a "${UPSURGE_SECRET_1}" ''"${UPSURGE_SECRET_2}"'' "${UPSURGE_SECRET_1}" ${x} $X"#)
    #expect(found.environment == ["UPSURGE_SECRET_1": "one", "UPSURGE_SECRET_2": "two"])
    #expect(found.shown == ["one": "${env:A}", "two": "${env:B}"])
    // A secret may be the command itself; what comes behind it is a value again.
    var whole = JobSecrets.Found()
    #expect(try expand("${env:C} ${env:A}'", &whole) == "exec:run 'it '\"${UPSURGE_SECRET_1}\"''")
    #expect(try expand("http://${env:A}/", &whole) == "http://one/")
  }

  @Test(
    "Where nothing can refer to a variable, that is an error",
    arguments: [
      (#"exec:a \${env:A}"#, "a backslash before ${env:A}", "write $${ for the text ${"),
      (
        "exec:cat <<E\n${env:A}\nE",
        "${env:A} in a here-document (<<), where it could end the quotes around it",
        "let printf write the lines: printf '%s\\n' ${env:A} | COMMAND"
      ),
    ])
  func refused(text: String, message: String, hint: String) throws {
    var found = JobSecrets.Found()
    let error = #expect(throws: UpsurgeError.self) { try expand(text, &found) }
    #expect(error?.message.hasSuffix(message) == true && error?.hint == hint, "\(error?.description ?? "")")
  }
}
