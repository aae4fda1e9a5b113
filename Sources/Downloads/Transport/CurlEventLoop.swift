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

/// The transfers of one event loop, used only on its thread.
private struct CurlTransferTable {
  typealias Resolve = (CurlTransfer, _ host: String) -> Void

  private let multi: UnsafeMutableRawPointer?
  private let configuration: CurlTransport.Configuration
  private let memory: CurlMemory
  /// Starts a name lookup, whose result arrives through ``advance(_:after:)``.
  private let resolve: Resolve
  private var transfers: [CurlEventLoop.TransferID: CurlTransfer] = [:]
  /// Handles to reuse, which have no options.
  private var idleHandles: [UnsafeMutableRawPointer] = []
  private static let idleLimit = CurlTransport.canReuseHandles ? 64 : 0
  private var floods = FloodWatch()
  /// No transfer has its deadline before this instant. Until then, ``expire(at:)`` need not look at each of them.
  private var nextDeadline = ContinuousClock.now

  init(
    multi: UnsafeMutableRawPointer?, configuration: CurlTransport.Configuration, floods: FloodGuard,
    resolve: @escaping Resolve
  ) {
    self.multi = multi
    self.configuration = configuration
    self.resolve = resolve
    memory = CurlMemory(floods: floods)
  }

  mutating func start(_ id: CurlEventLoop.TransferID, _ request: TransferRequest, _ receiver: any TransferReceiver) {
    guard multi != nil, let handle = idleHandles.popLast() ?? curl_easy_init() else {
      return receiver.receiveEnd(FetchFailure(.connectFailed, "libcurl could not be initialized."))
    }
    let transfer = CurlTransfer(
      id: id, handle: handle, request: request, receiver: receiver, configuration: configuration, memory: memory)
    transfers[id] = transfer
    perform(transfer.begin(), for: transfer)
  }

  /// Performs the next step of each transfer whose exchange libcurl has finished.
  mutating func advanceFinished() {
    var left: Int32 = 0
    while let message = curl_multi_info_read(multi, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle else { continue }
      let result = ccurl_message_result(message)
      guard let transfer = CurlTransfer.of(handle) else { continue }
      curl_multi_remove_handle(multi, handle)
      perform(transfer.step(after: result), for: transfer)
    }
  }

  /// Performs the next step of a transfer after its name lookup. Does nothing if the transfer has ended.
  mutating func advance(_ id: CurlEventLoop.TransferID, after resolution: HostResolution) {
    guard let transfer = transfers[id] else { return }
    perform(transfer.step(after: resolution), for: transfer)
  }

  private mutating func perform(_ step: CurlTransfer.Step, for transfer: CurlTransfer) {
    if let deadline = transfer.deadline { nextDeadline = min(nextDeadline, deadline) }
    switch step {
    case .exchange:
      let result = curl_multi_add_handle(multi, transfer.handle)
      guard result != CURLM_OK else { return }
      end(transfer.id, FetchFailure(.connectFailed, String(cString: curl_multi_strerror(result))))
    case .resolve(let host): resolve(transfer, host)
    case .repeat(let request):
      transfers[transfer.id] = nil
      recycle(transfer.handle)
      transfer.leaveConnection()
      start(transfer.id, request, transfer.receiver)
    case .end(let failure): end(transfer.id, failure)
    }
  }

  /// Ends one transfer, finished or not. Does nothing if it has ended already.
  mutating func end(_ id: CurlEventLoop.TransferID, _ failure: FetchFailure?) {
    guard let transfer = transfers.removeValue(forKey: id) else { return }
    // Removing an unfinished handle closes its connection, which cannot be reused within a response.
    curl_multi_remove_handle(multi, transfer.handle)
    recycle(transfer.handle)
    transfer.finish(with: failure)
  }

  mutating func endAll(_ failure: FetchFailure) {
    for id in Array(transfers.keys) { end(id, failure) }
    for handle in idleHandles { curl_easy_cleanup(handle) }
    idleHandles.removeAll()
  }

  /// Ends the transfers that are overdue or flooded. Returns the time until the next deadline, at most an hour.
  mutating func expire(at now: ContinuousClock.Instant) -> Duration {
    if nextDeadline <= now { endOverdue(at: now) }
    if floods.isDue(at: now) { endFlooded() }
    return now.duration(to: nextDeadline) + .milliseconds(1)
  }

  /// Ends the transfers whose deadline has passed, and finds the next deadline.
  private mutating func endOverdue(at now: ContinuousClock.Instant) {
    nextDeadline = now + .seconds(3600)
    for (id, transfer) in transfers {
      guard let deadline = transfer.deadline else { continue }
      if deadline <= now { end(id, transfer.overdue) } else { nextDeadline = min(nextDeadline, deadline) }
    }
  }

  /// Ends the transfers whose connections are flooded, and closes those connections.
  private mutating func endFlooded() {
    let connected = Dictionary(grouping: transfers.values.filter { $0.ports != nil }) { $0.ports ?? 0 }
    memory.delivered = memory.delivered.filter { connected[$0.key] != nil }
    // A descriptor may belong to another connection by now.
    memory.sockets = memory.sockets.filter { ccurl_ports($0.value) == $0.key }
    var readings: [Int: FloodWatch.Reading] = [:]
    for (ports, transfers) in connected {
      let read = memory.sockets[ports].map { Int(ccurl_bytes_read($0)) } ?? -1
      let delivered = transfers.reduce(memory.delivered[ports] ?? 0) { $0 + $1.delivered }
      if read >= 0 { readings[ports] = FloodWatch.Reading(read: read, delivered: delivered) }
    }
    for transfer in floods.floods(in: readings).flatMap({ connected[$0] ?? [] }) {
      ccurl_set_long(transfer.handle, CURLOPT_FORBID_REUSE, 1)
      end(transfer.id, transfer.flooded)
    }
  }

  private mutating func recycle(_ handle: UnsafeMutableRawPointer) {
    guard idleHandles.count < Self.idleLimit else { return curl_easy_cleanup(handle) }
    // A transfer that ended before libcurl read its IP addresses leaves a pointer to them in the handle, which a reset
    // keeps (7.88). The next transfer would read the list after it was freed.
    ccurl_set_list(handle, CURLOPT_RESOLVE, nil)
    curl_easy_reset(handle)
    idleHandles.append(handle)
  }
}
