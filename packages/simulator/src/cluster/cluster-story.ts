import { type Event, EventDecoder, type Partition, parseTaskId, readEvents } from '@sluice/core';
import type { Situations } from '../base/situations.ts';
import { UTF8 } from '../base/utf8.ts';
import type { HandlerRuns } from '../checkers/rules/handler-runs.ts';
import { textOf } from '../checkers/story/task-story.ts';
import type { TaskInput } from '../clients/draw-task.ts';
import type { HistoryEntry } from '../clients/history.ts';
import type { Simulation } from '../kernel/simulation.ts';
import type { Answer } from '../server/requests.ts';
import type { DatabaseSession, SimDatabase } from './database/sim-database.ts';
import type { Statement } from './database/statement.ts';
import { type BatchRow, batchesOf } from './database/tables.ts';
import type { HostWatch, Said, Served } from './machines/cluster-host.ts';
import type { SimIncoming } from './wires/exchange.ts';

interface StoryParts {
  readonly simulation: Simulation;
  readonly situations: Situations;
  readonly runs: HandlerRuns;
  readonly database: () => SimDatabase;
  /** The newest level that the version on a machine knows. */
  readonly newestLevelOf: (process: string) => number;
  /** Somebody has to accept the loss. */
  readonly onHalted: () => void;
}

/** A task as it became durable. */
interface DurableTask {
  readonly number: number;
  /** Of its input; clients give each task another one. */
  readonly n: number;
  readonly hasKey: boolean;
  readonly record: number;
}

/**
 * What became durable, and what the servers said. It sees the tables of the database, and nothing
 * of a server except its answers.
 */
export class ClusterStory implements HostWatch {
  private readonly parts: StoryParts;
  /** When and by whom each epoch was claimed. */
  private readonly claims = new Map<number, { readonly at: number; readonly process: string }>();
  /** Epochs that nobody was given, as far as the tables know. */
  private readonly lostClaims = new Set<number>();
  /** Epochs with which somebody spoke for the partition. */
  private readonly spoken = new Set<number>();
  private epoch = 0;
  private tail = 0;
  private mark = 0;
  private tasks: DurableTask[] = [];
  /** Tasks that were durable and were lost because the database went back. */
  private readonly lost: DurableTask[] = [];
  /** Partitions of hosts, by epoch. */
  private readonly hosts = new Map<number, Partition>();
  /** The machine that got a request from its client. */
  private readonly entrances = new Map<string, string>();
  private readonly decoder = new EventDecoder();
  /** The newest host, and its partition. */
  latest: { readonly machine: string; readonly partition: Partition } | undefined;
  /** Records that were visible are gone. */
  private hasLost = false;
  /** Leases were lost with the database, or ended because somebody accepted a loss. */
  hasForgotten = false;

  constructor(parts: StoryParts) {
    this.parts = parts;
  }

  /** A statement has changed the tables. */
  committed({ kind, table }: Statement, session: Pick<DatabaseSession, 'host'>): void {
    const { simulation } = this.parts;
    const { tables } = this.parts.database();
    if (table !== undefined) {
      this.appended(tables.logs.get(table)?.at(-1) as BatchRow, session.host);
    } else if (kind.startsWith('claim')) this.claimed(tables.hold.epoch, session.host);
    else if (kind.startsWith('limit')) this.mark = tables.mark?.position ?? 0;
    else if (kind.startsWith('mark')) {
      const { position } = tables.mark ?? { position: 0 };
      simulation.check(position >= this.mark, 'I41', () => {
        return `the projection's mark goes back from ${this.mark} to ${position}`;
      });
      this.mark = position;
    } else if (kind.startsWith('drop') || kind.startsWith('trim')) this.lookAtLog();
    if (!/^(?:renew|beat|mark)/.test(kind)) simulation.log('database', `${kind}, ${session.host}`);
  }

  /** The tables are what they were before. */
  restored(isLoss: boolean): void {
    const { tables } = this.parts.database();
    const { tail } = this;
    const last = batchesOf(tables).at(-1);
    this.tail = last === undefined ? tables.partition.first : last.first + last.count;
    this.mark = tables.mark?.position ?? 0;
    this.epoch = tables.partition.epoch;
    const gone = this.tasks.filter(({ record }) => record >= this.tail);
    this.tasks = this.tasks.filter(({ record }) => record < this.tail);
    this.hasLost ||= this.tail < tail;
    this.forgetClaims(isLoss);
    if (!isLoss) return;
    this.hasForgotten = true;
    this.lost.push(...gone);
  }

  /**
   * I34: a failover takes only claims back that nobody was told of, because their wait for the
   * replica was ended. The owner before goes on, and nobody has spoken as its successor.
   */
  private forgetClaims(isLoss: boolean): void {
    for (const epoch of this.claims.keys()) {
      if (epoch <= this.epoch) continue;
      this.claims.delete(epoch);
      if (isLoss) this.lostClaims.add(epoch);
      this.parts.simulation.check(isLoss || !this.spoken.has(epoch), 'I34', () => {
        return `epoch ${epoch} spoke, and the replica did not have its claim`;
      });
    }
  }

  private claimed(epoch: number, process: string): void {
    const { simulation } = this.parts;
    simulation.check(epoch > this.epoch, 'I34', `epoch ${epoch} follows ${this.epoch}`);
    this.epoch = epoch;
    this.claims.set(epoch, { at: simulation.now, process });
    const { level } = this.parts.database().tables;
    const newest = this.parts.newestLevelOf(process);
    simulation.check(level <= newest, 'I41', () => {
      return `${process} claims, and knows level ${newest} while the store has ${level}`;
    });
  }

