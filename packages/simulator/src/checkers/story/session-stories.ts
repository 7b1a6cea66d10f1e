import type { AttachSession, Command, Event } from '@sluice/core';
import type { WatchedPartition } from '../../server/watched-partition.ts';
import type { LogStory } from './log-story.ts';
import type { ResourceWords } from './policies.ts';
import type { StoryRule, ToldCommand } from './story-rule.ts';
import type { TaskStory } from './task-story.ts';

/** What the server may know about a worker's session, from the commands that it executed. */
export interface SessionStory {
  readonly id: string;
  namespace: string;
  /** Maximum number of tasks of each type at once, by queue key. */
  types: ReadonlyMap<string, number>;
  offer: ResourceWords;
  labels: ReadonlyMap<string, string>;
  leaseMs: number;
  connection: number;
  isConnected: boolean;
  isDraining: boolean;
  /** The session was silent for too long, or left. */
  isOver: boolean;
  /** When the session was last heard, and since when it holds tasks. */
  heardAt: number;
  heldSince: number;
  /** The server waits for the session at least until this time. */
  graceUntil: number;
  /** Bytes that were pushed and are not known to be read. */
  unsentBytes: number;
}

/** Approximate size of a push besides input and tags. */
const ENVELOPE_BYTES = 256;

/** Tracks the sessions. It checks nothing itself. */
export class SessionStories implements StoryRule {
  private readonly story: LogStory;
  private readonly graceMsMin: number;
  private readonly sessions = new Map<string, SessionStory>();
  /** From the newest lease of each session, which is all that the log says about it. */
  private readonly leaseMs = new Map<string, number>();

  constructor(story: LogStory, graceMsMin: number) {
    this.story = story;
    this.graceMsMin = graceMsMin;
  }

  get(id: string): SessionStory | undefined {
    return this.sessions.get(id);
  }

  all(): Iterable<SessionStory> {
    return this.sessions.values();
  }

  begins(told: ToldCommand): void {
    const { command, reply, at } = told;
    switch (command.type) {
      case 'attach_session':
        return this.attach(command, reply as { session: string; connection: number }, at);
      case 'disconnect_session':
        return this.disconnect(command.session, command.connection, at);
      case 'detach_session':
        if ((reply as { found: boolean }).found) this.end(command.session);
        return;
      case 'drain_session':
        if ((reply as { found: boolean }).found) this.change(command.session, { isDraining: true });
        return;
      case 'session_read':
        return this.read(command);
      case 'report_attempts':
        return this.hear(command, at);
      case 'signal_task':
        return this.signal(command, reply as { rejection?: string });
      case 'renew_sessions':
        for (const session of this.sessions.values()) {
          session.heardAt = at;
          session.graceUntil = Math.max(session.graceUntil, at + session.leaseMs);
        }
        return;
      default:
        return;
    }
  }

  event(event: Event, task: TaskStory | undefined, { command, at }: ToldCommand): void {
    if (task === undefined) return;
    if (event.type === 'attempt_leased') {
      const session = this.sessions.get(event.session);
      this.leaseMs.set(event.session, event.leaseMs);
      if (session === undefined) return;
      if (this.story.heldBy(event.session).size === 0) session.heldSince = at;
      session.unsentBytes += pushCost(task);
    } else if (command.type === 'expire_sessions' && LOSES.includes(event.type)) {
      this.end(task.session);
    }
  }

  booted({ expectedAt }: WatchedPartition): void {
    this.sessions.clear();
    for (const [id, held] of this.story.held) {
      const [task] = held;
      if (task === undefined) continue;
      const leaseMs = this.leaseMs.get(id) ?? 0;
      const slash = task.queue.indexOf('/');
      this.sessions.set(id, {
        ...ABSENT,
        id,
        namespace: slash < 0 ? 'default' : task.queue.slice(0, slash),
        leaseMs,
        heardAt: expectedAt,
        heldSince: Math.max(...[...held].map(({ leasedAt }) => leasedAt)),
        graceUntil: expectedAt + Math.max(this.graceMsMin, leaseMs * 1.5),
      });
    }
  }

  private attach(command: AttachSession, reply: Attached, at: number): void {
    if (reply.rejection !== undefined) return;
    const { namespace, capacity, labels, leaseMs } = command;
    const before = this.sessions.get(reply.session);
    this.sessions.set(reply.session, {
      ...ABSENT,
      ...(reply.resumed ? before : {}),
      id: reply.session,
      namespace,
      types: typesOf(namespace, command.types),
      offer: capacity,
      labels,
      leaseMs,
      connection: reply.connection,
      isConnected: true,
      isOver: false,
      heardAt: at,
      unsentBytes: 0,
    });
  }

  private disconnect(id: string, connection: number, at: number): void {
    const session = this.sessions.get(id);
    if (session?.connection !== connection) return;
    session.isConnected = false;
    if (this.story.heldBy(id).size === 0) session.heardAt = at;
  }

  private read({ session: id, connection, bytes }: CommandOf<'session_read'>): void {
    const session = this.sessions.get(id);
    if (session?.connection !== connection) return;
    session.unsentBytes = Math.max(0, session.unsentBytes - bytes);
  }

  private hear(command: CommandOf<'report_attempts'>, at: number) {
    const { session: id, namespace, capacity, types } = command;
    const session = this.sessions.get(id);
    if (session === undefined || session.isOver || session.namespace !== namespace) return;
    session.heardAt = at;
    if (capacity !== undefined) session.offer = capacity;
    if (types !== undefined) session.types = typesOf(namespace, types);
  }

  private signal(command: CommandOf<'signal_task'>, reply: { rejection?: string }): void {
    const task = this.story.get(command.id);
    const session = task === undefined ? undefined : this.sessions.get(task.session);
    if (reply.rejection !== undefined || session === undefined) return;
    session.unsentBytes += command.name.length + command.data.length + ENVELOPE_BYTES;
  }

  private end(id: string): void {
    this.change(id, { isOver: true, isConnected: false });
  }

  private change(id: string, changes: Partial<SessionStory>): void {
    const session = this.sessions.get(id);
    if (session !== undefined) Object.assign(session, changes);
  }
}

type CommandOf<T extends Command['type']> = Extract<Command, { type: T }>;

interface Attached {
  readonly session: string;
  readonly connection: number;
  readonly resumed?: boolean;
  readonly rejection?: string;
}

/** Events that end a lease when its session is lost. */
const LOSES: readonly Event['type'][] = ['attempt_returned', 'attempts_exhausted'];

const ABSENT = {
  types: new Map<string, number>(),
  offer: {},
  labels: new Map<string, string>(),
  connection: 0,
  isConnected: false,
  isDraining: false,
  isOver: false,
  heldSince: 0,
  graceUntil: 0,
  unsentBytes: 0,
};

/** Approximate number of unread bytes that a push adds to its session. */
export function pushCost({ input, tags }: TaskStory): number {
  return Buffer.byteLength(input) + tags.length + ENVELOPE_BYTES;
}

/** How many of each type a session takes at once. */
function typesOf(namespace: string, types: AttachSession['types']): ReadonlyMap<string, number> {
  return new Map(
    types.map(({ type, concurrency = Number.POSITIVE_INFINITY, unavailable }) => {
      const key = namespace === 'default' ? type : `${namespace}/${type}`;
      return [key, unavailable === undefined ? concurrency : 0];
    }),
  );
}
