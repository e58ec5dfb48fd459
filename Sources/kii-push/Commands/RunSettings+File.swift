import KiiPushCore

extension RunSettings {
    /// Reads the `run` object of a profile in config.json.
    ///
    /// - Throws: ``CommandFailure`` with exit 78 for what is wrong, contradicts itself, or would be overlooked.
    init(_ part: JSONValue, at pointer: JSONPointer, in document: ConfigurationDocument) throws {
        self.init()
        try document.requireMembers(Member.allCases.map(\.rawValue), of: part, at: pointer)
        for member in part.members ?? [] {
            guard let known = Member(rawValue: member.key), let expectation = self.take(known, member.value) else {
                continue
            }
            throw document.failure(at: pointer.appending(member.key), "must be \(expectation)")
        }
        if let problem = self.problem({ pointer.appending($0.rawValue).description }) {
            throw CommandFailure(.configuration, "\(document.place(of: pointer)): \(problem)")
        }
    }

    /// - Returns: what was expected instead, if it is no such value.
    private mutating func take(_ member: Member, _ value: JSONValue) -> String? {
        switch member {
        case .exec: self.exec = Self.argument(value)
        case .forwardTo: self.forwardTo = Self.argument(value)
        case .activate: self.activate = Self.argument(value)
        case .execTimeout: self.execTimeout = Self.argument(value, as: TimeSpan.self)?.duration
        case .forwardTimeout: self.forwardTimeout = Self.argument(value, as: TimeSpan.self)?.duration
        case .grace: self.grace = Self.argument(value, as: TimeSpan.self)?.duration
        case .exitWhenOffline: self.exitWhenOffline = Self.argument(value, as: TimeSpan.self)?.duration
        case .metricsFile: self.metricsFile = Self.argument(value)
        case .metricsSocket: self.metricsSocket = Self.argument(value)
        case .jobs: self.jobs = Self.count(value)
        case .concurrency: self.concurrency = Self.count(value)
        case .shell:
            guard let isWanted = value.bool else { return "true or false" }
            self.shell = isWanted
        case .present:
            guard let isWanted = value.bool else { return "true or false" }
            self.present = isWanted
        case .arguments:
            guard let texts = value.array?.map(\.string), !texts.contains(nil) else { return "a list of texts" }
            self.arguments = texts.compactMap { $0 }
        }
        return self.isSaid(member) ? nil : Self.expectation(of: member)
    }

    private func isSaid(_ member: Member) -> Bool {
        switch member {
        case .exec: self.exec != nil
        case .forwardTo: self.forwardTo != nil
        case .activate: self.activate != nil
        case .execTimeout: self.execTimeout != nil
        case .forwardTimeout: self.forwardTimeout != nil
        case .grace: self.grace != nil
        case .exitWhenOffline: self.exitWhenOffline != nil
        case .metricsFile: self.metricsFile != nil
        case .metricsSocket: self.metricsSocket != nil
        case .jobs: self.jobs != nil
        case .concurrency: self.concurrency != nil
        case .shell, .present, .arguments: true
        }
    }

    private static func expectation(of member: Member) -> String {
        switch member {
        case .exec: CommandText.expectation
        case .forwardTo: ForwardTarget.expectation
        case .jobs, .concurrency: HandlerCount.expectation
        case .execTimeout, .forwardTimeout, .grace, .exitWhenOffline: "a text: \(TimeSpan.expectation)"
        case .activate, .shell, .present, .arguments, .metricsFile, .metricsSocket: "a text"
        }
    }

    /// A text that is read as on the command line.
    private static func argument<Value: ExpressibleByArgument>(
        _ value: JSONValue, as type: Value.Type = Value.self
    ) -> Value? {
        value.string.flatMap { Value(argument: $0) }
    }

    private static func count(_ value: JSONValue) -> Int? {
        value.int64.flatMap { HandlerCount(argument: "\($0)")?.value }
    }
}
