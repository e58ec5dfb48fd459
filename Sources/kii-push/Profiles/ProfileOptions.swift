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

    @Option(value: "URL", help: "Go through this HTTP or SOCKS proxy.") var proxy: String?

    @Flag(
        name: .customLong("allow-plain-http"),
        help: "Let the address be http with another machine. Everyone on the way then reads keys and tokens.")
    var allowPlainHTTP = false

    @Flag(help: "Do not check certificates. Anyone on the way can then read and change everything.")
    var insecure = false

    var profile: String? { self.name.profile }
    func validate() throws { try self.exclude("site", "base-url") }
}

extension KiiSite: ExpressibleByArgument {}
