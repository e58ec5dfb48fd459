import KiiPushCore
import KiiPushEmulator

/// Requests to the emulator, one after the other. The input is HTTP requests separated by a byte 0, each with request
/// line, header lines, an empty line and a body.
package enum EmulatorFuzzing {
    /// Runs one input. Returns the broken claims, and the status of each answer.
    package static func run(_ input: [UInt8]) -> (violations: [String], statuses: [Int]) {
        // An input that already contains a secret may use it as a topic's name.
        var run = EmulatorRun(secrets: EmulatedWorld.secrets.filter { !input.holds($0) })
        for request in input.split(separator: 0, maxSplits: 11) { run.send(Self.request(request)) }
        // The check takes as long as several requests, so only one input in four runs it, with one overview.
        if input.count % 4 == 0 { run.checkStoredState(EmulatedWorld.overviews[input.count / 4 % 5]) }
        return (run.claims.violated, run.statuses)
    }

    private static func request(_ wire: ArraySlice<UInt8>) -> IncomingRequest {
        var rest = wire
        func nextLine() -> ArraySlice<UInt8> {
            let line = rest.prefix { $0 != 0x0A }
            rest = rest.dropFirst(line.count + 1)
            return line.last == 0x0D ? line.dropLast() : line
        }
        let words = nextLine().split(separator: 0x20, maxSplits: 1)
        var fields: [HTTPField] = []
        while case let line = nextLine(), !line.isEmpty {
            let parts = line.split(separator: 0x3A, maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count == 2 ? parts[1].drop { $0 == 0x20 } : []
            fields.append(HTTPField(Self.text(parts[0]), Self.text(value)))
        }
        return IncomingRequest(
            method: words.first.map { Self.text($0) } ?? "",
            target: words.count == 2 ? Self.text(words[1]) : "", fields: fields, body: Array(rest))
    }

    private static func text(_ bytes: some Sequence<UInt8>) -> String {
        String(decoding: Array(bytes), as: UTF8.self)
    }
}

/// A cloud with some content, checked request by request.
private struct EmulatorRun {
    let secrets: [[UInt8]]
    private(set) var claims = Claims()
    private(set) var statuses: [Int] = []
    private let cloud = EmulatedWorld.cloud
    private var rows = EmulatedWorld.rows
    private var hasChanged = false
    /// Whether the input ordered a fault. Then an answer may be missing or wrong.
    private var hasFaults = false
    private var now = EmulatedWorld.now

    private static let controls = Array("__kii".utf8)
    private static let faults = Array("__kii/faults".utf8)
    private static let json = Array("json".utf8)

    init(secrets: [[UInt8]]) { self.secrets = secrets }

    mutating func send(_ request: IncomingRequest) {
        self.now = self.now + .milliseconds(250)
        let reply = self.cloud.respond(to: request, now: self.now)
        self.write(reply.effects.changes)
        self.cloud.commit(reply.effects)
        let target = Array(request.target.utf8)
        self.hasFaults = self.hasFaults || target.holds(Self.faults)
        self.statuses.append(reply.response?.status ?? 0)
        self.check(reply, isControl: target.holds(Self.controls), isBytes: request.target.hasSuffix("/body"))
        for publication in reply.effects.publications { self.check(publication) }
    }

    private mutating func write(_ changes: [StateChange]) {
        self.hasChanged = self.hasChanged || !changes.isEmpty
        for change in changes {
            switch change {
            case .save(let table, let key, let value): self.rows["\(table) \(key)"] = (table, value)
            case .remove(let table, let key): self.rows["\(table) \(key)"] = nil
            case .removeAll: self.rows = [:]
            }
        }
    }

    private mutating func check(_ reply: EmulatedCloud.Reply, isControl: Bool, isBytes: Bool) {
        guard let response = reply.response else { return self.claims.require(self.hasFaults, "a request is answered") }
        self.claims.require((200..<500).contains(response.status) || self.hasFaults, "status \(response.status)")
        let isRefusal = response.status >= 400
        if isRefusal, !self.hasFaults {
            self.claims.require(reply.effects == EmulatedCloud.Effects(), "a refusal has no effects")
        }
        self.claims.require(reply.effects.delay >= .zero && reply.effects.delay <= .seconds(600), "a delay is bounded")
        for field in response.fields {
            let isSafe = (field.name + field.value).utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
            self.claims.require(isSafe, "the field \(field.name) is on its line")
        }
        // A downloaded body has the type that its upload named, so it need not be JSON.
        guard let type = response.field("Content-Type"), !isBytes, Array(type.utf8).holds(Self.json) else { return }
        guard let body = try? JSONValue(parsing: response.body) else {
            return self.claims.require(response.body.isEmpty, "what is said to be JSON is JSON")
        }
        if isRefusal {
            self.claims.require(body["errorCode"]?.string != nil || self.hasFaults, "a refusal has a code")
            let words = body["message"] ?? body["error_description"]
            self.claims.require(words?.string != nil || self.hasFaults, "a refusal has words")
        }
        guard isRefusal || isControl else { return }
        for secret in self.secrets {
            self.claims.require(!response.body.holds(secret), "a refusal and an overview hold no secret")
        }
    }

    private mutating func check(_ publication: MQTTPublish) {
        self.claims.require(!publication.topic.isEmpty, "a message goes somewhere")
        self.claims.require(Self.isRead(publication.payload), "what the emulator sends the library reads")
    }

    /// Whether the payload is a valid message, or a command to a thing.
    private static func isRead(_ payload: [UInt8]) -> Bool {
        do throws(MessageError) {
            _ = try ReceivedMessage(payload: payload)
            return true
        } catch {
            if case .thingCommand = error { return true }
            return false
        }
    }

    /// A cloud loaded from the stored rows gives the same overview.
    mutating func checkStoredState(_ overview: IncomingRequest) {
        guard self.hasChanged else { return }
        var state = CloudState()
        for (name, row) in self.rows {
            guard let value = try? JSONValue(parsing: row.value.serialized()),
                state.load(table: row.table, value: value)
            else {
                return self.claims.require(false, "the stored \(name) is read again")
            }
        }
        let again = EmulatedCloud(settings: EmulatedWorld.settings, state: state)
        self.claims.require(
            again.response(to: overview, now: self.now) == self.cloud.response(to: overview, now: self.now),
            "\(overview.target) is the same after a restart")
    }
}

extension EmulatedCloud {
    fileprivate func response(to request: IncomingRequest, now: Timestamp) -> [UInt8]? {
        self.respond(to: request, now: now).response?.body
    }
}
