import BatchFetch
import ImageCache

/// The model behind a table with an icon in each row.
///
/// Loads an icon when its row becomes visible, and cancels the load when the row scrolls away first.
@MainActor final class IconTable {
  enum Icon {
    case loading(ThumbnailToken)
    case here(Thumbnail)
    case missing(FetchFailure)
  }

  let apps: [App]
  /// Called when a row has to be redrawn.
  var rowChanged: (Int) -> Void = { _ in }
  private(set) var icons: [Int: Icon] = [:]
  private let pipeline: ThumbnailPipeline

  init(_ apps: [App], pipeline: ThumbnailPipeline) {
    self.apps = apps
    self.pipeline = pipeline
  }

  /// The visible rows.
  var visibleRows = 0..<0 {
    didSet {
      for row in oldValue where !visibleRows.contains(row) { giveUp(row) }
      for row in visibleRows where icons[row] == nil { load(row) }
    }
  }

  private func load(_ row: Int) {
    let request = ThumbnailRequest(url: apps[row].icon, size: 48)
    let token = pipeline.load(request, isolation: MainActor.shared) { outcome in
      self.show(outcome, in: row)
    }
    icons[row] = .loading(token)
  }

  private func giveUp(_ row: Int) {
    guard case .loading(let token) = icons[row] else { return }
    icons[row] = nil
    token.cancel()
  }

  private func show(_ outcome: Result<ThumbnailSet, FetchFailure>, in row: Int) {
    switch outcome {
    case .success(let icon): icons[row] = .here(icon.thumbnails[0])
    case .failure(let failure) where failure.code == .cancelled: return
    case .failure(let failure): icons[row] = .missing(failure)
    }
    rowChanged(row)
  }
}
