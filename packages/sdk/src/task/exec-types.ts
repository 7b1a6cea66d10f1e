// Made by scripts/sdk-types.ts from the schemas of the protocol. Change those, and run it again.

/** A program that an agent runs. */
export interface CommandExec {
  /** The program and its arguments. No shell reads them. */
  readonly command: readonly string[];
  /** Environment of the program, beside the SLUICE_ names. */
  readonly env?: Readonly<
    Record<
      string,
      | string
      | {
          readonly secret: string;
        }
    >
  >;
  /** Text on standard input. */
  readonly stdin?: string;
  /** Time from SIGTERM to SIGKILL. Default 10000. */
  readonly killGraceMs?: number;
  /** Files in the scratch folder: a text, or `{"blob": sha256}`. */
  readonly files?: Readonly<
    Record<
      string,
      | string
      | {
          /**
           * SHA-256 of a blob with the JSON, in lower-case hex. It must have been uploaded with PUT
           * /v1/blobs/{sha256} to this namespace within 24 hours, or another task must name it.
           */
          readonly blob: string;
        }
    >
  >;
  /** Files of the scratch folder that become blobs: a name for each, and its path. */
  readonly outputs?: Readonly<Record<string, string>>;
  /** Only these exit codes are tried again. Default: all but 126 and 127. */
  readonly retryableExitCodes?: readonly number[];
  /**
   * After a failure the next attempt goes to another agent, if one takes it within 10 s. Default
   * false.
   */
  readonly avoidLastHost?: boolean;
  /** Folder to run in. Default: the scratch folder of the attempt. */
  readonly cwd?: string;
  /** User to run as. Default: the one that the agent was started for. */
  readonly user?: string;
}

/** A container that an agent runs. */
export interface ContainerExec {
  readonly image: string;
  /** Arguments of the entrypoint. Default: those of the image. */
  readonly args?: readonly string[];
  /** The program and its first arguments. Default: that of the image. */
  readonly entrypoint?: readonly string[];
  /** Environment of the program, beside the SLUICE_ names. */
  readonly env?: Readonly<
    Record<
      string,
      | string
      | {
          readonly secret: string;
        }
    >
  >;
  /** Text on standard input. */
  readonly stdin?: string;
  /** Time from SIGTERM to SIGKILL. Default 10000. */
  readonly killGraceMs?: number;
  /** Files in the scratch folder: a text, or `{"blob": sha256}`. */
  readonly files?: Readonly<
    Record<
      string,
      | string
      | {
          /**
           * SHA-256 of a blob with the JSON, in lower-case hex. It must have been uploaded with PUT
           * /v1/blobs/{sha256} to this namespace within 24 hours, or another task must name it.
           */
          readonly blob: string;
        }
    >
  >;
  /** Files of the scratch folder that become blobs: a name for each, and its path. */
  readonly outputs?: Readonly<Record<string, string>>;
  /** Only these exit codes are tried again. Default: all but 126 and 127. */
  readonly retryableExitCodes?: readonly number[];
  /**
   * After a failure the next attempt goes to another agent, if one takes it within 10 s. Default
   * false.
   */
  readonly avoidLastHost?: boolean;
  /** Folder to run in. Default: that of the image, else the scratch folder. */
  readonly workdir?: string;
  /**
   * none, bridge, or the name of a network of the engine; host only if the agent allows it.
   * Default: the default network of the agent.
   */
  readonly network?: string;
  readonly volumes?: readonly {
    /** A folder of the host, if the agent allows it, or the name of a volume. */
    readonly source: string;
    /** Folder in the container. */
    readonly target: string;
    /** Default false. */
    readonly readOnly?: boolean;
  }[];
  /** When the image is pulled from its registry. Default "ifNotPresent". */
  readonly pull?: 'always' | 'ifNotPresent' | 'never';
  /** User in the container. Default: that of the image. */
  readonly user?: string;
  /** The files of the image cannot be changed. Default false. */
  readonly readOnly?: boolean;
  /** Only if the agent allows it. Default false. */
  readonly privileged?: boolean;
  /** Size of /dev/shm in MB. */
  readonly shmMb?: number;
  /** Devices of the host, if the agent allows them. */
  readonly devices?: readonly string[];
  /** How the GPUs of `resources.gpu` are handed over. Default: nvidia, gpu. */
  readonly gpus?: {
    readonly driver?: string;
    readonly capabilities?: readonly string[];
  };
  /** Credentials for the registry of the image. Never shown again. */
  readonly registryAuth?:
    | {
        readonly username: string;
        readonly password: string;
        readonly registry?: string;
      }
    | {
        readonly identityToken: string;
        readonly registry?: string;
      };
}
