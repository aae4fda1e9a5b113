import BatchFetch
import Foundation
import FoundationEssentials
import ImageCache

/// The HTML of a gallery around its cards.
///
/// The page is self-contained. Its `Content-Security-Policy` allows only local images, its own style, and the one
/// script whose hash it contains, so that a script injected through a name could not run.
struct GalleryPage: Hashable, Sendable {
  /// The title: the names of the manifests.
  var title: String
  /// The number of cards by status.
  var counts: [ReportLine.Status: Int]
  /// The progress of the run; nil on the final page.
  var progress: GalleryProgress?

  /// The HTML before the cards.
  var head: [UInt8] {
    var html = HTMLText()
    html.markup(
      """
      <!DOCTYPE html>
      <html lang=en>
      <meta charset=utf-8>
      <meta http-equiv=Content-Security-Policy
      """)
    html.attribute("content", policy)
    html.markup(
      """
      >
      <meta name=viewport content="width=device-width, initial-scale=1">
      <meta name=color-scheme content="light dark">
      <meta name=generator content=thumbs>
      <title>
      """)
    html.text(title)
    html.markup("</title>\n<style>\n")
    let style = PackageResources.gallery_css + (progress == nil ? [] : PackageResources.gallery_live_css)
    return html.bytes + style + body
  }

  /// The number of cards in one list: a multiple of every number of columns. `gallery.css` and `gallery.js` repeat it.
  static let listLength = 60
  /// The HTML between two lists.
  static let listBreak = Array("</ul><ul>\n".utf8)

  /// The HTML after the cards.
  var tail: [UInt8] {
    Array("</ul></div>\n<p id=nothing hidden>No matches.</p>\n</main>\n<dialog></dialog>\n<script>".utf8)
      + script + Array("</script>\n</html>\n".utf8)
  }

  private var body: [UInt8] {
    var html = HTMLText()
    html.markup("</style>\n<svg width=0 height=0 aria-hidden=true><symbol id=none viewBox=\"0 0 24 24\">")
    html.markup("<path d=\"M5 5l14 14M4 8v10a2 2 0 0 0 2 2h10M8 4h10a2 2 0 0 1 2 2v10M4 15l3.5-3.5 2 2\"/>")
    html.markup("</symbol></svg>\n<header>\n<h1 dir=auto>")
    html.text(title)
    html.markup("</h1>\n<input id=filter type=search placeholder=\"Filter\" aria-label=\"Filter by name, URL or")
    html.markup(" reason\" autocomplete=off spellcheck=false>\n<div class=choices role=radiogroup aria-label=Show>\n")
    choice("All", "all", progress.map { $0.total ?? $0.read } ?? counts.values.reduce(0, +), to: &html)
    for (label, status) in Self.labels {
      // While the run lasts, rows of every status may still follow.
      if let count = counts[status] ?? progress.map({ _ in 0 }) { choice(label, status.rawValue, count, to: &html) }
    }
    html.markup("</div>\n<output id=shown for=filter></output>\n</header>\n")
    return html.bytes + (progress?.html ?? []) + Array("<main>\n<div id=cards><ul>\n".utf8)
  }

  private static let labels: [(StaticString, ReportLine.Status)] = [
    ("Done", .ok), ("Failed", .failed), ("Canceled", .cancelled),
  ]

  private func choice(_ label: StaticString, _ value: String, _ count: Int, to html: inout HTMLText) {
    html.markup("<label><input type=radio name=status")
    html.attribute("value", value)
    html.markup(value == "all" ? " checked>" : ">")
    html.markup(label)
    html.markup(" <i>")
    html.text(String(count))
    html.markup("</i></label>\n")
  }

  /// The Content-Security-Policy. `'self'` does not match images next to a page opened from disk; `file:` does. While
  /// the run lasts, the page may load itself into a frame.
  private var policy: String {
    "default-src 'none'; img-src 'self' file: data:; style-src 'unsafe-inline'; script-src 'sha256-\(scriptHash)'; "
      + (progress == nil ? "" : "frame-src 'self' file:; ") + "base-uri 'none'; form-action 'none'"
  }

  private var script: [UInt8] {
    PackageResources.gallery_js + (progress == nil ? [] : PackageResources.gallery_live_js)
  }

  private var scriptHash: String {
    let digits = Array("\(BodyDigest(of: script))")
    let bytes = stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0...($0 + 1)]), radix: 16) }
    return Data(bytes).base64EncodedString()
  }
}

/// The progress of the run on a page that is not final.
struct GalleryProgress: Hashable, Sendable {
  /// The number of finished rows.
  var finished: Int
  /// The number of rows read so far.
  var read: Int
  /// The number of all rows; nil until it is known.
  var total: Int?
  /// True if the page shows only a part of the rows.
  var isPartial: Bool
  /// The time of this version of the page.
  var time: Date
  /// The shortest time until the next version.
  var interval: Duration

  /// The sentences on the page.
  var text: String {
    let rows = total.map { "\(finished) of \($0)" } ?? "\(finished)"
    let part = isPartial ? " It shows the rows that finished last." : ""
    return "Running: \(rows) rows finished. This page is not complete.\(part)"
  }

  /// The element with the sentences, and the times in milliseconds for the script.
  var html: [UInt8] {
    var html = HTMLText()
    html.markup("<p id=run")
    html.attribute("data-time", Int(time.timeIntervalSince1970 * 1000))
    html.attribute("data-interval", Int(interval / .milliseconds(1)))
    html.markup(">")
    html.text(text)
    html.markup("</p>\n")
    return html.bytes
  }
}
