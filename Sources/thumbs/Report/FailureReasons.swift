import BatchFetch
import FoundationEssentials
import Glibc

/// The commonest causes of the failures of a run, with an example of each and a remedy. Bounded, however many rows and
/// codes there are.
struct FailureReasons: Hashable, Sendable {
  private struct Example: Hashable {
    var place: String
    var message: String
  }

  /// The maximum number of codes with an example. Those that `thumbs` writes are fewer.
  private static let codes = 200
  /// The maximum number of lines.
  private static let shown = 10
  /// The longest URL that is shown whole, in characters.
  private static let longestURL = 100

  private var examples: [String: Example] = [:]

  /// Keeps `line` as the example of its code if it is the first one.
  mutating func note(_ line: ReportLine) {
    guard case .failed(let failure) = line.outcome, line.status == .failed else { return }
    let code = "\(failure.code)"
    guard examples[code] == nil, examples.count < Self.codes else { return }
    examples[code] = Example(place: Self.shortened(line.url ?? line.name ?? ""), message: Self.message(of: failure))
  }

  /// Returns the message, with the time from which it is remembered as a clock shows it.
  private static func message(of failure: FetchFailure) -> String {
    guard let time = failure.rememberedSince, let end = failure.message.firstRange(of: " Remembered from ") else {
      return failure.message
    }
    return failure.message[..<end.lowerBound] + " (remembered from \(time.clockTime), no request)"
  }

  /// Returns the lines about the failures of `totals`, the commonest first.
  func lines(_ totals: Totals) -> [String] {
    let codes = totals.failures.sorted { ($1.value.rows, $0.key) < ($0.value.rows, $1.key) }.map(\.key)
    let parts = codes.map { code in
      // The reasons of bad rows have been shown with their places in the list.
      let reason = code == "\(FailureCode.badRow)" ? nil : examples[code].map { "    \(code): \(text(of: $0))" }
      return [reason, remedy(for: code).map { "      \($0)" }].compactMap { $0 }
    }
    var lines: [String] = []
    for part in parts where lines.count + part.count <= Self.shown { lines += part }
    return lines
  }

  private func text(of example: Example) -> String {
    let isNamed = example.place.isEmpty || example.message.contains(example.place)
    return isNamed ? example.message : "\(example.place): \(example.message)"
  }

  private static func shortened(_ url: String) -> String {
    url.count > longestURL ? url.prefix(longestURL) + "…" : url
  }

  /// Returns the sentence that says what to do about failures with `code`; nil if their message says it, or if nothing
  /// helps.
  private func remedy(for code: String) -> String? {
    guard let example = examples[code] else { return nil }
    return BucketFolder.isURL(example.place)
      ? remedy(forObject: example.place, code) : remedy(for: code, example.message)
  }

  private func remedy(forObject url: String, _ code: String) -> String? {
    switch code {
    case "http_404" where !url.hasImageExtension: "s3://bucket/folder/, with a slash, stands for all images below it."
    case "http_403": "AWS_PROFILE or AWS_ACCESS_KEY_ID chooses another key."
    default: nil
    }
  }

  private func remedy(for code: String, _ message: String) -> String? {
    switch code {
    case "bad_url" where message.contains("not absolute"):
      return "--base URL resolves relative URLs; --allow-file takes them as files next to the list."
    case "blocked_scheme" where message.contains("local files"): return "--allow-file lets lists name local files."
    case "bad_row" where message.contains("no URL"): return "--url-column KEY names the column of the URL."
    case "not_an_image" where message.contains("page"):
      return "--find preview, icon or images takes the images of a web page."
    case "too_large_bytes" where !message.contains("page"): return "--max-bytes SIZE raises the limit."
    case "too_many_pixels": return "--max-pixels N raises the limit."
    case "decode_limit": return "--decode-timeout SECONDS raises the limit of time."
    case "tls": return "--cacert FILE adds certificate authorities; --insecure-host HOST trusts a host without them."
    case "http_401": return "--netrc or --header-env sends credentials."
    case "http_403": return "Some hosts demand a Referer or another User-Agent; -H 'Referer: URL' sends it."
    case "http_429": return "--rate 1/s sends fewer requests."
    case "timeout_connect", "timeout_first_byte", "timeout_total": return "--max-time SECONDS raises the limit."
    default: return nil
    }
  }
}

extension Date {
  /// The time of day here, such as `12:01`, with the date if that is not today.
  fileprivate var clockTime: String {
    let (time, now) = (local, Date().local)
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let clock = "\(two(time.tm_hour)):\(two(time.tm_min))"
    if time.tm_yday == now.tm_yday, time.tm_year == now.tm_year { return clock }
    return "\(time.tm_year + 1900)-\(two(time.tm_mon + 1))-\(two(time.tm_mday)) \(clock)"
  }

  /// The time in the zone of this machine.
  private var local: tm {
    var (seconds, parts) = (time_t(timeIntervalSince1970), tm())
    localtime_r(&seconds, &parts)
    return parts
  }
}
