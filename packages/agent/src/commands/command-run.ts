import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GroupLimits, ProcessGroup, ProcessGroups } from '../host/cgroups.ts';
import { MARK } from '../host/rlimits.ts';
import type { HostUser } from '../host/users.ts';
import { AttemptFolder, bytesBelow } from '../host/work-folder.ts';
import type { CommandEnd } from '../logic/command-end.ts';
import { OutputTail } from '../logic/output-tail.ts';
import { plainVariables, redactor, type Variables } from '../logic/secrets.ts';
import { killAll, terminate } from './end-processes.ts';
import { PipeReader } from './pipe-reader.ts';
import { environmentText, startArguments } from './start-script.ts';

const FLUSH_EVERY_MS = 100;
const LOOK_AT_DISK_EVERY_MS = 2000;
const LAST_ERRORS_KEPT = 5;
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
  readonly input: unknown;
  readonly user: HostUser;
  /** Time from SIGTERM to SIGKILL, by the reason of the stop. */
  readonly killGraceMs: (reason: unknown) => number;
  readonly limits: GroupLimits & { readonly diskMb: number };
  /** Writes the files of the task into the scratch folder. */
  readonly addFiles: (folder: string) => Promise<readonly string[]>;
}

export interface CommandPorts {
  readonly groups: ProcessGroups;
  readonly workFolder: string;
  readonly log: (line: string) => void;
}

/** What a command left behind, before its folder is removed. */
export interface CommandResult extends CommandEnd {
  readonly usage: { readonly wallMs: number; readonly cpuMs?: number };
  readonly lastLine: string;
  readonly resultFile: string | undefined;
}

/** Runs one command in its own folder, process group and control group. */
export class CommandRun {
  readonly folder: AttemptFolder;
  private readonly plan: CommandPlan;
  private readonly ports: CommandPorts;
  private readonly startedAt = performance.now();
  private readonly lastErrors: string[] = [];
  private lastLine = '';
  private wasDiskFull = false;
  private hasExited = false;
  private isLooking = false;
  /** Kills a program that does not end in its grace. */
  private killing: NodeJS.Timeout | undefined;

  constructor(plan: CommandPlan, ports: CommandPorts) {
    this.plan = plan;
    this.ports = ports;
    this.folder = new AttemptFolder(ports.workFolder, plan.name);
  }

  /** Runs the program to its end. Everything that it started is gone then. */
  async run(stop: AbortSignal): Promise<CommandResult> {
    const { plan, folder } = this;
    await folder.make(plan.user, plan.input);
    const group = await this.ports.groups.make(plan.name, plan.limits);
    try {
      await this.writeControl(group);
      stop.throwIfAborted();
      const exitCode = await this.watch(group, stop);
      return await this.result(group, exitCode);
    } finally {
      await group.remove().catch(() => undefined);
    }
  }

  /** The files stay until this is called, because outputs are read from them. */
  remove(): Promise<void> {
    return this.folder.remove();
  }

  private async writeControl(group: ProcessGroup): Promise<void> {
    const { plan, folder } = this;
    const files = await plan.addFiles(folder.work);
    const environment = environmentText(this.variables());
    const lines = (items: readonly string[]) => items.map((item) => `${item}\n`).join('');
    await writeFile(join(folder.control, 'join'), lines(group.joinFiles));
    await writeFile(join(folder.control, 'limits'), lines(group.limitLines));
    await writeFile(join(folder.control, 'stdin'), plan.stdin, { mode: 0o600 });
    await writeFile(join(folder.io, 'environment'), environment, { mode: 0o400 });
    if (process.getuid?.() !== 0) return;
    const { uid, gid } = plan.user;
    for (const path of [join(folder.io, 'environment'), ...files]) await chown(path, uid, gid);
  }

  private variables(): Record<string, string> {
    const { plan, folder } = this;
    return {
      PATH,
      HOME: folder.work,
      LANG: 'C.UTF-8',
      TMPDIR: folder.work,
      ...plainVariables(plan.env),
      SLUICE_TASK_ID: plan.taskId,
      SLUICE_ATTEMPT: String(plan.attempt),
      SLUICE_INPUT: folder.input,
      SLUICE_RESULT: folder.result,
      [MARK]: plan.name,
    };
  }

