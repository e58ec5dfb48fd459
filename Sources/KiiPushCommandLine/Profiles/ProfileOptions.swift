package import KiiPushCore

package struct ProfileNameOptions: ParsableArguments {
    @Option(
        short: "p", value: "NAME", help: "The profile: a principal and its state. Default: default.",
        completion: .asked(.profiles))
    package var profile: String?

    package init() {}
}

package struct ConnectionOptions: ParsableArguments {
    @Option(
        long: "cacert", value: "FILE", help: "Trust the certificate authorities in this file.",
        completion: .file)
    package var caFile: String?

    @Option(
        long: "client-cert", value: "FILE", help: "Show this certificate to servers that ask for one.",
        completion: .file)
    package var clientCertificateFile: String?

    @Option(
        long: "client-key", value: "FILE",
        help: "The certificate's key, mode 0600. Default: in the certificate's file.", completion: .file)
    package var clientKeyFile: String?

    @Option(value: "URL", help: "Go through this HTTP or SOCKS proxy.") package var proxy: String?

    @Option(value: "TEXT", help: "What to call oneself to HTTP servers. Default: the program's name and version.")
    package var userAgent: String?

    @Flag(help: "Do not check certificates. Anyone on the way can then read and change everything.")
    package var insecure = false

    package init() {}
}

package struct ProfileOptions: ParsableArguments {
    @OptionGroup(title: "Cloud") package var name: ProfileNameOptions

    @Option(
        short: "c", value: "FILE", help: "The configuration file ('kii-push help files').", completion: .file)
    package var config: String?

    @Option(value: "SITE", help: "One of Kii's sites: us, jp, sg, eu, cn3.") package var site: KiiSite?

    @Option(long: "base-url", value: "URL", help: "The cloud's address up to and with /api.")
    package var baseURL: String?

    @Option(long: "app-id", value: "ID", help: "The ID of the app.") package var appID: String?

    @Option(value: "FILE", help: "A file with the key of the app alone, mode 0600.", completion: .file)
    package var appKeyFile: String?

    @OptionGroup(title: "Cloud") package var connection: ConnectionOptions

    @Flag(
        long: "allow-plain-http",
        help: "Let the address be http with another machine. Everyone on the way then reads keys and tokens.")
    package var allowPlainHTTP = false

    @Option(
        value: "WAY",
        help:
            "What carries MQTT: automatic, tcp or webSocket. Default: automatic, which is WebSocket where TCP does not get "
            + "through.")
    package var transport: PushAgent.Transport?

    package init() {}

    package var profile: String? { self.name.profile }
    package func validate() throws { try self.exclude("site", "base-url") }
}

extension UserAgent {
    package static let ofTool = "kii-push/\(UserAgent.version) \(UserAgent.ofLibrary)"
}

extension KiiSite: ExpressibleByArgument {}
extension PushAgent.Transport: ExpressibleByArgument {}
