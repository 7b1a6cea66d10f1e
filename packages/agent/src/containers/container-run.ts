import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TaskContext } from '@sluice/sdk';
import { DiskWatch } from '../attempts/disk-watch.ts';
import { OutputLog } from '../attempts/output-log.ts';
import { errorOf } from '../attempts/refusal.ts';
import { stopOn } from '../attempts/stop-on.ts';
import type { ContainerEngine, OutputListener } from '../engine/container-engine.ts';
import { EngineError } from '../engine/engine-socket.ts';
import type { ContainerGroups } from '../host/container-groups.ts';
import { signalProcess } from '../host/signal-process.ts';
import { type AttemptFolder, bytesBelow } from '../host/work-folder.ts';
import { type CommandEnd, isKilledAtLimit } from '../logic/command-end.ts';
import { type ContainerPlan, containerSpec } from '../logic/container-spec.ts';
import { engineFailure } from '../logic/engine-failure.ts';
import { registrySecrets } from '../logic/registry.ts';
import { redactor } from '../logic/secrets.ts';

const MIB = 2 ** 20;
const BETWEEN_TRIES_MS = 500;
const NOTE_EVERY_MS = 1000;
const LOGGED_FILE = 'logged';

export interface ContainerPorts {
  readonly engine: ContainerEngine;
  /** Undefined where the engine chooses the control groups. */
  readonly groups: ContainerGroups | undefined;
  readonly log: (line: string) => void;
  readonly onWritten: (bytes: number) => void;
}

export interface ContainerResult extends CommandEnd {
  readonly usage: Parameters<TaskContext['usage']>[0];
  readonly lastLine: string;
  /** The engine was away while the container ran, so its end may be the engine's. */
  readonly wasEngineLost: boolean;
}

/** Output that is being read. */
interface Reading {
  readonly ended: Promise<void>;
}

export interface ContainerLimits {
  readonly diskMb: number;
  /** Time from SIGTERM to SIGKILL, by the reason of the stop. */
  readonly killGraceMs: (reason: unknown) => number;
}

/** One container, from its making to its end. */
export class ContainerRun {
  private readonly plan: ContainerPlan;
  private readonly folder: AttemptFolder;
  private readonly limits: ContainerLimits;
  private readonly ports: ContainerPorts;
  /** Milliseconds since 1970. */
  private startedAt = Date.now();
  private wasEngineLost = false;
  private hasEnded = false;

  constructor(
    plan: ContainerPlan,
    folder: AttemptFolder,
    limits: ContainerLimits,
    ports: ContainerPorts,
  ) {
    this.plan = plan;
    this.folder = folder;
    this.limits = limits;
    this.ports = ports;
  }

  /** Runs the container to its end. Its owner removes it. */
  async run(stop: AbortSignal): Promise<ContainerResult> {
    const { engine } = this.ports;
    await engine.create(this.plan.name, containerSpec(this.plan)).catch(failed('create'));
    stop.throwIfAborted();
    return this.watch(stop, (output) => this.start(output));
  }

  /** Goes on with a container that an earlier agent started. */
  async adopt(stop: AbortSignal, startedAt: number): Promise<ContainerResult> {
    this.startedAt = startedAt;
    // To wait for a container that was never started would succeed at once.
    const facts = await this.untilBack(() => this.ports.engine.inspect(this.plan.name));
    if (facts?.wasStarted !== true) throw errorOf(LOST);
    const loggedAt = await lastLogged(this.folder);
    return this.watch(stop, async (output) => this.follow(output, loggedAt));
  }

  /** `begin` resolves when the container runs; what it returns, when the output is complete. */
  private async watch(
    stop: AbortSignal,
    begin: (output: OutputLog) => Promise<Reading>,
  ): Promise<ContainerResult> {
    const { exec } = this.plan;
    const clean = redactor(exec.env ?? {}, registrySecrets(exec.registryAuth));
    const output = new OutputLog(notingTimes(this.folder, this.ports.log), clean);
    const disk = new DiskWatch({
      bytesMax: this.limits.diskMb * MIB,
      measure: (max) => this.writtenBytes(max),
      onMeasured: this.ports.onWritten,
      onFull: () => this.kill(),
    });
    let forget = () => undefined as unknown;
    try {
      const { ended } = await begin(output);
      // Not before it runs: a container that has not begun cannot be told to end.
      forget = stopOn(stop, () => this.stop(this.limits.killGraceMs(stop.reason)));
      const exitCode = await this.end();
      await ended;
      output.end();
      return await this.result(exitCode, disk.isFull, output);
    } finally {
      this.hasEnded = true;
      // Before the end is reported: the next attempt must not meet this one.
      await this.ports.groups?.end(this.plan.name);
      forget();
      disk.end();
      output.end();
    }
  }

