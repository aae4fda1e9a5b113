import Downloads
import Glibc
import TestSupport
import Testing

/// Local files as responses.
@Suite("Local files") struct FileTransportTests {
  @Test(arguments: [0, 1, 700_000]) func `A file arrives whole, after its length`(count: Int) async throws {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 / 251) }
    let directory = try TemporaryDirectory()
    let source = try SourceURL("file://\(directory.write(bytes, as: "file"))")
    let receiver = BodyRecorder()

    let transfer = FileTransport().start(TransferRequest(source: source), receiver: receiver)

    #expect(await receiver.ends.values(count: 1) == [nil])
    #expect(receiver.lengths.values == [count > 0 ? count : nil])
    #expect(receiver.bodies.values.flatMap { $0 } == bytes)
    transfer.cancel()
  }

  @Test(arguments: [0, 300_000, 900_000])
  func `A file that changes while it is read is truncated`(count: Int) async throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write(Array(repeating: 1, count: 700_000), as: "file")
    let receiver = BodyRecorder { truncate(path, off_t(count)) }

    let transfer = FileTransport().start(TransferRequest(source: try SourceURL("file://\(path)")), receiver: receiver)

    #expect(await receiver.ends.values(count: 1).map { $0?.code } == [.truncated])
    transfer.cancel()
  }
}

/// Records the declared length, the pieces of the body, and the end of a transfer.
private final class BodyRecorder: TransferReceiver {
  let lengths = Recorder<Int?>()
  let bodies = Recorder<[UInt8]>()
  let ends = Recorder<FetchFailure?>()
  private let whenBodyArrives: @Sendable () -> Void

  init(whenBodyArrives: @escaping @Sendable () -> Void = {}) { self.whenBodyArrives = whenBodyArrives }

  func receive(head: TransferHead) { lengths.record(head.declaredLength) }

  func receive(bytes: UnsafeRawBufferPointer) {
    bodies.record(Array(bytes))
    whenBodyArrives()
  }

  func receiveEnd(_ failure: FetchFailure?) { ends.record(failure) }
}
