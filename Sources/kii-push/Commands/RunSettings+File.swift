import KiiPushCore

extension RunSettings {
    /// Reads the `run` object of a profile in config.json.
    ///
    /// - Throws: ``CommandFailure`` with exit 78 for what is wrong, contradicts itself, or would be overlooked.
    init(_ part: DocumentValue) throws {
        self.init()
        try part.requireMembers(Member.allCases.map(\.rawValue))
        for member in part.json.members ?? [] {
            guard let known = Member(rawValue: member.key), let expectation = self.take(known, member.value) else {
                continue
            }
            throw part.document.failure(at: part.pointer.appending(member.key), "must be \(expectation)")
        }
        if let problem = self.problem({ part.pointer.appending($0.rawValue).description }) {
            throw CommandFailure(.configuration, "\(part.document.place(of: part.pointer)): \(problem)")
        }
    }

    /// - Returns: what was expected instead, if it is no such value.
    private mutating func take(_ member: Member, _ value: JSONValue) -> String? {
        switch member {
        case .exec: return Self.put(value.argument(), in: &self.exec, CommandText.expectation)
        case .forwardTo: return Self.put(value.argument(), in: &self.forwardTo, ForwardTarget.expectation)
        case .activate: return Self.put(value.string, in: &self.activate, "a text")
        case .metricsFile: return Self.put(value.string, in: &self.metricsFile, "a text")
        case .metricsSocket: return Self.put(value.string, in: &self.metricsSocket, "a text")
        case .execTimeout: return Self.put(value.timeSpan, in: &self.execTimeout, Self.timeSpanText)
        case .forwardTimeout: return Self.put(value.timeSpan, in: &self.forwardTimeout, Self.timeSpanText)
        case .grace: return Self.put(value.timeSpan, in: &self.grace, Self.timeSpanText)
        case .keepAlive: return Self.put(value.timeSpan, in: &self.keepAlive, Self.timeSpanText)
        case .exitWhenOffline: return Self.put(value.timeSpan, in: &self.exitWhenOffline, Self.timeSpanText)
        case .jobs: return Self.put(value.handlerCount, in: &self.jobs, HandlerCount.expectation)
        case .concurrency: return Self.put(value.handlerCount, in: &self.concurrency, HandlerCount.expectation)
        case .shell, .present:
            guard let isWanted = value.bool else { return "true or false" }
            if member == .shell { self.shell = isWanted } else { self.present = isWanted }
        case .arguments:
            guard let texts = value.array?.map(\.string), !texts.contains(nil) else { return "a list of texts" }
            self.arguments = texts.compactMap { $0 }
        }
        return nil
    }

    private static let timeSpanText = "a text: \(TimeSpan.expectation)"

    private static func put<Value>(_ value: Value?, in place: inout Value?, _ expectation: String) -> String? {
        place = value
        return value == nil ? expectation : nil
    }
}

extension JSONValue {
    fileprivate func argument<Value: ExpressibleByArgument>() -> Value? { self.string.flatMap { Value(argument: $0) } }
    fileprivate var timeSpan: Duration? { (self.argument() as TimeSpan?)?.duration }
    fileprivate var handlerCount: Int? { self.int64.flatMap { HandlerCount(argument: "\($0)")?.value } }
}