  private async start(output: OutputLog): Promise<Reading> {
    const { engine } = this.ports;
    const { name, exec } = this.plan;
    const { stdin } = exec;
    const onBytes: OutputListener = (bytes, isError) => output.push(bytes, isError);
    const hasInput = stdin !== undefined;
    const attached = await engine.attach(name, hasInput, onBytes).catch(failed('create'));
    try {
      await engine.start(name).catch(failed('start'));
    } catch (cause) {
      attached.close();
      throw cause;
    }
    if (stdin !== undefined) attached.feed(stdin);
    const read = async () => {
      if (!(await attached.ended)) await this.follow(output, Date.now()).ended;
    };
    return { ended: read() };
  }

  /** The exit code. */
  private end(): Promise<number> {
    return this.untilBack(() => this.ports.engine.wait(this.plan.name));
  }

  /** An engine that goes away is asked again until it is back. */
  private async untilBack<T>(ask: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        // An engine that forgot a container has nothing to say about it.
        if (!isAway(error)) throw errorOf(LOST);
        this.wasEngineLost = true;
        await sleep(BETWEEN_TRIES_MS);
      }
    }
  }

  /** The lines that the engine keeps, from a time on. */
  private follow(output: OutputLog, sinceMs: number): Reading {
    const { engine } = this.ports;
    const onBytes: OutputListener = (bytes, isError) => output.push(bytes, isError);
    const read = async () => {
      for (let since = sinceMs; ; since = Date.now()) {
        try {
          await engine.logs(this.plan.name, { sinceMs: since, onBytes });
          return;
        } catch (error) {
          if (!isAway(error)) return;
          await sleep(BETWEEN_TRIES_MS);
        }
      }
    };
    return { ended: read() };
  }

  private async stop(graceMs: number): Promise<void> {
    const { engine } = this.ports;
    await engine.kill(this.plan.name, 'SIGTERM').catch(() => undefined);
    await sleep(graceMs);
    await this.kill();
  }

  /** By the engine, or past an engine that does not answer. */
  private async kill(): Promise<void> {
    const { engine, groups } = this.ports;
    while (!this.hasEnded) {
      const isTold = await engine.kill(this.plan.name, 'SIGKILL').then(
        () => true,
        (error) => !isAway(error),
      );
      if (isTold) return;
      for (const pid of groups?.pids(this.plan.name) ?? []) signalProcess(pid, 'SIGKILL');
      await sleep(BETWEEN_TRIES_MS);
    }
  }

  /** In the scratch folder, and in the files of the container itself. */
  private async writtenBytes(max: number): Promise<number> {
    const below = await bytesBelow(this.folder.work, max);
    if (below > max) return below;
    const facts = await this.ports.engine.inspect(this.plan.name, true);
    return below + (facts?.writtenBytes ?? 0);
  }

  private async result(
    exitCode: number,
    wasDiskFull: boolean,
    { lastErrors, lastLine }: OutputLog,
  ): Promise<ContainerResult> {
    const { engine, groups } = this.ports;
    const { name } = this.plan;
    const facts = await engine.inspect(name).catch(() => undefined);
    const used = (await groups?.usage(name)) ?? {};
    const { memoryMb } = this.plan.limits;
    const isAtLimit = isKilledAtLimit(exitCode, used.memoryPeakBytes, memoryMb);
    return {
      exitCode,
      wasOutOfMemory: facts?.wasOutOfMemory === true || (!wasDiskFull && isAtLimit),
      wasDiskFull,
      memoryPeakBytes: used.memoryPeakBytes,
      lastErrors,
      lastLine,
      wasEngineLost: this.wasEngineLost,
      usage: { wallMs: Math.max(0, Date.now() - this.startedAt), ...used },
    };
  }
}

/**
 * Notes every second until when lines were sent, so that an agent which is started later does not
 * send all of them again.
 */
function notingTimes(folder: AttemptFolder, log: (line: string) => void): (line: string) => void {
  let notedAt = 0;
  return (line) => {
    log(line);
    const now = Date.now();
    if (now - notedAt < NOTE_EVERY_MS) return;
    notedAt = now;
    // Without it lines are only sent twice.
    writeFile(join(folder.control, LOGGED_FILE), `${now}\n`).catch(() => undefined);
  };
}

async function lastLogged({ control }: AttemptFolder): Promise<number> {
  const text = await readFile(join(control, LOGGED_FILE), 'utf8').catch(() => '');
  return text.endsWith('\n') ? Number(text) : 0;
}

const LOST = {
  code: 'container_lost',
  message: 'the container engine does not know the container any more',
  isRetryable: true,
};

function isAway(error: unknown): boolean {
  return error instanceof EngineError && error.status === 0;
}

/** Turns a problem of the engine into a failure of the task. */
export function failed(stage: Parameters<typeof engineFailure>[0]): (cause: unknown) => never {
  return (cause) => {
    if (!(cause instanceof EngineError)) throw cause;
    throw errorOf(engineFailure(stage, cause));
  };
}
