import BatchFetch
import Foundation
import HTTPTypes
import ImageCache

extension ReportLine {
  /// The line as one compact JSON object and a line feed. Unknown values are omitted. A skipped row has its old line.
  var json: [UInt8] {
    if case .skipped(let line, _) = outcome { return line + [UInt8(ascii: "\n")] }
    var text = JSONText()
    text.object { writeMembers(to: &$0) }
    text.endLine()
    return text.bytes
  }

  /// Writes the members of the line's object.
  func writeMembers(to text: inout JSONText) {
    text.member("index", index)
    if let name { text.member("name", name) }
    if let url { text.member("url", url) }
    text.member("status", status.rawValue)
    switch outcome {
    case .done(let set, let outputs): Self.write(set, outputs, to: &text)
    case .kept(_, let outputs):
      text.member("origin", Self.existing)
      Self.write(outputs, to: &text)
      text.member("attempts", 0)
    case .failed(let failure): Self.write(failure, to: &text)
    case .skipped: break
    }
    if !fallback.isEmpty {
      text.member("fallback", true)
      Self.write(fallback, to: &text)
    }
    if let manifest { text.member("manifest", manifest) }
    if let line { text.member("line", line) }
    if let again { Self.write(again, to: &text) }
  }

  private static func write(_ set: ThumbnailSet, _ outputs: [Output], to text: inout JSONText) {
    text.member("origin", set.origin.rawValue)
    write(outputs, to: &text)
    text.key("source")
    text.object { text in
      text.member("width", set.source.size.width)
      text.member("height", set.source.size.height)
      text.member("format", set.source.format.rawValue)
      text.member("bytes", set.sourceBytes)
      text.member("sha256", set.digest.description)
    }
    if let placeholder = set.placeholder { write(placeholder, to: &text) }
    if let status = set.httpStatus { text.member("http", status) }
    if let url = set.finalURL { text.member("finalURL", Redaction.url(url)) }
    write(set.redirects, to: &text)
    text.member("attempts", set.attempts)
    write(set.timings, to: &text)
    text.key("warnings")
    text.array { text in
      for warning in set.warnings { text.value(warning) }
    }
  }

  private static func write(_ placeholder: Placeholder, to text: inout JSONText) {
    text.key("placeholder")
    text.object { text in
      text.member("thumbhash", placeholder.thumbHash.base64)
      if let color = placeholder.color { text.member("color", "#\(color)") }
    }
  }

  private static func write(_ outputs: [Output], to text: inout JSONText) {
    text.key("outputs")
    text.array { text in
      for output in outputs { write(output, to: &text) }
    }
  }

  private static func write(_ output: Output, to text: inout JSONText) {
    text.object { text in
      text.member("spec", output.spec)
      if let path = output.path { text.member("path", path) }
      text.member("width", output.size.width)
      text.member("height", output.size.height)
      text.member("format", output.format.rawValue)
      text.member("bytes", output.byteCount)
    }
  }

  private static func write(_ timings: Timings, to text: inout JSONText) {
    text.key("ms")
    text.object { text in
      text.member("queued", timings.queued.wholeMilliseconds)
      text.member("download", timings.download.wholeMilliseconds)
      text.member("render", timings.render.wholeMilliseconds)
    }
  }

  private static func write(_ failure: FetchFailure, to text: inout JSONText) {
    text.member("code", failure.code.description)
    text.member("retryable", failure.code.isRetryable)
    if let status = failure.httpStatus { text.member("http", status) }
    write(failure.redirects, to: &text)
    if let time = failure.retryAt { text.member("retryAt", time.ISO8601Format()) }
    if let time = failure.rememberedSince { text.member("rememberedSince", time.ISO8601Format()) }
    text.member("attempts", failure.attempts)
    text.member("message", failure.message)
  }

  private static func write(_ redirects: [Redirect], to text: inout JSONText) {
    guard !redirects.isEmpty else { return }
    text.key("hops")
    text.array { text in
      for redirect in redirects {
        text.object { text in
          text.member("url", Redaction.url(redirect.url))
          text.member("http", redirect.response.status.code)
        }
      }
    }
  }

  private static func write(_ again: Again, to text: inout JSONText) {
    text.key("again")
    text.object { text in
      text.member("output", again.directory)
      text.member("file", again.file)
      text.member("specs", again.specs)
      if !again.mirrors.isEmpty { text.member("urls", again.mirrors) }
      if !again.fields.isEmpty { text.member("headers", again.fields) }
      if let digest = again.digest { text.member("sha256", digest.description) }
    }
  }
}

extension Duration {
  /// The duration in milliseconds, rounded to the nearest.
  var wholeMilliseconds: Int {
    let (seconds, attoseconds) = components
    return Int(seconds) * 1000 + Int((attoseconds + 500_000_000_000_000) / 1_000_000_000_000_000)
  }
}
