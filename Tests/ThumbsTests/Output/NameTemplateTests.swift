import Testing

@testable import thumbs

@Suite struct NameTemplateTests {
  @Test(
    arguments: [
      ("{index}", true), ("{index}.{ext}", true), ("{index}-{name}.{ext}", true), ("{index}{name}.{ext}", false),
      ("{index}0.{ext}", false), ("{index}/{name}", true), ("{hash:2}/{index}.{ext}", false),
      ("{index}\u{661}.{ext}", false), ("a{index}.{ext}", false), ("{stem}.{ext}", false),
    ])
  func `A pattern that begins with the index, and no digit after it, gives each row its own name`(
    template: String, expected: Bool
  ) throws {
    #expect(try NameTemplate(template).isUniqueToRow == expected)
  }

  @Test(
    arguments: [
      ("{stem", NameTemplateError.unclosedBrace), ("{steam}.{ext}", .unknownField("steam")),
      ("", .badPath), ("../{stem}.{ext}", .badPath), ("/{stem}", .badPath), ("{stem}/", .badPath),
      ("a//{stem}", .badPath), ("{stem}/./x", .badPath),
      (String(repeating: "a/", count: 9) + "{stem}", .tooDeep),
      ("{hash:}", .badPrefix("hash:")), ("{stem:0}", .badPrefix("stem:0")), ("{name:100}", .badPrefix("name:100")),
      ("{width:2}{ext}", .badPrefix("width:2")), ("{host:-1}", .badPrefix("host:-1")),
      ("{hash:2}{width}", .fieldsTouch(.hash, .width)),
      (String(repeating: "x", count: 160) + "{stem}", .tooLong),
      ("{dir}-{stem}", .misplaced(.dir)), ("a{dir}/{stem}", .misplaced(.dir)), ("{stem}/{dir}", .misplaced(.dir)),
      ("a-{path}.{ext}", .misplaced(.path)), ("{dir}/{path}.{ext}", .misplaced(.dir)),
      ("{dir:2}/x", .badPrefix("dir:2")),
      ("{stem}{width}.{ext}", .fieldsTouch(.stem, .width)), ("{width}0{stem}", .fieldsTouch(.width, .stem)),
    ])
  func `A pattern that cannot work is rejected with a reason`(pattern: String, expected: NameTemplateError) {
    #expect(throws: expected) { try NameTemplate(pattern) }
  }

  @Test(arguments: ["{hash:2}/{stem:1}-{spec}.{ext}", "a/b{host}/{index}", "{dir}/{stem}", "x/{path}.{ext}"])
  func `The description of a pattern is its text`(pattern: String) throws {
    #expect(try NameTemplate(pattern).description == pattern)
  }
}
