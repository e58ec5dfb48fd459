extension Contract {
    /// The page that lists, for each call and each error, the library's part, the emulator's part and the tests.
    var coveragePage: String {
        """
        # Coverage

        \(Page.notice)

        Every call and every error of [the REST API](rest-api.md), with its place in the library and in the emulator,
        and with the tests that show both. `ContractClientTests` compares each request and each decoded reply with
        the contract; `ContractEmulatorTests` provokes each reply and each refusal, in every scope that can have it;
        `ContractErrorTests` sends each refusal over a socket, to `KiiClient` and as raw HTTP; `ContractInputTests` sends
        what nobody should, `ContractRandomTests` whatever comes, and `ContractConflictTests` the same twice at once.
        They run through the contract itself, so a call or an error without a test fails them.

        Of Kii's cloud only what pushes need is here, and what clients begin with. These calls stay out, and are answered
        with 404 or 405:

        - queries of objects, things and users, and counting;
        - access rights of buckets, single objects and scopes;
        - bodies of objects in pieces (`…/body/uploads`), moved or published ones;
        - a user's addresses as resources of their own to be read and verified, a forgotten password, sign-in by another
          service, and the status of a user, which `PATCH /__kii/users/{user}` changes;
        - a thing's password and `PUT` of a thing;
        - locks, the app's configuration (which `PATCH /__kii/app` has in part), analytics and server code;
        - states, triggers and end nodes of thing-if.

        ## Calls

        \(self.callTable)
        ## Errors

        \(self.codeTable)
        """
    }

    private var callTable: String {
        var table = MarkdownTable("call", "library", "shown by", "emulator", "shown by")
        for endpoint in self.endpoints {
            let client: (String, String) =
                if endpoint.service == .emulator {
                    ("none: it is asked with curl or a test's own client", "not applicable")
                } else if let reason = endpoint.withoutClient {
                    ("none: \(reason)", "not applicable")
                } else {
                    (endpoint.client.map { "`\($0)`" }.joined(separator: ", "), "`ContractClientTests`")
                }
            let count = self.variants(of: endpoint).count
            table.add(
                "[\(endpoint.title)](rest-api.md#\(Contract.anchor(endpoint.title)))",
                client.0,
                client.1,
                count == 1 ? "yes" : "yes, \(count) paths",
                self.emulatorTests(of: endpoint)
            )
        }
        return table.text
    }

    /// A call without a body and without parameters has no invalid input.
    private func emulatorTests(of endpoint: Endpoint) -> String {
        let hasInput =
            endpoint.request.sample != nil || self.variants(of: endpoint).contains { !$0.parameterNames.isEmpty }
        return hasInput ? "`ContractEmulatorTests`, `ContractInputTests`" : "`ContractEmulatorTests`"
    }

    private var codeTable: String {
        var table = MarkdownTable("status", "code", "library", "emulator", "calls that have it", "shown by")
        for error in self.errors {
            table.add(
                "\(error.status)",
                "`\(error.code)`",
                "`KiiError.errorCode`",
                self.cause(of: error),
                self.calls(with: error),
                "`ContractClientTests`, `ContractErrorTests`"
            )
        }
        return table.text
    }

    private func cause(of error: ContractError) -> String {
        error.isFault ? "by a fault: no request alone leads to it" : "by itself"
    }

    private func calls(with error: ContractError) -> String {
        let common: String? =
            switch error.extent {
            case .body: "all with a JSON body"
            case .credentials: "all that need credentials"
            case .token: "all that need a token"
            case .user: "all that need a token, when it is a user's"
            case .thing: "all that need a token, when it is a thing's"
            case .app: "all below `/apps/{app}`"
            case nil: nil
            }
        let named = self.endpoints.filter { endpoint in
            !error.applies(to: endpoint) && endpoint.errors.contains { $0.code == error.code }
        }
        let calls = [common].compactMap { $0 } + named.map { "`\($0.id)`" }
        if !calls.isEmpty { return calls.joined(separator: ", ") }
        return error.isFault ? "any, by a fault" : "any"
    }
}
