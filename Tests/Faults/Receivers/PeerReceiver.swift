package import KiiPushCore

/// Another MQTT client, in a program that follows ``Receiver``.
///
/// The call is `PROGRAM ARGUMENTS HOST PORT CLIENTID TOPIC USER LOGFILE`. The password is in `MQTT_PASSWORD`, the work
/// in `WORK_MIN_US` and `WORK_MAX_US`, in microseconds. The program may be a script that starts others; a kill ends all
/// of them.
package struct PeerReceiver: Receiver {
    package let name: String
    package let log: String
    package let process: ReceiverProcess

    /// - Parameters:
    ///   - program: its name is searched in `PATH`, unless it has a slash.
    ///   - arguments: the first arguments of the call.
    ///   - directory: the folder of the log and of the program's output (`receiver.out`).
    package init(
        name: String,
        program: String,
        arguments: [String] = [],
        endpoint: MQTTEndpoint,
        directory: String,
        work: WorkTime = .standard
    ) {
        self.name = name
        self.log = "\(directory)/handled.log"
        var environment = work.environment
        environment["MQTT_PASSWORD"] = endpoint.password.reveal()
        self.process = ReceiverProcess(
            program: program,
            arguments: arguments + [
                endpoint.host, "\(endpoint.portTCP ?? 0)", endpoint.mqttTopic, endpoint.mqttTopic, endpoint.username,
                self.log,
            ],
            environment: environment,
            output: "\(directory)/receiver.out"
        )
    }
}
