package import Downloads
internal import Synchronization
package import TestSupport

/// Records the events of a downloader's downloads.
package final class RecordingObserver: DownloadObserver {
  package let events = Recorder<String>()
  private let running = Mutex<(started: Int, finished: Int, open: Set<String>, isBalanced: Bool)>((0, 0, [], true))

  package init() {}

  /// True if each download had one start, followed by one finish.
  package var isBalanced: Bool { running.withLock { $0.isBalanced && $0.open.isEmpty } }

  package func waitForEvents(_ isEnough: (_ started: Int, _ finished: Int) -> Bool) async {
    var count = 0
    while !running.withLock({ isEnough($0.started, $0.finished) }) {
      count = await events.values(count: count + 1).count
    }
  }

  package func downloadDidStart(_ source: SourceURL) {
    running.withLock { running in
      running.started += 1
      running.isBalanced = running.isBalanced && running.open.insert(source.description).inserted
    }
    events.record("started \(source)")
  }

  package func download(_ source: SourceURL, didProgress progress: DownloadProgress) {
    events.record("\(source): \(progress.received)")
  }

  package func downloadDidFinish(_ source: SourceURL, _ result: Outcome) {
    running.withLock { running in
      running.finished += 1
      running.isBalanced = running.isBalanced && running.open.remove(source.description) != nil
    }
    events.record("finished \(source)")
  }
}
