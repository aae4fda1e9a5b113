import Foundation

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
