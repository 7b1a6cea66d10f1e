import type { SessionId } from './ids.ts';

/**
 * A worker's standing with the server. Volatile: never logged, empty after a restart.
 *
 * What a session holds is durable and stands in the state's `LeaseHolders`.
 */
export interface Session {
  readonly id: SessionId;
  readonly namespace: string;
  worker: string;
  /** Keys of the queues that it takes tasks from. */
  types: readonly string[];
  slots: number;
  leaseMs: number;
  /** Another one at each attach, so that the end of a displaced stream does not count. */
  connection: number;
  /** False while the stream is broken, or when the session is only known from its leases. */
  connected: boolean;
  heardAt: number;
  /** The session is not lost before then, whatever its silence; set after a restart (L7). */
  graceUntil: number;
  /** Cost of what was leased to it and has not left the server yet, in bytes. */
  unsentBytes: number;
  /** Whether the session stands in the rings of its types. */
  hasRoom: boolean;
  /** Place in the ring of each of `types`, in the same order; meaningless unless `hasRoom`. */
  ringPlaces: number[];
}

/** Sessions of one type that have room, in no particular order; never empty. */
interface Ring {
  readonly sessions: Session[];
  /** Place of each session's type in its own `types`, parallel to `sessions`. */
  readonly typePlaces: number[];
  /** Where the next pick looks; picks go round, so that work spreads. */
  cursor: number;
}

/**
 * Who is connected, and who has room.
 *
 * R1 A session stands in the rings of all its types exactly when it is connected, has a free slot
 *    and not too much on its way to it.
 */
export class Roster {
  private readonly byId = new Map<SessionId, Session>();
  private readonly rings = new Map<string, Ring>();
  private connections = 0;

  get size(): number {
    return this.byId.size;
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
    this.byId.set(session.id, session);
  }

  remove(session: Session): void {
    this.setRoom(session, false);
    this.byId.delete(session.id);
  }

  setTypes(session: Session, types: readonly string[]): void {
    this.setRoom(session, false);
    session.types = types;
    session.ringPlaces = types.map(() => 0);
  }

  setRoom(session: Session, hasRoom: boolean): void {
    if (session.hasRoom === hasRoom) return;
    session.hasRoom = hasRoom;
    for (let place = 0; place < session.types.length; place++) {
      if (hasRoom) this.join(session, place);
      else this.leave(session, place);
    }
  }

  hasRoomFor(type: string): boolean {
    return this.rings.has(type);
  }

  /** A session of this type with room, another one each time; `undefined` when there is none. */
  pick(type: string): Session | undefined {
    const ring = this.rings.get(type);
    if (ring === undefined) return undefined;
    if (ring.cursor >= ring.sessions.length) ring.cursor = 0;
    return ring.sessions[ring.cursor++];
  }

  private join(session: Session, typePlace: number): void {
    const ring = this.ringOf(session.types[typePlace]);
    session.ringPlaces[typePlace] = ring.sessions.length;
    ring.sessions.push(session);
    ring.typePlaces.push(typePlace);
  }

  /** The last of the ring takes the place of the one that leaves. */
  private leave(session: Session, typePlace: number): void {
    const type = session.types[typePlace];
    const ring = this.ringOf(type);
    const place = session.ringPlaces[typePlace];
    const last = ring.sessions.pop();
    const lastTypePlace = ring.typePlaces.pop();
    if (last !== undefined && lastTypePlace !== undefined && place < ring.sessions.length) {
      ring.sessions[place] = last;
      ring.typePlaces[place] = lastTypePlace;
      last.ringPlaces[lastTypePlace] = place;
    }
    if (ring.sessions.length === 0) this.rings.delete(type);
  }

  private ringOf(type: string): Ring {
    let ring = this.rings.get(type);
    if (ring === undefined) {
      ring = { sessions: [], typePlaces: [], cursor: 0 };
      this.rings.set(type, ring);
    }
    return ring;
  }
}
