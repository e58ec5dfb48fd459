import KiiPushCore

struct ProfileNameOptions: ParsableArguments {
    @Option(
        name: .shortAndLong, value: "NAME", help: "The profile: a principal and its state. Default: default.",
        completion: .asked(.profiles))
    var profile: String?
}

/// Which profile, and which cloud: the same in every command that talks to one.
struct ProfileOptions: ParsableArguments {
    @OptionGroup(title: "Cloud") var name: ProfileNameOptions

    @Option(
        name: .shortAndLong, value: "FILE", help: "The configuration file ('kii-push help files').", completion: .file)
    var config: String?

    @Option(value: "SITE", help: "One of Kii's sites: us, jp, sg, eu, cn3.") var site: KiiSite?

    @Option(name: .customLong("base-url"), value: "URL", help: "The cloud's address up to and with /api.")
    var baseURL: String?

    @Option(name: .customLong("app-id"), value: "ID", help: "The ID of the app.") var appID: String?

    @Option(value: "FILE", help: "A file with the key of the app alone, mode 0600.", completion: .file)
    var appKeyFile: String?

    @Option(
        name: .customLong("cacert"), value: "FILE", help: "Trust the certificate authorities in this file.",
        completion: .file)
    var caFile: String?

    @Option(
        name: .customLong("client-cert"), value: "FILE", help: "Show this certificate to servers that ask for one.",
        completion: .file)
    var clientCertificateFile: String?

    @Option(
        name: .customLong("client-key"), value: "FILE",
        help: "The certificate's key, mode 0600. Default: in the certificate's file.", completion: .file)
    var clientKeyFile: String?

    @Option(value: "URL", help: "Go through this HTTP or SOCKS proxy.") var proxy: String?

    @Option(value: "TEXT", help: "What to call oneself to HTTP servers. Default: the program's name and version.")
    var userAgent: String?

    @Flag(
        name: .customLong("allow-plain-http"),
        help: "Let the address be http with another machine. Everyone on the way then reads keys and tokens.")
    var allowPlainHTTP = false

    @Flag(help: "Do not check certificates. Anyone on the way can then read and change everything.")
    var insecure = false

    var profile: String? { self.name.profile }
    func validate() throws { try self.exclude("site", "base-url") }
}

extension UserAgent {
    /// The tool, its library and libcurl, with their versions.
    static let ofTool = "kii-push/\(UserAgent.version) \(UserAgent.ofLibrary)"
}

extension KiiSite: ExpressibleByArgument {}
