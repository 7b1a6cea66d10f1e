import type { PushedTask } from '@sluice/protocol';
import type { HttpAnswer, HttpRequest } from '../base/ports.ts';
import type { Outcome } from '../worker/report-outbox.ts';
import type { NetworkPeer, ServerStream } from './faulty-network.ts';
import type { VirtualTime } from './virtual-time.ts';

interface Session {
  readonly id: string;
  /** Current leases and their tasks. */
  readonly held: Map<string, string>;
  stream: ServerStream | undefined;
  heardAt: number;
  slots: number;
}

interface Lease {
  readonly task: string;
  readonly session: string;
  /** The final report that ended it; `undefined` while it is held, or after it was taken back. */
  end: string | undefined;
  /** The lines of its handler, and the number of the last log report. */
  readonly lines: string[];
  lastSeq: number;
}

interface Report {
  readonly lease: string;
  readonly kind: string;
  readonly seq?: number;
  readonly lines?: readonly string[];
}

const LEASE_MS = 15_000;
const RESTART_GRACE_MS = 22_500;
const SLOTS = 8;

/** A minimal model of the API's rules for worker sessions. */
export class LawfulServer implements NetworkPeer {
  private readonly time: VirtualTime;
  private readonly queue: string[] = [];
  private readonly sessions = new Map<string, Session>();
  private readonly leases = new Map<string, Lease>();
  /** Tasks that succeeded, and how often. */
  readonly succeeded = new Map<string, number>();
  epoch = 0;
  isUp = true;
  private quietUntil = 0;
  private counter = 0;

  constructor(time: VirtualTime) {
    this.time = time;
  }

  submit(task: string): void {
    this.queue.push(task);
    this.match();
  }

  get openTasks(): number {
    return this.queue.length + [...this.sessions.values()].reduce((n, s) => n + s.held.size, 0);
  }

  attach(body: {
    capacity: { slots: number };
    resume?: { sessionId: string; running: string[] };
  }): { session: string; stream: (stream: ServerStream) => void } {
    const { resume, capacity } = body;
    const known = resume && this.sessions.get(resume.sessionId);
    const session: Session = known ?? {
      id: resume?.sessionId ?? `s_${this.next()}`,
      held: new Map(),
      stream: undefined,
      heardAt: 0,
      slots: 0,
    };
    const running = resume?.running ?? [];
    const lost = running.filter((lease) => !session.held.has(lease));
    for (const lease of [...session.held.keys()]) {
      if (!running.includes(lease)) this.takeBack(session, lease);
    }
    this.sessions.set(session.id, session);
    session.heardAt = this.time.now();
    session.slots = Math.min(SLOTS, capacity.slots);
    session.stream?.end();
    session.stream = undefined;
    const resumed = known !== undefined;
    const stream = (opened: ServerStream): void => {
      session.stream = opened;
      const welcome = { sessionId: session.id, heartbeatMs: 5000, leaseMs: LEASE_MS };
      opened.write('welcome', { ...welcome, resumed, lost });
      this.match();
    };
    return { session: session.id, stream };
  }

  streamClosed(sessionId: string, stream: ServerStream): void {
    const session = this.sessions.get(sessionId);
    if (session?.stream === stream) session.stream = undefined;
  }

  answer({ method, path, body = '{}' }: HttpRequest): HttpAnswer {
    const session = path.split('/')[3];
    return method === 'DELETE' ? this.detach(session) : this.report(session, JSON.parse(body));
  }

  private report(
    sessionId: string,
    { reports = [], capacity }: { reports?: Report[]; capacity?: { slots: number } },
  ): HttpAnswer {
    const session = this.sessions.get(sessionId);
    if (session === undefined && reports.length === 0) return { status: 404, text: NOT_FOUND };
    if (session !== undefined) session.heardAt = this.time.now();
    if (session !== undefined && capacity !== undefined) {
      session.slots = Math.min(SLOTS, capacity.slots);
    }
    const outcomes = reports.map((report) => this.outcomeOf(sessionId, report));
    this.match();
    return { status: 200, text: JSON.stringify({ outcomes }) };
  }

