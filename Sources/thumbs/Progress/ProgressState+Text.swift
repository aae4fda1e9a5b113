extension ProgressState {
  /// The live line, of fewer than `width` columns: a bar where there is room, and what matters most of the rest.
  func line(width: Int, at time: Duration) -> String {
    let room = width - 1
    guard room > 0 else { return "" }
    var parts = [count]
    // In the order of importance; the order on the line is the same.
    for part in details(at: time) where (parts + [part]).joined(separator: "  ").count <= room { parts.append(part) }
    let text = String(parts.joined(separator: "  ").prefix(room))
    let barWidth = min(40, room - text.count - 1)
    return barWidth < 12 ? text : bar(width: barWidth) + " " + text
  }

  /// The line for a log: `512/1000 items, 3 failed, ETA 0:12, 1.2 MiB/s`.
  func plainLine(at time: Duration) -> String {
    (["\(count) items"] + details(at: time)).joined(separator: ", ")
  }

  /// The line for a program: counts, `bytes` downloaded, `seconds` since the start, `itemsPerSecond`, and `secondsLeft`.
  func jsonLine(at time: Duration) -> String {
    var json = JSONText(capacity: 128)
    json.object { json in
      json.member("finished", finished)
      if let total { json.member("total", total) }
      json.member("failed", failed)
      json.member("bytes", bytes)
      json.member("milliseconds", time.wholeMilliseconds)
      json.member("itemsPerSecond", Int(perSecond(at: time).items.rounded()))
      if let left = secondsLeft(at: time) { json.member("secondsLeft", left) }
    }
    return String(decoding: json.bytes, as: UTF8.self)
  }

  private var count: String { total.map { "\(finished)/\($0)" } ?? "\(finished)" }

  private func details(at time: Duration) -> [String] {
    var parts: [String] = []
    if failed > 0 { parts.append("\(failed) failed") }
    if let left = secondsLeft(at: time) { parts.append("ETA \(Self.clock(left))") }
    let speed = perSecond(at: time).bytes
    if speed >= 1 { parts.append("\(ByteSize(count: Int(speed)))/s") }
    return parts
  }

  /// `[====>    ]`; without a total, there is nothing to fill.
  private func bar(width: Int) -> String {
    let inner = width - 2
    guard let total, total > 0 else { return "[" + String(repeating: "-", count: inner) + "]" }
    let filled = min(inner, inner * finished / total)
    let head = filled < inner ? ">" : ""
    let tail = String(repeating: " ", count: inner - filled - head.count)
    return "[" + String(repeating: "=", count: filled) + head + tail + "]"
  }

  /// `0:12`, `1:02:03`.
  private static func clock(_ seconds: Int) -> String {
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
    return hours > 0 ? "\(hours):\(two(minutes)):\(two(seconds % 60))" : "\(minutes):\(two(seconds % 60))"
  }
}
