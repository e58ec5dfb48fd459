import KiiPushCore

extension Contract {
    /// The reference page: every call with its request, replies and errors, and the error table.
    var referencePage: String {
        var text = """
            # The REST API

            \(Page.notice)

            The calls of Kii's cloud that this package makes and its emulator answers. Paths are below `{base}/api`, those
            of thing-if below `{base}/thing-if`, the emulator's own below `/__kii` at its root. What Kii's own pages leave
            open is said under "Source".

            | credentials | what is sent |
            |---|---|
            | none | no `Authorization`; the body says who asks |
            | app | `Authorization: Basic base64({appID}:{appKey})`, or the fields `X-Kii-AppID` and `X-Kii-AppKey` alone |
            | token | `Authorization: Bearer {token}` of a user, a thing or an administrator |
            | administrator | an administrator's `Bearer`, or `Basic base64({clientID}:{clientSecret})` |

            ## Names in paths


            """
        text += self.parameterTables
        for area in self.areas where !area.endpoints.isEmpty {
            text += "\n## \(area.title)\n\n\(area.about)\n"
            for endpoint in area.endpoints { text += "\n" + self.section(endpoint) }
        }
        return text + "\n## Errors\n\n\(self.aboutErrors)\n\n" + self.errorTable
    }

    private var parameterTables: String {
        var parameters = MarkdownTable("name", "what it is", "sample")
        for parameter in self.parameters {
            parameters.add("`{\(parameter.name)}`", parameter.rule, "`\(parameter.sample)`")
        }
        var choices = MarkdownTable("name", "one of")
        for choice in self.choices {
            let paths = choice.paths.map { $0.path.isEmpty ? "nothing (\($0.label))" : "`\($0.path)` (\($0.label))" }
            choices.add("`{\(choice.name)}`", paths.joined(separator: ", "))
        }
        return parameters.text + "\nSome names stand for one of several paths:\n\n" + choices.text
    }

    private func section(_ endpoint: Endpoint) -> String {
        var text = "### \(endpoint.title)\n\n`\(endpoint.method) \(endpoint.fullPath)`"
        for path in endpoint.alsoAt { text += ", also at `\(path)`" }
        if endpoint.hasHead { text += ", also as HEAD" }
        let place = endpoint.needsNoCredentials ? ", or none below `/apps/{app}`" : ""
        text += "\n\nCredentials: \(endpoint.auth.rawValue)\(place)."
        if let who = endpoint.who { text += " \(who)" }
        text += "\n"
        text += self.request(endpoint.request)
        text += "\n" + self.replies(endpoint)
        var errors = MarkdownTable("error", "when")
        for error in self.errors(of: endpoint) {
            let status = self.error(error.code).map { "\($0.status) " } ?? ""
            let place = error.labels.isEmpty ? "" : " (\(error.labels.joined(separator: ", ")))"
            errors.add("\(status)`\(error.code)`", error.when + place)
        }
        text += "\n" + errors.text
        return text + "\nSource: \(endpoint.source).\n"
    }

    private func request(_ request: Endpoint.Request) -> String {
        var text = ""
        if !request.query.isEmpty { text += "\n" + self.members(request.query, "query") }
        if !request.mediaTypes.isEmpty {
            text += "\nBody: \(request.mediaTypes.map { "`\($0)`" }.joined(separator: " or "))"
            if request.takesAnyMediaType { text += ", or of any other type" }
            if request.needsNoMediaType { text += ", or without a type" }
            text += request.bytes.map { ", \($0).\n" } ?? ".\n"
        } else if request.isEmpty {
            text += "\nBody: of length 0, without a media type.\n"
        }
        if !request.members.isEmpty { text += "\n" + self.members(request.members, "member") }
        if let open = request.open { text += "\n\(open)\n" }
        if !request.rules.isEmpty { text += "\n" + request.rules.map { "- \($0)\n" }.joined() }
        if let sample = request.sample { text += "\n```json\n\(sample.text)\n```\n" }
        return text
    }

    private func members(_ members: [Endpoint.Member], _ heading: String) -> String {
        var table = MarkdownTable(heading, "type", "rule")
        for member in members {
            let rule = [member.isRequired ? "needed" : nil, member.rule].compactMap { $0 }.joined(separator: "; ")
            table.add("`\(member.name)`", member.types.joined(separator: " or "), rule)
        }
        return table.text
    }

    private func replies(_ endpoint: Endpoint) -> String {
        var text = ""
        for reply in endpoint.replies {
            text += text.isEmpty ? "Reply: \(reply.status)" : "\nOr: \(reply.status)"
            if let when = reply.when { text += " when \(when)" }
            if let mediaType = reply.mediaType { text += ", `\(mediaType)`" }
            if !reply.headers.isEmpty { text += ", with \(reply.headers.map { "`\($0)`" }.joined(separator: " and "))" }
            text += ".\n"
            if let sample = reply.sample { text += "\n```json\n\(sample.text)\n```\n" }
            if !reply.optional.isEmpty {
                text += "\nMay be absent: \(reply.optional.sorted().map { "`\($0)`" }.joined(separator: ", ")).\n"
            }
        }
        let further = endpoint.accepted.filter { status in !endpoint.replies.contains { $0.status == status } }
        guard !further.isEmpty else { return text }
        return text + "\nA client takes \(further.map { "\($0)" }.joined(separator: " and ")) as well.\n"
    }

    private var errorTable: String {
        var table = MarkdownTable("status", "code", "further members", "meaning")
        for error in self.errors {
            let members = (error.context.members ?? []).map { "`\($0.key)`" }.joined(separator: ", ")
            let own = error.isOwn ? " The emulator's own code." : ""
            let wait = error.hasRetryAfter ? " With the field `Retry-After`." : ""
            table.add(
                "\(error.status)", "`\(error.code)`", members.isEmpty ? "none" : members, error.meaning + wait + own)
        }
        return table.text
    }
}

extension Endpoint {
    /// The path, with the service's root in front unless the service is the REST API.
    var fullPath: String { self.service == .api ? self.path : "/\(self.service.rawValue)\(self.path)" }
}
