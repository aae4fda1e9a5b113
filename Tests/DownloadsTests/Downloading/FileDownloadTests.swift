import DownloadSupport
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import Downloads

/// Downloads into files. Each downloader stands for a process.
@Suite(.timeLimit(.minutes(10))) struct FileDownloadTests {
  private static let whole: [UInt8] = (0..<1000).map { UInt8(truncatingIfNeeded: $0 / 3) }
  private static let digest = BodyDigest(of: whole)
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private var file: URL { URL(filePath: directory.path("a.bin")) }

  /// Sends the requested bytes of `body`, but no more than `count`, and then breaks the connection.
  private func transport(
    _ body: [UInt8] = whole, tag: String? = "\"1\"", breakingAfter count: Int? = nil
  ) -> ScriptedTransport {
    ScriptedTransport { request, _ in
      let isSame = request.headerFields[.ifRange] == tag
      let first = isSame ? request.firstByte ?? 0 : 0
      let end = count.map { min(body.count, first + $0) } ?? body.count
      var fields: HTTPFields = [.contentLength: "\(body.count - first)"]
      fields[.eTag] = tag
      if first > 0 { fields[.contentRange] = "bytes \(first)-\(body.count - 1)/\(body.count)" }
      return [.head(first > 0 ? 206 : 200, fields), .bytes(Array(body[first..<end]))]
        + [count == nil ? .end : .fail(.connectionLost)]
    }
  }

  private func download(
    over transport: ScriptedTransport, expecting expected: ExpectedFile = ExpectedFile(), fields: HTTPFields = [:]
  ) async throws(FetchFailure) -> DownloadedFile? {
    let downloader = Downloader(.prompt.with { $0.retry.limit = 0 }, transport: transport)
    let request = DownloadRequest(source: try SourceURL("http://a.test/a.bin"), headerFields: fields)
    return try await downloader.download(request, to: file, expecting: expected).file
  }

  /// Leaves a file with `count` bytes, as a process that was killed does.
  private func interrupt(after count: Int = 300, tag: String? = "\"1\"", fields: HTTPFields = [:]) async throws {
    let transport = transport(tag: tag, breakingAfter: count)
    await #expect(throws: FetchFailure.self) { try await download(over: transport, fields: fields) }
    #expect(try directory.files().first { $0.hasSuffix(".part") } == "a.bin.part")
  }

  private func bytes(_ name: String = "a.bin") throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(filePath: directory.path(name))))
  }

  @Test func `The file gets its name when it is complete, and nothing else is left`() async throws {
    let downloaded = try await download(over: transport(), expecting: ExpectedFile(digest: Self.digest, length: 1000))

    #expect(downloaded == DownloadedFile(url: file, length: 1000, digest: Self.digest, resumed: 0))
    #expect(try directory.files() == ["a.bin"] && bytes() == Self.whole)
  }

  @Test func `Any response but that of the file is requested as such, and the body is not in memory`() async throws {
    let transport = transport()
    let configuration = Downloader.Configuration.prompt.with { $0.headerFields[.accept] = "image/png" }
    let download = try await Downloader(configuration, transport: transport).download(
      DownloadRequest("a.bin"), to: file)

    #expect(download.body.isEmpty && download.length == 1000 && download.response.status == .ok)
    #expect(transport.requests.map { $0.headerFields[.accept] } == ["*/*"])
    #expect(transport.requests.allSatisfy { $0.limits.maxBytes == .max && $0.limits.total > .seconds(86_400) })
  }

  @Test func `A download that accepts other media types does not continue the file of another`() async throws {
    try await interrupt(after: 300)
    let transport = transport()
    var request = try DownloadRequest("a.bin")
    request.accept = "application/x-tar"
    let downloaded = try await Downloader(.prompt, transport: transport).download(request, to: file).file

    #expect(downloaded?.resumed == 0 && transport.requests.map(\.firstByte) == [nil])
  }

  @Test func `A later process continues an interrupted download, several times`() async throws {
    try await interrupt(after: 300)
    try await interrupt(after: 200)
    #expect(try directory.files() == ["a.bin.part", "a.bin.part.json"])
    let transport = transport()

    let downloaded = try await download(over: transport, expecting: ExpectedFile(digest: Self.digest))

    #expect(transport.requests.map { $0.headerFields[.range] } == ["bytes=500-"])
    #expect(transport.requests.map { $0.headerFields[.ifRange] } == ["\"1\""])
    #expect(downloaded?.resumed == 500)
    #expect(try directory.files() == ["a.bin"] && bytes() == Self.whole)
  }

  @Test func `A download may be continued as soon as its failure is known, by any downloader`() async throws {
    let broken = transport(breakingAfter: 100)
    let downloader = Downloader(.prompt.with { $0.retry.limit = 0 }, transport: broken)
    // Keeps the part file alive.
    let outcomes = Recorder<Outcome>()
    let (request, file) = (try DownloadRequest("a.bin"), file)
    let token = downloader.download(request, to: file) { outcome in
      outcomes.record(outcome)
      downloader.download(request, to: file) { outcomes.record($0) }
    }
    _ = await outcomes.values(count: 2)
    let other = transport()
    let download = try await Downloader(.prompt, transport: other).download(DownloadRequest("a.bin"), to: file)

    #expect(broken.requests.map { $0.headerFields[.range] } == [nil, "bytes=100-"])
    #expect(other.requests.map { $0.headerFields[.range] } == ["bytes=200-"])
    #expect(download.file?.digest == Self.digest && download.file?.resumed == 200)
    withExtendedLifetime(token) {}
  }

  @Test func `Content that has changed replaces the bytes of the earlier process`() async throws {
    try await interrupt()
    let changed = [UInt8](repeating: 7, count: 120)

    let downloaded = try await download(over: transport(changed, tag: "\"2\""))

    #expect(downloaded?.resumed == 0)
    #expect(try bytes() == changed)
  }

  @Test(arguments: ["another request", "a damaged record", "no record", "an earlier start of the system"])
  func `Bytes that may belong to another response are not continued`(trouble: String) async throws {
    try await interrupt(fields: trouble == "another request" ? [.authorization: "Bearer 1"] : [:])
    let record = directory.path("a.bin.part.json")
    let text = try String(contentsOfFile: record, encoding: .utf8)
    #expect(!text.contains("Bearer"))
    switch trouble {
    case "a damaged record": _ = try directory.write(String(text.dropLast(9)), as: "a.bin.part.json")
    case "no record": try FileManager.default.removeItem(atPath: record)
    case "an earlier start of the system":
      let boot = try String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8).prefix(36)
      _ = try directory.write(text.replacing(boot, with: "0"), as: "a.bin.part.json")
    default: break
    }
    let transport = transport()

    _ = try await download(over: transport, expecting: ExpectedFile(digest: Self.digest))

    #expect(transport.requests.map { $0.headerFields[.range] } == [nil])
    #expect(try bytes() == Self.whole)
  }

  @Test func `Without a strong validator, a later process starts over`() async throws {
    try await interrupt(tag: nil)
    #expect(try directory.files() == ["a.bin.part"])

    _ = try await download(over: transport(tag: nil), expecting: ExpectedFile(digest: Self.digest))

    #expect(try bytes() == Self.whole)
  }

  @Test(arguments: [ExpectedFile(digest: BodyDigest(of: [1])), ExpectedFile(length: 999)])
  func `Other content than the expected one fails, is removed, and leaves an earlier file`(
    expected: ExpectedFile
  ) async throws {
    _ = try directory.write("earlier", as: "a.bin")

    let failure = await #expect(throws: FetchFailure.self) {
      try await download(over: transport(), expecting: expected)
    }

    #expect(failure?.code == .hashMismatch && failure?.attempts == 1 && failure?.httpStatus == 200)
    #expect(try directory.files() == ["a.bin"] && bytes() == Array("earlier".utf8))
  }

  @Test func `A status other than 200 is a failure, and leaves an earlier file`() async throws {
    _ = try directory.write("earlier", as: "a.bin")
    let transport = ScriptedTransport { _, _ in [.head(404, [:]), .end] }

    let failure = await #expect(throws: FetchFailure.self) { try await download(over: transport) }

    #expect(failure?.code == .http(404))
    #expect(try bytes() == Array("earlier".utf8))
  }

  @Test func `An empty file is a file`() async throws {
    #expect(try await download(over: transport([]))?.length == 0)
    #expect(try directory.files() == ["a.bin"])
  }

  @Test func `A file that cannot be created fails before any request`() async throws {
    let transport = transport()
    let downloader = Downloader(.prompt, transport: transport)
    let target = URL(filePath: directory.path("none/a.bin"))

    let failure = await #expect(throws: FetchFailure.self) {
      try await downloader.download(DownloadRequest("a.bin"), to: target)
    }

    #expect(failure?.code == .outputFailed && transport.requests.isEmpty)
    #expect(failure?.message.contains("No such file or directory") == true)
  }

  @Test func `Callers of one file share its download, and other requests and processes cannot have it`() async throws {
    let transport = ScriptedTransport.halving(Self.whole)
    let downloader = Downloader(.prompt, transport: transport)
    let outcomes = Recorder<Outcome>()
    let request = try DownloadRequest("a.bin")
    for _ in 0..<2 { downloader.download(request, to: file) { outcomes.record($0) } }
    let exchange = await transport.exchanges.values(count: 1)[0]
    await exchange.played()

    for other in [downloader, Downloader(.prompt, transport: transport)] {
      let failure = await #expect(throws: FetchFailure.self) {
        try await other.download(DownloadRequest("b.bin"), to: file)
      }
      #expect(failure?.code == .outputConflict)
    }
    exchange.resume()

    let files = await outcomes.values(count: 2).map { try? $0.get().file }
    #expect(files.allSatisfy { $0?.digest == Self.digest } && transport.requests.count == 1)
  }

  @Test func `A paused download continues in its file`() async throws {
    let transport = ScriptedTransport.halving(Self.whole)
    let downloader = Downloader(.prompt, transport: transport)
    let outcome = Recorder<Outcome>()
    let token = downloader.download(try DownloadRequest("a.bin"), to: file) { outcome.record($0) }
    await transport.exchanges.values(count: 1)[0].played()

    token.pause()
    token.resume()
    // Only the second exchange continues. The first one could otherwise end before its cancellation arrives.
    await transport.exchanges.values(count: 2)[1].resume()

    #expect(try await outcome.only().get().file?.digest == Self.digest)
    #expect(transport.requests.map { $0.headerFields[.range] } == [nil, "bytes=500-"])
  }

  @Test func `A package waits until its configuration is a file`() async throws {
    let downloader = Downloader(.prompt, transport: transport())
    let package = URL(filePath: directory.path("package.bin"))
    let outcome = Recorder<Outcome>()
    let first = downloader.download(try DownloadRequest("config.bin"), to: file) { _ in }
    downloader.download(try DownloadRequest("package.bin"), to: package, after: [first]) { outcome.record($0) }

    #expect(try await outcome.only().get().file?.url == package)
    #expect(try directory.files() == ["a.bin", "package.bin"])
    #expect(try first.result?.get().file?.url == file)
  }

  @Test func `A serial downloader begins the files in the order of the calls`() async throws {
    let transport = transport()
    let downloader = Downloader(.serial, transport: transport)
    let names = (0..<50).map { "\($0).bin" }
    for name in names {
      downloader.download(try DownloadRequest(name), to: URL(filePath: directory.path(name))) { _ in }
    }
    await downloader.waitUntilFinished()

    #expect(transport.paths == names)
  }

  @Test func `A file that was opened before another download completed it is not changed`() throws {
    let target = FileTarget(path: file.path, request: "1", expected: ExpectedFile())
    let head = TransferHead(response: HTTPResponse(status: .ok))
    let first = try PartFile(target)
    first.release(by: first.makeWriter())
    let second = try PartFile(target)
    let writer = second.makeWriter()
    try writer.restart(head)
    try Self.whole.withUnsafeBytes { try writer.write($0, at: 0) }
    _ = try second.commit(length: 1000)
    second.release(by: second.makeWriter())

    #expect(!first.lock() && !first.isInUse)
    #expect(throws: FetchFailure.self) { try first.makeWriter().restart(head) }
    #expect(try bytes() == Self.whole)
    #expect(try PartFile(target).takeEarlier() == nil)
  }

  @Test func `The limits of a request replace those of the downloader`() async throws {
    var request = try DownloadRequest("a.bin")
    request.limits = TransferLimits()
    request.limits?.maxBytes = 999
    let (downloader, limited) = (Downloader(.prompt, transport: transport()), request)

    let inFile = await #expect(throws: FetchFailure.self) { try await downloader.download(limited, to: file) }
    let inMemory = await #expect(throws: FetchFailure.self) { try await downloader.download(limited) }

    #expect(inFile?.code == .tooLargeBytes && inMemory?.code == .tooLargeBytes)
  }

  @Test func `A writer that is not the latest one may not write`() throws {
    let target = FileTarget(path: file.path, request: "1", expected: ExpectedFile())
    let part = try PartFile(target)
    let (old, new) = (part.makeWriter(), part.makeWriter())
    try new.restart(TransferHead(response: HTTPResponse(status: .ok)))
    try Self.whole.withUnsafeBytes { try new.write($0, at: 0) }

    #expect(throws: FetchFailure.cancelled) { try old.restart(TransferHead(response: HTTPResponse(status: .ok))) }
    #expect(throws: FetchFailure.cancelled) { try Self.whole.withUnsafeBytes { try old.write($0, at: 5) } }
    #expect(try part.commit(length: 1000).digest == Self.digest)
    #expect(throws: FetchFailure.cancelled) { try Self.whole.withUnsafeBytes { try new.write($0, at: 0) } }
    #expect(try bytes() == Self.whole)
  }
}
