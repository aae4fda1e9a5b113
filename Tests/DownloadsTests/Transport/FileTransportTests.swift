import Downloads
import Glibc
import HTTPTypes
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

  @Test(arguments: [(3600, 304), (1, 200), (-3600, 200)])
  func `A file confirms its entity tag, unless it has just been changed`(age: Int, status: Int) async throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write(Array(repeating: 1, count: 100), as: "file")
    var times = [timespec(), timespec()]
    for index in times.indices { times[index].tv_sec = time(nil) - age }
    utimensat(AT_FDCWD, path, times, 0)
    var request = TransferRequest(source: try SourceURL("file://\(path)"))
    let first = BodyRecorder()
    _ = FileTransport().start(request, receiver: first)
    #expect(await first.ends.values(count: 1) == [nil])

    request.headerFields[.ifNoneMatch] = first.heads.values.first?.headerFields[.eTag] ?? "\"none\""
    let second = BodyRecorder()
    _ = FileTransport().start(request, receiver: second)

    #expect(await second.ends.values(count: 1) == [nil])
    #expect(second.heads.values.map(\.status.code) == [status])
    #expect(second.bodies.values.joined().count == (status == 304 ? 0 : 100))
    let control = first.heads.values.first?.headerFields[.cacheControl]
    #expect(control == (status == 304 ? "no-cache" : "no-store"))
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
  let heads = Recorder<HTTPResponse>()
  let lengths = Recorder<Int?>()
  let bodies = Recorder<[UInt8]>()
  let ends = Recorder<FetchFailure?>()
  private let whenBodyArrives: @Sendable () -> Void

  init(whenBodyArrives: @escaping @Sendable () -> Void = {}) { self.whenBodyArrives = whenBodyArrives }

  func receive(head: TransferHead) {
    heads.record(head.response)
    lengths.record(head.declaredLength)
  }

  func receive(bytes: UnsafeRawBufferPointer) {
    bodies.record(Array(bytes))
    whenBodyArrives()
  }

  func receiveEnd(_ failure: FetchFailure?) { ends.record(failure) }
}
