import Testing

@testable import thumbs

@Suite struct NameTemplateTests {
  @Test(
    arguments: [
      ("{index}", true), ("{index}.{ext}", true), ("{index}-{name}.{ext}", true), ("{index}{name}.{ext}", false),
      ("{index}0.{ext}", false), ("{index}\u{661}.{ext}", false), ("a{index}.{ext}", false), ("{stem}.{ext}", false),
    ])
  func `A pattern that begins with the index, and no digit after it, gives each row its own name`(
    template: String, expected: Bool
  ) throws {
    #expect(try NameTemplate(template).isUniqueToRow == expected)
  }

  @Test(
    arguments: [
      ("{stem", NameTemplateError.unclosedBrace), ("{steam}.{ext}", .unknownField("steam")), ("icon.png", .noField),
      ("", .noField), ("../{stem}.{ext}", .slash), (String(repeating: "x", count: 160) + "{stem}", .tooLong),
      ("{stem}{width}.{ext}", .fieldsTouch(.stem, .width)), ("{width}0{stem}", .fieldsTouch(.width, .stem)),
    ])
  func `A pattern that cannot work is rejected with a reason`(pattern: String, expected: NameTemplateError) {
    #expect(throws: expected) { try NameTemplate(pattern) }
  }
}
