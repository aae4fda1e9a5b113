import DownloadSupport
import Foundation
import HTTPTypes
import Testing

@testable import Downloads

@Suite struct ResponseAssemblerTests {
  /// The outcome of an attempt in short: its body or its failure, the bytes kept, or a refused range.
  private func outcome(
    _ status: Int, _ fields: HTTPFields, _ chunks: [Int], failure: FailureCode? = nil, continuing: Int? = nil,
    maxBytes: Int = 1000
  ) -> String {
    var assembler = ResponseAssembler(
      maxBytes: maxBytes, continuing: continuing.flatMap { .sample(count: $0) }, requestedAt: .now)
    var failure = failure.map { FetchFailure($0, "") }
    do throws(FetchFailure) {
      let response = HTTPResponse(status: .init(code: status), headerFields: fields)
      try assembler.receive(head: TransferHead(response: response), at: .now)
      for count in chunks {
        try [UInt8](repeating: 9, count: count).withUnsafeBytes { bytes in
          Result { () throws(FetchFailure) in _ = try assembler.receive(bytes: bytes) }
        }.get()
      }
    } catch {
      failure = error
    }
    return describe(assembler.finish(failure))
  }

  private func describe(_ outcome: ResponseAssembler.AttemptOutcome) -> String {
    switch outcome {
    case .rangeRefused: "range refused"
    case .ended(.success(let response), let kept):
      "\(response.head.response.status.code) with \(response.body.count)" + describe(kept)
    case .ended(.failure(let failure), let kept): "\(failure.code)" + describe(kept)
    }
  }

  private func describe(_ kept: PartialDownload?) -> String { kept.map { ", kept \($0.body.count)" } ?? "" }

  private let tagged: HTTPFields = [.eTag: "\"1\"", .contentLength: "100"]

  @Test func `A broken transfer keeps the bytes received`() {
    #expect(outcome(200, tagged, [30, 10], failure: .connectionLost) == "connection_lost, kept 40")
    #expect(outcome(200, [.contentLength: "100"], [30], failure: .connectionLost) == "connection_lost")
    #expect(outcome(404, tagged, [30], failure: .connectionLost) == "connection_lost")
  }

  @Test func `A continued body consists of the kept bytes and the new ones`() {
    #expect(outcome(206, [.contentRange: "bytes 40-99/100"], [50, 10], continuing: 40) == "200 with 100")
  }

  @Test func `A second interruption keeps the bytes of both attempts`() {
    let outcome = outcome(
      206, [.contentRange: "bytes 40-99/100"], [30], failure: .stalled, continuing: 40)
    #expect(outcome == "stalled, kept 70")
  }

  @Test func `An attempt that fails before its first byte keeps the earlier bytes`() {
    #expect(
      outcome(206, [.contentRange: "bytes 40-99/100"], [], failure: .stalled, continuing: 40) == "stalled, kept 40")
    var silent = ResponseAssembler(maxBytes: 1000, continuing: .sample(count: 40), requestedAt: .now)
    #expect(describe(silent.finish(FetchFailure(.connectFailed, ""))) == "connect_failed, kept 40")
    #expect(outcome(503, [:], [5], continuing: 40) == "503 with 0, kept 40")
  }

  @Test func `A complete response to a range request replaces the kept bytes`() {
    #expect(outcome(200, tagged, [100], continuing: 40) == "200 with 100")
    #expect(outcome(200, [:], [20], failure: .connectionLost, continuing: 40) == "connection_lost")
  }

  @Test func `Bytes other than the missing ones are never appended`() {
    #expect(outcome(206, [.contentRange: "bytes 39-99/100"], [61], continuing: 40) == "range refused")
    #expect(outcome(206, [:], [60], continuing: 40) == "range refused")
    #expect(outcome(416, [.contentRange: "bytes */30"], [5], continuing: 40) == "range refused")
    #expect(outcome(206, [.contentRange: "bytes 40-49/100"], [11], continuing: 40) == "range refused")
  }

  @Test func `A response with only a part of the missing bytes is truncated, and kept`() {
    #expect(outcome(206, [.contentRange: "bytes 40-49/100"], [10], continuing: 40) == "truncated, kept 50")
  }

  @Test func `A 206 or 416 response to a request without a range is an ordinary response`() {
    #expect(outcome(206, [.contentRange: "bytes 0-9/10"], [10]) == "206 with 0")
    #expect(outcome(416, [:], [10]) == "416 with 0")
  }

  @Test(arguments: [206, 404, 500])
  func `A few bytes of an unneeded body are read, and the response counts without it`(status: Int) {
    #expect(outcome(status, [:], [65_536]) == "\(status) with 0")
    #expect(outcome(status, [:], [65_536, 1]) == "\(status) with 0")
    #expect(outcome(status, [:], [65_536], failure: .connectionLost) == "connection_lost")
  }

  @Test(arguments: ["9223372036854775807", "9223372036854775806", "-1"])
  func `An impossible declared length does no harm`(length: String) {
    #expect(outcome(200, [.contentLength: length], [5], maxBytes: .max) == "200 with 5")
    let fields: HTTPFields = [.contentRange: "bytes 40-\(length)/*", .contentLength: "60"]
    #expect(outcome(206, fields, [60], continuing: 40) == "range refused")
    #expect(outcome(206, [.contentRange: "bytes 0-\(length)/*"], [60]) == "206 with 0")
  }

  @Test func `The size limit applies to the sum of all parts`() {
    #expect(outcome(200, [.contentLength: "1001"], []) == "too_large_bytes")
    #expect(outcome(200, [:], [600, 401]) == "too_large_bytes")
    let fields: HTTPFields = [.contentRange: "bytes 40-99/100"]
    #expect(outcome(206, fields, [60], continuing: 40, maxBytes: 100) == "200 with 100")
    #expect(outcome(206, fields, [60], continuing: 40, maxBytes: 99).hasPrefix("too_large_bytes"))
  }

  @Test func `A complete response without a body is a failure`() {
    #expect(outcome(200, [:], []) == "empty_body")
  }
}
