// swift-tools-version: 6.2
import PackageDescription

// One list for every target, so that no room is compiled under softer rules than another.
let settings: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    // SE-0335: `any` is written where a value is boxed.
    .enableUpcomingFeature("ExistentialAny"),
    // SE-0409: an import is visible to importers only when it says `public`.
    .enableUpcomingFeature("InternalImportsByDefault"),
    // SE-0444: a member is found only through the file's own imports.
    .enableUpcomingFeature("MemberImportVisibility"),
    // SE-0461: a nonisolated async function stays on its caller's executor.
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "kii-push",
    products: [
        .library(name: "KiiPushCore", targets: ["KiiPushCore"]),
        .library(name: "KiiPushEmulator", targets: ["KiiPushEmulator"]),
        .executable(name: "kii-push", targets: ["kii-push-program"]),
    ],
    targets: [
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        // Without a pkg-config name: SwiftPM would warn every user of KiiPushCore, which does not need this library.
        .systemLibrary(name: "CMicroHTTPD", providers: [.apt(["libmicrohttpd-dev"])]),
        .target(name: "KiiPushCore", dependencies: ["CCurl", "CSQLite"], swiftSettings: settings),
        .target(
            name: "KiiPushEmulator",
            dependencies: ["KiiPushCore", "CMicroHTTPD", "CSQLite"],
            swiftSettings: settings
        ),
        // Apart from the program's entry, so that the fuzzer can be linked with it.
        .target(
            name: "kii-push",
            dependencies: ["KiiPushCore", "KiiPushEmulator"],
            exclude: ["Program"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "kii-push-program",
            dependencies: ["kii-push"],
            path: "Sources/kii-push/Program",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "MinimalAgent",
            dependencies: ["KiiPushCore"],
            path: "Examples/MinimalAgent",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "CloudTour",
            dependencies: ["KiiPushCore"],
            path: "Examples/CloudTour",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "ActivatedAgent",
            dependencies: ["KiiPushCore"],
            path: "Examples/ActivatedAgent",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "DesktopHelper",
            dependencies: ["KiiPushCore"],
            path: "Examples/DesktopHelper",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "ReceivingTour",
            dependencies: ["KiiPushCore"],
            path: "Examples/ReceivingTour",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "MessageTour",
            dependencies: ["KiiPushCore"],
            path: "Examples/MessageTour",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "PortingTour",
            dependencies: ["KiiPushCore"],
            path: "Examples/PortingTour",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "kii-push-bench",
            dependencies: ["KiiPushCore", "SeededNumbers"],
            path: "Benchmarks/kii-push-bench",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "foundation-decode",
            path: "Benchmarks/foundation-decode",
            swiftSettings: settings
        ),
        .target(name: "Contract", dependencies: ["KiiPushCore"], path: "Tests/Contract", swiftSettings: settings),
        .executableTarget(
            name: "contract-pages",
            dependencies: ["Contract"],
            path: "Tests/ContractPages",
            swiftSettings: settings
        ),
        .testTarget(name: "ContractTests", dependencies: ["Contract"], swiftSettings: settings),
        .testTarget(
            name: "KiiPushCoreTests",
            dependencies: ["KiiPushCore", "Contract", "FuzzTargets", "SeededNumbers", "TestSupport", "TestTraits"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "KiiPushEmulatorTests",
            dependencies: [
                "KiiPushEmulator", "KiiPushCore", "Contract", "CSQLite", "SeededNumbers", "TestSupport", "TestTraits",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "CommandTests",
            dependencies: ["kii-push", "kii-push-program", "KiiPushCore", "TestSupport", "TestTraits"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "CountingAgent",
            dependencies: ["KiiPushCore"],
            path: "Tests/CountingAgent",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "MisusingAgent",
            dependencies: ["KiiPushCore"],
            path: "Tests/MisusingAgent",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "OpeningAgent",
            dependencies: ["KiiPushCore"],
            path: "Tests/OpeningAgent",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "FloodedAgent",
            dependencies: ["KiiPushCore"],
            path: "Tests/FloodedAgent",
            swiftSettings: settings
        ),
        .target(name: "SeededNumbers", path: "Tests/SeededNumbers", swiftSettings: settings),
        .target(name: "TestTraits", path: "Tests/TestTraits", swiftSettings: settings),
        .target(
            name: "TestSupport",
            dependencies: ["KiiPushCore", "KiiPushEmulator", "CMicroHTTPD", "CSQLite"],
            path: "Tests/TestSupport",
            exclude: ["notification-daemon.py"],
            swiftSettings: settings
        ),
        .target(
            name: "Faults",
            dependencies: ["TestSupport", "KiiPushCore", "KiiPushEmulator", "CMicroHTTPD", "SeededNumbers"],
            path: "Tests/Faults",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "kii-push-faults",
            dependencies: ["Faults", "KiiPushCore"],
            path: "Tests/FaultRunner",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "kii-push-brokers",
            dependencies: ["Faults", "KiiPushCore"],
            path: "Tests/BrokerRunner",
            swiftSettings: settings
        ),
        .target(
            name: "Damage",
            dependencies: ["TestSupport", "KiiPushCore", "SeededNumbers"],
            path: "Tests/Damage",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "kii-push-damage",
            dependencies: ["Damage", "TestSupport"],
            path: "Tests/DamageRunner",
            swiftSettings: settings
        ),
        .testTarget(
            name: "IntegrationTests",
            dependencies: [
                "TestSupport", "TestTraits", "KiiPushCore", "KiiPushEmulator", "MinimalAgent", "CloudTour",
                "ReceivingTour", "MessageTour", "PortingTour", "MisusingAgent", "OpeningAgent", "FloodedAgent",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "FaultTests",
            dependencies: [
                "Damage", "Faults", "TestSupport", "KiiPushCore", "KiiPushEmulator", "CountingAgent",
                "kii-push-faults",
            ],
            swiftSettings: settings
        ),
        .target(name: "SimulatedDisk", dependencies: ["CSQLite"], path: "Tests/SimulatedDisk"),
        .target(
            name: "Simulation",
            dependencies: ["KiiPushCore", "SeededNumbers", "SimulatedDisk"],
            path: "Tests/Simulation",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "kii-push-simulate",
            dependencies: ["KiiPushCore", "Simulation"],
            path: "Tests/SimulationRunner",
            swiftSettings: settings
        ),
        .target(
            name: "FuzzTargets",
            dependencies: ["KiiPushCore", "KiiPushEmulator", "kii-push", "CSQLite"],
            path: "Tests/Fuzz/Targets",
            swiftSettings: settings
        ),
        // Replays inputs; built by script/fuzz it is libFuzzer's program.
        .executableTarget(
            name: "kii-push-fuzz",
            dependencies: ["FuzzTargets"],
            path: "Tests/Fuzz/Runner",
            swiftSettings: settings
        ),
        .testTarget(
            name: "SimulationTests",
            dependencies: ["TestSupport", "kii-push-simulate"],
            swiftSettings: settings
        ),
        .testTarget(name: "FuzzTests", dependencies: ["FuzzTargets"], swiftSettings: settings),
        .testTarget(name: "LayeringTests", swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
