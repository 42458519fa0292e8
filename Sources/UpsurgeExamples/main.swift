import Foundation

// `UpsurgeExamples NAME` runs one example in the current folder; without a name it lists them.

guard let name = CommandLine.arguments.dropFirst().first else {
  for example in Example.all { print(example.name) }
  exit(0)
}
guard let example = Example.all.first(where: { $0.name == name }) else {
  print("there is no example \(name)")
  exit(64)
}
try await example.start()
