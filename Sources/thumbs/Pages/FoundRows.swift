import BatchFetch
import Synchronization

/// The rows of a list, in which each web page is replaced by the images that were found in it.
final class FoundRows: EntrySource {
  private let list: ManifestList
  private let search: PageSearch
  private let side: @Sendable (RowOptions) -> Int
  private let pages = LookupQueue<Void, PageLookup>()
  /// The rows of the last page that are left. Only the thread that calls ``next()`` uses them.
  private let rows = Mutex<(rest: ArraySlice<ManifestEntry>, count: Int)>(([], 0))

  /// Finds images in the pages of `list`. `side` returns the longest side of the thumbnails of a row in pixels.
  init(_ list: ManifestList, _ search: PageSearch, side: @escaping @Sendable (RowOptions) -> Int) {
    (self.list, self.search, self.side) = (list, search, side)
  }

  var expectedRows: RowTotal { search == .images ? .unknown : list.expectedRows }
  var failure: InputError? { list.failure }
  var lack: InputError? { list.lack }
  var remarks: [String] { list.remarks }

  func begin(with downloader: Downloader) {
    pages.begin { [list, search, side] in
      list.next().map { ((), PageLookup($0, search, side: side($0.options), downloader)) }
    }
  }

  func cancel() { pages.cancel() }

  func next() -> ManifestEntry? {
    while true {
      if let entry = nextOfPage() { return entry }
      guard let page = pages.next() else { return nil }
      rows.withLock { $0.rest = page.value[...] }
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
  /// Throws if no image was found, or if the page names an object of a bucket, which only a list may choose.
  func check(_ image: String) throws(FetchFailure) {
    if let failure { throw failure }
    guard BucketFolder.isURL(image) else { return }
    throw FetchFailure(.blockedScheme, "A web page cannot choose an object of a bucket.")
  }

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
