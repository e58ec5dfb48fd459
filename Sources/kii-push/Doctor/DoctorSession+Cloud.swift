import KiiPushCommandLine
import KiiPushCore

extension DoctorSession {
    func app() async throws -> Finding {
        let app = self.cloud.app
        do {
            _ = try await self.client.login(.anonymous)
            return .ok("app \(app.appID) at \(app.baseURL), named by the \(self.cloud.source.rawValue)")
        } catch let error as KiiError where error.isTransient || error.saysDisabled {
            return .failed(error)
        } catch let error as KiiError where error.errorCode == KiiErrorCode.appNotFound {
            return .failed(error.description, fix: "check the app's ID and the site", exit: .configuration)
        } catch let error as KiiError where error.isOfCloud && [400, 401, 403].contains(error.status) {
            return .failed(
                error.description, fix: "check the app's ID and key: kii-push config show --origin",
                exit: .authentication)
        } catch let error as KiiError where error.isOfCloud {
            return .warning("cannot be told: \(error)", fix: "look at the checks that follow")
        } catch let error where error is KiiError || error is KiiResponseError {
            return .failed(error, fix: "what answers is not Kii's API: check the address \(app.baseURL)")
        }
    }

    func clock() async -> Finding {
        guard let lead = await self.transport.clockLead else { return .needless("no answer named a date") }
        let seconds = abs(lead.components.seconds)
        let evidence = "this machine is \(seconds) s " + (lead < .zero ? "behind" : "ahead of") + " the cloud"
        let fix = "set the clock: timedatectl set-ntp true"
        switch seconds {
        case ...1: return .ok("this machine and the cloud agree")
        case ...60: return .ok(evidence)
        case ...300: return .warning(evidence, fix: fix)
        default: return .failed(evidence, fix: fix, exit: .configuration)
        }
    }

    /// The agent's session without retries: a check reports the present state, and retries would take too long.
    static func session(of agent: PushAgent) throws(PushAgentError) -> KiiSession {
        var session = try agent.session()
        session.client.retry = .none
        return session
    }

    func signIn() async throws -> Finding {
        guard let agent = self.agent else { return .unknown("the profile is not registered") }
        let (_, registration) = try self.profile.registration(with: self.cloud)
        do {
            let session = try Self.session(of: agent)
            switch registration.principal {
            case .user: _ = try await session.user()
            case .thing(let id): _ = try await session.thing(.id(id))
            }
            let who = self.profile.saved?.account.text ?? "the profile"
            return .ok("as \(who), \(registration.principal.id)")
        } catch let error as KiiError where error.isOfCloud && (error.refusesCredentials || error.status == 404) {
            let fix = error.refusesCredentials ? self.profile.hint(after: error) : self.profile.registerHint + " --anew"
            return .failed(error.description, fix: fix, exit: .authentication)
        } catch PushAgentError.signInRefused(let refusal) {
            return .failed(PushAgentError.signInRefused(refusal), fix: self.profile.hint(after: refusal))
        }
    }

    func installation() async throws -> (Finding, MQTTEndpoint?) {
        guard let agent = self.agent else { return (.unknown("the profile is not registered"), nil) }
        let (_, registration) = try self.profile.registration(with: self.cloud)
        let id = registration.installationID
        do {
            let session = try Self.session(of: agent)
            _ = try await session.installation(.id(id))
            let endpoint = try await session.mqttEndpoint(of: id)
            return (.ok("\(id), with the broker \(endpoint.host)"), endpoint)
        } catch let error as KiiError where error.errorCode == KiiErrorCode.installationNotFound {
            let fix = "\(self.profile.registerHint); 'listen' and 'run' make another one by themselves"
            return (.failed("the cloud does not know installation \(id)", fix: fix, exit: .configuration), nil)
        } catch let error as KiiError where error.errorCode == KiiErrorCode.mqttEndpointNotReady {
            return (.failed(error, fix: "wait a little: the cloud is still making it"), nil)
        }
    }
}
