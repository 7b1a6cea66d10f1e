import { NO_SLOT, type SessionId, type Slot } from '../base/ids.ts';
import { queueKey } from '../base/queue-key.ts';
import type { ReadonlyQueue } from '../state/state.ts';
import type { Shape } from '../task/shape.ts';
import { Room } from './room.ts';

/** A type that a worker handles, and how many of it at once; as many as there is room for. */
export interface OfferedType {
  readonly type: string;
  readonly concurrency?: number;
}

/**
 * A worker's standing with the server. Volatile: never logged, empty after a restart.
 *
 * What a session holds is durable and stands in the state's `LeaseHolders`.
 */
export interface Session {
  readonly id: SessionId;
  readonly namespace: string;
  worker: string;
  version: string;
  /** Keys of the queues that it takes tasks from, each once; the lists below are parallel. */
  types: readonly string[];
  /** How many of each type the session runs at once, and how many are leased to it. */
  typeLimits: readonly number[];
  readonly typeUse: number[];
  /** The queues of its types; empty where no task of the type was ever seen, or none was sought. */
  queues: (ReadonlyQueue | undefined)[];
  /** Place in the ring of each type; -1 while it does not stand there. */
  ringPlaces: number[];
  /** Where each type stands in `types`. */
  typePlaces: ReadonlyMap<string, number>;
  /** What it offers and what its leases use. */
  readonly room: Room;
  leaseMs: number;
  /** Another one at each attach, so that the end of a displaced stream does not count. */
  connection: number;
  /** Of the last resume that had one; a lower one comes too late. */
  resumeNumber: number;
  /** False while the stream is broken, or when the session is only known from its leases. */
  connected: boolean;
  /** It keeps what it runs and gets nothing more. */
  draining: boolean;
  heardAt: number;
  /** The session is not lost before then, whatever its silence; set after a restart (L7). */
  graceUntil: number;
  /** Cost of what was leased to it and has not left the server yet, in bytes. */
  unsentBytes: number;
  /** Whether the session may be given anything at all. */
  hasRoom: boolean;
  /** Leases so far; every so many go to a task that waited long. */
  leases: number;
  /** The task that its room is kept for; `NO_SLOT` when there is none. */
  reservedFor: Slot;
  /** Its room is kept for nobody before it has had so many leases; see reservation.ts. */
  keepsRoomFrom: number;
  /** Tasks that it refused a moment ago, by number, and until when it is spared them. */
  readonly refused: Map<number, number>;
  /** Whether it waits for its turn to be filled in this command. */
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

/** Sessions of one type that may be given one of it, in no particular order; never empty. */
export interface Ring {
  readonly sessions: Session[];
  /** Place of each session's type in its own `types`, parallel to `sessions`. */
  readonly typePlaces: number[];
  /** Where the next look begins; looks go round, so that work spreads. */
  cursor: number;
}

interface Refusal {
  readonly session: Session;
  readonly task: number;
  readonly until: number;
}

/**
 * Who is connected, and who has room.
 *
 * R1 A session stands in the ring of a type exactly when it has room (it is connected, does not
 *    drain, has a free slot and not too much on its way to it) and runs fewer of the type than it
 *    said.
 * R3 A task has one reservation at the most, and a session too.
 */
export class Roster {
  private readonly byId = new Map<SessionId, Session>();
  /** How many sessions each namespace has. */
  private readonly counts = new Map<string, number>();
  private readonly rings = new Map<string, Ring>();
  /** Who keeps room for a task. */
  private readonly reservations = new Map<Slot, Session>();
  /** Every refusal that may still count, oldest first. */
  private readonly refusals: Refusal[] = [];
  private connections = 0;

  get size(): number {
    return this.byId.size;
  }

  /** Sessions of one namespace. */
  countOf(namespace: string): number {
    return this.counts.get(namespace) ?? 0;
  }

  find(id: SessionId): Session | undefined {
    return this.byId.get(id);
  }

  /** Finds a session of this namespace; to another one it does not exist. */
  findIn(namespace: string, id: SessionId): Session | undefined {
    const session = this.byId.get(id);
    return session?.namespace === namespace ? session : undefined;
  }

  sessions(): Iterable<Session> {
    return this.byId.values();
  }

  /**
   * Never the same one again: a session that was lost may return under its id, with a new stream.
   */
  nextConnection(): number {
    this.connections += 1;
    return this.connections;
  }

  add(session: Session): void {
    if (this.byId.get(session.id) !== session) this.count(session.namespace, 1);
    this.byId.set(session.id, session);
  }

  /** The session is given nothing more, and nobody finds it. */
  remove(session: Session): void {
    session.connected = false;
    this.setRoom(session, false);
    this.unreserve(session);
    if (this.byId.delete(session.id)) this.count(session.namespace, -1);
  }

  /** Of a type that is listed twice the first entry counts. What is in use is counted anew. */
  setTypes(session: Session, offered: readonly OfferedType[]): void {
    this.setRoom(session, false);
    const once = offered.filter(
      ({ type }, place) => offered.findIndex((other) => other.type === type) === place,
    );
    session.types = once.map(({ type }) => queueKey(session.namespace, type));
    session.typeLimits = once.map(({ concurrency }) => concurrency ?? Number.POSITIVE_INFINITY);
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

  /** Tasks of these types are all that the session runs. */
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

  /** `undefined` when nobody may be given a task of this type. */
  ring(type: string): Ring | undefined {
    return this.rings.get(type);
  }

  get reservationCount(): number {
    return this.reservations.size;
  }

  /** Keeps the room of a session for a task. */
  reserve(session: Session, slot: Slot): void {
    session.reservedFor = slot;
    this.reservations.set(slot, session);
  }

  unreserve(session: Session): void {
    if (session.reservedFor === NO_SLOT) return;
    this.reservations.delete(session.reservedFor);
    session.reservedFor = NO_SLOT;
  }

  /** Who keeps room for this task. */
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

  /** When the oldest refusal no longer counts; infinite when there is none. */
  get nextRefusalEndsAt(): number {
    return this.refusals[0]?.until ?? Number.POSITIVE_INFINITY;
  }

  /** Forgets a refusal that no longer counts and answers whose it was; `undefined` at the end. */
  takeEndedRefusal(now: number): Session | undefined {
    if (this.nextRefusalEndsAt > now) return undefined;
    const { session, task, until } = this.refusals.shift() as Refusal;
    // It may have been forgotten and refused again since.
    if (session.refused.get(task) === until) session.refused.delete(task);
    return session;
  }

  get hasExceptions(): boolean {
    return this.reservations.size + this.refusals.length > 0;
  }

  /** Sessions that may be given less than they have room for. */
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
    // A worker may come back without a type of which it still holds tasks.
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

  /** The last of the ring takes the place of the one that leaves. */
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
