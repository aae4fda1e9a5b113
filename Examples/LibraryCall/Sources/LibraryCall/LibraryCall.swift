import BatchFetch
import Dispatch
import ImageCache

/// Uses the libraries from another package: with `await`, with completion handlers, as a batch, and layer by layer.
@main struct LibraryCall {
  static let urls = ["fjord.jpg", "chatter.png", "tower.jpg"].map { "http://icons.example/\($0)" }

  static func main() async throws {
    let pipeline = ThumbnailPipeline(.init(cacheDirectory: nil))
    let icon = try await pipeline.thumbnails(for: ThumbnailRequest(url: urls[0], size: 128))
    print("await:", icon.origin, icon.thumbnails.map(\.size))
    await complete(with: pipeline)
    try await iterate(over: pipeline)
    await group(over: pipeline)
    try await download()
  }

  private static func complete(with pipeline: ThumbnailPipeline) async {
    await withCheckedContinuation { done in
      pipeline.load(ThumbnailRequest(url: urls[1], size: 64)) { outcome in
        print("completion:", outcome.map { "\($0.origin) \($0.thumbnails[0].bytes.count > 0)" })
        done.resume()
      }
    }
  }

  private static func iterate(over pipeline: ThumbnailPipeline) async throws {
    for await item in Batch(urls.map { ThumbnailRequest(url: $0, size: 64) }, over: pipeline) {
      let origin = try item.outcome.get().origin
      print("batch: \(item.finished) of \(item.total ?? 0), element \(item.index):", origin)
    }
  }

  private static func group(over pipeline: ThumbnailPipeline) async {
    await withCheckedContinuation { done in
      let requests = urls.map { ThumbnailRequest(url: $0, size: 64) }
      Batch(requests, over: pipeline).start { _ in
      } completion: { summary in
        print("batch:", summary.finished, "finished,", summary.failed, "failed")
        done.resume()
      }
    }
  }

  /// Downloads one image after the other without rendering, then renders one without the pipeline.
  private static func download() async throws {
    let downloader = Downloader()
    let first = try DownloadRequest(url: urls[0])
    let second = try DownloadRequest(url: urls[2])
    let config = downloader.download(first) { result in
      print("first:", result.map(\.body.count))
    }
    let package = downloader.download(second, after: [config]) { progress in
      print("second:", progress.fraction ?? 0)
    } completion: { result in
      print("second:", result.map(\.body.count))
    }
    package.pause()
    package.resume()
    await downloader.waitUntilFinished()

    let bytes = try await downloader.download(first).body
    let rendering = try Renderer().render(bytes, specs: [ThumbnailSpec(width: 64, height: 64)])
    print("renderer:", rendering.source.format, rendering.thumbnails.map(\.size))
  }
}
