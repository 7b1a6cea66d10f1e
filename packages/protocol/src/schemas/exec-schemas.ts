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

export const CommandExec = Type.Object(
  {
    command: Type.Array(Argument, {
      minItems: 1,
      maxItems: LIMITS.execArgumentsMax,
      description: 'The program and its arguments. No shell reads them.',
      examples: [['ffmpeg', '-i', 'in.mp4', 'out.webm']],
    }),
    env: Type.Optional(
      Type.Record(VariableName, Variable, {
        additionalProperties: false,
        maxProperties: 256,
        allowedNames: 'a name such as LANG: letters, digits and _ , at most 128',
        description: 'Environment of the program, beside PATH, HOME, LANG and the SLUICE_ names.',
      }),
    ),
    cwd: Type.Optional(
      Type.String({
        ...NO_NUL,
        minLength: 1,
        maxLength: 4096,
        description: 'Folder to run in. Default: the scratch folder of the attempt.',
      }),
    ),
    stdin: Type.Optional(
      Type.String({ maxLength: LIMITS.execTextMax, description: 'Text on standard input.' }),
    ),
    user: Type.Optional(
      Type.String({
        pattern: '^[a-z_][a-z0-9_-]{0,31}$',
        allowed: 'the name of a user on the host, such as media',
        description: 'User to run as. Default: the one that the agent was started for.',
      }),
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
        description: 'Files that become blobs: a name for each, and its path.',
      }),
    ),
    retryableExitCodes: Type.Optional(
      Type.Array(Type.Integer({ minimum: 1, maximum: 255 }), {
        minItems: 1,
        maxItems: 255,
        description: 'Only these exit codes are tried again. Default: all but 126 and 127.',
      }),
    ),
  },
  { additionalProperties: false, description: 'A program that an agent runs.' },
);
export type CommandExec = Static<typeof CommandExec>;
