internal import CCurl
internal import Foundation
internal import Synchronization

/// The thread that owns libcurl's multi handle and every exchange on it. Others only leave commands, and wake it.
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
    /// Whether the loop waits for the network, and would not look here.
    var isLoopWaiting = false
  }

  /// Unsafe only to the compiler, which sees a pointer: libcurl documents `curl_multi_wakeup` as the one call that any
  /// thread may make, and the others are made by `run`.
  private nonisolated(unsafe) let multi: UnsafeMutableRawPointer?
  private let configuration: CurlTransport.Configuration
  private let names: NameService
  private let inbox = Mutex(Inbox())
  private let lastID = Atomic<TransferID>(0)

  /// libcurl sets up its global state once a process.
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

  /// Leaves a command for the loop. Callable from any thread.
  func post(_ command: Command) {
    let isLoopWaiting = inbox.withLock { inbox in
      inbox.commands.append(command)
      defer { inbox.isLoopWaiting = false }
      return inbox.isLoopWaiting
    }
    // A wake-up costs more than everything else here: a loop that is at work needs none.
    if isLoopWaiting { curl_multi_wakeup(multi) }
  }

  /// Runs until a `stop`. Everything that touches libcurl happens here, on one thread.
  func run() {
    var transfers = CurlTransferTable(multi: multi, configuration: configuration) { [names, weak self] transfer, host in
      let id = transfer.id
      names.resolve(host, within: transfer.limits.connect) { [weak self] in self?.post(.resolved(id, $0)) }
    }
    while obey(takeCommands(), on: &transfers) {
      var running: Int32 = 0
      curl_multi_perform(multi, &running)
      transfers.goOnFinished()
      let wait = transfers.expire(at: .now)
      if beginWait() { curl_multi_poll(multi, nil, 0, Int32(clamping: wait.milliseconds), nil) }
    }
    transfers.endAll(FetchFailure.cancelled)
  }

  /// False where commands have come already. From here on, whoever leaves one wakes the loop.
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

  /// False after a `stop`.
  private func obey(_ commands: [Command], on transfers: inout CurlTransferTable) -> Bool {
    for command in commands {
      switch command {
      case .start(let id, let request, let receiver): transfers.start(id, request, receiver)
      case .cancel(let id): transfers.end(id, .cancelled)
      case .resolved(let id, let resolution): transfers.goOn(id, resolution)
      case .stop: return false
      }
    }
    return true
  }
}

extension Duration {
  /// Whole milliseconds, rounded down.
  var milliseconds: Int { Int(components.seconds) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000) }
}
