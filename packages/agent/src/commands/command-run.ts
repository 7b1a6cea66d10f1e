import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DiskWatch } from '../attempts/disk-watch.ts';
import { OutputLog } from '../attempts/output-log.ts';
import { errorOf } from '../attempts/refusal.ts';
import { stopOn } from '../attempts/stop-on.ts';
import type { GroupLimits, GroupUsage, ProcessGroup, ProcessGroups } from '../host/cgroups.ts';
import { readWord } from '../host/group-files.ts';
import { MARK } from '../host/rlimits.ts';
import type { HostUser } from '../host/users.ts';
import { type AttemptFolder, bytesBelow } from '../host/work-folder.ts';
import type { CommandEnd } from '../logic/command-end.ts';
import { plainVariables, redactor, type Variables } from '../logic/secrets.ts';
import { killAll, terminate } from './end-processes.ts';
import { PipeReader } from './pipe-reader.ts';
import { DISK_USE_FILE, EXIT_FILE, environmentText, startArguments } from './start-script.ts';

const LOOK_FOR_EXIT_EVERY_MS = 50;
const MIB = 2 ** 20;
const NO_LEADER = 0;
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** A command as one attempt runs it. */
export interface CommandPlan {
  /** Names the folder and the group of the attempt. */
  readonly name: string;
  readonly taskId: string;
  readonly attempt: number;
  readonly argv: readonly string[];
  readonly env: Variables;
  /** Undefined for the scratch folder. */
  readonly cwd: string | undefined;
  readonly stdin: string;
  readonly user: HostUser;
  /** Variables that say which parts of the host it may use. */
  readonly hostVariables: Readonly<Record<string, string>>;
  /** Time from SIGTERM to SIGKILL, by the reason of the stop. */
  readonly killGraceMs: (reason: unknown) => number;
  readonly limits: GroupLimits & { readonly diskMb: number };
}

export interface CommandPorts {
  readonly groups: ProcessGroups;
  readonly log: (line: string) => void;
  readonly onWritten: (bytes: number) => void;
}

/** What a command left behind, before its folder is removed. */
export interface CommandResult extends CommandEnd {
  readonly usage: { readonly wallMs: number; readonly cpuMs?: number };
  readonly lastLine: string;
}

/** A program that runs. */
interface Program {
  /** Number of its process group; 0 for one that an earlier agent started. */
  readonly leader: number;
  readonly exited: Promise<number>;
}

/** Runs one command in its own folder, process group and control group. */
export class CommandRun {
  private readonly plan: CommandPlan;
  private readonly folder: AttemptFolder;
  private readonly ports: CommandPorts;
  private readonly startedAt: number;
  private hasExited = false;
  /** Kills a program that does not end in its grace. */
  private killing: NodeJS.Timeout | undefined;

  /** `startedAt` is in milliseconds since 1970. */
  constructor(
    plan: CommandPlan,
    folder: AttemptFolder,
    ports: CommandPorts,
    startedAt = Date.now(),
  ) {
    this.plan = plan;
    this.folder = folder;
    this.ports = ports;
    this.startedAt = startedAt;
  }

  /** Runs the program to its end. Everything that it started is gone then. */
  async run(stop: AbortSignal): Promise<CommandResult> {
    const { plan } = this;
    const group = await this.ports.groups.make(plan.name, plan.limits);
    return inGroup(group, async () => {
      this.writeControl(group);
      stop.throwIfAborted();
      return this.watch(group, stop, () => this.spawn());
    });
  }

  /** Goes on with a program that an earlier agent started. */
  adopt(stop: AbortSignal): Promise<CommandResult> {
    const group = this.ports.groups.open(this.plan.name);
    const exited = () => this.exitInFile(group);
    return inGroup(group, () => {
      return this.watch(group, stop, () => ({ leader: NO_LEADER, exited: exited() }));
    });
  }

  private writeControl(group: ProcessGroup): void {
    const { plan, folder } = this;
    const lines = (items: readonly string[]) => items.map((item) => `${item}\n`).join('');
    folder.note('join', lines(group.joinFiles));
    folder.note('limits', lines(group.limitLines));
    folder.note('stdin', plan.stdin);
    const environment = join(folder.io, 'environment');
    writeFileSync(environment, environmentText(this.variables()), { mode: 0o400 });
    folder.give(environment, plan.user);
  }

  private variables(): Record<string, string> {
    const { plan, folder } = this;
    return {
      PATH,
      HOME: folder.work,
      LANG: 'C.UTF-8',
      TMPDIR: folder.work,
      ...plan.hostVariables,
      ...plainVariables(plan.env),
      SLUICE_TASK_ID: plan.taskId,
      SLUICE_ATTEMPT: String(plan.attempt),
      SLUICE_INPUT: folder.input,
      SLUICE_RESULT: folder.result,
      [MARK]: plan.name,
    };
  }

