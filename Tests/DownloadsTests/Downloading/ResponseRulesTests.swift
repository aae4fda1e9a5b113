import DownloadSupport
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import Downloads

@Suite(.timeLimit(.minutes(10))) struct ResponseRulesTests {
  /// Returns the outcome of a download whose every attempt gets `status` and the body 1, 2, 3.
  private func outcome(
    _ status: Int, _ fields: HTTPFields = [:], body: [UInt8] = [1, 2, 3], retries: Int = 0,
    _ change: (inout ResponseRules) -> Void = { _ in }
  ) async throws -> (outcome: Outcome, requests: Int) {
    let transport = ScriptedTransport { _, _ in .response(body, status: status) }
    var request = try DownloadRequest("a", headerFields: fields)
    change(&request.responses)
    let configuration = Downloader.Configuration.prompt.with { $0.retry.limit = retries }
    let outcome = await Downloader(configuration, transport: transport).start(request).outcome.only()
    return (outcome, transport.requests.count)
  }

  @Test(
    arguments: [
      (200, [:]), (201, [:]), (206, [.range: "bytes=0-9"]), (304, [.ifNoneMatch: "1"]),
      (304, [.ifModifiedSince: "1"]),
    ] as [(Int, HTTPFields)])
  func `By default, a status that means success is one`(status: Int, fields: HTTPFields) async throws {
    let download = try await outcome(status, fields).outcome.get()

    #expect(download.response.status.code == status)
    #expect(download.body == (status == 304 ? [] : [1, 2, 3]))
  }

  @Test(
    arguments: [
      (206, [:]), (300, [:]), (304, [:]), (404, [:]), (412, [.ifNoneMatch: "1"]), (500, [:]),
    ] as [(Int, HTTPFields)])
  func `By default, any other status fails with its code`(status: Int, fields: HTTPFields) async throws {
    let failure = try await outcome(status, fields).outcome.failure

    #expect(failure?.code == .http(status) && failure?.httpStatus == status && failure?.attempts == 1)
    #expect(failure?.body == [])
  }

  @Test(arguments: [206, 304, 404, 500]) func `Every status is a success if all are`(status: Int) async throws {
    let download = try await outcome(status) { $0.statuses = .all }.outcome.get()

    #expect(download.response.status.code == status)
  }

  @Test func `Only the listed statuses are a success`() async throws {
    let rules: (inout ResponseRules) -> Void = { $0.statuses = .codes([404]) }

    #expect(try await outcome(404) { rules(&$0) }.outcome.get().response.status == .notFound)
    let failure = try await outcome(200) { rules(&$0) }.outcome.failure
    #expect(failure?.code == .http(200) && failure?.body == [])
  }

  @Test func `An accepted status that is worth a retry is retried first`() async throws {
    let (outcome, requests) = try await outcome(503, retries: 2) { $0.statuses = .all }

    #expect(try outcome.get().attempts == 3 && requests == 3)
  }

  @Test(arguments: [200, 204]) func `A response without a body is complete by default`(status: Int) async throws {
    let (outcome, requests) = try await outcome(status, body: [], retries: 3)

    #expect(try outcome.get().body == [] && requests == 1)
  }

  @Test(arguments: [200, 204], [0, 3])
  func `An empty body that is refused fails, after one retry at most`(status: Int, retries: Int) async throws {
    let (outcome, requests) = try await outcome(status, body: [], retries: retries) { $0.emptyBodies = .refused }

    #expect(outcome.failure?.code == .emptyBody && requests == min(2, retries + 1))
  }

  @Test func `The start of the body of an error response is kept up to its limit`() async throws {
    let failure = try await outcome(404) { $0.maxErrorBytes = 2 }.outcome.failure
    #expect(failure?.code == .http(404) && failure?.body == [1, 2])

    let accepted = try await outcome(404) { rules in
      rules.statuses = .all
      rules.maxErrorBytes = 100
    }
    #expect(try accepted.outcome.get().body == [1, 2, 3])
    #expect(try await outcome(200) { $0.maxErrorBytes = 2 }.outcome.get().body == [1, 2, 3])
    #expect(try await outcome(404) { $0.maxErrorBytes = -1 }.outcome.failure?.body == [])
  }

  @Test(arguments: [100, 100_000, 300_000], [true, false])
  func `A server's explanation of an error is kept, however long it is`(limit: Int, isCoded: Bool) async throws {
    let page = (0..<200_000).map { UInt8(truncatingIfNeeded: $0) }
    let server = try LoopbackServer { _ in
      isCoded ? .http(422, ["Content-Encoding": "gzip"], BodyCoding.gzip(page)) : .http(422, [:], page)
    }
    var request = DownloadRequest(source: try SourceURL(server.url("/")))
    request.responses.maxErrorBytes = limit

    let failure = await #expect(throws: FetchFailure.self) {
      try await Downloader(.patient, transport: CurlTransport(.direct)).download(request)
    }

    #expect(failure?.code == .http(422))
    #expect(failure?.body == Array(page.prefix(limit)))
  }

  @Test func `The body of a 201 comes over the network as a whole`() async throws {
    let body = [UInt8](repeating: 7, count: 200_000)
    let server = try LoopbackServer { _ in .http(201, [:], body) }
    let downloader = Downloader(.patient, transport: CurlTransport(.direct))

    #expect(try await downloader.download(DownloadRequest(source: SourceURL(server.url("/")))).body == body)
  }

  @Test func `An error page is in the failure of a download into a file, and not in the file`() async throws {
    let directory = try TemporaryDirectory()
    let transport = ScriptedTransport { _, _ in .response([1, 2], status: 403) }
    let file = URL(filePath: directory.path("a"))
    var request = try DownloadRequest("a")
    request.responses.statuses = .all
    request.responses.maxErrorBytes = 10

    let failure = await #expect(throws: FetchFailure.self) {
      try await Downloader(.prompt, transport: transport).download(request, to: file)
    }

    #expect(failure?.code == .http(403) && failure?.body == [1, 2])
    #expect(!FileManager.default.fileExists(atPath: file.path()))
    let part = try? Data(contentsOf: URL(filePath: directory.path("a.part")))
    #expect(part?.isEmpty ?? true)
  }

  @Test func `Callers with different rules make separate requests`() async throws {
    let transport = ScriptedTransport { _, _ in [.hold] + .response([1], status: 404) }
    let downloader = Downloader(.prompt, transport: transport)
    let request = try DownloadRequest("a")
    let ends = [request, request.acceptingAll, request].map { downloader.start($0).outcome }

    await transport.resume(first: 2)

    #expect(await ends[0].only().failure?.code == .http(404))
    #expect(await ends[1].only().failure == nil)
    #expect(await ends[2].only().failure?.code == .http(404))
    #expect(transport.requests.count == 2)
  }
}
