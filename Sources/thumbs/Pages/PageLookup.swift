import BatchFetch
import Dispatch
import Foundation
import HTTPTypes
import ImageCache
import Synchronization

/// The search for the images of one page.
final class PageLookup: Lookup {
  private struct State {
    var token: DownloadToken?
    var isCancelled = false
    var rows: [ManifestEntry]?
  }

  /// The longest page, in bytes.
  private static let maxBytes = 8 << 20
  /// The number of bytes that decide whether a response is an image.
  private static let inspected = 64 << 10
  /// The failure of a request whose response is an image, which is not read further.
  private static let isImage = FetchFailure(FailureCode("image", isRetryable: false, contact: .reached), "An image.")
  /// Pages are parsed apart from the threads that download.
  private static let queue = DispatchQueue(label: "thumbs.pages.parsing", attributes: .concurrent)

  private let entry: ManifestEntry
  private let search: PageSearch?
  private let side: Int
  private let downloader: Downloader
  private let state = Mutex(State())
  private let done = DispatchSemaphore(value: 0)

  /// - Parameter search: The search; nil if the entry stays as it is.
  init(_ entry: ManifestEntry, _ search: PageSearch?, side: Int, _ downloader: Downloader) {
    (self.entry, self.search, self.side, self.downloader) = (entry, search, side, downloader)
  }

  func start() {
    guard let search, case .row(let row) = entry, let source = try? SourceURL(row.url),
      source.scheme.isWeb, !isImage(source)
    else { return end([entry]) }
    request(source, accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", row, downloader) {
      [self] result in
      do throws(FetchFailure) {
        found(search, in: try result.get(), row, source, downloader)
      } catch {
        end([error.code == Self.isImage.code ? entry : failed(search, row, error)])
      }
    }
  }

  /// Returns true for a URL that is requested as an image at once.
  private func isImage(_ source: SourceURL) -> Bool {
    source.pathAndQuery.prefix { $0 != "?" }.hasImageExtension
  }

  private func request(
    _ source: SourceURL, accept: String, _ row: ManifestRow, _ downloader: Downloader,
    _ body: @escaping @Sendable (Result<Download, FetchFailure>) -> Void
  ) {
    var request = DownloadRequest(source: source, priority: row.options.priority)
    for header in row.options.headers {
      if let name = HTTPField.Name(header.name) { request.headerFields[name] = header.value }
    }
    request.accept = accept
    request.inspection = { bytes throws(FetchFailure) in
      if bytes.count <= Self.inspected, Self.isBinaryImage(bytes) { throw Self.isImage }
      if bytes.count > Self.maxBytes {
        throw FetchFailure(.tooLargeBytes, "The page is larger than \(ByteSize(count: Self.maxBytes)).")
      }
      return false
    }
    let token = downloader.download(request, on: Self.queue, completion: body)
    let isCancelled = state.withLock { state in
      state.token = token
      return state.isCancelled
    }
    // The request of an app manifest may begin after the cancellation.
    if isCancelled { token.cancel() }
  }

  /// Returns true for an image, but not for a drawing in markup, which may also be the beginning of a page.
  private static func isBinaryImage(_ bytes: [UInt8]) -> Bool {
    bytes.first { $0 > 0x20 } != UInt8(ascii: "<") && SourceFormat.isImage(startingWith: bytes) == true
  }

  func cancel() {
    let token = state.withLock { state in
      state.isCancelled = true
      return state.token
    }
    token?.cancel()
  }

  /// Waits for the rows of the page.
  func value() -> [ManifestEntry] {
    done.wait()
    return state.withLock { $0.rows } ?? [entry]
  }

  private func end(_ rows: [ManifestEntry]) {
    state.withLock { $0.rows = rows }
    done.signal()
  }

  // MARK: Images