  /** Resolves when nothing of the program is left. The pipes are read before it begins. */
  private async watch(
    group: ProcessGroup,
    stop: AbortSignal,
    begin: () => Program,
  ): Promise<CommandResult> {
    const { plan, folder } = this;
    const output = new OutputLog(this.ports.log, redactor(plan.env));
    const readers = [
      new PipeReader(join(folder.control, 'out'), (bytes) => output.push(bytes, false)),
      new PipeReader(join(folder.control, 'err'), (bytes) => output.push(bytes, true)),
    ];
    const { leader, exited } = begin();
    const disk = new DiskWatch({
      bytesMax: plan.limits.diskMb * MIB,
      measure: (max) => bytesBelow(folder.work, max),
      onMeasured: this.ports.onWritten,
      onFull: () => this.kill(group, leader),
    });
    const forget = stopOn(stop, () => this.stop(group, leader, plan.killGraceMs(stop.reason)));
    try {
      const exitCode = await exited;
      this.hasExited = true;
      // What the program left running would otherwise keep the pipes open.
      // The number of the leader may belong to another process by now.
      if (!(await killAll(group, NO_LEADER))) this.ports.log('… a process could not be killed');
      for (const reader of readers) reader.close();
      await Promise.all(readers.map(({ ended }) => ended));
      output.end();
      return await this.result(group, exitCode, { output, wasDiskFull: disk.isFull });
    } finally {
      this.hasExited = true;
      forget();
      clearTimeout(this.killing);
      disk.end();
      for (const reader of readers) reader.destroy();
      output.end();
    }
  }

  private spawn(): Program {
    const { plan, folder } = this;
    const isOther = process.getuid?.() === 0 && plan.user.uid !== 0;
    const args = startArguments({
      control: folder.control,
      environment: join(folder.io, 'environment'),
      cwd: plan.cwd ?? folder.work,
      argv: plan.argv,
      user: isOther ? plan.user : undefined,
    });
    const child = spawn('/bin/sh', args, {
      cwd: folder.work,
      env: { PATH, [MARK]: plan.name },
      stdio: ['ignore', 'ignore', 'ignore'],
      detached: true,
    });
    return { leader: child.pid ?? 0, exited: exitOf(child) };
  }

  /** The exit code that the shell of the program leaves in a file. */
  private async exitInFile(group: ProcessGroup): Promise<number> {
    const path = join(this.folder.control, EXIT_FILE);
    const read = () => readFile(path, 'utf8').catch(() => undefined);
    for (;;) {
      // In this order: a shell that ends now has written the file before it left the group.
      const isRunning = (await group.pids()).length > 0;
      const text = await read();
      // Without the end of its line the file is still being written.
      if (text?.endsWith('\n')) return Number(text);
      if (!isRunning) throw errorOf(LOST);
      await sleep(LOOK_FOR_EXIT_EVERY_MS);
    }
  }

  /** Asks the program to end, and ends it when it does not. */
  private async stop(group: ProcessGroup, leader: number, graceMs: number): Promise<void> {
    await terminate(group, leader);
    if (!this.hasExited) this.killing = setTimeout(() => void this.kill(group, leader), graceMs);
  }

  private async kill(group: ProcessGroup, leader: number): Promise<void> {
    if (!this.hasExited) await killAll(group, leader);
  }

  private async result(
    group: ProcessGroup,
    exitCode: number,
    { output, wasDiskFull }: Seen,
  ): Promise<CommandResult> {
    const used = await group.usage();
    return {
      exitCode,
      wasOutOfMemory: await group.wasOutOfMemory(),
      wasDiskFull,
      memoryPeakBytes: used.memoryPeakBytes,
      lastErrors: output.lastErrors,
      lastLine: output.lastLine,
      usage: {
        wallMs: Math.max(0, Date.now() - this.startedAt),
        ...diskUse(this.folder.control),
        ...used,
      },
    };
  }
}

/** What was seen of a program while it ran. */
interface Seen {
  readonly output: OutputLog;
  readonly wasDiskFull: boolean;
}

/**
 * What the shell of the program noted. It does not know of processes that nobody waited for, so the
 * control group knows better, if its kernel counts.
 */
function diskUse(control: string): GroupUsage {
  const read = readWord(control, DISK_USE_FILE, 'read_bytes:');
  const written = readWord(control, DISK_USE_FILE, 'write_bytes:');
  if (read === undefined || written === undefined) return {};
  // What was removed before it reached the disk.
  const cancelled = readWord(control, DISK_USE_FILE, 'cancelled_write_bytes:') ?? 0;
  return { readBytes: read, writtenBytes: Math.max(0, written - cancelled) };
}

/** Whatever happens, the group and all that is in it are gone afterwards. */
async function inGroup<T>(group: ProcessGroup, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (cause) {
    await killAll(group, NO_LEADER);
    throw cause;
  } finally {
    await group.remove().catch(() => undefined);
  }
}

const LOST = {
  code: 'command_lost',
  message: 'the program ended while no agent was there, and left no exit code',
  isRetryable: true,
};

/** A shell that was killed itself has no exit code; 128 and the signal is the usual one. */
async function exitOf(child: ChildProcess): Promise<number> {
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  return code ?? (signal === 'SIGKILL' ? 137 : 143);
}
