internal import Synchronization

extension Downloader {
  /// Tells `observer` of every download from now on, as long as it lives: it is held weakly.
  public func addObserver(_ observer: any DownloadObserver) {
    let works = state.withLock { state in
      state.observers.add(observer, target: callbacks)
      return state.running.works
    }
    for work in works { _ = work.watch() }
  }

  /// Tells it no more, but for what is on its way.
  public func removeObserver(_ observer: any DownloadObserver) {
    state.withLock { $0.observers.remove(observer) }
  }
}
