import Synchronization
import TestSupport

@testable import BatchFetch

/// Records the events of a downloader's downloads.
final class RecordingObserver: DownloadObserver {
  let events = Recorder<String>()
  private let running = Mutex<(started: Int, finished: Int, open: Set<String>, isBalanced: Bool)>((0, 0, [], true))

  /// True if each download had one start, followed by one finish.
  var isBalanced: Bool { running.withLock { $0.isBalanced && $0.open.isEmpty } }

  func waitForEvents(_ isEnough: (_ started: Int, _ finished: Int) -> Bool) async {
    var count = 0
    while !running.withLock({ isEnough($0.started, $0.finished) }) {
      count = await events.values(count: count + 1).count
    }
  }

  func downloadDidStart(_ source: SourceURL) {
    running.withLock { running in
      running.started += 1
      running.isBalanced = running.isBalanced && running.open.insert(source.description).inserted
    }
    events.record("started \(source)")
  }

  func download(_ source: SourceURL, didProgress progress: DownloadProgress) {
    events.record("\(source): \(progress.received)")
  }

  func downloadDidFinish(_ source: SourceURL, _ result: Outcome) {
    running.withLock { running in
      running.finished += 1
      running.isBalanced = running.isBalanced && running.open.remove(source.description) != nil
    }
    events.record("finished \(source)")
  }
}
