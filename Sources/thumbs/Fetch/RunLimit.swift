/// A limit of a whole run.
enum RunLimit: Hashable, Sendable {
  /// The maximum time since the start, of `--max-run-time`.
  case time(Duration)
  /// The maximum size of all downloads together, of `--max-run-bytes`.
  case bytes(ByteSize)

  /// The option that sets the limit, without its hyphens.
  var option: String {
    switch self {
    case .time: "max-run-time"
    case .bytes: "max-run-bytes"
    }
  }

  /// The reason why rows were canceled.
  var message: String { "The run reached its limit of \(self)." }
}

extension RunLimit: CustomStringConvertible {
  /// `60 s (--max-run-time)`, `1.5 GiB (--max-run-bytes)`.
  var description: String {
    switch self {
    case .time(let time): "\(Self.seconds(time)) s (--\(option))"
    case .bytes(let size): "\(size) (--\(option))"
    }
  }

  /// Returns the seconds without a fraction of zero: `60`, `0.5`.
  private static func seconds(_ time: Duration) -> String {
    let seconds = time / .seconds(1)
    return Int(exactly: seconds).map { "\($0)" } ?? "\(seconds)"
  }
}

/// The limits of a whole run.
struct RunLimits: Hashable, Sendable {
  /// The maximum time since the start; nil for no limit.
  var time: Duration?
  /// The maximum size of all downloads together; nil for no limit.
  var bytes: ByteSize?

  /// True if there are no limits.
  var isEmpty: Bool { time == nil && bytes == nil }

  /// Returns the limit that is reached after `elapsed` and `downloaded` bytes; nil if neither is reached.
  func reached(after elapsed: Duration, downloaded: Int) -> RunLimit? {
    if let time, elapsed >= time { return .time(time) }
    if let bytes, downloaded >= bytes.count { return .bytes(bytes) }
    return nil
  }
}