  private func found(
    _ search: PageSearch, in download: Download, _ row: ManifestRow, _ source: SourceURL, _ downloader: Downloader
  ) {
    let type = download.response.headerFields[.contentType]
    let url = (download.finalURL.flatMap { try? SourceURL($0) }) ?? source
    if SourceFormat.isImage(startingWith: download.body) == true, type?.contains("html") != true { return end([entry]) }
    let bytes = PageEncoding.utf8(download.body, contentType: type)
    if let feed = MarkupDocument(startingWith: bytes)?.feed(bytes, at: url) {
      return end(rows(search, feed.items.map { ($0.url, $0.title) }, row, url))
    }
    let page = WebPage(bytes, at: url)
    guard search == .icon else {
      let found = page.found(search, side: side).map { (page.resolved($0.url), $0.text) }
      return end(rows(search, found, row, url))
    }
    let best = page.icon(for: side)
    guard best.map({ ($0.side ?? side) < side }) ?? true, let link = page.manifest,
      let manifest = WebPage.resolve(link, against: page.base)
    else { return end(rows(search, [icon(best, page, url)], row, url)) }
    request(manifest, accept: "application/manifest+json,*/*;q=0.8", row, downloader) { [self] result in
      var all = page
      if case .success(let download) = result { all.add(AppManifest.icons(download.body, at: manifest)) }
      end(rows(search, [icon(all.icon(for: side), all, url)], row, url))
    }
  }

  /// Returns the URL of `icon`, or the one at which browsers look without any.
  private func icon(_ icon: WebPage.Icon?, _ page: WebPage, _ url: SourceURL) -> (url: String, text: String?) {
    let usual = WebPage.resolve("/favicon.ico", against: url)?.description ?? ""
    return (icon.map { page.resolved($0.url) } ?? usual, page.title)
  }

  /// Returns the rows of the images, or the failed row of a page without any.
  private func rows(
    _ search: PageSearch, _ found: [(url: String, text: String?)], _ row: ManifestRow, _ url: SourceURL
  ) -> [ManifestEntry] {
    let found = search == .images ? found : Array(found.prefix(1))
    guard !found.isEmpty else {
      return [failed(search, row, FetchFailure(.noImageFound, search.lack, httpStatus: 200))]
    }
    return found.map { image, text in
      // A page must not choose local files, whatever the command line allows.
      guard !image.lowercased().hasPrefix("file:") else {
        return failed(search, row, FetchFailure(.blockedScheme, "The page names a local file as its image."))
      }
      var row = row
      row.page = RowPage(url: url.description, search: search)
      row.url = image
      // They are those of the page.
      row.options.mirrors = []
      if row.name == nil, let text, !text.isEmpty { row.name = text }
      return .row(row)
    }
  }

  private func failed(_ search: PageSearch, _ row: ManifestRow, _ failure: FetchFailure) -> ManifestEntry {
    var row = row
    row.page = RowPage(url: row.url, search: search, failure: failure)
    return .row(row)
  }
}

extension PageSearch {
  fileprivate var lack: String {
    switch self {
    case .preview: "The page declares no image, and has none."
    case .icon: "The page has no icon."
    case .images: "The page has no images."
    }
  }
}

/// A web app manifest (W3C, "Web Application Manifest", section 1.8).
private enum AppManifest {
  /// Returns the icons of a manifest whose URL is `url`. Those with a safe zone only are left out.
  static func icons(_ bytes: [UInt8], at url: SourceURL) -> [WebPage.Icon] {
    let icons = ((try? JSONDocument.parse(bytes)) as? [String: Any])?["icons"] as? [[String: Any]] ?? []
    return icons.prefix(WebPage.maxImages).flatMap { icon -> [WebPage.Icon] in
      let purposes = (icon["purpose"] as? String ?? "any").split(separator: " ")
      guard let link = icon["src"] as? String, let source = WebPage.resolve(link, against: url),
        purposes.contains("any")
      else { return [] }
      let isDrawing = icon["type"] as? String == "image/svg+xml"
      return WebPage.sides(icon["sizes"] as? String, otherwise: 192, isDrawing: isDrawing).map {
        WebPage.Icon(url: source.description, side: $0)
      }
    }
  }
}
