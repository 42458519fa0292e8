import ArgumentParser

/// `upsurge pages`, which no help names: prints the pages that are made of the catalogue. `.ci/generate` writes them to files.
struct PagesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pages", abstract: "Print a page that is made of the catalogue of options.", shouldDisplay: false)

  @Argument(help: "The page: upsurge-load.1, CommandLine.md. Without it, the names of all pages.")
  var name: String?

  func run() throws {
    let pages = Self.pages
    if let name {
      guard let page = pages.first(where: { $0.name == name }) else {
        throw ValidationError("there is no page \(name); known: \(pages.map(\.name).joined(separator: ", "))")
      }
      StandardOutput.print(page.text(), terminator: "")
    } else {
      for page in pages { StandardOutput.print(page.name) }
    }
    if !StandardOutput.finish() { throw ExitCode(73) }
  }

  /// All pages: of each command a man page, and those of the manual.
  static var pages: [(name: String, text: () -> String)] {
    let manPages = ([CommandGuide.root] + CommandGuide.commands).map { guide in
      ("\(guide.pageName).1", { ManPage(guide: guide, defaults: Root.defaults(of: guide)).text })
    }
    return manPages + [
      ("CommandLine.md", { CommandLinePage(defaults: Root.defaults).text }),
      ("JobFileKeys.md", { JobFileKeysPage(defaults: Root.defaults(of: .mirror)).text }),
    ]
  }
}
