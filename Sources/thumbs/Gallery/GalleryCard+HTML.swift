import ImageCache

extension GalleryCard {
  /// The card as an item of the page's list, on one line.
  ///
  /// Each card is a link to its thumbnail, or to the source if there is no thumbnail, so that the list is useful
  /// without the script. Only `http` and `https` URLs from a manifest are linked.
  var html: [UInt8] {
    var html = HTMLText()
    html.markup("<li")
    html.attribute("class", status?.rawValue ?? "waiting")
    html.markup("><a")
    html.attribute("id", "row-\(index)")
    html.attribute("href", target)
    if let url { html.attribute("data-url", url) }
    html.markup(">")
    writeImage(to: &html)
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
    let itself = "#row-\(index)"
    switch content {
    case .image(let image, _): return image.url.hasPrefix("data:") ? itself : image.url
    case .placeholder, .waiting: return url.flatMap { isWeb($0) ? $0 : nil } ?? itself
    }
  }

  private func isWeb(_ url: String) -> Bool {
    let url = url.prefix(8).lowercased()
    return url.hasPrefix("http://") || url.hasPrefix("https://")
  }

  /// Writes the `img` element, with its size so that the layout is known before the image loads, or the placeholder.
  /// The browser loads an image only when it is near the screen.
  private func writeImage(to html: inout HTMLText) {
    guard case .image(let image, _) = content else {
      return html.markup("<svg class=image aria-hidden=true><use href=\"#none\"/></svg>")
    }
    html.markup("<img class=image alt=\"\" loading=lazy decoding=async")
    html.attribute("width", image.size.width)
    html.attribute("height", image.size.height)
    if let blur = image.blur { html.attribute("style", "background-image:url(\(blur))") }
    html.attribute("src", image.url)
    html.markup(">")
  }

  private func writeNote(to html: inout HTMLText) {
    switch content {
    case .image(_, let facts):
      html.markup("<small>")
      html.text(facts)
    case .placeholder(let code, let reason):
      html.markup("<small")
      html.attribute("title", reason)
      html.markup("><code>")
      html.text(code)
      html.markup("</code> ")
      html.text(reason)
    case .waiting:
      html.markup("<small>Waiting")
    }
    html.markup("</small>")
  }
}
