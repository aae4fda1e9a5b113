internal import CCurl
internal import Foundation
internal import Synchronization

/// The event loop that owns libcurl's multi handle and all transfers on it. It runs on one thread; other threads post
/// commands and wake it up.
final class CurlEventLoop: Sendable {
  typealias TransferID = UInt64

  enum Command: Sendable {
    case start(TransferID, TransferRequest, any TransferReceiver)
    case cancel(TransferID)
    case resolved(TransferID, HostResolution)
    case stop
  }

  private struct Inbox {
    var commands: [Command] = []
    /// True while the loop waits for the network and needs a wake-up to see a command.
    var isLoopWaiting = false
  }

  /// `nonisolated(unsafe)` is correct: other threads only call `curl_multi_wakeup`, which libcurl documents as
  /// thread-safe. All other calls happen in `run`, or before and after it.
  private nonisolated(unsafe) let multi: UnsafeMutableRawPointer?
  private let configuration: CurlTransport.Configuration
  private let names: NameService
  /// libcurl calls it for as long as there is a `multi`.
  private let floods = FloodGuard()
  private let inbox = Mutex(Inbox())
  private let lastID = Atomic<TransferID>(0)

  /// True after libcurl has initialized its global state, which happens once per process.
  private static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

  init(_ configuration: CurlTransport.Configuration, names: NameService) {
    self.configuration = configuration
    self.names = names
    multi = Self.isReady ? curl_multi_init() : nil
    if let multi {
      ccurl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, configuration.maxConnections.clamped(to: 1...1_000_000))
    }
  }

  deinit { curl_multi_cleanup(multi) }

  func makeID() -> TransferID { lastID.add(1, ordering: .relaxed).newValue }

  /// Posts a command to the loop, from any thread.
  func post(_ command: Command) {
    let isLoopWaiting = inbox.withLock { inbox in
      inbox.commands.append(command)
      defer { inbox.isLoopWaiting = false }
      return inbox.isLoopWaiting
    }
    // A wake-up costs more than everything else here, and a busy loop does not need it.
    if isLoopWaiting { curl_multi_wakeup(multi) }
  }

  /// Runs transfers until a `stop` command. All work with libcurl's handles happens here, on one thread.
  func run() {
    let resolve: CurlTransferTable.Resolve = { [names, weak self] transfer, host in
      let id = transfer.id
      names.resolve(host, within: transfer.limits.connect) { [weak self] in self?.post(.resolved(id, $0)) }
    }
    var transfers = CurlTransferTable(multi: multi, configuration: configuration, floods: floods, resolve: resolve)
    while execute(takeCommands(), on: &transfers) {
      var running: Int32 = 0
      floods.guarding { curl_multi_perform(multi, &running) }
      transfers.advanceFinished()
      let wait = transfers.expire(at: .now)
      if beginWait() { curl_multi_poll(multi, nil, 0, Int32(clamping: wait.milliseconds), nil) }
    }
    transfers.endAll(FetchFailure.cancelled)
  }

  /// Returns true if the loop may wait, and from then on `post` wakes it up. Returns false if commands are pending.
  private func beginWait() -> Bool {
    inbox.withLock { inbox in
      inbox.isLoopWaiting = inbox.commands.isEmpty
      return inbox.isLoopWaiting
    }
  }

  private func takeCommands() -> [Command] {
    inbox.withLock { inbox in
      inbox.isLoopWaiting = false
      defer { inbox.commands = [] }
      return inbox.commands
    }
  }

  /// Returns false after a `stop` command.
  private func execute(_ commands: [Command], on transfers: inout CurlTransferTable) -> Bool {
    for command in commands {
      switch command {
      case .start(let id, let request, let receiver): transfers.start(id, request, receiver)
      case .cancel(let id): transfers.end(id, .cancelled)
      case .resolved(let id, let resolution): transfers.advance(id, after: resolution)
      case .stop: return false
      }
    }
    return true
  }
}

extension Duration {
  /// The duration in whole milliseconds, rounded down.
  var milliseconds: Int { Int(components.seconds) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000) }
}
