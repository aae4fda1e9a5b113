import Foundation
import Testing

@testable import thumbs

@Suite struct RowIDTests {
  private func id(_ json: String) throws -> RowID? {
    let object = try JSONDocument.parse(Array("{\"id\":\(json)}".utf8)) as? [String: Any]
    return RowID(object?["id"])
  }

  @Test(arguments: [
    ("7", RowID.number(7)), ("-9223372036854775808", .number(.min)), ("0", .number(0)), ("1e3", .number(1000)),
    ("\"a\"", .text("a")), ("\"\"", .text("")), ("\"7\"", .text("7")),
  ])
  func `A string and a whole number are ids`(json: String, expected: RowID) throws {
    #expect(try id(json) == expected)
  }

  @Test(arguments: ["true", "false", "null", "1.5", "9223372036854775808", "1e300", "[1]", "{}"])
  func `Every other value is no id`(json: String) throws {
    #expect(try id(json) == nil)
  }

  @Test(arguments: ["\\ud800", "a\\udc00", "\\ud800\\u0041", "\\ufffd", "\u{FFFD}"])
  func `Text with half a surrogate pair is replaced, and no id`(text: String) throws {
    #expect(try id("\"\(text)\"")?.hasReplacement == true)
    #expect(try id("\"\\ud83d\\ude00\"")?.hasReplacement == false)
  }

  @Test func `Ids that differ in type or in bytes have different digests, and equal ones the same`() {
    let ids: [RowID] = [.number(1), .number(2), .text("1"), .text("\u{E9}"), .text("e\u{301}"), .text("")]

    #expect(Set(ids.map(\.digest)).count == ids.count)
    #expect(RowID.text("\u{E9}").digest == RowID.text("\u{E9}").digest)
  }
}

@Suite struct RecentIDsTests {
  @Test func `An id is rejected while it is among the last ones`() {
    var ids = RecentIDs(limit: 3)

    #expect([1, 2, 3].allSatisfy { ids.insert(.number($0)) })
    #expect([1, 2, 3].allSatisfy { !ids.insert(.number($0)) })
    #expect(ids.insert(.number(4)) && ids.insert(.number(1)))
    #expect(!ids.insert(.number(4)) && !ids.insert(.number(3)) && ids.insert(.number(2)))
  }

  @Test func `There is memory for more ids than the worker has in hand`() {
    #expect(RecentIDs.standardCount > WorkerRun.window + WorkerRun.lookahead)
  }
}
