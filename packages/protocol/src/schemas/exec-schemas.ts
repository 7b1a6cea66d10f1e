import { type Static, Type } from 'typebox';
import { LIMITS } from '../base/limits.ts';
import { BlobHash } from './blob-schemas.ts';

/** The operating system ends a text at a NUL, so none may be inside. */
const NO_NUL = { pattern: '^[^\\u0000]*$', allowed: 'a text without the character NUL' };

const Argument = Type.String({ ...NO_NUL, maxLength: LIMITS.execTextMax });

/** A name in the environment, as POSIX has it. */
const VariableName = Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]{0,127}$' });

const Variable = Type.Union(
  [
    Argument,
    Type.Object(
      { secret: Argument },
      { additionalProperties: false, description: 'Never shown again.' },
    ),
  ],
  { description: 'A text, or `{"secret": text}`, which answers and logs never show.' },
);

/** A name below a folder. Dots at the beginning could lead out of it. */
const FILE_NAME = '[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}';

const FileName = Type.String({ pattern: `^${FILE_NAME}$` });

const PathBelow = Type.String({
  pattern: `^${FILE_NAME}(?:/${FILE_NAME}){0,15}$`,
  allowed:
    'a path below the scratch folder, such as out/a.mp4: letters, digits and . _ - , ' +
    'and no part that begins with a dot',
});

const FILE_NAMES = {
  allowedNames: '1 to 128 letters, digits and . _ - without a dot at the beginning',
};

/** What commands and containers have in common. */
const SHARED = {
  env: Type.Optional(
    Type.Record(VariableName, Variable, {
      additionalProperties: false,
      maxProperties: 256,
      allowedNames: 'a name such as LANG: letters, digits and _ , at most 128',
      description: 'Environment of the program, beside the SLUICE_ names.',
    }),
  ),
  stdin: Type.Optional(
    Type.String({ maxLength: LIMITS.execTextMax, description: 'Text on standard input.' }),
  ),
  killGraceMs: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 600_000,
      default: 10_000,
      description: 'Time from SIGTERM to SIGKILL.',
    }),
  ),
  files: Type.Optional(
    Type.Record(
      FileName,
      Type.Union([
        Type.String({ maxLength: LIMITS.execTextMax }),
        Type.Object({ blob: BlobHash }, { additionalProperties: false }),
      ]),
      {
        ...FILE_NAMES,
        additionalProperties: false,
        maxProperties: 100,
        description: 'Files in the scratch folder: a text, or `{"blob": sha256}`.',
      },
    ),
  ),
  outputs: Type.Optional(
    Type.Record(FileName, PathBelow, {
      ...FILE_NAMES,
      additionalProperties: false,
      maxProperties: 100,
      description: 'Files of the scratch folder that become blobs: a name for each, and its path.',
    }),
  ),
  retryableExitCodes: Type.Optional(
    Type.Array(Type.Integer({ minimum: 1, maximum: 255 }), {
      minItems: 1,
      maxItems: 255,
      description: 'Only these exit codes are tried again. Default: all but 126 and 127.',
    }),
  ),
  avoidLastHost: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'After a failure the next attempt goes to another agent, if one takes it within 10 s.',
    }),
  ),
};

export const CommandExec = Type.Object(
  {
    command: Type.Array(Argument, {
      minItems: 1,
      maxItems: LIMITS.execArgumentsMax,
      description: 'The program and its arguments. No shell reads them.',
      examples: [['ffmpeg', '-i', 'in.mp4', 'out.webm']],
    }),
    ...SHARED,
    cwd: Type.Optional(
      Type.String({
        ...NO_NUL,
        minLength: 1,
        maxLength: 4096,
        description: 'Folder to run in. Default: the scratch folder of the attempt.',
      }),
    ),
    user: Type.Optional(
      Type.String({
        pattern: '^[a-z_][a-z0-9_-]{0,31}$',
        allowed: 'the name of a user on the host, such as media',
        description: 'User to run as. Default: the one that the agent was started for.',
      }),
    ),
  },
  { additionalProperties: false, description: 'A program that an agent runs.' },
);
export type CommandExec = Static<typeof CommandExec>;

/** An absolute path without parts that lead upwards. */
const AbsolutePath = Type.String({
  pattern: '^/(?!.*(?:^|/)\\.\\.(?:/|$))[^\\u0000:]{0,4095}$',
  allowed: 'a path that begins with / and has no part .. and no colon, such as /media',
});