  /** Resolves with the exit code when nothing of the program is left. */
  private async watch(group: ProcessGroup, stop: AbortSignal): Promise<number> {
    const { plan, folder } = this;
    const out = new OutputTail();
    const err = new OutputTail();
    const readers = [
      new PipeReader(join(folder.control, 'out'), (bytes) => out.push(bytes)),
      new PipeReader(join(folder.control, 'err'), (bytes) => err.push(bytes)),
    ];
    const child = this.spawn();
    const exited = exitOf(child);
    const leader = child.pid ?? 0;
    const flush = () => this.flush(out.take(), err.take());
    const flushing = setInterval(flush, FLUSH_EVERY_MS);
    const disk = setInterval(() => void this.lookAtDisk(group, leader), LOOK_AT_DISK_EVERY_MS);
    const stopping = stopOn(stop, () => this.stop(group, leader, plan.killGraceMs(stop.reason)));
    try {
      const exitCode = await exited;
      this.hasExited = true;
      // What the program left running would otherwise keep the pipes open.
      // The number of the leader may belong to another process by now.
      if (!(await killAll(group, NO_LEADER))) this.ports.log('… a process could not be killed');
      for (const reader of readers) reader.close();
      await Promise.all(readers.map(({ ended }) => ended));
      return exitCode;
    } finally {
      stopping();
      clearTimeout(this.killing);
      clearInterval(flushing);
      clearInterval(disk);
      for (const reader of readers) reader.destroy();
      this.flush(out.end(), err.end());
    }
  }

  private spawn(): ChildProcess {
    const { plan, folder } = this;
    const isOther = process.getuid?.() === 0 && plan.user.uid !== 0;
    const args = startArguments({
      control: folder.control,
      environment: join(folder.io, 'environment'),
      cwd: plan.cwd ?? folder.work,
      argv: plan.argv,
      user: isOther ? plan.user : undefined,
    });
    return spawn('/bin/sh', args, {
      cwd: folder.work,
      env: { PATH, [MARK]: plan.name },
      stdio: ['ignore', 'ignore', 'ignore'],
      detached: true,
    });
  }

  private flush(lines: readonly string[], errors: readonly string[]): void {
    const clean = redactor(this.plan.env);
    for (const line of lines) {
      if (line.trim() !== '') this.lastLine = line;
      this.ports.log(clean(line));
    }
    for (const line of errors) {
      const shown = clean(line);
      if (line.trim() !== '') this.lastErrors.push(shown);
      if (this.lastErrors.length > LAST_ERRORS_KEPT) this.lastErrors.shift();
      this.ports.log(shown);
    }
  }

  /** Asks the program to end, and ends it when it does not. */
  private async stop(group: ProcessGroup, leader: number, graceMs: number): Promise<void> {
    await terminate(group, leader);
    if (!this.hasExited) this.killing = setTimeout(() => void killAll(group, leader), graceMs);
  }

  private async lookAtDisk(group: ProcessGroup, leader: number): Promise<void> {
    // A large folder may take longer than the time between two looks.
    if (this.wasDiskFull || this.isLooking) return;
    this.isLooking = true;
    const max = this.plan.limits.diskMb * MIB;
    const used = await bytesBelow(this.folder.work, max);
    this.isLooking = false;
    if (used <= max || this.hasExited) return;
    this.wasDiskFull = true;
    await killAll(group, leader);
  }

  private async result(group: ProcessGroup, exitCode: number): Promise<CommandResult> {
    const used = await group.usage();
    const resultFile = await readFile(this.folder.result, 'utf8').catch(() => undefined);
    return {
      exitCode,
      wasOutOfMemory: await group.wasOutOfMemory(),
      wasDiskFull: this.wasDiskFull,
      memoryPeakBytes: used.memoryPeakBytes,
      lastErrors: this.lastErrors,
      lastLine: this.lastLine,
      resultFile,
      usage: { wallMs: Math.round(performance.now() - this.startedAt), ...used },
    };
  }
}

/** A shell that was killed itself has no exit code; 128 and the signal is the usual one. */
async function exitOf(child: ChildProcess): Promise<number> {
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  return code ?? (signal === 'SIGKILL' ? 137 : 143);
}

/** Calls `act` once when the signal aborts. Returns a function that forgets it. */
function stopOn(stop: AbortSignal, act: () => Promise<void>): () => void {
  const told = () => void act();
  if (stop.aborted) told();
  stop.addEventListener('abort', told, { once: true });
  return () => stop.removeEventListener('abort', told);
}
