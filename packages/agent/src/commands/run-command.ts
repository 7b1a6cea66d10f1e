import type { CommandExec } from '@sluice/protocol';
import type { TaskContext } from '@sluice/sdk';
import { addFiles, outputOf } from '../attempts/attempt-files.ts';
import { portsOf, record } from '../attempts/attempt-notes.ts';
import type { BlobServer } from '../attempts/blob-transfer.ts';
import { graceOf } from '../attempts/kill-grace.ts';
import { notedOutcome } from '../attempts/noted-outcome.ts';
import { errorOf, refusal } from '../attempts/refusal.ts';
import type { ProcessGroups } from '../host/cgroups.ts';
import type { PipePool } from '../host/pipe-pool.ts';
import { findUser, type HostUser, ownUser } from '../host/users.ts';
import { AttemptFolder } from '../host/work-folder.ts';
import { failureOf } from '../logic/command-end.ts';
import { gpuVariables } from '../logic/gpu-shares.ts';
import type { LiveAttempt, LiveAttempts } from '../logic/live-attempts.ts';
import { programProblem } from '../logic/program-rules.ts';
import { readCommand } from '../logic/read-exec.ts';
import { type CommandPlan, type CommandResult, CommandRun } from './command-run.ts';
import { endProcesses } from './end-processes.ts';

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
  readonly live: LiveAttempts;
  readonly pipes: PipePool;
  readonly hasGpus: boolean;
}

/** Runs the command of one attempt. Returns the output of its task. */
export function runCommand(
  host: CommandHost,
  context: TaskContext,
  input: unknown,
): Promise<unknown> {
  return host.live.with(context, async (live) => {
    const folder = new AttemptFolder(host.workFolder, live.name);
    live.cleanUp = () => folder.remove();
    try {
      const exec = execOf(context);
      const plan = await planOf(host, context, { exec, live });
      const result = await notedOutcome(folder, live.adopted !== undefined, () => {
        return resultOf(host, context, { exec, live, plan, folder, input });
      });
      context.usage(result.usage);
      if (context.signal.aborted) throw context.signal.reason;
      const codes = exec.retryableExitCodes;
      const failure = failureOf(result, exec.command[0], context.resources, codes);
      if (failure !== undefined) throw errorOf(failure);
      return await outputOf(host.blobs, folder, exec, result.lastLine);
    } finally {
      // The rules of this agent may forbid what an earlier one started.
      if (live.adopted !== undefined) await endProcesses(host.groups, live.name);
    }
  });
}

interface Asked {
  readonly exec: CommandExec;
  readonly live: LiveAttempt;
}

interface Planned extends Asked {
  readonly plan: CommandPlan;
  readonly folder: AttemptFolder;
  readonly input: unknown;
}

async function resultOf(
  host: CommandHost,
  context: TaskContext,
  { exec, live, plan, folder, input }: Planned,
): Promise<CommandResult> {
  const { signal } = context;
  const ports = { groups: host.groups, ...portsOf(context, live) };
  if (live.adopted !== undefined) {
    return new CommandRun(plan, folder, ports, live.adopted.startedAt).adopt(signal);
  }
  await folder.make(plan.user, input, host.pipes);
  const owner = ownUser().uid === 0 ? plan.user : undefined;
  await addFiles(host.blobs, folder.work, exec.files ?? {}, { mode: 0o600, owner });
  record(folder, context, live);
  return new CommandRun(plan, folder, ports).run(signal);
}

function execOf(context: TaskContext): CommandExec {
  const exec = readCommand(context.exec);
  if ('problem' in exec) throw refusal('bad_exec', exec.problem);
  return exec;
}

async function planOf(
  host: CommandHost,
  context: TaskContext,
  { exec, live }: Asked,
): Promise<CommandPlan> {
  const { rules } = host;
  const problem = programProblem(exec.command[0], rules.programs);
  if (problem !== undefined) throw refusal('command_not_allowed', problem);
  const { cpu, memoryMb, diskMb } = context.resources;
  return {
    name: live.name,
    taskId: context.id,
    attempt: context.attempt,
    argv: exec.command,
    env: exec.env ?? {},
    cwd: exec.cwd,
    stdin: exec.stdin ?? '',
    user: await userOf(rules, exec.user),
    hostVariables: gpuVariables(live.gpus, host.hasGpus),
    killGraceMs: (reason) => graceOf(reason, exec.killGraceMs),
    limits: {
      ...(cpu === undefined ? {} : { cpu }),
      ...(memoryMb === undefined ? {} : { memoryMb }),
      diskMb: diskMb ?? rules.diskMb,
      pids: rules.pidsMax,
    },
  };
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
