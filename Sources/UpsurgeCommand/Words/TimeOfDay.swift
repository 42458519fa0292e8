import ArgumentParser

/// A time of the day in hours and minutes.
struct TimeOfDay: ExpressibleByArgument, Equatable {
  var hour: Int
  var minute: Int

  /// When little else goes on: after midnight, and not with all the jobs of full hours.
  static let night = TimeOfDay(hour: 3, minute: 15)

  init(hour: Int, minute: Int) {
    (self.hour, self.minute) = (hour, minute)
  }

  init?(argument: String) {
    let parts = argument.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
      (1...2).contains(parts[0].utf8.count), parts[1].utf8.count == 2, let hour = Int(parts[0]),
      let minute = Int(parts[1]), hour < 24, minute < 60
    else { return nil }
    self.init(hour: hour, minute: minute)
  }

  /// `03:05`
  var text: String { "\(hour < 10 ? "0" : "")\(hour):\(minute < 10 ? "0" : "")\(minute)" }
}
