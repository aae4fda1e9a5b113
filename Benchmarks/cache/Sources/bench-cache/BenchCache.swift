import Foundation

/// The command line: `bench-cache memory | ratio | disk DIR | fill DIR COUNT | large DIR COUNT`. See `run.sh`.
@main
enum BenchCache {
  static func main() throws {
    let arguments = CommandLine.arguments.dropFirst() + ["", "", ""]
    let (part, directory, count) = (arguments[1], arguments[2], Int(arguments[3]) ?? 1_000_000)
    switch part {
    case "memory": MemoryBenchmark.run()
    case "ratio": RatioBenchmark.run()
    case "disk": try DiskBenchmark(directory: directory).run()
    case "fill": LargeBenchmark(directory: directory, count: count).fill()
    case "large": try LargeBenchmark(directory: directory, count: count).look()
    default: FileHandle.standardError.write(Data("bench-cache memory|ratio|disk|fill|large\n".utf8))
    }
  }
}

/// Returns the time that `body` takes in seconds.
func seconds(_ body: () throws -> Void) rethrows -> Double {
  let duration = try ContinuousClock().measure(body)
  return Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
}

/// Prints one line of results: `name  value unit   note`.
func report(_ name: String, _ value: Double, _ unit: String, _ note: String = "") {
  let name = name.padding(toLength: 34, withPad: " ", startingAt: 0)
  print("  \(name)\(String(format: "%12.2f", value)) \(unit)\(note.isEmpty ? "" : "   \(note)")")
}

/// Compares a result with its goal.
func goal(_ ratio: Double, atLeast goal: Double) -> String {
  String(format: "%.2f times its peer, goal %.2f: %@", ratio, goal, ratio >= goal ? "reached" : "MISSED")
}

func goal(_ value: Double, atMost goal: Double) -> String {
  String(format: "goal at most %g: %@", goal, value <= goal ? "reached" : "MISSED")
}

/// A random number generator with the same sequence in every run (SplitMix64 by Steele, Lea and Flood).
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var word = state
    word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
    word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
    return word ^ (word >> 31)
  }
}
