import Glibc

/// The name of a temporary file that is being written: `.thumbs-PID-N.tmp`.
struct TemporaryName: Hashable, Sendable {
  static let prefix = ".thumbs-"

  /// The process that writes the file.
  var process: pid_t
  /// The number of the file within that process.
  var number: Int
}

extension TemporaryName: LosslessStringConvertible {
  var description: String { "\(Self.prefix)\(process)-\(number).tmp" }

  /// Parses a name; nil if it is not that of a temporary file.
  init?(_ name: String) {
    guard name.hasPrefix(Self.prefix), name.hasSuffix(".tmp") else { return nil }
    let parts = name.dropFirst(Self.prefix.count).dropLast(4).split(separator: "-")
    guard parts.count == 2, let process = pid_t(parts[0]), process > 0, let number = Int(parts[1]) else { return nil }
    (self.process, self.number) = (process, number)
    guard description == name else { return nil }
  }

  /// True if the process is running, even as another user.
  var isOwnerAlive: Bool { kill(process, 0) == 0 || errno != ESRCH }
}
