package import KiiPushCore

/// A usual MQTT client, in a program that keeps to ``Receiver``'s terms.
///
/// Called as `PROGRAM ARGUMENTS HOST PORT CLIENTID TOPIC USER LOGFILE`, with the password in `MQTT_PASSWORD` and the work
/// in `WORK_MIN_US` and `WORK_MAX_US`, microseconds. It may be a script that starts others; all of them are killed.
package struct PeerReceiver: Receiver {
    package let name: String
    package let log: String
    package let process: ReceiverProcess

    /// - Parameters:
    ///   - program: found along `PATH`, unless it has a slash.
    ///   - arguments: what comes before the ones above.
    ///   - directory: where the log and the program's output (`receiver.out`) go.
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
