import type { AttemptRecord } from '@sluice/agent/logic';
import type { PushedTask } from '@sluice/protocol';
import type { Ending } from '@sluice/sdk/logic';
import type { HandlerRuns } from '../checkers/rules/handler-runs.ts';
import type { TaskInput } from '../clients/draw-task.ts';
import type { RandomStream } from '../kernel/random.ts';
import type { Simulation } from '../kernel/simulation.ts';
import { endingOf } from '../workers/sim-handlers.ts';

/**
 * Types of tasks that agents run. The server wants an `exec` in tasks of the type `container`;
 * simulated clients have none.
 */
export const PROGRAM = 'program';
export const CONTAINER = 'program-in-container';

const MIB = 2 ** 20;
const KILLED: Ending = { kind: 'failed', error: { message: 'killed' } };

/** What the folder of one attempt says to an agent that is started later. */
interface AttemptFiles {
  record: string;
  outcome: Ending | undefined;
}

/** A program, from the call that starts it until its traces are removed. */
interface Program {
  readonly name: string;
  readonly task: PushedTask;
  readonly gpus: readonly string[];
  readonly writtenBytes: number;
  state: 'starting' | 'running' | 'exited' | 'lost';
  wasStarted: boolean;
  ending: Ending;
}

/** What an agent keeps for the next one. */
interface SavedSession {
  readonly sessionId: string;
  readonly generation: number;
}

interface HostParts {
  readonly simulation: Simulation;
  readonly random: RandomStream;
  readonly runs: HandlerRuns;
}

/** The machine of an agent. Its folders, programs and containers outlive the agent. */
export class SimHost {
  readonly cores: number;
  readonly memoryMb: number;
  readonly gpus: readonly string[];
  session: SavedSession | undefined;
  isEngineUp = true;
  private readonly name: string;
  private readonly parts: HostParts;
  private readonly folders = new Map<string, AttemptFiles>();
  /** By the name of the attempt. Traces of a command go with its folder. */
  private readonly programs = new Map<string, Program>();
  /** Free bytes of the disk without what programs have written. */
  private freeBytes: number;

  constructor(name: string, parts: HostParts) {
    const { random } = parts;
    this.name = name;
    this.parts = parts;
    this.cores = random.pick([1, 2, 4]);
    this.memoryMb = random.pick([1000, 4000]);
    this.gpus = ['0', '1'].slice(0, random.integer(0, 2));
    this.freeBytes = random.integer(2000, 8000) * MIB;
  }

  /** What measuring the host gives. */
  measure(): { cores: number; memoryBytes: number; diskBytes: number } {
    const written = [...this.programs.values()].reduce((sum, each) => sum + each.writtenBytes, 0);
    const diskBytes = Math.max(0, this.freeBytes - written);
    return { cores: this.cores, memoryBytes: this.memoryMb * MIB, diskBytes };
  }

  /** Somebody else uses more of the disk, or less. */
  useDisk(): void {
    this.freeBytes = this.parts.random.integer(500, 8000) * MIB;
  }

  writtenBy(name: string): number {
    return this.programs.get(name)?.writtenBytes ?? 0;
  }

  makeFolder(name: string): void {
    this.folders.set(name, { record: '', outcome: undefined });
  }

  writeRecord(record: AttemptRecord): void {
    this.files(record.name).record = JSON.stringify(record);
  }

  noteOutcome(name: string, outcome: Ending): void {
    this.files(name).outcome = outcome;
  }

  outcomeOf(name: string): Ending | undefined {
    return this.folders.get(name)?.outcome;
  }

  recordOf(name: string): string {
    return this.folders.get(name)?.record ?? '';
  }

  /** Whether the shell of a command has left its mark. */
  isMarked(name: string): boolean {
    return this.folders.has(name) && this.programs.get(name)?.wasStarted === true;
  }

  /** Attempts that have a folder, or a group with processes. */
  names(): string[] {
    const groups = [...this.programs.values()].filter(({ task }) => task.type !== CONTAINER);
    return [...new Set([...this.folders.keys(), ...groups.map(({ name }) => name)])];
  }

