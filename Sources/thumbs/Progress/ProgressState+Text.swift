extension ProgressState {
  /// A part of the line. ASCII only, so each character takes one column.
  private struct Part {
    var text: String
    var tint: ProgressStyle.Tint?
  }

  /// Returns the live line, shorter than `width` columns: a bar if there is room, the counts, and the details that fit.
  func line(width: Int, at time: Duration, style: ProgressStyle = .plain) -> String {
    let room = width - 1
    guard room > 0 else { return "" }
    var parts = [Part(text: String(count.prefix(room)))]
    var length = parts[0].text.count
    // Details are sorted by importance, both for dropping them and on the line.
    for part in details(at: time) where length + 2 + part.text.count <= room {
      parts.append(part)
      length += 2 + part.text.count
    }
    let text = parts.map { style.text($0.text, $0.tint) }.joined(separator: "  ")
    let barWidth = min(40, room - length - 1)
    return barWidth < 12 ? text : bar(width: barWidth) + " " + text
  }

  /// Returns the line for logs: `512 of 1,000 items, 3 failed, ETA 0:12, 1.2 MiB/s`, or `512 items, ~12 %, …` if the
  /// total is an estimate.
  func plainLine(at time: Duration) -> String {
    (["\(count) items"] + details(at: time).map(\.text)).joined(separator: ", ")
  }

  /// Returns the line for programs, a JSON object: `finished` and `total` rows (before `total` is known,
  /// `estimatedTotal`, if there is an estimate), the `failed` rows among the finished, `bytes` downloaded,
  /// `milliseconds` since the start, `itemsPerSecond` over the last ten seconds, `secondsLeft` if known, and in `slow`
  /// the `host` and `seconds` of the longest-running row, once it has run for three seconds.
  func jsonLine(at time: Duration) -> String {
    var json = JSONText(capacity: 128)
    json.object { json in
      json.member("finished", finished)
      switch total {
      case .unknown: break
      case .about(let count): json.member("estimatedTotal", count)
      case .exactly(let count): json.member("total", count)
      }
      json.member("failed", failed)
      json.member("bytes", bytes)
      json.member("milliseconds", time.wholeMilliseconds)
      json.member("itemsPerSecond", Int(perSecond(at: time).items.rounded()))
      if let left = secondsLeft(at: time) { json.member("secondsLeft", left) }
      if let slow = slowest(at: time) {
        json.key("slow")
        json.object { json in
          json.member("host", slow.host)
          json.member("seconds", slow.seconds)
        }
      }
    }
    return String(decoding: json.bytes, as: UTF8.self)
  }

  private var count: String {
    guard case .exactly(let total) = total else { return finished.grouped }
    return "\(finished.grouped) of \(total.grouped)"
  }

  private func details(at time: Duration) -> [Part] {
    var parts: [Part] = []
    // An estimate may turn out too low, so it never shows the end.
    if case .about(let total) = total {
      parts.append(Part(text: "~\(min(99, Int(100 * Double(finished) / Double(max(1, total))))) %"))
    }
    if failed > 0 { parts.append(Part(text: "\(failed) failed", tint: .bad)) }
    if let left = secondsLeft(at: time) { parts.append(Part(text: "ETA \(Self.clock(left))")) }
    let speed = perSecond(at: time).bytes
    if speed >= 1 { parts.append(Part(text: "\(ByteSize(count: Int(speed)))/s")) }
    if let slow = slowest(at: time) {
      parts.append(Part(text: "\(slow.host) slow: \(Self.clock(slow.seconds))", tint: .slow))
    }
    return parts
  }

  /// Returns `[====>    ]`; `[---------]` if the total is unknown.
  private func bar(width: Int) -> String {
    let inner = width - 2
    guard let total = total.count, total > 0 else { return "[" + String(repeating: "-", count: inner) + "]" }
    let filled = min(inner, Int(Double(inner) * Double(finished) / Double(total)))
    let head = filled < inner ? ">" : ""
    let tail = String(repeating: " ", count: inner - filled - head.count)
    return "[" + String(repeating: "=", count: filled) + head + tail + "]"
  }

  /// Formats seconds as `0:12` or `1:02:03`.
  private static func clock(_ seconds: Int) -> String {
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
    return hours > 0 ? "\(hours):\(two(minutes)):\(two(seconds % 60))" : "\(minutes):\(two(seconds % 60))"
  }
}
