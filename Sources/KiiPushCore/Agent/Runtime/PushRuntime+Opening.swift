import Glibc

extension PushRuntime {
    func open() async throws -> Core {
        // On the loop's thread, so that two callers cannot open at the same time.
        guard let shared = self.shared else { return try await self.loop.run { [self] in try self.openOnLoop() } }
        if let core = self.opened { return core }
        let opened = OneShot<Result<Core, any Error>>()
        let isAccepted = self.loop.submit { self.open(shared, opened) }
        if !isAccepted { opened.resume(.failure(TransportError.shutDown)) }
        return try await opened.value(onCancel: .failure(CancellationError())).get()
    }

    private func open(_ shared: any SharedStore, _ opened: OneShot<Result<Core, any Error>>) {
        if let core = self.opened { return _ = opened.resume(.success(core)) }
        let isFirst = self.opening.withLock { opening in
            opening.append(opened)
            return opening.count == 1
        }
        guard isFirst else { return }
        shared.open(for: self.configuration, on: self.loop) { [weak self] store in
            guard let self else { return }
            var events: [PushEvent] = []
            let core = store.map { self.makeCore(of: $0, self.lockForControlSocket(&events), &events) }
            self.finishOpening(core.mapError { $0 })
        }
    }

    func finishOpening(_ core: Result<Core, any Error>) {
        let opening = self.opening.withLock { opening in
            defer { opening = [] }
            return opening
        }
        for opened in opening { opened.resume(core) }
    }

    private func openOnLoop() throws(PushAgentError) -> Core {
        if let core = self.opened { return core }
        var events: [PushEvent] = []
        var lock: FileLock?
        let inbox: (any Store)?
        switch self.configuration.inbox {
        case .memory: (lock, inbox) = (self.lockForControlSocket(&events), nil)
        case .file: (lock, inbox) = try self.openFiles(&events)
        }
        return self.makeCore(of: inbox, lock, &events)
    }

    private func makeCore(of store: (any Store)?, _ directoryLock: FileLock?, _ events: inout [PushEvent]) -> Core {
        var lock = directoryLock
        let control = lock == nil ? nil : self.openControlSocket(&events)
        // Only a file store and a control socket need the lock.
        if !(store is FileStore), control == nil { lock = nil }
        let pipeline = Pipeline(
            on: self.loop, inbox: store, configuration: self.configuration, hubs: self.hubs, listeners: self.listeners,
            wake: self.loop.waking, threads: DeliveryThreads())
        let isolated = self.loop.drive(pipeline)
        let core = Core(
            pipeline: isolated, workers: pipeline.workers, lock: lock, control: control, isDurable: store != nil,
            events: events)
        self.opened = core
        return core
    }

    /// Receiving is worth more than being watched, so a failure is only a notice.
    private func openControlSocket(_ events: inout [PushEvent]) -> ControlServer? {
        guard self.configuration.hasControlSocket else { return nil }
        do throws(FileError) {
            return try ControlServer(directory: self.configuration.stateDirectory) { [weak self] request, reply in
                self?.perform(request, reply)
            }
        } catch {
            events.append(.notice(.controlSocketFailed, reason: error.description))
            return nil
        }
    }

    private func lockForControlSocket(_ events: inout [PushEvent]) -> FileLock? {
        guard self.configuration.hasControlSocket else { return nil }
        do throws(PushAgentError) {
            return try self.lockDirectory()
        } catch {
            events.append(.notice(.controlSocketFailed, reason: error.description))
            return nil
        }
    }

    private func lockDirectory() throws(PushAgentError) -> FileLock {
        let directory = self.configuration.stateDirectory
        let path = "\(directory)/lock"
        do throws(FileError) {
            try PrivateFile.makeDirectory(directory)
            if let lock = try FileLock(path: path) { return lock }
        } catch {
            throw .file(error)
        }
        throw .stateDirectoryInUse(path: path, processID: FileLock.holder(of: path))
    }

    private func openFiles(_ events: inout [PushEvent]) throws(PushAgentError) -> (FileLock?, FileStore?) {
        let directory = self.configuration.stateDirectory
        let lock: FileLock
        do throws(PushAgentError) {
            lock = try self.lockDirectory()
        } catch {
            // An inbox in memory promises less. Use it only if this user may not write the directory: other failures
            // end by themselves, or a person can mend them.
            guard case .file(let file) = error, file.forbidsWriting else { throw error }
            let promise =
                "until the next start less is promised: what the handler gives up on is not kept, and what is unanswered "
                + "when the process ends only the broker has"
            events.append(.notice(.inboxInMemory, reason: "\(file); \(promise)"))
            return (nil, nil)
        }
        let store = Result { () throws(InboxError) in
            try FileStore(
                path: StateDirectory.inboxFile(in: directory), configuration: self.configuration.inboxFile,
                longestDelay: self.configuration.longestRetryDelay)
        }
        return (lock, try store.mapError { PushAgentError($0, in: directory) }.get())
    }
}

extension PushAgentError {
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
    /// The `errno` value of an exhausted resource or another failure of the system; 0 if there is none.
    fileprivate var missingResource: Int32 {
        switch self.kind {
        case .full: self.systemError == EDQUOT ? EDQUOT : ENOSPC
        case .locked: EAGAIN
        case .cannotOpen, .io: self.systemError
        default: 0
        }
    }
}
