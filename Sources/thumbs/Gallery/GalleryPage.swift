import BatchFetch
import Foundation
import FoundationEssentials
import ImageCache

/// The HTML of a gallery around its rows, which are data for its script.
///
/// The page is self-contained. Its `Content-Security-Policy` allows only local images, its own style, and the one
/// script whose hash it contains, so that a script injected through a name could not run.
struct GalleryPage: Hashable, Sendable {
  /// The title: the names of the manifests.
  var title: String
  /// The number of cards by status.
  var counts: [ReportLine.Status: Int]
  /// The time of the run.
  var date: Date
  /// The progress of the run; nil on the final page.
  var progress: GalleryProgress?

  /// The HTML before the rows.
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

  /// The text between two rows.
  static let separator = Array(",\n".utf8)

  /// The HTML after the rows.
  var tail: [UInt8] { Array("\n]</script>\n<script>".utf8) + script + Array("</script>\n</html>\n".utf8) }

  private var body: [UInt8] {
    var html = HTMLText()
    html.markup("</style>\n<header>\n<div class=title><h1 dir=auto>")
    html.text(title)
    html.markup("</h1><p><time")
    html.attribute("datetime", date.formatted(.iso8601))
    html.markup(">")
    html.text(date.formatted(.iso8601))
    html.markup("</time></p></div>\n<form id=controls name=controls>\n")
    html.markup("<input id=filter type=search placeholder=\"Filter\" aria-label=\"Filter by name, URL or reason\"")
    html.markup(" autocomplete=off spellcheck=false>\n<div class=choices role=radiogroup aria-label=Show>\n")
    writeChoices(to: &html)
    html.markup("</div>\n<div class=choices role=radiogroup aria-label=View>\n")
    html.markup("<label><input type=radio name=layout value=grid checked>Grid</label>\n")
    html.markup("<label><input type=radio name=layout value=table>Table</label>\n</div>\n")
    html.markup("<label>Size <input type=range name=side min=48 max=512 step=8></label>\n")
    html.markup("<label>Sort <select name=sort><option value=list>by list<option value=name>by name")
    html.markup("<option value=time>slowest first<option value=size>largest first<option value=host>by host")
    html.markup("</select></label>\n<label><input type=checkbox name=group>Group by host</label>\n")
    html.markup("<output id=shown for=filter></output>\n</form>\n</header>\n")
    return html.bytes + Array("<main>\n".utf8) + (progress?.html ?? []) + Self.main
  }

  /// The HTML from the view to the beginning of the rows.
  private static let main = Array(
    """
    <div id=view role=list aria-label=Images>\
    <div id=heads role=row aria-rowindex=1 hidden><span role=columnheader>Image</span>\
    <span role=columnheader>Name</span><span role=columnheader>Remark</span>\
    <span role=columnheader>Details</span><span role=columnheader>Source</span>\
    <span role=columnheader>From</span></div></div>
    <p id=nothing hidden>No matches.</p>
    <noscript><p>This page needs its own script, which is switched off. The report has the same rows.</p></noscript>
    </main>
    <dialog aria-labelledby=large><form method=dialog><h2 id=large dir=auto></h2>\
    <button type=button name=previous aria-label="Previous image">←</button>\
    <button type=button name=next aria-label="Next image">→</button>\
    <button name=close aria-label=Close>✕</button></form>
    <figure></figure><dl></dl></dialog>
    <script type=application/json id=rows>[

    """.utf8)

  private func writeChoices(to html: inout HTMLText) {
    let all = progress.map { $0.total ?? $0.read } ?? counts.values.reduce(0, +)
    choice("All", "all", all, to: &html)
    for (label, status) in Self.labels {
      // While the run lasts, rows of every status may still follow.
      if let count = counts[status] ?? progress.map({ _ in 0 }) { choice(label, status.rawValue, count, to: &html) }
    }
    if let progress { choice("Waiting", "waiting", max(0, all - progress.finished), to: &html) }
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
    html.text(count.grouped)
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
    let rows = total.map { "\(finished.grouped) of \($0.grouped)" } ?? finished.grouped
    let part = isPartial ? " It shows the rows that finished last." : ""
    return "Running: \(rows) rows finished. This page is not complete.\(part)"
  }

  /// The element with the sentences, and the times in milliseconds for the script.
  var html: [UInt8] {
    var html = HTMLText()
    html.markup("<p id=run role=status")
    html.attribute("data-time", Int(time.timeIntervalSince1970 * 1000))
    html.attribute("data-interval", Int(interval / .milliseconds(1)))
    html.markup(">")
    html.text(text)
    html.markup("</p>\n")
    return html.bytes
  }
}
