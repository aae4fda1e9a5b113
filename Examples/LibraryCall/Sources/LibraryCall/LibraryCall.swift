import BatchFetch
import Dispatch
import ImageCache

/// The library from another package: once with `await`, once with completion handlers, once as a batch.
@main struct LibraryCall {
  static let icons = ["fjord.jpg", "chatter.png", "tower.jpg"].map { "http://icons.example/\($0)" }

  static func main() async throws {
    let pipeline = ThumbnailPipeline(.init(cacheDirectory: nil))
    let icon = try await pipeline.thumbnails(for: ThumbnailRequest(url: icons[0], size: 64))
    print("await:", icon.origin, icon.thumbnails.map(\.size))

    await withCheckedContinuation { done in
      pipeline.load(ThumbnailRequest(url: icons[1], size: 64)) { outcome in
        print("completion:", outcome.map { "\($0.origin) \($0.thumbnails[0].bytes.count > 0)" })
        done.resume()
      }
    }

    let requests = icons.map { ThumbnailRequest(url: $0, size: 64) }
    for await item in Batch(requests, over: pipeline) {
      let origin = try item.outcome.get().origin
      print("batch: \(item.finished) of \(item.total ?? 0), element \(item.index):", origin)
    }

    await withCheckedContinuation { done in
      Batch(requests, over: pipeline).start { _ in
      } completion: { summary in
        print("batch:", summary.finished, "finished,", summary.failed, "failed")
        done.resume()
      }
    }
  }
}
