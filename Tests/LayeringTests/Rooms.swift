/// A folder of sources, with the modules that it may import and the rooms whose types it may name.
struct Room {
    var name: String
    var folder: String
    /// The modules that its files may import. All others are forbidden, above all Foundation.
    var modules: Set<String> = []
    /// The other rooms whose types its files may name.
    var knows: Set<String> = []
    /// Single types of other rooms that its files may also name.
    var alsoSees: Set<String> = []
    /// Whether the room must be free of clocks, tasks and I/O.
    var isPure = false

    static let all: [Room] = [
        Room(name: "Values", folder: "Sources/KiiPushCore/Values", modules: ["Glibc"]),
        Room(
            name: "System",
            folder: "Sources/KiiPushCore/System",
            modules: ["CSystem", "Glibc"],
            knows: ["Values"]
        ),
        // JSON and Message need Glibc for memcmp. They are pure, so the rest of Glibc is forbidden.
        Room(
            name: "JSON",
            folder: "Sources/KiiPushCore/JSON",
            modules: ["Glibc"],
            knows: ["Values"],
            isPure: true
        ),
        Room(
            name: "Message",
            folder: "Sources/KiiPushCore/Message",
            modules: ["Glibc"],
            knows: ["Values", "JSON"],
            isPure: true
        ),
        Room(name: "MQTT/Wire", folder: "Sources/KiiPushCore/MQTT/Wire", knows: ["Values"], isPure: true),
        Room(
            name: "MQTT/Session",
            folder: "Sources/KiiPushCore/MQTT/Session",
            knows: ["Values", "MQTT/Wire"],
            isPure: true
        ),
        Room(name: "WebSocket", folder: "Sources/KiiPushCore/WebSocket", knows: ["Values"], isPure: true),
        Room(name: "Cloud", folder: "Sources/KiiPushCore/Cloud", knows: ["Values", "System", "JSON"]),
        Room(
            name: "EventLoop",
            folder: "Sources/KiiPushCore/EventLoop",
            modules: ["CCurl", "CSystem", "Glibc", "Synchronization"],
            knows: ["Values", "System", "WebSocket"]
        ),
        Room(
            name: "Inbox",
            folder: "Sources/KiiPushCore/Inbox",
            modules: ["CSQLite", "Glibc"],
            knows: ["Values", "System"],
            // The members of a message and of its record.
            alsoSees: [
                "DeadLetterReason", "FetchResult", "MessageChange", "MessageEvent", "RowState", "StoredMessage",
                "UserAction",
            ]
        ),
        Room(
            name: "Delivery",
            folder: "Sources/KiiPushCore/Delivery",
            modules: ["Glibc"],
            knows: ["Values", "System", "Message"]
        ),
        Room(
            name: "Store",
            folder: "Sources/KiiPushCore/Store",
            knows: ["Values", "System", "Message", "MQTT/Session", "Inbox", "Delivery"]
        ),
        Room(
            name: "Lifecycle",
            folder: "Sources/KiiPushCore/Lifecycle",
            modules: ["Glibc"],
            knows: ["Values", "System", "Message", "Delivery"]
        ),
        Room(
            name: "Agent",
            folder: "Sources/KiiPushCore/Agent",
            modules: ["Glibc"],
            knows: [
                "Values", "System", "JSON", "Message", "MQTT/Wire", "MQTT/Session", "Cloud", "EventLoop", "Inbox",
                "Delivery", "Store", "Lifecycle",
            ]
        ),
        Room(
            name: "Service",
            folder: "Sources/KiiPushCore/Service",
            modules: ["Glibc"],
            // Cloud: the refusals that decide the exit status.
            knows: ["Values", "System", "Cloud", "Agent"]
        ),
        Room(
            name: "KiiPushActivation",
            folder: "Sources/KiiPushActivation",
            modules: ["KiiPushCore", "Glibc"],
            knows: ["Values", "System", "JSON", "Message", "EventLoop", "Delivery", "Store", "Lifecycle", "Agent"],
            alsoSees: ["InboxOwner"]
        ),
        Room(
            name: "KiiPushDesktop",
            folder: "Sources/KiiPushDesktop",
            modules: ["KiiPushCore", "CSystemd", "Glibc"],
            knows: ["Values", "System", "Message", "Delivery", "Lifecycle"]
        ),
        Room(
            name: "KiiPushPostgres",
            folder: "Sources/KiiPushPostgres",
            modules: ["KiiPushCore", "CPostgres", "Glibc"],
            knows: [
                "Values", "System", "JSON", "Message", "MQTT/Session", "EventLoop", "Inbox", "Delivery", "Store",
                "Agent",
            ]
        ),
        Room(
            name: "KiiPushEmulator",
            folder: "Sources/KiiPushEmulator",
            modules: ["KiiPushCore", "CGnuTLS", "CInspector", "CMicroHTTPD", "CSQLite", "Glibc"],
            knows: ["Values", "System", "JSON", "MQTT/Wire", "WebSocket"],
            // The page of the emulator shows receivers on this machine. SQLite keeps the state of the emulator.
            alsoSees: [
                "AgentStateFile", "ControlClient", "InboxAccessError", "InboxError", "InboxReader", "MessageDecision",
                "MessageEvent", "MessageRecord", "ReceiverFolder", "SQLiteConnection", "SQLiteStatement",
            ]
        ),
        Room(
            name: "KiiPushCommandLine",
            folder: "Sources/KiiPushCommandLine",
            modules: ["KiiPushActivation", "KiiPushCore", "Glibc"],
            knows: [
                "Values", "System", "JSON", "Message", "Cloud", "EventLoop", "Inbox", "Delivery", "Lifecycle", "Agent",
                "Service", "KiiPushActivation",
            ]
        ),
        Room(
            name: "kii-push",
            folder: "Sources/kii-push",
            // `kii_push` is this program's own module, which its entry imports.
            modules: [
                "KiiPushActivation", "KiiPushCommandLine", "KiiPushCore", "KiiPushDesktop", "Glibc", "kii_push",
            ],
            knows: [
                "Values", "System", "JSON", "Message", "Cloud", "EventLoop", "Inbox", "Delivery", "Store", "Lifecycle",
                "Agent", "Service", "KiiPushActivation", "KiiPushCommandLine", "KiiPushDesktop",
            ]
        ),
        Room(
            name: "kii-push-emulator",
            folder: "Sources/kii-push-emulator",
            modules: ["KiiPushCommandLine", "KiiPushCore", "KiiPushEmulator"],
            knows: [
                "Values", "System", "JSON", "EventLoop", "Agent", "Service", "KiiPushCommandLine", "KiiPushEmulator",
            ]
        ),
        Room(
            name: "kii-push-gateway",
            folder: "Sources/kii-push-gateway",
            modules: ["KiiPushActivation", "KiiPushCommandLine", "KiiPushCore", "KiiPushPostgres", "Glibc"],
            knows: [
                "Values", "System", "JSON", "EventLoop", "Inbox", "Delivery", "Lifecycle", "Agent", "Service",
                "KiiPushActivation", "KiiPushCommandLine", "KiiPushPostgres",
            ]
        ),
        Room(
            name: "KiiPushC",
            folder: "Sources/KiiPushC",
            // Synchronization: the check for a fork must take no lock.
            modules: ["KiiPushActivation", "KiiPushCore", "CKiiPush", "Glibc", "Synchronization"],
            knows: [
                "Values", "System", "JSON", "Message", "Cloud", "Inbox", "Delivery", "Store", "Agent", "Service",
                "KiiPushActivation",
            ]
        ),
    ]

