import BatchFetch

/// The model of a table that scrolls.
///
/// The icons of visible rows have high priority, and those of the rows one page before and after them have low
/// priority. The loads of all other rows are canceled.
@MainActor final class IconList {
  private(set) var rows: [IconRow]
  private(set) var visibleRows = 0..<0
  /// Called when the text of a row has changed.
  var rowChanged: (Int) -> Void = { _ in }
  private var tokens: [Int: ThumbnailToken] = [:]
  private let pipeline: ThumbnailPipeline

  init(_ rows: [IconRow], pipeline: ThumbnailPipeline) {
    self.rows = rows
    self.pipeline = pipeline
  }

  /// Scrolls to these rows.
  func show(_ visibleRows: Range<Int>) {
    self.visibleRows = visibleRows
    let page = visibleRows.count
    let nearRows = (visibleRows.lowerBound - page..<visibleRows.upperBound + page).clamped(to: rows.indices)
    for row in tokens.keys where !nearRows.contains(row) { cancel(row) }
    for row in visibleRows { load(row, .high) }
    for row in nearRows where !visibleRows.contains(row) { load(row, .low) }
  }

  /// Loads the icon of the row, unless it is there. If it is loading, changes its priority.
  private func load(_ row: Int, _ priority: Priority) {
    if let token = tokens[row] { return token.setPriority(priority) }
    guard !rows[row].isSettled else { return }
    let request = ThumbnailRequest(url: rows[row].icon, size: 48, priority: priority)
    tokens[row] = pipeline.load(request, isolation: MainActor.shared) { progress in
      self.show(progress, in: row)
    } completion: { outcome in
      self.show(outcome, in: row)
    }
    set(.loading(nil), row)
  }

  private func cancel(_ row: Int) {
    tokens.removeValue(forKey: row)?.cancel()
    set(.empty, row)
  }

  /// Shows progress, unless it comes after the row has scrolled away.
  private func show(_ progress: DownloadProgress, in row: Int) {
    guard tokens[row] != nil else { return }
    set(.loading(progress.fraction), row)
  }

  private func show(_ outcome: Result<ThumbnailSet, FetchFailure>, in row: Int) {
    switch outcome {
    // By now, the row may be visible again and have a new token.
    case .failure(let failure) where failure.code == .cancelled: return
    case .failure(let failure): set(.missing(failure), row)
    case .success(let set): self.set(.loaded(set), row)
    }
    tokens[row] = nil
  }

  private func set(_ state: IconRow.State, _ row: Int) {
    rows[row].state = state
    rowChanged(row)
  }
}
