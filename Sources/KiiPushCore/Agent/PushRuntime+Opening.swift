import Glibc

extension PushRuntime {
    /// The inbox, the lock and delivery; made by the first agent that asks.
    ///
    /// - Throws: ``PushAgentError``.
    func open() async throws -> Core {
        // The loop's thread is the one place where two callers cannot be at the same time.
        try await self.loop.run { [self] in try self.openOnLoop() }
    }

    private func openOnLoop() throws(PushAgentError) -> Core {
        if let core = self.opened { return core }
        var events: [PushEvent] = []
        var lock: StateLock?
        let inbox: FileStore?
        switch self.configuration.inbox {
        case .memory: (lock, inbox) = (self.lockForControlSocket(&events), nil)
        case .file: (lock, inbox) = try self.openFiles(&events)
        }
        let control = lock == nil ? nil : self.openControlSocket(&events)
        // An inbox in memory has no other use for it.
        if inbox == nil, control == nil { lock = nil }
        let core = self.assemble(inbox: inbox, lock: lock, control: control, events: events)
        self.opened = core
        return core
    }

    /// Receiving is worth more than being watched: without a socket it goes on.
    private func openControlSocket(_ events: inout [PushEvent]) -> ControlServer? {
        guard self.configuration.hasControlSocket else { return nil }
        do throws(FileError) {
            return try ControlServer(directory: self.configuration.stateDirectory) { [weak self] request, reply in
                self?.perform(request, reply)
            }
        } catch {
            events.append(.controlSocketFailed(reason: error.description))
            return nil
        }
    }

    /// An inbox in memory needs the directory for its control socket alone.
    private func lockForControlSocket(_ events: inout [PushEvent]) -> StateLock? {
        guard self.configuration.hasControlSocket else { return nil }
        do throws(LockError) {
            return try self.lockDirectory()
        } catch {
            let error: PushAgentError =
                switch error {
                case .held(let path, let processID): .stateDirectoryInUse(path: path, processID: processID)
                case .unusable(let error): .file(error)
                }
            events.append(.controlSocketFailed(reason: error.description))
            return nil
        }
    }

    private func lockDirectory() throws(LockError) -> StateLock {
        let directory = self.configuration.stateDirectory
        do throws(FileError) {
            try PrivateFile.makeDirectory(directory)
        } catch {
            throw .unusable(error)
        }
        return StateLock(try LockFile(path: "\(directory)/lock"))
    }

    private func openFiles(
        _ events: inout [PushEvent]
    ) throws(PushAgentError) -> (StateLock?, FileStore?) {
        let directory = self.configuration.stateDirectory
        let lock: StateLock
        do throws(LockError) {
            lock = try self.lockDirectory()
        } catch {
            switch error {
            case .held(let path, let processID): throw .stateDirectoryInUse(path: path, processID: processID)
            case .unusable(let error): return try PushRuntime.withoutFiles(error, &events)
            }
        }
        let path = StateDirectory.inboxFile(in: directory)
        do throws(InboxError) {
            let store = try FileStore(
                path: path, configuration: self.configuration.inboxFile,
                longestDelay: self.configuration.longestRetryDelay)
            return (lock, store)
        } catch {
            throw PushAgentError(error, in: directory)
        }
    }

    /// The smaller promise, where the directory is not this user's to write. For anything else the larger one is not given
    /// up: it passes, or a person can help.
    private static func withoutFiles(
        _ error: FileError, _ events: inout [PushEvent]
    ) throws(PushAgentError) -> (StateLock?, FileStore?) {
        guard error.forbidsWriting else { throw .file(error) }
        events.append(.inboxInMemory(reason: error.description))
        return (nil, nil)
    }

    private func assemble(
        inbox: FileStore?, lock: StateLock?, control: ControlServer?, events: [PushEvent]
    ) -> Core {
        let loop = self.loop
        let pipeline = Pipeline(
            on: loop,
            inbox: inbox,
            configuration: self.configuration,
            hubs: self.hubs,
            listeners: self.listeners,
            // An empty command is enough: the loop takes a turn for it, and the turn collects the answers.
            wake: { [weak loop] in _ = loop?.submit {} },
            threads: DeliveryThreads()
        )
        loop.setTurnDelegate(pipeline)
        let isolated = LoopIsolated(confining: pipeline, to: loop)
        return Core(
            pipeline: isolated, reactions: Reactions(isolated, on: loop), workers: pipeline.workers, lock: lock,
            control: control, isDurable: inbox != nil, events: events)
    }
}

extension PushAgentError {
    /// Why the inbox in a directory cannot be used.
    init(_ error: InboxError, in directory: String) {
        let path = StateDirectory.inboxFile(in: directory)
        if case .newerVersion(let version) = error.kind {
            self = .inboxOfNewerVersion(path: path, version: version)
            return
        }
        let failure = FileError.system(path: path, operation: "open", code: error.missingResource)
        self = failure.isTemporary ? .file(failure) : .inbox(reason: error.description)
    }
}

extension InboxError {
    /// The `errno` value that says what the machine or the process is short of; 0 when that is not why it failed.
    fileprivate var missingResource: Int32 {
        switch self.kind {
        case .full: self.systemError == EDQUOT ? EDQUOT : ENOSPC
        case .locked: EAGAIN
        case .cannotOpen, .io: self.systemError
        default: 0
        }
    }
}

/// A ``LockFile`` that several owners share.
final class StateLock: Sendable {
    private let file: LockFile

    init(_ file: consuming LockFile) { self.file = file }

    /// Lets go of it, however many still own it.
    func release() { self.file.release() }
}
