import ArgumentParser

@main
struct Thumbs: ParsableCommand {
  func run() throws {}
}
