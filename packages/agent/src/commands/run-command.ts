import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommandExec } from '@sluice/protocol';
import { TaskAborted, type TaskContext } from '@sluice/sdk';
import type { ProcessGroups } from '../host/cgroups.ts';
import { findUser, type HostUser, ownUser } from '../host/users.ts';
import { type CommandFailure, failureOf } from '../logic/command-end.ts';
import { outputValue } from '../logic/output-value.ts';
import { programProblem } from '../logic/program-rules.ts';
import { readExec } from '../logic/read-exec.ts';
import { type BlobServer, download, type StoredFile, upload } from './blob-transfer.ts';
import { type CommandPlan, type CommandResult, CommandRun } from './command-run.ts';
import { coded, refusal } from './refusal.ts';

const KILL_GRACE_MS_DEFAULT = 10_000;

/** The server revokes a lease after its grace, so the program must be gone a little earlier. */
const BEFORE_REVOKED_MS = 1000;

/** What an agent lets commands do. */
export interface CommandRules {
  /** Undefined when every program may run. */
  readonly programs: readonly string[] | undefined;
  /** Name of the user of commands that state none; undefined for the user of the agent. */
  readonly user: string | undefined;
  readonly allowRoot: boolean;
  readonly pidsMax: number;
  /** For commands that state none. */
  readonly diskMb: number;
}

export interface CommandHost {
  readonly groups: ProcessGroups;
  readonly workFolder: string;
  readonly rules: CommandRules;
  readonly blobs: BlobServer;
}

/** Runs the command of one attempt. Returns the output of its task. */
export async function runCommand(
  host: CommandHost,
  context: TaskContext,
  input: unknown,
): Promise<unknown> {
  const exec = execOf(context);
  const plan = await planOf(host, context, { exec, input });
  const run = new CommandRun(plan, { ...host, log: (line) => void context.log(line) });
  try {
    const result = await run.run(context.signal);
    context.usage(result.usage);
    if (context.signal.aborted) throw context.signal.reason;
    const failure = failureOf(result, exec.command[0], context.resources, exec.retryableExitCodes);
    if (failure !== undefined) throw errorOf(failure);
    return await outputOf(host, run, exec, result);
  } finally {
    await run.remove();
  }
}

function execOf(context: TaskContext): CommandExec {
  const exec = readExec(context.exec);
  if ('problem' in exec) throw refusal('bad_exec', exec.problem);
  return exec;
}

interface Asked {
  readonly exec: CommandExec;
  readonly input: unknown;
}

async function planOf(
  host: CommandHost,
  context: TaskContext,
  { exec, input }: Asked,
): Promise<CommandPlan> {
  const { rules } = host;
  const problem = programProblem(exec.command[0], rules.programs);
  if (problem !== undefined) throw refusal('command_not_allowed', problem);
  const { cpu, memoryMb, diskMb } = context.resources;
  return {
    // A lease is granted once, so no other attempt of the task has this name.
    name: `${context.id}-${context.attempt}-${Date.now().toString(36)}`,
    taskId: context.id,
    attempt: context.attempt,
    argv: exec.command,
    env: exec.env ?? {},
    cwd: exec.cwd,
    stdin: exec.stdin ?? '',
    input,
    user: await userOf(rules, exec.user),
    killGraceMs: (reason) => graceOf(reason, exec.killGraceMs ?? KILL_GRACE_MS_DEFAULT),
    limits: {
      ...(cpu === undefined ? {} : { cpu }),
      ...(memoryMb === undefined ? {} : { memoryMb }),
      diskMb: diskMb ?? rules.diskMb,
      pids: rules.pidsMax,
    },
    addFiles: (folder) => addFiles(host.blobs, folder, exec.files ?? {}),
  };
}

/** When another worker may have the task already, the program is ended at once. */
function graceOf(reason: unknown, killGraceMs: number): number {
  if (!(reason instanceof TaskAborted)) return 0;
  return Math.max(0, Math.min(killGraceMs, reason.graceMs - BEFORE_REVOKED_MS));
}

async function userOf(rules: CommandRules, asked: string | undefined): Promise<HostUser> {
  const own = ownUser();
  const name = asked ?? rules.user;
  const user = name === undefined || name === own.name ? own : await findUser(name);
  if (user === undefined) throw refusal('no_such_user', `the host has no user '${name}'`);
  if (user.uid === 0 && !rules.allowRoot) {
    throw refusal('root_not_allowed', 'the agent runs no command as root; see --allow-root');
  }
  if (user.uid !== own.uid && own.uid !== 0) {
    const problem = `the agent runs as '${own.name}' and cannot become '${user.name}'`;
    throw refusal('user_not_allowed', problem);
  }
  return user;
}

/** Returns the paths of the files. */
async function addFiles(
  blobs: BlobServer,
  folder: string,
  files: NonNullable<CommandExec['files']>,
): Promise<readonly string[]> {
  const paths: string[] = [];
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    if (typeof content === 'string') await writeFile(path, content, { mode: 0o600 });
    else await download(blobs, content.blob, path);
    paths.push(path);
  }
  return paths;
}

async function outputOf(
  { blobs }: CommandHost,
  run: CommandRun,
  { outputs }: CommandExec,
  result: CommandResult,
): Promise<unknown> {
  const value = readValue(result);
  if (outputs === undefined) return value;
  const stored: Record<string, StoredFile> = {};
  for (const [name, path] of Object.entries(outputs)) {
    stored[name] = await upload(blobs, run.folder.work, path);
  }
  return { result: value, outputs: stored };
}

function readValue(result: CommandResult): unknown {
  try {
    return outputValue(result);
  } catch (cause) {
    const why = (cause as Error).message;
    throw refusal('result_not_json', `the result file of the command is not JSON: ${why}`);
  }
}

function errorOf({ code, message, isRetryable }: CommandFailure): Error {
  return isRetryable ? coded(new Error(message), code) : refusal(code, message);
}
