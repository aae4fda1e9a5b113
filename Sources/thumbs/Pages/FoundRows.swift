import BatchFetch
import Synchronization

/// The rows of a list, in which each web page is replaced by the images that were found in it.
final class FoundRows: EntrySource {
  private let list: ManifestList
  private let search: PageSearch
  private let pages: PageQueue<Void>
  /// The rows of the last page that are left. Only the thread that calls ``next()`` uses them.
  private let rows = Mutex<(rest: ArraySlice<ManifestEntry>, count: Int)>(([], 0))

  /// Finds images in the pages of `list`. `side` returns the longest side of the thumbnails of a row in pixels.
  init(_ list: ManifestList, _ search: PageSearch, side: @escaping @Sendable (RowOptions) -> Int) {
    (self.list, self.search) = (list, search)
    pages = PageQueue { list.next().map { ((), PageLookup($0, search, side: side($0.options))) } }
  }

  var expectedRows: RowTotal { search == .images ? .unknown : list.expectedRows }
  var failure: InputError? { list.failure }
  var lack: InputError? { list.lack }
  var remarks: [String] { list.remarks }

  func begin(with downloader: Downloader) { pages.begin(with: downloader) }

  func cancel() { pages.cancel() }

  func next() -> ManifestEntry? {
    while true {
      if let entry = nextOfPage() { return entry }
      guard let page = pages.next() else { return nil }
      rows.withLock { $0.rest = page.rows[...] }
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
