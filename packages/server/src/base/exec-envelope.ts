import { COMMAND_TYPE, CONTAINER_TYPE } from '@sluice/protocol';

/**
 * The core knows nothing of `exec`: the stored input of such a task is an object with `exec` first,
 * and then `input` or `inputBlob`. Its members are the fields that answers and workers see.
 */
const START = '{"exec":';

export interface ExecEnvelope {
  readonly exec: unknown;
  readonly input?: unknown;
  readonly inputBlob?: string;
}

export function isExecType(type: string): boolean {
  return type === COMMAND_TYPE || type === CONTAINER_TYPE;
}

interface ExecTask {
  readonly type: string;
  readonly exec?: unknown;
  readonly input?: unknown;
  readonly inputBlob?: string;
}

/** A checked task as it is stored: `exec` becomes a part of its input. */
export function enveloped<T extends ExecTask>(task: T): T {
  // Most tasks have none, and copying each of them would cost.
  if (task.exec === undefined) return task;
  const { exec, inputBlob, input, ...rest } = task;
  return { ...rest, input: envelopeOf(exec, { input, inputBlob }) } as unknown as T;
}

/** What is stored as the input. */
export function envelopeOf(
  exec: unknown,
  {
    input = null,
    inputBlob,
  }: { readonly input?: unknown; readonly inputBlob?: string | undefined },
): ExecEnvelope {
  return inputBlob === undefined ? { exec, input } : { exec, inputBlob };
}

/**
 * Reads a stored input. A step of a workflow can have the type of a command and any input, so the
 * text may have another form; then the result is undefined.
 */
export function readEnvelope(type: string, text: string): ExecEnvelope | undefined {
  if (!isExecType(type) || !text.startsWith(START)) return undefined;
  return JSON.parse(text) as ExecEnvelope;
}

/** Whether the bytes of a stored input begin like an envelope. */
export function hasEnvelope(bytes: Uint8Array, start: number, length: number): boolean {
  if (length < START.length) return false;
  for (let i = 0; i < START.length; i++) {
    if (bytes[start + i] !== START.charCodeAt(i)) return false;
  }
  return true;
}

/** The fields of an envelope for an answer, without secrets. */
export function shownEnvelope({ exec, input = null, inputBlob }: ExecEnvelope): string {
  const shown = JSON.stringify({ ...envelopeOf(withoutSecrets(exec), { input, inputBlob }) });
  return shown.slice(1, -1);
}

/** A stored input of any task, without the secrets of a command. */
export function hideSecrets(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('exec' in value)) return value;
  const { exec } = value;
  if (typeof exec !== 'object' || exec === null) return value;
  return { ...value, exec: withoutSecrets(exec) };
}

/** The same for JSON text. */
export function hideSecretsIn(text: string): string {
  return text.startsWith(START) ? JSON.stringify(hideSecrets(JSON.parse(text))) : text;
}

const HIDDEN = { secret: '***' };

interface WithSecrets {
  readonly env?: Readonly<Record<string, unknown>> | null;
  readonly registryAuth?: unknown;
}

function withoutSecrets(exec: unknown): unknown {
  const { env, registryAuth } = exec as WithSecrets;
  const hasEnv = env !== undefined && env !== null;
  if (!hasEnv && registryAuth === undefined) return exec;
  return {
    ...(exec as object),
    ...(hasEnv ? { env: shownVariables(env) } : {}),
    ...(registryAuth === undefined ? {} : { registryAuth: HIDDEN }),
  };
}

function shownVariables(env: Readonly<Record<string, unknown>>): object {
  const shown = Object.entries(env).map(([name, value]) => {
    return [name, typeof value === 'string' ? value : HIDDEN];
  });
  return Object.fromEntries(shown);
}

const BLOB = /"(?:blob|inputBlob)":"([0-9a-f]{64})"/g;

/** The blobs that a stored input or output of a command names. */
export function blobsInText(type: string, text: string): string[] {
  if (!isExecType(type)) return [];
  return [...text.matchAll(BLOB)].map(([, sha256 = '']) => sha256);
}
