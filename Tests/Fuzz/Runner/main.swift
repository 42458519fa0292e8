import CLibFuzzer
import FuzzTargets

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

// `Fuzz TARGET [OPTION|CORPUS]...`: libFuzzer with one of the targets.

guard CommandLine.argc > 1, let target = FuzzTarget(rawValue: CommandLine.arguments[1]) else {
  print("usage: Fuzz \(FuzzTarget.allCases.map(\.rawValue).joined(separator: "|")) [OPTION|CORPUS]...")
  exit(64)
}
/// What the fuzzer calls knows no context; set once, before it begins.
nonisolated(unsafe) var chosen = target

// The fuzzer sees its own name and what follows the target's.
var count = CommandLine.argc - 1
var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv + 1
CommandLine.unsafeArgv[1] = CommandLine.unsafeArgv[0]
exit(
  LLVMFuzzerRunDriver(&count, &arguments) { data, byteCount in
    do {
      try chosen.run(Array(UnsafeBufferPointer(start: data, count: byteCount)))
    } catch {
      print("FINDING \(chosen.rawValue): \(error)")
      fflush(nil)
      abort()
    }
    return 0
  })
