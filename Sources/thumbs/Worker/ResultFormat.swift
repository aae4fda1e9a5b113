import ArgumentParser
import BatchFetch
import Foundation
import ImageCache

/// The form of the worker's output. The raw values are those of `--protocol`.
enum ResultProtocol: String, CaseIterable, ExpressibleByArgument, Sendable {
  /// The length of the header, the header as JSON, and the thumbnails as they are.
  case frames
  /// A line of JSON, with the thumbnails in Base64.
  case jsonLines = "jsonl"
}

/// Encodes the results of the worker. `Documentation/worker.md` describes them.
struct ResultFormat: Sendable {
  /// The thumbnails in the results.
  enum Bodies: Hashable, Sendable {
    case included
    case omitted
  }

  let form: ResultProtocol
  let bodies: Bodies

  /// Returns the result of `row`.
  func result(of row: WorkerRow, _ outcome: Result<ThumbnailSet, FetchFailure>) -> [UInt8] {
    let thumbnails = bodies == .included ? (try? outcome.get().files) ?? [] : []
    let line = ReportLine(row, outcome)
    return record(bodies: thumbnails.map(\.bytes)) { text in
      text.key("id")
      switch row.id {
      case .number(let number): text.value(number)
      case .text(let id): text.value(id)
      case nil: text.null()
      }
      line.writeMembers(to: &text)
      text.key("bodies")
      text.array { text in
        for thumbnail in thumbnails { text.value(thumbnail.bytes.count) }
      }
      if form == .jsonLines, bodies == .included {
        text.member("data", thumbnails.map { Data($0.bytes).base64EncodedString() })
      }
    }
  }

  /// Returns the last record, after the results of all rows.
  func end(received: Int, finished: Int) -> [UInt8] {
    record(bodies: []) { text in
      text.member("end", true)
      text.member("received", received)
      text.member("finished", finished)
    }
  }

  private func record(bodies: [[UInt8]], _ members: (inout JSONText) -> Void) -> [UInt8] {
    var header = JSONText()
    header.object(members)
    guard form == .frames else {
      header.endLine()
      return header.bytes
    }
    var frame: [UInt8] = []
    frame.reserveCapacity(4 + header.bytes.count + bodies.reduce(0) { $0 + $1.count })
    withUnsafeBytes(of: UInt32(header.bytes.count).littleEndian) { frame += $0 }
    frame += header.bytes
    for body in bodies { frame += body }
    return frame
  }
}

extension ReportLine {
  /// Creates the line of a row whose thumbnails are in no file.
  fileprivate init(_ row: WorkerRow, _ outcome: Result<ThumbnailSet, FetchFailure>) {
    switch (row.planned.entry, outcome) {
    case (.bad(let row), _): self.init(row)
    case (.row(let row), .failure(let failure)): self.init(row, .failed(failure))
    case (.row(let row), .success(let set)):
      self.init(row, .done(set, set.files.map { Output($0, path: nil) }))
    }
  }
}