const Volume = Type.Object(
  {
    source: Type.String({
      pattern:
        '^(?:/(?!.*(?:^|/)\\.\\.(?:/|$))[^\\u0000:]{0,4095}|[A-Za-z0-9][A-Za-z0-9._-]{0,127})$',
      allowed: 'a folder of the host such as /media, or the name of a volume of the engine',
      description: 'A folder of the host, if the agent allows it, or the name of a volume.',
    }),
    target: Type.Unsafe<string>({ ...AbsolutePath, description: 'Folder in the container.' }),
    readOnly: Type.Optional(Type.Boolean({ default: false })),
  },
  { additionalProperties: false },
);

const RegistryAuth = Type.Union(
  [
    Type.Object(
      { username: Argument, password: Argument, registry: Type.Optional(Argument) },
      { additionalProperties: false },
    ),
    Type.Object(
      { identityToken: Argument, registry: Type.Optional(Argument) },
      { additionalProperties: false },
    ),
  ],
  { description: 'Credentials for the registry of the image. Never shown again.' },
);

const GpuWord = Type.String({
  pattern: '^[A-Za-z0-9._-]{1,64}$',
  allowed: 'a word of the engine such as nvidia or compute: letters, digits and . _ -',
});

export const ContainerExec = Type.Object(
  {
    image: Type.String({
      pattern: '^[a-z0-9][A-Za-z0-9._:/@-]{0,511}$',
      allowed: 'the name of an image, such as alpine:3.20 or registry.example/team/app:1',
      examples: ['alpine:3.20'],
    }),
    args: Type.Optional(
      Type.Array(Argument, {
        maxItems: LIMITS.execArgumentsMax,
        description: 'Arguments of the entrypoint. Default: those of the image.',
      }),
    ),
    entrypoint: Type.Optional(
      Type.Array(Argument, {
        minItems: 1,
        maxItems: LIMITS.execArgumentsMax,
        description: 'The program and its first arguments. Default: that of the image.',
      }),
    ),
    ...SHARED,
    workdir: Type.Optional(
      Type.Unsafe<string>({
        ...AbsolutePath,
        description: 'Folder to run in. Default: that of the image, else the scratch folder.',
      }),
    ),
    network: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$',
        allowed: 'none, bridge, host, or the name of a network of the engine',
        description:
          'none, bridge, or the name of a network of the engine; host only if the agent allows ' +
          'it. Default: the default network of the agent.',
      }),
    ),
    volumes: Type.Optional(Type.Array(Volume, { maxItems: 32 })),
    pull: Type.Optional(
      Type.Union([Type.Literal('always'), Type.Literal('ifNotPresent'), Type.Literal('never')], {
        default: 'ifNotPresent',
        description: 'When the image is pulled from its registry.',
      }),
    ),
    user: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9_][A-Za-z0-9._-]{0,31}(?::[A-Za-z0-9_][A-Za-z0-9._-]{0,31})?$',
        allowed: 'a user of the image such as media, 1000 or 1000:1000',
        description: 'User in the container. Default: that of the image.',
      }),
    ),
    readOnly: Type.Optional(
      Type.Boolean({ default: false, description: 'The files of the image cannot be changed.' }),
    ),
    privileged: Type.Optional(
      Type.Boolean({ default: false, description: 'Only if the agent allows it.' }),
    ),
    shmMb: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_048_576, description: 'Size of /dev/shm in MB.' }),
    ),
    devices: Type.Optional(
      Type.Array(Type.Unsafe<string>({ ...AbsolutePath, examples: ['/dev/fuse'] }), {
        maxItems: 32,
        description: 'Devices of the host, if the agent allows them.',
      }),
    ),
    gpus: Type.Optional(
      Type.Object(
        {
          driver: Type.Optional(GpuWord),
          capabilities: Type.Optional(Type.Array(GpuWord, { maxItems: 16 })),
        },
        {
          additionalProperties: false,
          description: 'How the GPUs of `resources.gpu` are handed over. Default: nvidia, gpu.',
        },
      ),
    ),
    registryAuth: Type.Optional(RegistryAuth),
  },
  { additionalProperties: false, description: 'A container that an agent runs.' },
);
export type ContainerExec = Static<typeof ContainerExec>;

export const Exec = Type.Union([CommandExec, ContainerExec], {
  formBy: ['command', 'image'],
  description: 'What an agent runs: a program with `command`, or a container with `image`.',
});
export type Exec = Static<typeof Exec>;
