// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "LibraryCall",
  dependencies: [.package(name: "thumbs", path: "../..")],
  targets: [
    .executableTarget(
      name: "LibraryCall",
      dependencies: [
        .product(name: "BatchFetch", package: "thumbs"),
        .product(name: "ImageCache", package: "thumbs"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
