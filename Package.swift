// swift-tools-version: 6.2
import PackageDescription

/// Whether all targets have the trait `Postgres`. The scripts set the variable, so that they share one build.
let hasPostgres = Context.environment["KII_PUSH_POSTGRES"] != nil

// One list for every target, so that all follow the same rules.
let settings: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    // SE-0335: a boxed value's type is written with `any`.
    .enableUpcomingFeature("ExistentialAny"),
    // SE-0409: an import is internal unless it says `public`.
    .enableUpcomingFeature("InternalImportsByDefault"),
    // SE-0444: a member is found only through the file's own imports.
    .enableUpcomingFeature("MemberImportVisibility"),
    // SE-0461: a nonisolated async function stays on its caller's executor.
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// A program that sees only the public declarations, as a user's program does.
func example(_ name: String, _ libraries: Target.Dependency...) -> Target {
    .executableTarget(
        name: name, dependencies: ["KiiPushCore"] + libraries, path: "Examples/\(name)", packageAccess: false)
}

let package = Package(
    name: "kii-push",
    products: [
        .library(name: "KiiPushCore", targets: ["KiiPushCore"]),
        .library(name: "KiiPushActivation", targets: ["KiiPushActivation"]),
        .library(name: "KiiPushDesktop", targets: ["KiiPushDesktop"]),
        .library(name: "KiiPushEmulator", targets: ["KiiPushEmulator"]),
        .library(name: "KiiPushPostgres", targets: ["KiiPushPostgres"]),
        .executable(name: "kii-push", targets: ["kii-push-program"]),
        .executable(name: "kii-push-emulator", targets: ["kii-push-emulator"]),
        .executable(name: "kii-push-gateway", targets: ["kii-push-gateway"]),
        .library(name: "kiipush", type: .dynamic, targets: ["KiiPushC"]),
    ],
    traits: [
        .trait(name: "Postgres", description: "Messages in a PostgreSQL that gateways share. Needs libpq-dev."),
        .default(enabledTraits: hasPostgres ? ["Postgres"] : []),
    ],
    targets: [
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        // No pkg-config name: SwiftPM would warn every user of KiiPushCore, which does not need this library.
        .systemLibrary(name: "CMicroHTTPD", providers: [.apt(["libmicrohttpd-dev"])]),
        // No pkg-config name, as for CMicroHTTPD, which already links GnuTLS. The emulator needs it for MQTT over
        // WebSocket and TLS.
        .systemLibrary(name: "CGnuTLS", providers: [.apt(["libgnutls28-dev"])]),
        // No pkg-config name, as for CMicroHTTPD: only KiiPushDesktop needs it.
        .systemLibrary(name: "CSystemd", providers: [.apt(["libsystemd-dev"])]),
        // No pkg-config name, as for CMicroHTTPD. Only the trait needs it.
        .systemLibrary(name: "CPostgres", providers: [.apt(["libpq-dev"])]),
        // System calls that Swift's Glibc module does not show.
        .target(name: "CSystem"),
        .target(name: "KiiPushCore", dependencies: ["CCurl", "CSQLite", "CSystem"]),
        .target(name: "KiiPushActivation", dependencies: ["KiiPushCore"]),
        .target(name: "KiiPushDesktop", dependencies: ["KiiPushCore", "CSystemd"]),
        // Empty without the trait `Postgres`.
        .target(
            name: "KiiPushPostgres",
            dependencies: ["KiiPushCore", .target(name: "CPostgres", condition: .when(traits: ["Postgres"]))]),
        // The header for programs in other languages. KiiPushC implements its functions.
        .target(name: "CKiiPush"),
        .target(name: "KiiPushC", dependencies: ["KiiPushActivation", "KiiPushCore", "CKiiPush"]),
        // The emulator's web page, compiled in.
        .target(name: "CInspector", exclude: ["page"]),
        .target(
            name: "KiiPushEmulator", dependencies: ["KiiPushCore", "CGnuTLS", "CInspector", "CMicroHTTPD", "CSQLite"]),
        // Code that the three programs share.
        .target(name: "KiiPushCommandLine", dependencies: ["KiiPushActivation", "KiiPushCore"]),
        // A library without the program's entry point, so that the fuzzer can link it.
        .target(
            name: "kii-push",
            dependencies: ["KiiPushActivation", "KiiPushCommandLine", "KiiPushCore", "KiiPushDesktop"],
            exclude: ["Program"]),
        .executableTarget(name: "kii-push-program", dependencies: ["kii-push"], path: "Sources/kii-push/Program"),
        .executableTarget(
            name: "kii-push-emulator", dependencies: ["KiiPushCommandLine", "KiiPushCore", "KiiPushEmulator"]),
        // Without the trait, this program only prints that it was built without PostgreSQL.
        .executableTarget(
            name: "kii-push-gateway",
            dependencies: ["KiiPushActivation", "KiiPushCommandLine", "KiiPushCore", "KiiPushPostgres"]),
        example("MinimalAgent"),
        example("CloudTour"),
        example("ActivatedAgent", "KiiPushActivation"),
        example("DesktopHelper", "KiiPushActivation", "KiiPushDesktop"),
        example("ReceivingTour"),
        example("MessageTour"),
        example("PortingTour", "KiiPushActivation", "KiiPushDesktop"),
        example("ExactlyOnce", "KiiPushPostgres"),
        .executableTarget(
            name: "kii-push-bench",
            dependencies: ["KiiPushCore", "KiiPushEmulator", "KiiPushPostgres", "SeededNumbers"],
            path: "Benchmarks/kii-push-bench"),
        .executableTarget(name: "foundation-decode", path: "Benchmarks/foundation-decode"),
        .target(name: "Contract", dependencies: ["KiiPushCore"], path: "Tests/Contract"),
        .executableTarget(name: "contract-pages", dependencies: ["Contract"], path: "Tests/ContractPages"),
        .testTarget(name: "ContractTests", dependencies: ["Contract"]),
        .testTarget(
            name: "KiiPushCoreTests",
            dependencies: [
                "KiiPushCore", "KiiPushPostgres", "ExactlyOnce", "Contract", "FuzzTargets", "SeededNumbers",
                "TestSupport",
                "TestTraits",
            ]),
        .testTarget(name: "KiiPushActivationTests", dependencies: ["KiiPushActivation", "KiiPushCore"]),
        .testTarget(
            name: "KiiPushEmulatorTests",
            dependencies: [
                "KiiPushEmulator", "KiiPushCore", "Contract", "CSQLite", "SeededNumbers", "TestSupport", "TestTraits",
            ]),
        .testTarget(
            name: "CommandTests",
            dependencies: [
                "KiiPushCommandLine", "kii-push", "kii-push-program", "kii-push-emulator", "kii-push-gateway",
                "KiiPushCore", "TestSupport", "TestTraits",
            ]),
        .executableTarget(
            name: "CountingAgent", dependencies: ["KiiPushActivation", "KiiPushCore"], path: "Tests/CountingAgent"),
        .executableTarget(name: "MisusingAgent", dependencies: ["KiiPushCore"], path: "Tests/MisusingAgent"),
        .executableTarget(
            name: "OpeningAgent", dependencies: ["KiiPushActivation", "KiiPushCore"], path: "Tests/OpeningAgent"),
        .executableTarget(name: "FloodedAgent", dependencies: ["KiiPushCore"], path: "Tests/FloodedAgent"),
        .target(name: "SeededNumbers", path: "Tests/SeededNumbers"),
        .target(name: "TestTraits", path: "Tests/TestTraits"),
        .target(
            name: "TestSupport",
            dependencies: ["KiiPushCore", "KiiPushEmulator", "CMicroHTTPD", "CSQLite"],
            path: "Tests/TestSupport",
            exclude: ["notification-daemon.py"]),
        .target(
            name: "Faults",
            dependencies: ["TestSupport", "KiiPushCore", "KiiPushEmulator", "CMicroHTTPD", "SeededNumbers"],
            path: "Tests/Faults"),
        .executableTarget(name: "kii-push-faults", dependencies: ["Faults", "KiiPushCore"], path: "Tests/FaultRunner"),
        .executableTarget(
            name: "kii-push-brokers",
            dependencies: ["Faults"],
            path: "Tests/BrokerRunner"),
        .executableTarget(
            name: "kii-push-fleet",
            dependencies: [
                "Faults", "KiiPushCore", "KiiPushEmulator", "KiiPushPostgres", "SeededNumbers", "TestSupport",
            ],
            path: "Tests/FleetRunner"),
        .target(name: "Damage", dependencies: ["TestSupport", "KiiPushCore", "SeededNumbers"], path: "Tests/Damage"),
        .executableTarget(
            name: "kii-push-damage",
            dependencies: ["Damage", "TestSupport"],
            path: "Tests/DamageRunner"),
        .testTarget(
            name: "IntegrationTests",
            dependencies: [
                "TestSupport", "TestTraits", "KiiPushActivation", "KiiPushCore", "KiiPushDesktop", "KiiPushEmulator",
                "MinimalAgent", "CloudTour",
                "ReceivingTour", "MessageTour", "PortingTour", "MisusingAgent", "OpeningAgent", "FloodedAgent",
            ]),
        .testTarget(
            name: "FaultTests",
            dependencies: [
                "Damage", "Faults", "TestSupport", "KiiPushCore", "KiiPushEmulator", "CountingAgent",
                "kii-push-faults", "kii-push-fleet",
            ]),
        .target(name: "SimulatedDisk", dependencies: ["CSQLite"], path: "Tests/SimulatedDisk"),
        .target(
            name: "Simulation",
            dependencies: ["KiiPushCore", "SeededNumbers", "SimulatedDisk"],
            path: "Tests/Simulation"),
        .executableTarget(
            name: "kii-push-simulate",
            dependencies: ["KiiPushCore", "Simulation"],
            path: "Tests/SimulationRunner"),
        .target(
            name: "FuzzTargets",
            dependencies: [
                "KiiPushActivation", "KiiPushCommandLine", "KiiPushCore", "KiiPushEmulator", "kii-push", "CSQLite",
            ],
            path: "Tests/Fuzz/Targets"),
        // This program replays inputs. script/fuzz builds it as libFuzzer's program.
        .executableTarget(name: "kii-push-fuzz", dependencies: ["FuzzTargets"], path: "Tests/Fuzz/Runner"),
        .testTarget(name: "SimulationTests", dependencies: ["TestSupport", "kii-push-simulate"]),
        .testTarget(name: "FuzzTests", dependencies: ["FuzzTargets"]),
        .testTarget(
            name: "CLibraryTests",
            dependencies: ["KiiPushC", "CKiiPush", "KiiPushCore", "KiiPushEmulator", "TestSupport", "TestTraits"],
            exclude: ["Programs"]),
        .testTarget(name: "LayeringTests"),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where target.type != .system { target.swiftSettings = settings }
