import BatchFetch

/// The advice after a run with failures.
enum NextStep {
  /// Returns what to do about the failures in `summary`, as a line without a line feed; nil if there are none. `report`
  /// is the path of the report; nil if there is none, and `-` for standard output. `fallback` is the path of the image
  /// of `--fallback`, which a retry needs to replace it.
  static func advice(about summary: Summary, report: String?, fallback: String? = nil) -> String? {
    guard summary.failedCount + summary.cancelled > 0, report != "-" else { return nil }
    guard let report else {
      return "  next: add --report r.jsonl to keep the failures for thumbs report and thumbs retry"
    }
    let isWorthRetrying = summary.cancelled > 0 || summary.hasRetryableFailure
    guard isWorthRetrying else { return "  next: thumbs report failed \(quoted(report).printable)" }
    let option = fallback.map { " --fallback \(quoted($0).printable)" } ?? ""
    return "  next: thumbs retry\(option) \(quoted(report).printable)"
  }

  /// Returns `path` as a word of a shell.
  private static func quoted(_ path: String) -> String {
    let isPlain = path.utf8.allSatisfy { byte in
      Character(Unicode.Scalar(byte)).isLetter && byte < 0x80 || (0x30...0x39).contains(byte)
        || "./_-+".utf8.contains(byte)
    }
    return isPlain && !path.hasPrefix("-") ? path : "'" + path.replacing("'", with: #"'\''"#) + "'"
  }
}
