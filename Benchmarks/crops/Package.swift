// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "bench-crops",
  dependencies: [.package(name: "thumbs", path: "../..")],
  targets: [.executableTarget(name: "bench-crops", dependencies: [.product(name: "ImageCache", package: "thumbs")])],
  swiftLanguageModes: [.v6]
)