    /// Words that are forbidden in every room. `Mutex`: ThreadSanitizer on Linux cannot see into the lock of the
    /// standard library and reports false races, so this package uses its own lock `Locked`.
    static let forbiddenWords: Set<String> = ["Mutex"]

    /// Words that are forbidden in a pure room, which gets the time as an argument and starts nothing.
    static let impureWords: Set<String> = [
        "Task", "TaskGroup", "async", "await", "actor", "Thread", "ContinuousClock", "SuspendingClock",
        "clock_gettime", "socket", "fopen", "getenv",
    ]

    func holds(_ path: String) -> Bool { path.hasPrefix(self.folder + "/") }
}

/// The maximum amount of code in a folder. Each ceiling is the folder's size on the day on which it was set, so larger
/// code needs a higher ceiling and a reason in the commit.
struct Ceiling {
    var folder: String
    var limits: [SwiftCode.Measure: Int]

    init(_ folder: String, _ limits: [SwiftCode.Measure: Int]) {
        self.folder = folder
        self.limits = limits
    }

    static let all: [Ceiling] = [
        Ceiling("Sources/KiiPushCore/Values", [.bytes: 25_076, .types: 23]),
        Ceiling("Sources/KiiPushCore/System", [.bytes: 37_334, .types: 37]),
        Ceiling("Sources/KiiPushCore/JSON", [.bytes: 56_275, .types: 30]),
        Ceiling("Sources/KiiPushCore/Message", [.bytes: 27_595, .types: 21]),
        Ceiling("Sources/KiiPushCore/MQTT/Wire", [.bytes: 23_933, .types: 18]),
        Ceiling("Sources/KiiPushCore/MQTT/Session", [.bytes: 21_843, .types: 16]),
        Ceiling("Sources/KiiPushCore/WebSocket", [.bytes: 17_583, .types: 12]),
        Ceiling("Sources/KiiPushCore/Cloud", [.bytes: 92_250, .types: 67]),
        Ceiling("Sources/KiiPushCore/EventLoop", [.bytes: 71_027, .types: 47]),
        Ceiling("Sources/KiiPushCore/Inbox", [.bytes: 110_335, .types: 38]),
        Ceiling("Sources/KiiPushCore/Delivery", [.bytes: 94_136, .types: 71]),
        Ceiling("Sources/KiiPushCore/Store", [.bytes: 41_097, .types: 19]),
        Ceiling("Sources/KiiPushCore/Lifecycle", [.bytes: 14_881, .types: 16]),
        Ceiling("Sources/KiiPushCore/Agent", [.bytes: 191_109, .types: 96]),
        Ceiling("Sources/KiiPushCore/Service", [.bytes: 12_177, .types: 10]),
        Ceiling("Sources/KiiPushCore", [.bytes: 836_594, .types: 521, .publicDeclarations: 499]),
        Ceiling("Sources/KiiPushActivation", [.bytes: 41_684, .types: 27]),
        Ceiling("Sources/KiiPushDesktop", [.bytes: 24_660, .types: 19]),
        Ceiling("Sources/KiiPushPostgres", [.bytes: 169_803, .types: 49]),
        Ceiling("Sources/KiiPushEmulator", [.bytes: 319_129, .types: 171]),
        Ceiling("Sources/KiiPushCommandLine", [.bytes: 207_887, .types: 127]),
        Ceiling("Sources/kii-push", [.bytes: 212_866, .types: 100]),
        Ceiling("Sources/kii-push-emulator", [.bytes: 12_562, .types: 3]),
        Ceiling("Sources/kii-push-gateway", [.bytes: 33_853, .types: 28]),
        Ceiling("Sources/KiiPushC", [.bytes: 36_438, .types: 12]),
        Ceiling("Sources", [.bytes: 1_895_375, .types: 1_057, .errorTypes: 21]),
    ]

    /// The instruction for a folder whose measure is `count`, or `nil` if the ceiling fits. A folder may be up to 5 %
    /// below its ceiling, so that small changes leave the ceilings alone.
    func complaint(about measure: SwiftCode.Measure, count: Int) -> String? {
        guard let limit = self.limits[measure] else { return nil }
        let subject = "\(self.folder) has \(count) \(measure.rawValue)"
        if count > limit {
            return "\(subject), above its ceiling of \(limit): make it smaller, or raise that and say what it buys"
        }
        let isFarBelow = count < limit && (limit - count) * 20 >= limit
        return isFarBelow ? "\(subject), 5 % or more below its ceiling of \(limit): lower the ceiling" : nil
    }

    var line: String {
        let limits = SwiftCode.Measure.allCases.compactMap { measure in
            self.limits[measure].map { ".\(measure): \(Self.grouped($0))" }
        }
        return "Ceiling(\"\(self.folder)\", [\(limits.joined(separator: ", "))]),"
    }

    private static func grouped(_ number: Int) -> String {
        number < 1_000 ? "\(number)" : "\(self.grouped(number / 1_000))_\("\(1_000 + number % 1_000)".dropFirst())"
    }
}
