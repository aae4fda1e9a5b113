// A program that imports this module can use the downloader of its pipelines.
@_exported public import Downloads
