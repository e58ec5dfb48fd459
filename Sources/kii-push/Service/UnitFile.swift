import KiiPushCommandLine
import KiiPushCore

struct UnitFile: Sendable {
    enum Kind: String, Sendable {
        case system
        case user
    }

    static let configuration = "/etc/kii-push/config.json"
    /// The secrets file. systemd passes it only to the unit.
    static let credentials = "/etc/kii-push/credentials.json"

    let kind: Kind
    let profile: String
    let program: String

    var name: String {
        self.profile == ProfileLocation.defaultName ? "kii-push.service" : "kii-push-\(self.profile).service"
    }

    var text: String {
        let isOfSystem = self.kind == .system
        let user = ["Type=notify", "NotifyAccess=main"] + self.common + ["", "UMask=0077"] + Self.hardening
        let sections: [(String, [String])] = [
            ("Unit", self.unit(after: isOfSystem ? "network-online.target" : "dbus.socket")),
            ("Service", isOfSystem ? self.systemService : user),
            ("Install", ["WantedBy=\(isOfSystem ? "multi-user" : "default").target"]),
        ]
        let head =
            "# Written by 'kii-push install-unit --\(self.kind.rawValue)'. Changes belong in a drop-in: systemctl edit.\n"
        return head + sections.map { "\n[\($0.0)]\n" + $0.1.map { "\($0)\n" }.joined() }.joined()
    }

    private func unit(after wanted: String) -> [String] {
        [
            "Description=Push messages of the profile \(self.profile)", "Wants=\(wanted)", "After=\(wanted)",
            // Restarts without limit, because the cause of a failure may be temporary. The start of a removed program
            // fails for good.
            "StartLimitIntervalSec=0", "AssertFileIsExecutable=\(self.program.replacing(bytesOf: "%", with: "%%"))",
        ]
    }

    private var systemService: [String] {
        [
            // Not notify-reload, which needs systemd 253. ExecReload works in every version.
            "Type=notify", "NotifyAccess=main",
            "Environment=KII_PUSH_CONFIG=\(Self.configuration)",
            "LoadCredential=kii-push-credentials.json:\(Self.credentials)",
            "# Holds where there is no such file. kii-push then says itself what is missing.",
            #"SetCredential=kii-push-credentials.json:{"version":1}"#,
        ] + self.common + [
            "", "# A user of its own, the same for every profile, whose state is in /var/lib/kii-push.",
            // Without libnss-systemd a dynamic user has no home directory.
            "DynamicUser=yes", "User=kii-push", "StateDirectory=kii-push", "StateDirectoryMode=0700",
            "WorkingDirectory=%S/kii-push", "Environment=HOME=%S/kii-push", "UMask=0077",
            "", "# What it starts is held to this too; a drop-in can allow more, for instance with ReadWritePaths=.",
            "ProtectSystem=strict", "ProtectHome=yes", "PrivateTmp=yes", "PrivateDevices=yes", "PrivateUsers=yes",
            "ProtectHostname=yes", "ProtectClock=yes", "ProtectKernelTunables=yes", "ProtectKernelModules=yes",
            "ProtectKernelLogs=yes", "ProtectControlGroups=yes", "ProtectProc=invisible", "DevicePolicy=closed",
            "CapabilityBoundingSet=", "AmbientCapabilities=", "RestrictNamespaces=yes",
            "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK", "RemoveIPC=yes", "KeyringMode=private",
            "SystemCallFilter=@system-service", "SystemCallFilter=~@privileged @resources",
            "SystemCallErrorNumber=EPERM",
        ] + Self.hardening
    }

    private var common: [String] {
        [
            "ExecStart=\(self.command)", "ExecReload=/bin/kill -HUP $MAINPID",
            "# kii-push alone gets SIGTERM, and gives what it has started the time to answer.",
            "KillMode=mixed", "LimitCORE=0", "TimeoutStopSec=45", "WatchdogSec=60", "Restart=on-failure",
            "RestartSec=5",
            "# A handler that the kernel kills for its memory has failed; it does not end the service.",
            "OOMPolicy=continue",
            "# Wrong options, a refusal for good by cloud or broker, refused credentials, wrong configuration: to begin",
            "# again changes nothing.",
            "RestartPreventExitStatus=64 76 77 78", "SuccessExitStatus=0",
            "# For a socket with metrics. An emulator is found by a file in it, and others share it: it is left there.",
            "RuntimeDirectory=kii-push", "RuntimeDirectoryMode=0700", "RuntimeDirectoryPreserve=yes",
            "# Swift's libdispatch says in the journal that it may not raise a thread's priority, and goes on without.",
            "Environment=LIBDISPATCH_LOG=NO",
        ]
    }

    private static let hardening = [
        "NoNewPrivileges=yes", "LockPersonality=yes", "RestrictRealtime=yes", "RestrictSUIDSGID=yes",
        "SystemCallArchitectures=native",
    ]

    private var command: String {
        // Escapes systemd's specifiers (`%%`, systemd.unit(5)) and variables (`$$`, systemd.service(5)).
        let program = self.program.replacing(bytesOf: "%", with: "%%").replacing(bytesOf: "$", with: "$$")
        let isPlain = program.allSatisfy { !$0.isWhitespace && !"\"'\\".contains($0) }
        let quoted = program.replacing(bytesOf: "\\", with: "\\\\").replacing(bytesOf: "\"", with: "\\\"")
        return "\(isPlain ? program : "\"\(quoted)\"") run --profile \(self.profile)"
    }
}
