import ArgumentParser
import ImageCache
import Testing

@testable import thumbs

private struct Command: ParsableCommand {
  @OptionGroup var manifests: ManifestOptions
  @OptionGroup var columns: ColumnOptions
  @OptionGroup var pixels: PixelOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var naming: NamingOptions
}

private func parse(_ arguments: String...) throws -> Command { try Command.parse(arguments) }

/// Returns the message and the exit code for invalid arguments; nil if they are valid.
private func failure(of arguments: [String]) -> (message: String, code: Int32)? {
  do {
    _ = try Command.parse(arguments)
    return nil
  } catch {
    return (Command.message(for: error), Command.exitCode(for: error).rawValue)
  }
}

@Suite struct OptionsTests {
  @Test func `The defaults match the documentation`() throws {
    let command = try parse("list.txt")

    #expect(command.manifests.manifests == ["list.txt"])
    #expect(command.pixels.specs == [ThumbnailSpec(width: 256)])
    #expect(command.output.directory == nil)
    #expect(try command.naming.template(sizeCount: 1) == .oneSize)
    #expect(try command.naming.template(sizeCount: 2) == .severalSizes)
    #expect(command.output.progressMode == .auto)
    #expect(command.output.report == nil)
  }

  @Test func `Every option about thumbnails and output has its effect`() throws {
    let command = try parse(
      "a", "-", "-o", "out", "--size", "64@2x", "--size", "200x100", "--size", "64@2x", "--fit", "pad", "--enlarge",
      "--format", "png", "--quality", "90", "--background", "#00ff7f", "--name", "{index}-{spec}.{ext}", "--url-key",
      "photo", "--name-key", "who", "--report", "-", "--progress", "json", "-v")

    #expect(command.manifests.manifests == ["a", "-"])
    #expect(command.columns.keys == ManifestKeys(urlKey: "photo", nameKey: "who"))
    let color = ThumbnailSpec.Color(red: 0, green: 255, blue: 127)
    #expect(
      command.pixels.specs == [
        ThumbnailSpec(
          width: 64, scale: 2, fit: .pad, enlargement: .allowed, format: .png, quality: 90, background: color),
        ThumbnailSpec(
          width: 200, height: 100, fit: .pad, enlargement: .allowed, format: .png, quality: 90, background: color),
      ])
    #expect(command.output.directory == "out")
    #expect(try command.naming.template(sizeCount: 2).description == "{index}-{spec}.{ext}")
    #expect(command.output.report == "-" && command.output.progressMode == .json && command.output.verbose)
  }

  @Test func `The options for filter, light and scans have their effect`() throws {
    let specs = try parse("a", "--filter", "mitchell", "--linear", "--progressive").pixels.specs

    #expect(specs == [ThumbnailSpec(width: 256, filter: .mitchell, light: .linear, scans: .progressive)])
  }

  @Test(arguments: [("ffffff", "ffffff"), ("#00ff7f", "00ff7f"), ("#FFF", "ffffff"), ("0a9", "00aa99")])
  func `A color has three or six digits, and may begin with a number sign`(text: String, color: String) throws {
    #expect(try parse("a", "--background", text).pixels.background.description == color)
  }

  @Test(arguments: ["", "#", "ff", "ffff", "##fff", "##ffffff", "ggg", "#ff f", "+ff"])
  func `A color of other characters is rejected`(text: String) {
    #expect(failure(of: ["a", "--background=" + text])?.code == 64)
  }

  @Test func `The format jpg is jpeg`() throws {
    #expect(try parse("a", "--format", "jpg").pixels.format == .jpeg)
  }

  @Test func `The option -q overrides --progress`() throws {
    #expect(try parse("a", "-q", "--progress", "bar").output.progressMode == .none)
  }

  @Test(
    arguments: [
      (["--size", "0"], "The value '0' is invalid for '--size <size>': each side must be 1 to 16384 pixels"),
      (["--size", "big"], "The value 'big' is invalid for '--size <size>': give a size such as 256"),
      (["--size", "9000@2x"], "each side must be 1 to 16384 pixels after scaling"),
      (["--size", "16384", "--fit", "pad"], "16384x16384 exceeds the limit of 67108864 pixels"),
      (["--quality", "101"], "The value '101' is invalid for '--quality <number>': give a number from 1 to 100"),
      (["--background", "red"], "'--background <rrggbb>': give six hexadecimal digits"),
      (["--fit", "crop"], "Please provide one of 'inside', 'cover', 'pad', 'stretch' or 'outside'"),
      (["--format", "tiff"], "following:\n  - auto\n  - jpeg\n  - png\n  - webp\n  - avif\n  - gif\n  - smallest"),
      (["--format", "rgba"], "following:\n  - auto\n  - jpeg\n  - png\n  - webp\n  - avif\n  - gif\n  - smallest"),
      (["--filter", "sinc"], "Please provide one of 'lanczos3', 'mitchell', 'cubic' or 'box'"),
      (["--progress", "loud"], "'--progress <progress>'"),
      (["--name", "{nmae}.{ext}"], "'--name <pattern>': there is no field {nmae}; the fields are {name} {index}"),
      (["-q", "-v"], "--quiet and --verbose cannot be used together"),
    ])
  func `A wrong value is a usage error that names the option, the value and the remedy`(
    arguments: [String], expected: String
  ) throws {
    let outcome = try #require(failure(of: arguments))

    #expect(outcome.message.contains(expected))
    #expect(outcome.code == 64)
  }

  @Test func `A name pattern without the size is rejected for several sizes`() throws {
    let naming = try parse("--name", "{stem}.{ext}").naming

    #expect(try naming.template(sizeCount: 1) == .oneSize)
    let error = #expect(throws: ValidationError.self) { try naming.template(sizeCount: 2) }
    #expect(error?.message.contains("add {spec}") == true)
  }

  @Test func `Without a manifest, apps.plist is read, or a usage error mentions standard input`() throws {
    let options = try parse().manifests

    #expect(try options.inputs { $0 == "apps.plist" } == [.file("apps.plist")])
    let error = #expect(throws: ValidationError.self) { try options.inputs { _ in false } }
    #expect(error?.message.contains("- to read one from standard input") == true)
    #expect(try parse("x").manifests.inputs { _ in false } == [.file("x")])
  }
}
