internal import Synchronization

// The places where a job waits, one at a time. At each of them the slot passes on the highest priority among the
// callers, now and after each change, and gives up the place when the last caller leaves.
extension ThumbnailJob {
  /// Joins a group of lookups.
  func waitForLookUp() {
    slot.run { demand in context.lookUps.append(self, demand.priority) }
  }

  /// Runs `work` on a thread that renders, when its turn comes.
  ///
  /// - Parameters:
  ///   - bytes: the bytes held for the work. They are released if the job gives up its place; otherwise `work` must
  ///     release them.
  ///   - host: the host for which they are held; nil for none.
  ///   - work: called once, unless the job gives up its place.
  func waitToRender(holding bytes: Int, of host: String?, _ work: @escaping @Sendable (ThumbnailJob) -> Void) {
    slot.run { [context] demand in
      let giveUp = { @Sendable in context.budget.release(bytes, of: host) }
      return context.renders.async(demand.priority, of: source.host, onCancel: giveUp) { [self] in
        slot.end()
        work(self)
      }
    }
  }

  /// Runs `work` when its turn comes.
  ///
  /// - Parameters:
  ///   - queue: the queue to wait in.
  ///   - bytes: the bytes held for the work. They are released if the job gives up its place; otherwise `work` must
  ///     release them. Default 0.
  ///   - work: called once, on a thread of the queue, unless the job gives up its place.
  func wait(in queue: WorkQueue, holding bytes: Int = 0, _ work: @escaping @Sendable (ThumbnailJob) -> Void) {
    slot.run { [context] demand in
      let giveUp = { @Sendable in context.budget.release(bytes) }
      return queue.async(demand.priority, onCancel: giveUp) { [self] in
        slot.end()
        work(self)
      }
    }
  }

  /// Runs `work`, which must not block, when there is room for `bytes` in memory. They are held from then on.
  func waitForRoom(_ bytes: Int, _ work: @escaping @Sendable (ThumbnailJob) -> Void) {
    slot.run { demand in
      context.budget.hold(bytes, whenThereIsRoom: demand.priority) { [self] in work(self) }
    }
  }

  /// Joins the download of `request`. Its end is reported to ``ended(_:)``.
  func waitForDownload(_ request: DownloadRequest) {
    let (downloads, id) = (context.downloader.context, DownloadContext.CallerID(self))
    slot.run { demand in
      downloads.join(request, self, demand: demand)
      return WorkHandle {
        downloads.leave(id)
      } setPriority: { priority in
        downloads.change(id) { $0.priority = priority }
      } setPaused: { isPaused in
        downloads.change(id) { $0.isPaused = isPaused }
      }
    }
  }
}
