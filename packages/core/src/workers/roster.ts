import { NO_SLOT, type SessionId, type Slot } from '../base/ids.ts';
import { queueKey } from '../base/queue-key.ts';
import type { ReadonlyQueue } from '../state/state.ts';
import type { Shape } from '../task/shape.ts';
import { Room } from './room.ts';

/** A type that a worker handles, and how many at once; without `concurrency`, as many as fit. */
export interface OfferedType {
  readonly type: string;
  readonly concurrency?: number;
  /** Why the worker takes none of this type for now. */
  readonly unavailable?: string;
}

/**
 * A worker's session. Volatile: never logged, empty after a restart.
 *
 * Its leases are durable and are in the state's `LeaseHolders`.
 */
export interface Session {
  readonly id: SessionId;
  readonly namespace: string;
  worker: string;
  version: string;
  /** Keys of the queues that it takes tasks from, each once; the lists below are parallel. */
  types: readonly string[];
  /** Maximum number of leases of each type, and how many the session has. */
  typeLimits: readonly number[];
  readonly typeUse: number[];
  /** Why the session takes none of a type for now; undefined when it does. */
  typeLacks: readonly (string | undefined)[];
  /** The queues of its types; undefined where no task of the type was seen or looked for yet. */
  queues: (ReadonlyQueue | undefined)[];
  /** Place in the ring of each type; -1 while it is not in the ring. */
  ringPlaces: number[];
  /** The place of each type in `types`. */
  typePlaces: ReadonlyMap<string, number>;
  /** What it offers and what its leases use. */
  readonly room: Room;
  leaseMs: number;
  /** Changes at each attach, so that the end of a replaced stream is ignored. */
  connection: number;
  /** Number of the last resume that had one; a lower number is outdated. */
  resumeNumber: number;
  /** False while the stream is broken, or when the session is only known from its leases. */
  connected: boolean;
  /** It keeps its running tasks and gets no new ones. */
  draining: boolean;
  heardAt: number;
  /** The session is not lost before this time, however silent it is; set after a restart (L7). */
  graceUntil: number;
  /** Cost in bytes of the pushes that have not left the server yet. */
  unsentBytes: number;
  /** Whether the session may get any task at all. */
  hasRoom: boolean;
  /** Leases so far; every `agedLeaseEvery`-th goes to a task that waited long. */
  leases: number;
  /** The task that its room is reserved for; `NO_SLOT` when there is none. */
  reservedFor: Slot;
  /** No new reservation before `leases` reaches this number; see reservation.ts. */
  keepsRoomFrom: number;
  /** Tasks that it recently refused, by number, and when each refusal ends. */
  readonly refused: Map<number, number>;
  /** Whether it is pending to be filled in this command. */
  isPending: boolean;
}

export function makeSession(namespace: string, id: SessionId): Session {
  return {
    id,
    namespace,
    worker: '',
    version: '',
    types: [],
    typeLimits: [],
    typeUse: [],
    typeLacks: [],
    queues: [],
    ringPlaces: [],
    typePlaces: new Map(),
    room: new Room(),
    leaseMs: 0,
    connection: 0,
    resumeNumber: 0,
    connected: false,
    draining: false,
    heardAt: 0,
    graceUntil: 0,
    unsentBytes: 0,
    hasRoom: false,
    leases: 0,
    reservedFor: NO_SLOT,
    keepsRoomFrom: 0,
    refused: new Map(),
    isPending: false,
  };
}

/** Sessions that may get a task of one type, in no particular order; never empty. */
export interface Ring {
  readonly sessions: Session[];
  /** Place of the type in each session's `types`, parallel to `sessions`. */
  readonly typePlaces: number[];
  /** Where the next search begins; it rotates, so that work spreads. */
  cursor: number;
}

interface Refusal {
  readonly session: Session;
  readonly task: number;
  readonly until: number;
}

/**
 * The known sessions, and which of them have room.
 *
 * roster.open-rings: A session is in the ring of a type exactly when it has room (it is connected,
 *   is not draining, has a free slot and not too many unsent bytes) and runs fewer tasks of the
 *   type than its limit.
 * - A task has at most one reservation, and so has a session.
 */
export class Roster {
  private readonly byId = new Map<SessionId, Session>();
  /** Number of sessions of each namespace. */
  private readonly counts = new Map<string, number>();
  private readonly rings = new Map<string, Ring>();
  /** The session that reserves room for each task. */
  private readonly reservations = new Map<Slot, Session>();
  /** Every refusal that may still count, oldest first. */
  private readonly refusals: Refusal[] = [];
  private connections = 0;

  get size(): number {
    return this.byId.size;
  }

  /** Number of sessions of one namespace. */
  countOf(namespace: string): number {
    return this.counts.get(namespace) ?? 0;
  }

  find(id: SessionId): Session | undefined {
    return this.byId.get(id);
  }

  /** Finds a session of this namespace; a session of another one is not found. */
  findIn(namespace: string, id: SessionId): Session | undefined {
    const session = this.byId.get(id);
    return session?.namespace === namespace ? session : undefined;
  }

  sessions(): Iterable<Session> {
    return this.byId.values();
  }

  /** Never repeats: a lost session may return under its id, with a new stream. */
  nextConnection(): number {
    this.connections += 1;
    return this.connections;
  }

  add(session: Session): void {
    if (this.byId.get(session.id) !== session) this.count(session.namespace, 1);
    this.byId.set(session.id, session);
  }