  private detach(sessionId: string): HttpAnswer {
    const session = this.sessions.get(sessionId);
    if (session === undefined) return { status: 404, text: NOT_FOUND };
    this.lose(session);
    return { status: 204, text: '' };
  }

  /** Takes a lease away, as a cancel does after its grace period. */
  revoke(lease: string): void {
    const session = this.sessions.get(this.leases.get(lease)?.session ?? '');
    if (session?.held.has(lease)) this.takeBack(session, lease);
    this.match();
  }

  currentLeases(): string[] {
    return [...this.sessions.values()].flatMap((session) => [...session.held.keys()]);
  }

  /** Ends sessions that were silent for too long. */
  tick(): void {
    const now = this.time.now();
    if (!this.isUp || now < this.quietUntil) return;
    for (const session of [...this.sessions.values()]) {
      const livesByStream = session.held.size === 0 && session.stream !== undefined;
      if (!livesByStream && now - session.heardAt >= LEASE_MS) this.lose(session);
    }
    this.match();
  }

  ping(): void {
    for (const session of this.sessions.values()) session.stream?.write('ping', {});
  }

  crash(): void {
    this.isUp = false;
    this.epoch += 1;
    for (const session of [...this.sessions.values()]) {
      session.stream?.end();
      session.stream = undefined;
      if (session.held.size === 0) this.sessions.delete(session.id);
    }
  }

  restart(): void {
    this.isUp = true;
    this.quietUntil = this.time.now() + RESTART_GRACE_MS;
  }

  /** Lines of the leases that ended with success. */
  keptLines(): Map<string, readonly string[]> {
    const ended = [...this.leases].filter(([, { end }]) => end === 'succeeded');
    return new Map(ended.map(([lease, { lines }]) => [lease, lines]));
  }

  private outcomeOf(sessionId: string, report: Report): Outcome {
    const { lease, kind, seq = 0, lines = [] } = report;
    const known = this.leases.get(lease);
    if (known === undefined || known.session !== sessionId) return 'stale_lease';
    const session = this.sessions.get(sessionId);
    if (session === undefined || !session.held.has(lease)) {
      return known.end === kind ? 'duplicate' : 'stale_lease';
    }
    if (kind === 'log' && seq > known.lastSeq) {
      known.lastSeq = seq;
      known.lines.push(...lines);
    }
    if (kind === 'log' || kind === 'started' || kind === 'progress' || kind === 'heartbeat')
      return 'ok';
    known.end = kind;
    session.held.delete(lease);
    if (kind === 'succeeded') {
      this.succeeded.set(known.task, (this.succeeded.get(known.task) ?? 0) + 1);
    } else {
      this.queue.push(known.task);
    }
    return 'ok';
  }

  private lose(session: Session): void {
    this.sessions.delete(session.id);
    for (const lease of [...session.held.keys()]) this.takeBack(session, lease);
    session.stream?.end();
    this.match();
  }

  private takeBack(session: Session, lease: string): void {
    this.queue.unshift(session.held.get(lease) as string);
    session.held.delete(lease);
  }

  private match(): void {
    for (const session of this.sessions.values()) {
      const tasks: PushedTask[] = [];
      while (session.stream && session.held.size < session.slots && this.queue.length > 0) {
        const id = this.queue.shift() as string;
        const lease = `l_${this.next()}`;
        this.leases.set(lease, {
          task: id,
          session: session.id,
          end: undefined,
          lines: [],
          lastSeq: 0,
        });
        session.held.set(lease, id);
        const task = { id, type: 'a', attempt: 1, resources: { slots: 1 }, input: 'ä€😀' };
        tasks.push({ ...task, lease });
      }
      if (tasks.length > 0) session.stream?.write('tasks', tasks);
    }
  }

  private next(): number {
    this.counter += 1;
    return this.counter;
  }
}

const NOT_FOUND = JSON.stringify({
  error: { code: 'session_not_found', message: '', details: [] },
});
