import CLibFuzzer
import FuzzTargets

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

// `FUZZ_TARGET=csv Fuzz [OPTION|CORPUS]...`: libFuzzer with one of the targets. The environment names it, because
// libFuzzer starts itself anew with its own arguments when it merges corpora.

guard let name = getenv("FUZZ_TARGET"), let target = FuzzTarget(rawValue: String(cString: name)) else {
  print("FUZZ_TARGET=\(FuzzTarget.allCases.map(\.rawValue).joined(separator: "|")) Fuzz [OPTION|CORPUS]...")
  exit(64)
}
/// What the fuzzer calls knows no context; set once, before it begins.
nonisolated(unsafe) var chosen = target

var count = CommandLine.argc
var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
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
