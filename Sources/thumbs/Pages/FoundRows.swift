import BatchFetch
import Dispatch
import Foundation
import HTTPTypes
import ImageCache
import Synchronization

/// The rows of a list, in which each web page is replaced by the images that were found in it.
///
/// Pages are requested ahead of their rows, many at a time, by the downloader of the run: its limits and delays per
/// host, robots.txt and the rule for IP addresses hold for them, too.
final class FoundRows: EntrySource {
  private struct State {
    /// The pages whose rows have not been returned, in the order of the list.
    var pages: [PageLookup] = []
    var isAtEnd = false
    var isCancelled = false
    var downloader: Downloader?
  }

  /// The maximum number of pages that are requested ahead.
  private static let window = 64

  private let list: ManifestList
  private let search: PageSearch
  private let side: @Sendable (RowOptions) -> Int
  private let state = Mutex(State())
  /// Counts the free places of the window.
  private let room = DispatchSemaphore(value: 0)
  /// Counts the pages that can be taken, and the end.
  private let arrivals = DispatchSemaphore(value: 0)
  /// Reads the list, which may block. Another thread waits for the pages at the same time.
  private let reading = DispatchQueue(label: "thumbs.pages")
  /// The rows of the last page that are left. Only the thread that calls ``next()`` uses them.
  private let rows = Mutex<(rest: ArraySlice<ManifestEntry>, count: Int)>(([], 0))

  /// Finds images in the pages of `list`. `side` returns the longest side of the thumbnails of a row in pixels.
  init(_ list: ManifestList, _ search: PageSearch, side: @escaping @Sendable (RowOptions) -> Int) {
    (self.list, self.search, self.side) = (list, search, side)
    // A semaphore must not end with less than it began with.
    for _ in 0..<Self.window { room.signal() }
  }

  var expectedRows: RowTotal { search == .images ? .unknown : list.expectedRows }
  var failure: InputError? { list.failure }
  var lack: InputError? { list.lack }
  var remarks: [String] { list.remarks }

  func begin(with downloader: Downloader) {
    state.withLock { $0.downloader = downloader }
    reading.async { [self] in read(downloader) }
  }

  func cancel() {
    let pages = state.withLock { state in
      state.isCancelled = true
      return state.pages
    }
    for page in pages { page.cancel() }
    // The thread that reads may wait for room.
    room.signal()
  }

  private func read(_ downloader: Downloader) {
    while true {
      room.wait()
      guard !state.withLock({ $0.isCancelled }), let entry = list.next() else { break }
      let page = PageLookup(entry, search, side: side(entry.options))
      state.withLock { $0.pages.append(page) }
      page.start(downloader)
      // A cancellation between the two lines above missed this page.
      if state.withLock({ $0.isCancelled }) { page.cancel() }
      arrivals.signal()
    }
    state.withLock { $0.isAtEnd = true }
    arrivals.signal()
  }

  func next() -> ManifestEntry? {
    while true {
      if let entry = nextOfPage() { return entry }
      arrivals.wait()
      guard let page = state.withLock({ $0.pages.isEmpty ? nil : $0.pages.removeFirst() }) else {
        // Every further call ends here, too.
        arrivals.signal()
        return nil
      }
      let found = page.rows()
      room.signal()
      rows.withLock { $0.rest = found[...] }
    }
  }

  private func nextOfPage() -> ManifestEntry? {
    rows.withLock { rows in
      guard let entry = rows.rest.popFirst() else { return nil }
      defer { rows.count += 1 }
      return entry.with(index: rows.count)
    }
  }
}

/// An ordered source of the entries of a run.
protocol EntrySource: Sendable {
  /// Gives the source the means to request pages. Called once, before ``next()``. Default: does nothing.
  func begin(with downloader: Downloader)
  /// Ends requests of pages. Default: does nothing.
  func cancel()
  /// Returns the next entry; nil after the last. May block. Called by one thread at a time.
  func next() -> ManifestEntry?
  /// The number of all entries. Does not block.
  var expectedRows: RowTotal { get }
  /// The error that ended the entries early.
  var failure: InputError? { get }
  /// The error about a list without entries.
  var lack: InputError? { get }
  /// Sentences about files that are no rows.
  var remarks: [String] { get }
}

extension EntrySource {
  func begin(with downloader: Downloader) {}
  func cancel() {}
}

extension ManifestList: EntrySource {}

/// The page of a row: where its image was found.
struct RowPage: Hashable, Sendable {
  /// The URL of the page, after redirects.
  var url: String
  var search: PageSearch
  /// The reason why no image was found; nil if one was.
  var failure: FetchFailure?
}

extension RowPage {
  /// Returns the page as the `Referer` of a request for `image`. As in browsers, an insecure request does not name a
  /// secure page.
  func referer(for image: String) -> String? {
    let isDowngrade = url.hasPrefix("https:") && !image.lowercased().hasPrefix("https:")
    return isDowngrade ? nil : url
  }
}

extension FailureCode {
  /// A web page without the image that is wanted.
  static let noImageFound = FailureCode("no_image_found", isRetryable: false, contact: .reached)
}

extension ManifestEntry {
  fileprivate var options: RowOptions { if case .row(let row) = self { row.options } else { RowOptions() } }

  fileprivate func with(index: Int) -> ManifestEntry {
    switch self {
    case .row(var row):
      row.index = index
      return .row(row)
    case .bad(var row):
      row.index = index
      return .bad(row)
    }
  }
}

