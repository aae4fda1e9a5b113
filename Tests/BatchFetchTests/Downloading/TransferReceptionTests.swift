import Foundation
import HTTPTypes
import Testing

@testable import BatchFetch

@Suite struct TransferReceptionTests {
  /// What an attempt comes to: its body or its failure, what is kept, or a refused range.
  private func outcome(
    _ status: Int, _ fields: HTTPFields, _ chunks: [Int], failure: FailureCode? = nil, continuing: Int? = nil,
    maxBytes: Int = 1000
  ) -> String {
    var reception = TransferReception(maxBytes: maxBytes, continuing: continuing.flatMap { .sample(count: $0) })
    var failure = failure.map { FetchFailure($0, "") }
    do throws(FetchFailure) {
      let response = HTTPResponse(status: .init(code: status), headerFields: fields)
      try reception.receive(head: TransferHead(response: response), at: .now)
      for count in chunks {
        try [UInt8](repeating: 9, count: count).withUnsafeBytes { bytes in
          Result { () throws(FetchFailure) in _ = try reception.receive(bytes: bytes) }
        }.get()
      }
    } catch {
      failure = error
    }
    return describe(reception.finish(failure))
  }

  private func describe(_ outcome: TransferReception.Outcome) -> String {
    switch outcome {
    case .rangeRefused: "range refused"
    case .ended(.success(let answer), let kept):
      "\(answer.head.response.status.code) with \(answer.body.count)" + describe(kept)
    case .ended(.failure(let failure), let kept): "\(failure.code)" + describe(kept)
    }
  }

  private func describe(_ kept: PartialDownload?) -> String { kept.map { ", kept \($0.bytes.count)" } ?? "" }

  private let tagged: HTTPFields = [.eTag: "\"1\"", .contentLength: "100"]

  @Test func `A broken transfer keeps what came`() {
    #expect(outcome(200, tagged, [30, 10], failure: .connectionLost) == "connection_lost, kept 40")
    #expect(outcome(200, [.contentLength: "100"], [30], failure: .connectionLost) == "connection_lost")
    #expect(outcome(404, tagged, [30], failure: .connectionLost) == "connection_lost")
  }

  @Test func `A continued body is the bytes that were there and those that came`() {
    #expect(outcome(206, [.contentRange: "bytes 40-99/100"], [50, 10], continuing: 40) == "200 with 100")
  }

  @Test func `A second interruption keeps the bytes of both`() {
    let outcome = outcome(
      206, [.contentRange: "bytes 40-99/100"], [30], failure: .stalled, continuing: 40)
    #expect(outcome == "stalled, kept 70")
  }

  @Test func `An attempt that dies before its first byte keeps what was there`() {
    #expect(
      outcome(206, [.contentRange: "bytes 40-99/100"], [], failure: .stalled, continuing: 40) == "stalled, kept 40")
    var unanswered = TransferReception(maxBytes: 1000, continuing: .sample(count: 40))
    #expect(describe(unanswered.finish(FetchFailure(.connectFailed, ""))) == "connect_failed, kept 40")
    #expect(outcome(503, [:], [5], continuing: 40) == "503 with 0, kept 40")
  }

  @Test func `A whole answer to the question for the rest takes the place of what was there`() {
    #expect(outcome(200, tagged, [100], continuing: 40) == "200 with 100")
    #expect(outcome(200, [:], [20], failure: .connectionLost, continuing: 40) == "connection_lost")
  }

  @Test func `Other bytes than those that were missing are never appended`() {
    #expect(outcome(206, [.contentRange: "bytes 39-99/100"], [61], continuing: 40) == "range refused")
    #expect(outcome(206, [:], [60], continuing: 40) == "range refused")
    #expect(outcome(416, [.contentRange: "bytes */30"], [5], continuing: 40) == "range refused")
    #expect(outcome(206, [.contentRange: "bytes 40-49/100"], [11], continuing: 40) == "range refused")
  }

  @Test func `Less than was missing is a truncated body, and kept`() {
    #expect(outcome(206, [.contentRange: "bytes 40-49/100"], [10], continuing: 40) == "truncated, kept 50")
  }

  @Test func `Nobody asked for a part: a 206 and a 416 are answers like others`() {
    #expect(outcome(206, [.contentRange: "bytes 0-9/10"], [10]) == "206 with 0")
    #expect(outcome(416, [:], [10]) == "416 with 0")
  }

  @Test(arguments: [206, 404, 500])
  func `Of a body that is not kept, a little is read, and then the answer stands as it is`(status: Int) {
    #expect(outcome(status, [:], [65_536]) == "\(status) with 0")
    #expect(outcome(status, [:], [65_536, 1]) == "\(status) with 0")
    #expect(outcome(status, [:], [65_536], failure: .connectionLost) == "connection_lost")
  }

  @Test(arguments: ["9223372036854775807", "9223372036854775806", "-1"])
  func `A length that no body has does no harm`(length: String) {
    #expect(outcome(200, [.contentLength: length], [5], maxBytes: .max) == "200 with 5")
    let fields: HTTPFields = [.contentRange: "bytes 40-\(length)/*", .contentLength: "60"]
    #expect(outcome(206, fields, [60], continuing: 40) == "range refused")
    #expect(outcome(206, [.contentRange: "bytes 0-\(length)/*"], [60]) == "206 with 0")
  }

  @Test func `The limit holds for the sum of the parts`() {
    #expect(outcome(200, [.contentLength: "1001"], []) == "too_large_bytes")
    #expect(outcome(200, [:], [600, 401]) == "too_large_bytes")
    let fields: HTTPFields = [.contentRange: "bytes 40-99/100"]
    #expect(outcome(206, fields, [60], continuing: 40, maxBytes: 100) == "200 with 100")
    #expect(outcome(206, fields, [60], continuing: 40, maxBytes: 99).hasPrefix("too_large_bytes"))
  }

  @Test func `A whole answer without a body is a failure`() {
    #expect(outcome(200, [:], []) == "empty_body")
  }
}