  private appended({ first, count, epoch, bytes }: BatchRow, process: string): void {
    const { simulation, runs } = this.parts;
    const { tables } = this.parts.database();
    simulation.check(first === this.tail && epoch === this.epoch, 'I34', () => {
      return `a batch of epoch ${epoch} is at ${first}; ${this.tail} and ${this.epoch} are due`;
    });
    const holder = this.claims.get(epoch)?.process ?? process;
    simulation.check(process === holder, 'I34', () => {
      return `${process} appends at ${first} with epoch ${epoch}, which ${holder} has claimed`;
    });
    this.tail = first + count;
    const { level = 0 } = this.hosts.get(epoch) ?? {};
    simulation.check(level <= tables.level, 'I41', () => {
      return `epoch ${epoch} writes at level ${level}, and the store has ${tables.level}`;
    });
    const visit = (event: Event, _: number, place: number): void => {
      if (!this.hasForgotten) runs.event(event);
      if (event.type === 'task_submitted') this.submitted(event, first + place);
    };
    readEvents(bytes, UTF8, visit, this.decoder);
  }

  private submitted(event: Extract<Event, { type: 'task_submitted' }>, record: number): void {
    const { n } = JSON.parse(textOf(event.input)) as TaskInput;
    const hasKey = event.dedupe.windowMs > 0;
    const isSecond = !hasKey && this.tasks.some((task) => task.n === n);
    this.parts.simulation.check(!isSecond, 'I7', () => {
      return `task ${event.task} is the second for the submit ${n}, which was sent once`;
    });
    this.tasks.push({ number: event.task, n, hasKey, record });
  }

  /** Every record from the first one on is there. */
  private lookAtLog(): void {
    const { tables } = this.parts.database();
    let at: number | undefined;
    for (const { first, count } of batchesOf(tables)) {
      this.parts.simulation.check(at === undefined || at === first, 'I28', () => {
        return `record ${at} is missing, and ${first} follows`;
      });
      at = first + count;
    }
    const isWhole = (at ?? tables.partition.first) === this.tail;
    this.parts.simulation.check(isWhole, 'I28', `the log ends at ${at}, and had ${this.tail}`);
  }

  arrived(machine: string, { headers }: SimIncoming): void {
    const name = headers['sim-request'];
    const isForwarded = headers['sluice-hop'] !== undefined;
    if (name !== undefined && !isForwarded) this.entrances.set(name, machine);
  }

  /** One hop: what came from another server is not passed on (hop.one). */
  passesOn(machine: string, name: string | undefined): void {
    if (name === undefined || name === '') return;
    this.parts.simulation.check(this.entrances.get(name) === machine, 'I41', () => {
      return `${machine} passes ${name} on, which another server had passed to it`;
    });
  }

  answered(said: Said & { readonly request: { readonly path: string } }, answer: Answer): void {
    if (answer.status >= 500) return;
    this.lookAtWord(said, `answers ${said.request.path}`);
  }

  pushed(said: Said): void {
    this.lookAtWord(said, 'pushes');
  }

  /** I29: nobody serves before it has read everything that is durable. */
  serves({ epoch, partition, machine, position }: Served): void {
    this.hosts.set(epoch, partition);
    this.latest = { machine, partition };
    this.parts.situations.note('a server took over');
    const isWhole = epoch !== this.epoch || position === this.tail;
    this.parts.simulation.check(isWhole, 'I29', () => {
      return `${machine} serves from record ${position} on, and the log has ${this.tail}`;
    });
  }

  /** I30: a server halts only when the database lost something that was visible. */
  halted(machine: string): void {
    this.parts.situations.note('a server halted');
    this.hasForgotten = true;
    this.parts.simulation.check(this.hasLost, 'I30', `${machine} halts, and nothing was lost`);
    this.parts.onHalted();
  }

  /**
   * I34: nobody speaks for the partition about what began after it was claimed by another. An owner
   * whose claim was lost with the database may do so until its term is over: nobody knows of it.
   */
  private lookAtWord({ machine, epoch, askedAt }: Said, what: string): void {
    if (this.lostClaims.has(epoch)) return;
    this.spoken.add(epoch);
    for (const [later, { at }] of this.claims) {
      this.parts.simulation.check(later <= epoch || at >= askedAt, 'I34', () => {
        const asked = `asked at ${askedAt.toFixed(3)}`;
        return `${machine} ${what} with epoch ${epoch}, ${asked}; ${later} was claimed at ${at.toFixed(3)}`;
      });
    }
  }

  /** I1: what a client was told is in the log, unless the database lost it. */
  ended(entries: readonly HistoryEntry[]): void {
    this.lookAtLog();
    const durable = new Set([...this.tasks, ...this.lost].map(nameOf));
    for (const { asked, status, answer } of entries) {
      if (asked.kind !== 'submit' || status === 0 || status >= 300) continue;
      const { items } = answer as { items: readonly { id: string }[] };
      asked.tasks.forEach(({ input }, place) => {
        const { id } = items[place];
        const number = parseTaskId(id)?.number ?? 0;
        const { n } = input as TaskInput;
        this.parts.simulation.check(durable.has(nameOf({ number, n })), 'I1', () => {
          return `${id} of submit ${n} was acknowledged, and is not in the log`;
        });
      });
    }
  }
}

function nameOf({ number, n }: Pick<DurableTask, 'number' | 'n'>): string {
  return `${number} ${n}`;
}