/// The search for the images of one page.
private final class PageLookup: Sendable {
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
  /// The extensions of URLs that are requested as images at once.
  private static let extensions: Set = [
    "jpg", "jpeg", "png", "gif", "webp", "avif", "heic", "bmp", "ico", "svg", "jxl",
  ]
  /// Pages are parsed apart from the threads that download.
  private static let queue = DispatchQueue(label: "thumbs.pages.parsing", attributes: .concurrent)

  private let entry: ManifestEntry
  private let search: PageSearch
  private let side: Int
  private let state = Mutex(State())
  private let done = DispatchSemaphore(value: 0)

  init(_ entry: ManifestEntry, _ search: PageSearch, side: Int) {
    (self.entry, self.search, self.side) = (entry, search, side)
  }

  func start(_ downloader: Downloader) {
    guard case .row(let row) = entry, let source = try? SourceURL(row.url), [.http, .https].contains(source.scheme),
      !isImage(source)
    else { return end([entry]) }
    request(source, accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", row, downloader) {
      [self] result in
      do throws(FetchFailure) {
        found(try result.get(), row, source, downloader)
      } catch {
        end([error.code == Self.isImage.code ? entry : failed(row, error)])
      }
    }
  }

  private func isImage(_ source: SourceURL) -> Bool {
    let path = source.pathAndQuery.prefix { $0 != "?" }
    return Self.extensions.contains(path.split(separator: ".").last?.lowercased() ?? "")
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
  func rows() -> [ManifestEntry] {
    done.wait()
    return state.withLock { $0.rows } ?? [entry]
  }

  private func end(_ rows: [ManifestEntry]) {
    state.withLock { $0.rows = rows }
    done.signal()
  }

  // MARK: Images

  private func found(_ download: Download, _ row: ManifestRow, _ source: SourceURL, _ downloader: Downloader) {
    let type = download.response.headerFields[.contentType]
    let url = (download.finalURL.flatMap { try? SourceURL($0) }) ?? source
    if SourceFormat.isImage(startingWith: download.body) == true, type?.contains("html") != true { return end([entry]) }
    let bytes = PageEncoding.utf8(download.body, contentType: type)
    if let feed = MarkupDocument(startingWith: bytes)?.feed(bytes, at: url) {
      return end(rows(feed.items.map { ($0.url, $0.title) }, row, url))
    }
    let page = WebPage(bytes, at: url)
    guard search == .icon else {
      return end(rows(page.found(search, side: side).map { (page.resolved($0.url), $0.text) }, row, url))
    }
    let best = page.icon(for: side)
    guard best.map({ ($0.side ?? side) < side }) ?? true, let link = page.manifest,
      let manifest = WebPage.resolve(link, against: page.base)
    else { return end(rows([icon(best, page, url)], row, url)) }
    request(manifest, accept: "application/manifest+json,*/*;q=0.8", row, downloader) { [self] result in
      var all = page
      if case .success(let download) = result { all.add(AppManifest.icons(download.body, at: manifest)) }
      end(rows([icon(all.icon(for: side), all, url)], row, url))
    }
  }

  /// Returns the URL of `icon`, or the one at which browsers look without any.
  private func icon(_ icon: WebPage.Icon?, _ page: WebPage, _ url: SourceURL) -> (url: String, text: String?) {
    let usual = WebPage.resolve("/favicon.ico", against: url)?.description ?? ""
    return (icon.map { page.resolved($0.url) } ?? usual, page.title)
  }

  /// Returns the rows of the images, or the failed row of a page without any.
  private func rows(_ found: [(url: String, text: String?)], _ row: ManifestRow, _ url: SourceURL) -> [ManifestEntry] {
    let found = search == .images ? found : Array(found.prefix(1))
    guard !found.isEmpty else { return [failed(row, FetchFailure(.noImageFound, search.lack, httpStatus: 200))] }
    return found.map { image, text in
      // A page must not choose local files, whatever the command line allows.
      guard !image.lowercased().hasPrefix("file:") else {
        return failed(row, FetchFailure(.blockedScheme, "The page names a local file as its image."))
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

  private func failed(_ row: ManifestRow, _ failure: FetchFailure) -> ManifestEntry {
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

/// The kind of a document that begins with `<`.
enum MarkupDocument: Hashable, Sendable {
  case page
  case feed(Feed.Kind)
  case other

  /// Recognizes a document by its first tag or its document type; nil if more bytes decide.
  init?(startingWith bytes: some Collection<UInt8>) {
    let start = Array(bytes.prefix(64 << 10))
    let text = String(decoding: start.prefix(256), as: UTF8.self).lowercased()
    if text.drop(while: { $0.isWhitespace || $0 == "\u{FEFF}" }).hasPrefix("<!doctype html") {
      self = .page
      return
    }
    var tokenizer = MarkupTokenizer(start, .xml)
    while let token = tokenizer.next() {
      switch token {
      case .text(let text) where text.allSatisfy({ $0.isWhitespace || $0 == "\u{FEFF}" }): continue
      case .tag(let tag) where !tag.isEnd:
        let isPage = ["html", "head", "body", "div", "img", "p", "meta", "title"].contains(tag.name.lowercased())
        self = Feed.Kind(root: tag.name).map(Self.feed) ?? (isPage ? .page : .other)
      default: self = .other
      }
      return
    }
    return nil
  }

  /// Returns the feed or sitemap in `bytes`; nil for any other document.
  fileprivate func feed(_ bytes: [UInt8], at url: SourceURL) -> Feed? {
    guard case .feed = self else { return nil }
    return Feed(bytes, at: url)
  }
}
