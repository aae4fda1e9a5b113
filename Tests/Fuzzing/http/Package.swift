// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "fuzz-http",
  dependencies: [.package(name: "thumbs", path: "../../..")],
  targets: [
    .executableTarget(
      name: "fuzz-http", dependencies: [.product(name: "Downloads", package: "thumbs")], path: "Sources")
  ],
  swiftLanguageModes: [.v6]
)
