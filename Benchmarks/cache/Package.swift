// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "bench-cache",
  dependencies: [
    .package(name: "thumbs", path: "../.."),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
  ],
  targets: [
    .executableTarget(
      name: "bench-cache",
      dependencies: [
        .product(name: "ImageCache", package: "thumbs"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
