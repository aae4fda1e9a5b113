import Foundation

/// Returns the number in an environment variable, or nil if it has none. The long runs of tests set such variables.
public func environmentNumber(_ name: String) -> Int? {
  ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
}
