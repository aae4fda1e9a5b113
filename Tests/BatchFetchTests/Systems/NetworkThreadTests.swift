import BatchFetch
import DownloadSupport
import Foundation
import Synchronization
import TestSupport
import Testing

/// The network thread: one thread runs all transfers of a transport, and no callback runs on it.
@Suite(.timeLimit(.minutes(10))) struct NetworkThreadTests {
  @Test func `All transfers share one network thread, however many run at a time`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .http(200, [:], [1, 2, 3]).after(gate) }
    let transport = ThreadRecordingTransport()
    let configuration = Downloader.Configuration.prompt.with {
      $0.concurrency = 8
      $0.perHost = 8
    }
    let downloaders = (0..<2).map { _ in Downloader(configuration, transport: transport) }
    let requests = try (0..<40).map { DownloadRequest(source: try SourceURL(server.url("/\($0)"))) }
    let outcomes = Recorder<Outcome>()

    DispatchQueue.concurrentPerform(iterations: requests.count) { index in
      downloaders[index % 2].download(requests[index]) { outcomes.record($0) }
    }
    await server.waitForRequests(16)
    gate.open()

    #expect(await outcomes.values(count: 40).allSatisfy { $0.body == [1, 2, 3] })
    #expect(server.connectionCount >= 16)
    #expect(transport.threads.values.count == 1)
  }

  @Test func `No callback of a downloader runs on the network thread`() async throws {
    let server = try LoopbackServer { _ in .http(200, [:], [1, 2, 3]) }
    let (transport, callbacks) = (ThreadRecordingTransport(), ThreadSet())
    let downloader = Downloader(.prompt, transport: transport)
    let observer = ThreadRecordingObserver(callbacks)
    downloader.addObserver(observer)
    for index in 0..<40 {
      let request = DownloadRequest(source: try SourceURL(server.url("/\(index)")))
      downloader.download(request, progress: { _ in callbacks.insertCurrent() }) { _ in callbacks.insertCurrent() }
    }

    await downloader.waitUntilFinished()
    _ = await observer.ends.values(count: 40)

    #expect(transport.threads.values.count == 1 && !callbacks.values.isEmpty)
    #expect(callbacks.values.isDisjoint(with: transport.threads.values))
  }

  @Test func `No callback of a pipeline or a batch runs on the network thread`() async throws {
    let server = try LoopbackServer { $0.target == "/missing" ? .http(404) : .image() }
    let (transport, callbacks) = (ThreadRecordingTransport(), ThreadSet())
    var configuration = ThumbnailPipeline.Configuration(cacheDirectory: nil)
    configuration.downloads = .prompt
    let pipeline = ThumbnailPipeline(configuration, transport: transport)
    let requests = ((0..<20).map { "/\($0)" } + ["/missing"]).map { ThumbnailRequest(url: server.url($0), size: 8) }
    let ends = Recorder<Void>()

    for request in requests {
      pipeline.load(request) { _ in
        callbacks.insertCurrent()
        ends.record(())
      }
    }
    Batch(requests, over: pipeline).start { _ in
      callbacks.insertCurrent()
    } completion: { _ in
      callbacks.insertCurrent()
      ends.record(())
    }
    _ = await ends.values(count: requests.count + 1)

    #expect(transport.threads.values.count == 1)
    #expect(callbacks.values.isDisjoint(with: transport.threads.values))
  }

  @Test func `Callbacks that block stop no transfer`() async throws {
    let server = try LoopbackServer { _ in .http(200, [:], [1]) }
    let downloader = Downloader(.prompt, transport: CurlTransport(.direct))
    let (isInside, gate, ends) = (Recorder<Void>(), Gate(), Recorder<Void>())
    let blocked = DownloadRequest(source: try SourceURL(server.url("/blocked")))
    // One caller blocks in its progress handler, the other one in its completion.
    downloader.download(blocked) { _ in
      isInside.record(())
      gate.wait()
    } completion: { _ in
      ends.record(())
    }
    downloader.download(blocked) { _ in
      isInside.record(())
      gate.wait()
      ends.record(())
    }
    _ = await isInside.values(count: 2)

    let other = try await downloader.download(DownloadRequest(source: SourceURL(server.url("/other"))))

    #expect(other.body == [1])
    #expect(ends.values.isEmpty)
    gate.open()
    _ = await ends.values(count: 2)
  }
}

/// The threads that something ran on.
private final class ThreadSet: Sendable {
  private let threads = Mutex<Set<pthread_t>>([])

  var values: Set<pthread_t> { threads.withLock { $0 } }

  func insertCurrent() { _ = threads.withLock { $0.insert(pthread_self()) } }
}

/// libcurl's transport, which records the threads on which it reports events. These live as long as the transport, so
/// that no other thread can have their identity.
private final class ThreadRecordingTransport: Transport {
  let threads = ThreadSet()
  private let inner = CurlTransport(.direct)

  func start(_ request: TransferRequest, receiver: any TransferReceiver) -> any Transfer {
    inner.start(request, receiver: ThreadRecordingReceiver(receiver, threads))
  }
}

/// Passes all events on, on the thread that it receives them on.
private final class ThreadRecordingReceiver: TransferReceiver {
  private let receiver: any TransferReceiver
  private let threads: ThreadSet

  init(_ receiver: any TransferReceiver, _ threads: ThreadSet) {
    self.receiver = receiver
    self.threads = threads
  }

  func receive(head: TransferHead) throws(FetchFailure) {
    threads.insertCurrent()
    try receiver.receive(head: head)
  }

  func receive(bytes: UnsafeRawBufferPointer) throws(FetchFailure) {
    threads.insertCurrent()
    try receiver.receive(bytes: bytes)
  }

  func receiveEnd(_ failure: FetchFailure?) {
    threads.insertCurrent()
    receiver.receiveEnd(failure)
  }
}

/// Records the threads on which it is called.
private final class ThreadRecordingObserver: DownloadObserver {
  let ends = Recorder<Void>()
  private let threads: ThreadSet

  init(_ threads: ThreadSet) { self.threads = threads }

  func downloadDidStart(_ source: SourceURL) { threads.insertCurrent() }

  func download(_ source: SourceURL, didProgress progress: DownloadProgress) { threads.insertCurrent() }

  func downloadDidFinish(_ source: SourceURL, _ result: Outcome) {
    threads.insertCurrent()
    ends.record(())
  }
}
