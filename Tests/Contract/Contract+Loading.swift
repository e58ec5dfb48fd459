package import Foundation
import KiiPushCore

/// A place of the contract that breaks a rule of its format.
package struct ContractFault: Error, CustomStringConvertible {
    package var description: String

    init(_ description: String) {
        self.description = description
    }
}

extension Contract {
    /// The folder `Documentation` of the package that contains this file.
    package static let documentation = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Documentation")

    private static let loaded = Result { try Self.read() }

    /// The contract of this package. The first call reads it.
    package static func load() throws -> Contract { try self.loaded.get() }

    private static func read() throws -> Contract {
        let folder = Contract.documentation.appending(path: "contract")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".json") }.sorted()
        var documents: [(name: String, value: JSONValue)] = []
        for name in names {
            let bytes = Array(try Data(contentsOf: folder.appending(path: name)))
            documents.append((name, try JSONValue(parsing: bytes)))
        }
        return try Contract(documents: documents)
    }

    init(documents: [(name: String, value: JSONValue)]) throws {
        var areas: [(order: Int, area: Area)] = []
        var errors: [ContractError] = []
        var aboutErrors = ""
        var parameters: [Parameter] = []
        var choices: [Choice] = []
        for (name, value) in documents {
            let object = try ContractObject(value, at: name)
            switch name {
            case "errors.json":
                aboutErrors = try object.string("about")
                errors = try object.objects("errors").map { try ContractError($0) }
                try object.expectNothingElse()
            case "parameters.json":
                parameters = try object.objects("parameters").map { try Parameter($0) }
                choices = try object.objects("choices").map { try Choice($0) }
                try object.expectNothingElse()
            default: areas.append((try object.integer("order"), try Area(object)))
            }
        }
        let sorted = areas.sorted { $0.order < $1.order }.map { $0.area }
        let endpoints = sorted.flatMap { $0.endpoints }
        self.init(
            areas: sorted, endpoints: endpoints, variants: endpoints.flatMap { Self.variants(of: $0, choices) },
            errors: errors, aboutErrors: aboutErrors, parameters: parameters, choices: choices)
    }
}

extension Contract.Area {
    fileprivate init(_ object: ContractObject) throws {
        self.init(
            title: try object.string("title"),
            about: try object.string("about"),
            endpoints: try object.objects("endpoints").map { try Endpoint($0) }
        )
        _ = try object.integer("order")
        try object.expectNothingElse()
    }
}

extension Contract.Parameter {
    fileprivate init(_ object: ContractObject) throws {
        self.init(
            name: try object.string("name"),
            sample: try object.string("sample"),
            rule: try object.string("rule")
        )
        try object.expectNothingElse()
    }
}

extension Contract.Choice {
    fileprivate init(_ object: ContractObject) throws {
        let paths = try object.required("paths").members ?? []
        self.init(
            name: try object.string("name"),
            paths: paths.map { Path(label: $0.key, path: $0.value.string ?? "") }
        )
        try object.expectNothingElse()
    }
}

extension ContractError {
    fileprivate init(_ object: ContractObject) throws {
        let code = try object.string("code")
        let words = code.split(separator: "_").map { $0.prefix(1) + $0.dropFirst().lowercased() }
        self.init(
            code: code,
            status: try object.integer("status"),
            meaning: try object.string("meaning"),
            exception: try object.optionalString("exception") ?? words.joined() + "Exception",
            context: object.optional("context") ?? [:],
            optional: Set(try object.strings("optional")),
            hasRetryAfter: try object.bool("retryAfter"),
            extent: try object.optionalString("on").map { try object.choice($0) },
            isFault: try object.bool("fault"),
            isOwn: try object.bool("own")
        )
        try object.expectNothingElse()
    }
}

extension NamedError {
    fileprivate init(_ object: ContractObject) throws {
        self.init(
            code: try object.string("code"),
            when: try object.string("when"),
            labels: try object.strings("in")
        )
        try object.expectNothingElse()
    }
}

extension Endpoint {
    fileprivate init(_ object: ContractObject) throws {
        let replies = try object.objects("replies").map { try Reply($0) }
        let accepted = try object.integers("accepted")
        self.init(
            id: try object.string("id"),
            title: try object.string("title"),
            method: try object.string("method"),
            path: try object.string("path"),
            hasHead: try object.bool("head"),
            alsoAt: try object.strings("alsoAt"),
            service: try object.choice(try object.optionalString("service") ?? "api"),
            auth: try object.choice(try object.string("auth")),
            needsNoCredentials: try object.bool("optionalCredentials"),
            who: try object.optionalString("who"),
            client: try object.strings("client"),
            withoutClient: try object.optionalString("withoutClient"),
            request: try object.object("request").map { try Request($0) } ?? Request(),
            replies: replies,
            accepted: accepted.isEmpty ? replies.map { $0.status } : accepted,
            errors: try object.objects("errors").map { try NamedError($0) },
            source: try object.string("source")
        )
        try object.expectNothingElse()
    }
}

extension Endpoint.Request {
    fileprivate init(_ object: ContractObject) throws {
        self.init(
            query: try object.objects("query").map { try Endpoint.Member($0) },
            mediaTypes: try object.strings("mediaTypes"),
            takesAnyMediaType: try object.bool("anyMediaType"),
            needsNoMediaType: try object.bool("optionalMediaType"),
            members: try object.objects("members").map { try Endpoint.Member($0) },
            open: try object.optionalString("open"),
            rules: try object.strings("rules"),
            sample: object.optional("sample"),
            isEmpty: try object.bool("emptyBody"),
            bytes: try object.optionalString("bytes")
        )
        try object.expectNothingElse()
    }
}

extension Endpoint.Member {
    fileprivate init(_ object: ContractObject) throws {
        self.init(
            name: try object.string("name"),
            types: try object.string("type").split(separator: "|").map { String($0) },
            isRequired: try object.bool("required"),
            rule: try object.optionalString("rule")
        )
        try object.expectNothingElse()
    }
}

extension Endpoint.Reply {
    fileprivate init(_ object: ContractObject) throws {
        self.init(
            status: try object.integer("status"),
            when: try object.optionalString("when"),
            mediaType: try object.optionalString("mediaType"),
            headers: try object.strings("headers"),
            sample: object.optional("sample"),
            optional: Set(try object.strings("optional"))
        )
        try object.expectNothingElse()
    }
}