  /** The session gets no more tasks and is no longer found. */
  remove(session: Session): void {
    session.connected = false;
    this.setRoom(session, false);
    this.unreserve(session);
    if (this.byId.delete(session.id)) this.count(session.namespace, -1);
  }

  /** If a type is listed twice, the first entry counts. Resets the lease counts per type. */
  setTypes(session: Session, offered: readonly OfferedType[]): void {
    this.setRoom(session, false);
    const once = offered.filter(
      ({ type }, place) => offered.findIndex((other) => other.type === type) === place,
    );
    session.types = once.map(({ type }) => queueKey(session.namespace, type));
    session.typeLimits = once.map(({ concurrency = Number.POSITIVE_INFINITY, unavailable }) =>
      unavailable === undefined ? concurrency : 0,
    );
    session.typeLacks = once.map(({ unavailable }) => unavailable);
    session.typeUse.length = 0;
    session.typeUse.push(...once.map(() => 0));
    session.queues = once.map(() => undefined);
    session.ringPlaces = once.map(() => -1);
    session.typePlaces = new Map(session.types.map((type, place) => [type, place]));
  }

  setRoom(session: Session, hasRoom: boolean): void {
    if (session.hasRoom === hasRoom) return;
    session.hasRoom = hasRoom;
    for (let place = 0; place < session.types.length; place++) this.updateRing(session, place);
  }

  /** Recounts: these are the types of all the session's leases. */
  countTypes(session: Session, types: readonly string[]): void {
    session.typeUse.fill(0);
    for (const type of types) this.countType(session, type, 1);
  }

  /** A lease of the session began. */
  take(session: Session, type: string, shape: Shape): void {
    session.room.take(shape);
    this.countType(session, type, 1);
  }

  /** A lease of the session ended. */
  giveBack(session: Session, type: string, shape: Shape): void {
    session.room.giveBack(shape);
    this.countType(session, type, -1);
  }

  /** `undefined` when no session may get a task of this type. */
  ring(type: string): Ring | undefined {
    return this.rings.get(type);
  }

  get reservationCount(): number {
    return this.reservations.size;
  }

  /** Reserves the room of a session for a task. */
  reserve(session: Session, slot: Slot): void {
    session.reservedFor = slot;
    this.reservations.set(slot, session);
  }

  unreserve(session: Session): void {
    if (session.reservedFor === NO_SLOT) return;
    this.reservations.delete(session.reservedFor);
    session.reservedFor = NO_SLOT;
  }

  /** The session that reserves room for this task. */
  reserverOf(slot: Slot): Session | undefined {
    return this.reservations.get(slot);
  }

  reservedSlots(): Iterable<Slot> {
    return this.reservations.keys();
  }

  refuse(session: Session, task: number, until: number): void {
    session.refused.set(task, until);
    this.refusals.push({ session, task, until });
  }

  /** When the oldest refusal ends; infinite when there is none. */
  get nextRefusalEndsAt(): number {
    return this.refusals[0]?.until ?? Number.POSITIVE_INFINITY;
  }

  /** Forgets a refusal that has ended and returns its session; `undefined` when there is none. */
  takeEndedRefusal(now: number): Session | undefined {
    if (this.nextRefusalEndsAt > now) return undefined;
    const { session, task, until } = this.refusals.shift() as Refusal;
    // The refusal may have been cleared and repeated since.
    if (session.refused.get(task) === until) session.refused.delete(task);
    return session;
  }

  get hasExceptions(): boolean {
    return this.reservations.size + this.refusals.length > 0;
  }

  /** Sessions with a reservation or a refusal, which may get less than they have room for. */
  *withExceptions(): Iterable<Session> {
    yield* this.reservations.values();
    for (const { session } of this.refusals) yield session;
  }

  private count(namespace: string, change: number): void {
    const count = this.countOf(namespace) + change;
    if (count === 0) this.counts.delete(namespace);
    else this.counts.set(namespace, count);
  }

  private countType(session: Session, type: string, change: number): void {
    const place = session.typePlaces.get(type);
    // A worker may come back without a type although it still holds leases of that type.
    if (place === undefined) return;
    session.typeUse[place] += change;
    this.updateRing(session, place);
  }

  private updateRing(session: Session, place: number): void {
    const belongs = session.hasRoom && session.typeUse[place] < session.typeLimits[place];
    const stands = session.ringPlaces[place] >= 0;
    if (belongs === stands) return;
    if (belongs) this.join(session, place);
    else this.leave(session, place);
  }

  private join(session: Session, typePlace: number): void {
    const ring = this.ringFor(session.types[typePlace]);
    session.ringPlaces[typePlace] = ring.sessions.length;
    ring.sessions.push(session);
    ring.typePlaces.push(typePlace);
  }

  /** The last session of the ring moves to the place of the one that leaves. */
  private leave(session: Session, typePlace: number): void {
    const type = session.types[typePlace];
    const ring = this.ringFor(type);
    const place = session.ringPlaces[typePlace];
    session.ringPlaces[typePlace] = -1;
    const last = ring.sessions.pop();
    const lastTypePlace = ring.typePlaces.pop();
    if (last !== undefined && lastTypePlace !== undefined && place < ring.sessions.length) {
      ring.sessions[place] = last;
      ring.typePlaces[place] = lastTypePlace;
      last.ringPlaces[lastTypePlace] = place;
    }
    if (ring.sessions.length === 0) this.rings.delete(type);
  }

  private ringFor(type: string): Ring {
    let ring = this.rings.get(type);
    if (ring === undefined) {
      ring = { sessions: [], typePlaces: [], cursor: 0 };
      this.rings.set(type, ring);
    }
    return ring;
  }
}
