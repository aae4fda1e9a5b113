import Testing

@testable import thumbs

@Suite struct JSONKeyScannerTests {
  @Test(
    arguments: [
      ("{}", nil), ("[1, \"a\", \"a\"]", nil), ("\"a\"", nil), ("{\"a\": \"a\", \"b\": \"a\"}", nil),
      ("{\"a\": {\"b\": 1}, \"b\": {\"b\": 1}}", nil), ("[{\"a\": 1}, {\"a\": 2}]", nil), ("", nil),
      ("{\"a\": 1, \"a\": 2}", ["a"]), ("{\"a\": {\"b\": [], \"c\": {}, \"b\": 0}}", ["a", "b"]),
      ("[{\"x\": 1, \"a\": [{\"b\": 1, \"b\": 2}]}]", ["a", "b"]), ("{\"a\\\"\": 1, \"a\\u0022\": 2}", ["a\""]),
      ("{\"{\": \"}\", \"{\": \",\"}", ["{"]), ("{\"a\\\\\": 1, \"b\": 2, \"a\\\\\": 3}", ["a\\"]),
    ] as [(String, [String]?)])
  func `The first key that occurs twice in an object is found`(text: String, path: [String]?) {
    #expect(JSONKeyScanner.repeatedKey(in: Array(text.utf8)) == path)
  }

  @Test(arguments: ["{\"", "{\"a\\", "}", "{\"a\"}}", "{,\"a\""])
  func `An invalid text has no repeated key and does no harm`(text: String) {
    #expect(JSONKeyScanner.repeatedKey(in: Array(text.utf8)) == nil)
  }
}
