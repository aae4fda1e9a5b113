import DownloadSupport
import Foundation
import HTTPTypes
import ImageCache
import Synchronization
import TestSupport
import Testing

@testable import BatchFetch

/// Requests for certain bytes, and rules about the images of a pipeline.
@Suite(.timeLimit(.minutes(10))) struct ContentTests {
  /// A server whose image, which is fresh for an hour and has a validator, can be replaced.
  private final class Server: Sendable {
    private let seed = Mutex(1)
    func change() { seed.withLock { $0 += 1 } }
    var body: [UInt8] { SampleImage.png(width: 40, height: 30, seed: seed.withLock { $0 }) }
    var digest: BodyDigest { BodyDigest(of: body) }

    func reply(to request: ServerRequest) -> ServerReply {
      let tag = "\"\(seed.withLock { $0 })\""
      let fields = ["Cache-Control": "max-age=3600", "ETag": tag]
      return request.fields["if-none-match"] == tag ? .http(304, fields) : .http(200, fields, body)
    }
  }

  private let server: Server
  private let fixture: PipelineFixture

  init() throws {
    let server = Server()
    self.server = server
    fixture = try PipelineFixture { server.reply(to: $0) }
  }

  private func request(expecting digest: BodyDigest?) -> ThumbnailRequest {
    var request = fixture.request("/a.png")
    request.digest = digest
    return request
  }

  private func code(_ request: ThumbnailRequest, _ pipeline: ThumbnailPipeline) async -> FailureCode? {
    do throws(FetchFailure) {
      _ = try await pipeline.thumbnails(for: request)
      return nil
    } catch {
      return error.code
    }
  }

  @Test func `Other bytes than the expected ones fail, and nothing of them is cached`() async throws {
    let pipeline = fixture.pipeline(change: { $0.cache.originals = .standard })
    let wrong = request(expecting: BodyDigest(of: [1]))

    let failure = await #expect(throws: FetchFailure.self) { try await pipeline.thumbnails(for: wrong) }
    await pipeline.flush()

    #expect(failure?.code == .hashMismatch && failure?.attempts == 1 && failure?.httpStatus == 200)
    #expect(failure?.message.contains(server.digest.description) == true && failure?.code.isRetryable == false)
    #expect(pipeline.decodeCount == 0)
    #expect(await code(request(expecting: nil), fixture.pipeline(mode: .offline)) == .offlineMiss)
  }

  @Test func `The expected bytes are served from the network, memory and disk, with their digest`() async throws {
    let pipeline = fixture.pipeline()
    let right = request(expecting: server.digest)

    for origin in [ThumbnailSet.Origin.network, .memory] {
      let set = try await pipeline.thumbnails(for: right)
      #expect(set.origin == origin && set.digest == server.digest)
    }
    await pipeline.flush()
    let set = try await fixture.pipeline().thumbnails(for: right)
    #expect(set.origin == .disk && set.digest == server.digest && fixture.server.requests.count == 1)
  }

  @Test func `Callers of one image share its download, and only those that expect other bytes fail`() async throws {
    let gate = Gate()
    let body = server.body
    let shared = try PipelineFixture { _ in .http(200, [:], body).after(gate) }
    let pipeline = shared.pipeline()
    let outcomes = Recorder<String>()
    for (name, digest) in [("any", nil), ("right", server.digest), ("wrong", BodyDigest(of: [1]))] {
      var request = shared.request("/a.png")
      request.digest = digest
      pipeline.load(request) { result in
        let text = (try? result.get()).map { "\($0.origin)" } ?? "\(result.failure?.code.description ?? "")"
        outcomes.record("\(name) \(text)")
      }
    }
    gate.open()

    #expect(await outcomes.values(count: 3).sorted() == ["any network", "right network", "wrong hash_mismatch"])
    #expect(shared.server.requests.count == 1 && pipeline.decodeCount == 1)
  }

  @Test func `A fresh entry with other bytes is revalidated, and replaced if the server has the expected ones`()
    async throws
  {
    let first = fixture.pipeline()
    _ = try await first.thumbnails(for: request(expecting: nil))
    await first.flush()
    let wrong = request(expecting: BodyDigest(of: [1]))

    #expect(await code(wrong, first) == .hashMismatch)
    #expect(fixture.server.requests.count == 2)
    #expect(await code(wrong, fixture.pipeline(mode: .offline)) == .hashMismatch)
    #expect(fixture.server.requests.count == 2)

    server.change()
    let second = fixture.pipeline()
    let set = try await second.thumbnails(for: request(expecting: server.digest))
    #expect(set.origin == .network && set.digest == server.digest && fixture.server.requests.count == 3)
  }

  @Test func `A mirror is tried if the first URL has other bytes`() async throws {
    let wanted = BodyDigest(of: SampleImage.png(width: 40, height: 30, seed: 9))
    let fixture = try PipelineFixture { $0.target == "/b.png" ? .image(9) : .image(3) }
    var request = fixture.request("/a.png")
    request.mirrors = [fixture.server.url("/b.png")]
    request.digest = wanted

    let set = try await fixture.pipeline().thumbnails(for: request)
    #expect(set.digest == wanted && set.finalURL == fixture.server.url("/b.png"))
  }

  @Test func `A rejected file fails from the network and from the cache, and is not requested again soon`()
    async throws
  {
    let digest = server.digest
    func rejecting(_ mode: CacheMode = .normal) -> ThumbnailPipeline {
      fixture.pipeline(mode: mode, change: { $0.content.rejectedDigests = [digest] })
    }
    let any = request(expecting: nil)
    let (first, second) = (rejecting(), rejecting())

    #expect(await code(any, first) == .rejectedHash)
    #expect(first.decodeCount == 0)
    await first.flush()
    #expect(await code(any, second) == .rejectedHash)
    #expect(fixture.server.requests.count == 1)

    // Another run has other rules, and its thumbnails are not served by the rules of this one.
    let tolerant = fixture.pipeline()
    #expect(await code(any, tolerant) == nil)
    await tolerant.flush()
    #expect(fixture.server.requests.count == 2)
    for mode in [CacheMode.normal, .offline, .refresh] {
      #expect(await code(any, rejecting(mode)) == .rejectedHash)
    }
    #expect(fixture.server.requests.count == 3)
  }

  @Test func `An image that is too long fails at its header, and from the cache`() async throws {
    func pipeline(_ ratio: Double) -> ThumbnailPipeline {
      fixture.pipeline(change: { $0.content.maxAspectRatio = ratio })
    }
    let any = request(expecting: nil)

    #expect(await code(any, pipeline(1.33)) == .image(.tooLong))
    let enough = pipeline(1.34)
    #expect(await code(any, enough) == nil)
    await enough.flush()
    #expect(await code(any, pipeline(1.33)) == .image(.tooLong))
    #expect(fixture.server.requests.count == 2)
  }

  @Test func `An image with too few pixels fails at its header, and from the cache`() async throws {
    func pipeline(_ minPixels: Int) -> ThumbnailPipeline {
      fixture.pipeline(change: { $0.content.minPixels = minPixels })
    }
    let any = request(expecting: nil)

    #expect(await code(any, pipeline(1201)) == .image(.tooFewPixels))
    let enough = pipeline(1200)
    #expect(await code(any, enough) == nil)
    await enough.flush()
    #expect(fixture.server.requests.count == 2)
    #expect(await code(any, pipeline(1201)) == .image(.tooFewPixels))
    var other = any
    other.specs = [ThumbnailSpec(width: 7)]
    #expect(await code(other, pipeline(1201)) == .image(.tooFewPixels))
    #expect(fixture.server.requests.count == 2)
  }
}
