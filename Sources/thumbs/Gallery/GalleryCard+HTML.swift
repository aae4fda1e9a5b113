import ImageCache

extension GalleryCard {
  /// The card as an element of the page's list, on a line of its own.
  ///
  /// It is a link: to the picture, or to the source that gave none, so that the list is of use without its script. No
  /// scheme but http and https is ever linked to.
  var html: [UInt8] {
    var html = HTMLText()
    html.markup("<li")
    html.attribute("class", status.rawValue)
    html.markup("><a")
    html.attribute("id", "row-\(index)")
    html.attribute("href", target)
    if let url { html.attribute("data-url", url) }
    html.markup(">")
    writePicture(to: &html)
    html.markup("<span class=text><b dir=auto>")
    html.text(title)
    html.markup("</b><span class=subtitle dir=auto>")
    html.text(subtitle)
    html.markup("</span>")
    writeNote(to: &html)
    html.markup("</span></a></li>\n")
    return html.bytes
  }

  private var target: String {
    if case .picture(let picture, _) = content, !picture.address.hasPrefix("data:") { return picture.address }
    if case .placeholder = content, let url, isWeb(url) { return url }
    return "#row-\(index)"
  }

  private func isWeb(_ url: String) -> Bool {
    let url = url.prefix(8).lowercased()
    return url.hasPrefix("http://") || url.hasPrefix("https://")
  }

  /// The browser knows the size before the picture comes, and loads it when it is near the screen.
  private func writePicture(to html: inout HTMLText) {
    guard case .picture(let picture, _) = content else {
      return html.markup("<svg class=picture aria-hidden=true><use href=\"#none\"/></svg>")
    }
    html.markup("<img class=picture alt=\"\" loading=lazy decoding=async")
    html.attribute("width", picture.size.width)
    html.attribute("height", picture.size.height)
    html.attribute("src", picture.address)
    html.markup(">")
  }

  private func writeNote(to html: inout HTMLText) {
    switch content {
    case .picture(_, let facts):
      html.markup("<small>")
      html.text(facts)
    case .placeholder(let code, let reason):
      html.markup("<small")
      html.attribute("title", reason)
      html.markup("><code>")
      html.text(code)
      html.markup("</code> ")
      html.text(reason)
    }
    html.markup("</small>")
  }
}
