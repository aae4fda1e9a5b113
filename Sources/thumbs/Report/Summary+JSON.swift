import ArgumentParser
import BatchFetch

extension Summary {
  /// Returns the summary of a run as one JSON object and a line feed.
  ///
  /// All members are always present. Times are in milliseconds, lengths in bytes, and lists are sorted in descending
  /// order:
  ///
  ///     {"version": 1, "exit": 75, "complete": true, "limit": null, "elapsed": 1250,
  ///      "items": {"total": 7, "ok": 2, "failed": 4, "cancelled": 1, "skipped": 0},
  ///      "files": {"written": 1, "unchanged": 1},
  ///      "bytes": {"downloaded": 288666, "saved": 9120}, "remoteCache": null,
  ///      "origins": [{"origin": "network", "items": 2}],
  ///      "failures": [{"code": "http_404", "items": 2, "retryable": false}],
  ///      "hosts": {"count": 2, "unlistedItems": 0,
  ///       "slowest": [{"host": "a.example", "downloads": 2, "mean": 310, "items": 4, "failed": 2}],
  ///       "failing": [{"host": "a.example", "downloads": 2, "mean": 310, "items": 4, "failed": 2}]}}
  ///
  /// `exit` is the exit status of the process. `complete` is true if every row of the manifests is counted. `limit`
  /// is the limit that ended the run, `max-run-time` or `max-run-bytes`, or else null. `saved` is the total length of
  /// the images that came from the cache. `remoteCache` is null without a remote cache. `mean` is the mean time of
  /// the downloads. `unlistedItems` counts the rows of hosts beyond the first ``HostTally/limit``. `version` changes
  /// when a member changes its meaning or is removed, not when one is added.
  func json(
    _ ending: RunEnding, _ coverage: Coverage, after elapsed: Duration, downloaded: ByteSize,
    remote: RemoteCacheCounters? = nil
  ) -> [UInt8] {
    var text = JSONText()
    text.object { text in
      text.member("version", 1)
      text.member("exit", Int(ending.exitCode.rawValue))
      text.member("complete", coverage == .complete)
      text.member("limit", orNull: ending.limit?.option)
      text.member("elapsed", elapsed.wholeMilliseconds)
      text.members(
        "items",
        [
          ("total", total), ("ok", doneCount), ("failed", failedCount), ("cancelled", cancelled), ("skipped", skipped),
        ])
      text.members("files", [("written", writtenFiles), ("unchanged", unchangedFiles)])
      text.members("bytes", [("downloaded", downloaded.count), ("saved", savedBytes)])
      if let remote { remote.write(to: &text) } else { text.member("remoteCache", orNull: nil) }
      writeCauses(to: &text)
      hosts.write(to: &text)
    }
    text.endLine()
    return text.bytes
  }

  private func writeCauses(to text: inout JSONText) {
    text.objects("origins", origins.sorted { ($1.count, $0.name) < ($0.count, $1.name) }) { origin, text in
      text.member("origin", origin.name)
      text.member("items", origin.count)
    }
    let failures = failed.sorted { ($1.value, "\($0.key)") < ($0.value, "\($1.key)") }
    text.objects("failures", failures) { failure, text in
      text.member("code", "\(failure.key)")
      text.member("items", failure.value)
      text.member("retryable", failure.key.isRetryable)
    }
  }
}

extension JSONText {
  /// Writes a member whose value is an object of numbers.
  mutating func members(_ key: StaticString, _ numbers: [(StaticString, Int)]) {
    self.key(key)
    object { text in
      for (key, number) in numbers { text.member(key, number) }
    }
  }

  /// Writes a member whose value is an array of objects.
  mutating func objects<Element>(
    _ key: StaticString, _ elements: [Element], _ body: (Element, inout JSONText) -> Void
  ) {
    self.key(key)
    array { text in
      for element in elements { text.object { body(element, &$0) } }
    }
  }
}