  /** Names of the containers; undefined while the engine does not answer. */
  containers(): Program[] | undefined {
    if (!this.isEngineUp) return undefined;
    return [...this.programs.values()].filter(({ task }) => task.type === CONTAINER);
  }

  /** Its shell or its engine starts the program a little later, with or without an agent. */
  spawn(name: string, task: PushedTask, gpus: readonly string[]): void {
    const { simulation, random } = this.parts;
    const program: Program = {
      name,
      task,
      gpus,
      writtenBytes: (task.resources?.diskMb ?? 0) * MIB,
      state: 'starting',
      wasStarted: false,
      ending: KILLED,
    };
    this.programs.set(name, program);
    simulation.after(random.logarithmic(0.1, 50), () => this.start(program));
  }

  /** Undefined while the engine of a container does not answer. */
  look(name: string): Pick<Program, 'state' | 'wasStarted' | 'ending'> | undefined {
    const program = this.programs.get(name);
    if (program?.task.type === CONTAINER && !this.isEngineUp) return undefined;
    return program ?? { state: 'lost', wasStarted: false, ending: KILLED };
  }

  /** Returns whether it is gone: an engine that is away cannot be asked. */
  kill(name: string): boolean {
    const program = this.programs.get(name);
    if (program === undefined) return true;
    if (program.task.type === CONTAINER && !this.isEngineUp) return false;
    this.exit(program, KILLED);
    return true;
  }

  /** Ends what is left of an attempt and removes its traces; containers are apart. */
  remove(name: string): void {
    this.folders.delete(name);
    if (this.programs.get(name)?.task.type !== CONTAINER) this.programs.delete(name);
  }

  removeContainer(name: string): void {
    const isContainer = this.programs.get(name)?.task.type === CONTAINER;
    if (isContainer && this.isEngineUp) this.programs.delete(name);
  }

  /** Everything that runs is gone without a word. */
  reboot(): void {
    for (const program of this.programs.values()) {
      if (program.state !== 'exited') program.state = 'lost';
    }
  }

  private files(name: string): AttemptFiles {
    const files = this.folders.get(name);
    if (files === undefined) throw new Error(`${this.name} has no folder ${name}`);
    return files;
  }

  private start(program: Program): void {
    const { simulation, runs } = this.parts;
    const { name, task } = program;
    // Without its group or its container nothing can start.
    if (this.programs.get(name) !== program || program.state !== 'starting') return;
    if (task.type === CONTAINER && !this.isEngineUp) {
      program.state = 'lost';
      return;
    }
    this.checkStart(program);
    program.state = 'running';
    program.wasStarted = true;
    simulation.log(this.name, `starts ${task.lease}`);
    runs.started(task, this.name);
    const input = task.input as TaskInput;
    if (input.end === 'hangs') return;
    simulation.after(input.runMs, () => this.exit(program, endingOf(input.end, input)));
  }

  private exit(program: Program, ending: Ending): void {
    if (program.state === 'exited' || program.state === 'lost') return;
    program.state = 'exited';
    program.ending = ending;
  }

  /** Nothing runs twice under one lease, and nothing uses what another has. */
  private checkStart(starting: Program): void {
    const { simulation } = this.parts;
    const running = [...this.programs.values()].filter(({ state }) => state === 'running');
    const { lease } = starting.task;
    simulation.check(!running.some(({ task }) => task.lease === lease), 'I45', () => {
      return `${this.name} runs ${starting.name} under ${lease}, which runs already`;
    });
    const all = [...running, starting];
    const sum = (of: (resources: NonNullable<PushedTask['resources']>) => number | undefined) =>
      all.reduce((total, { task }) => total + (of(task.resources ?? {}) ?? 0), 0);
    const fits = sum(({ cpu }) => cpu) <= this.cores && sum((r) => r.memoryMb) <= this.memoryMb;
    simulation.check(fits, 'I45', () => `${this.name} has no room for ${starting.name}`);
    const taken = all.flatMap(({ gpus }) => gpus);
    simulation.check(new Set(taken).size === taken.length, 'I45', () => {
      return `two programs on ${this.name} have one GPU: ${starting.name} is one of them`;
    });
  }
}
