import Foundation
import Testing

/// Figures of speed come from `Benchmarks/run report`, never by hand.
@Suite struct FigureTests {
  @Test("Each time in the README's table is one of the measured ones, rounded")
  func figures() throws {
    func text(_ name: String) throws -> String {
      try String(contentsOf: SourceTree.root.appendingPathComponent(name), encoding: .utf8)
    }
    func rounded(_ seconds: Double) -> String { String(format: "%.2f", seconds) }
    let measured = try text("Benchmarks/results/README.md").matches(of: #/\| ([0-9]+\.[0-9]{3}) \|/#)
    let known = Set(measured.compactMap { Double($0.1) }.map(rounded))
    let rows = try text("README.md").split(separator: "\n").filter { $0.hasPrefix("| ") }
    let shown = rows.flatMap { $0.matches(of: #/([0-9]+\.[0-9]{2}) s\b/#).map { String($0.1) } }
    #expect(shown.count >= 10)
    for figure in shown { #expect(known.contains(figure), "\(figure) s was not measured") }
  }
}
