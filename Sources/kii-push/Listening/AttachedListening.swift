import KiiPushCore

/// Shows what the process goes through that receives with the inbox, and whose handler answers.
///
/// The socket tells what happens, and to what. The inbox's file has what was not told of: since the process began anew or
/// told more than could be read, since an attempt began before this one watched, or since a message is too long.
actor AttachedListening {
    private var notices: ControlNotices
    /// `nil` where there is no file.
    private var file: Result<InboxReader?, any Error>
    /// Whether the process keeps messages in the file; `nil` until it has told of one.
    private var isKeeping: Bool?
    private var seen: SeenMessages
    private let directory: String
    private let style: ListenLog.Style
    private let installationID: String
    private let count: Int?
    private var log: ListenLog
    /// How many messages were shown and came to something, as far as they are counted.
    var completedCount: Int { self.log.completedCount }
    private var console: Console { self.style.console }

    /// How long a process that receives anew is waited for: a service manager leaves a pause before it starts one.
    private static let patience = Duration.seconds(15)

    /// What comes to something from here on is shown.
    init(
        _ client: ControlClient, directory: String, _ style: ListenLog.Style, installationID: String, count: Int?
    ) throws {
        // Before it is asked, so that what happens while the request is on its way can be listed.
        (self.file, self.seen) = Self.open(directory)
        self.notices = try client.watch()
        (self.directory, self.installationID) = (directory, installationID)
        (self.style, self.count) = (style, count)
        self.log = ListenLog(style, count: count)
    }

    /// Shows until a reason to end comes true; throws ``StopSignals.Failure``.
    nonisolated func run(timeout: Duration?) async throws -> ListenEnding {
        let signals = try StopSignals.ofCommand()
        return await withTaskGroup(of: ListenEnding?.self) { group in
            group.addTask { await self.show() }
            group.addTask { await signals.next().map { .signal($0) } }
            if let timeout {
                group.addTask { (try? await Task.sleep(for: timeout)).map { .timedOut } }
            }
            defer { group.cancelAll() }
            for await ending in group {
                if let ending { return ending }
            }
            return .stopped
        }
    }

    /// `nil` when cancelled.
    private func show() async -> ListenEnding? {
        do {
            repeat {
                var isTold = false
                for await notice in self.notices {
                    switch notice {
                    case .event(let event): try self.show(event)
                    case .missed(let count):
                        try self.console.show(trouble: "missed", "\(count) events, which were not read in time")
                        isTold = false
                    }
                    if !isTold { try await self.catchUp() }
                    isTold = true
                    try await self.style.written()
                    if self.isCounted { return .counted }
                }
                // A reader that is cancelled sees an end too.
                try Task.checkCancellation()
                // What it did not come to tell.
                try await self.catchUp()
                try await self.style.written()
                if self.isCounted { return .counted }
            } while try await self.findSuccessor()
            return .stopped
        } catch is CancellationError {
            return nil
        } catch {
            return .failed(error)
        }
    }

    private var isCounted: Bool { self.count.map { self.log.completedCount >= $0 } ?? false }

    /// Waits for the next process that receives, such as a service that restarts to read its files; returns whether one
    /// came.
    private func findSuccessor() async throws -> Bool {
        self.console.status(
            "> It does not receive any more; waiting \(Self.patience.text) for it, or another, to begin anew.")
        // What comes to something from here on is to be shown.
        let seen = Self.open(self.directory).seen
        let end = ContinuousClock.now + Self.patience
        repeat {
            do {
                if let client = try ControlClient(stateDirectory: self.directory) {
                    self.notices = try client.watch()
                    self.file = Self.open(self.directory).file
                    if self.isKeeping == false {
                        self.seen = seen
                        self.log.beginAnew()
                        self.isKeeping = nil
                    }
                    self.console.status("> It receives again.")
                    return true
                }
            } catch ControlError.ended, ControlError.silent {
                // It came and went, or is not yet as far.
            }
            try await Task.sleep(for: .milliseconds(100))
        } while ContinuousClock.now < end
        return false
    }

    private func show(_ event: PushEvent) throws {
        switch event {
        case .message(let event): try self.show(event)
        case .inboxMovedAside:
            self.file = Self.open(self.directory).file
            try self.console.show(event, of: self.installationID)
        default: try self.console.show(event, of: self.installationID)
        }
    }

    private func show(_ event: MessageEvent) throws {
        let id = event.messageID
        // In memory messages are numbered from 1.
        if self.isKeeping == true, !event.isKept { self.log.beginAnew() }
        self.isKeeping = event.isKept
        let wasListed = event.isKept && self.seen.wasListed(id)
        if case .started(let attempt) = event.kind {
            // Of what was listed meanwhile, this may be told after it.
            if wasListed, try self.isOver(id) { return }
            try self.began(event, attempt: attempt)
        } else if event.isOutcome, !self.log.isOpen(id) {
            if wasListed { return }
            // Its beginning was before this one watched, or was not told.
            try self.began(event, attempt: nil)
            if case .dead(_, attempt: nil) = event.kind {} else if !event.isKept { self.log.count(id) }
        }
        try self.log.happened(event)
    }

    /// - Parameter attempt: `nil` for the one that the inbox tells of.
    private func began(_ event: MessageEvent, attempt: Int?) throws {
        let id = event.messageID
        self.seen.insert(id)
        if case .handler(let message, let context)? = event.call {
            try self.began(message, context)
        } else if event.isKept, let reader = try self.file.get() {
            do {
                let trace = try reader.trace(of: id)
                // A command of thing-if's is none.
                guard let message = try? ReceivedMessage(payload: trace.payload) else { return }
                try self.began(message, trace.context(attempt: attempt, else: self.installationID))
            } catch let error as InboxReadingError {
                try self.console.show(trouble: "not shown", "#\(id): \(error)")
            }
        } else if attempt != nil {
            try self.console.show(
                trouble: "not shown",
                "#\(id): it is a thing-if command, too long for the control socket, or was not read in time")
        }
    }

    private func began(_ message: ReceivedMessage, _ context: DeliveryContext) throws {
        if try self.log.began(message, context) { try self.style.recorder?.record(message, context) }
    }

    /// - Returns: `seen`: what is in the file now counts as shown.
    private static func open(_ directory: String) -> (file: Result<InboxReader?, any Error>, seen: SeenMessages) {
        do {
            let reader = try InboxReader.existing(in: directory)
            return (.success(reader), SeenMessages(after: try reader?.lastMessageID() ?? 0))
        } catch {
            return (.failure(error), SeenMessages(after: 0))
        }
    }

    /// A file beside an inbox in memory is an older one, and nobody has a use for it, or for what is wrong with it.
    private func reader() throws -> InboxReader? {
        switch self.isKeeping {
        case nil: (try? self.file.get()) ?? nil
        case true?: try self.file.get()
        case false?: nil
        }
    }

    /// Lists what came to something without being told of.
    private func catchUp() async throws {
        guard let reader = try self.reader() else { return }
        var last = self.seen.horizon
        while true {
            let page = try reader.messages(MessageRecord.Standing.over, after: last, limit: 100)
            guard let end = page.last else { return }
            for trace in page where !self.seen.contains(trace.messageID) || self.log.isOpen(trace.messageID) {
                self.seen.insertListed(trace.messageID)
                try self.log.caughtUp(trace)
                try await self.style.written()
                if self.isCounted { return }
            }
            last = end.messageID
        }
    }

    private func isOver(_ messageID: Int64) throws -> Bool {
        try self.file.get()?.messages(MessageRecord.Standing.over, after: messageID - 1, limit: 1).first?.messageID
            == messageID
    }
}

extension MessageRecord.Standing {
    /// Where a message came to something.
    static let over: Set<MessageRecord.Standing> = [.done, .dead, .presented]
}
