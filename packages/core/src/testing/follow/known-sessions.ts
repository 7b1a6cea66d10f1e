import { NO_SLOT, type SessionId } from '../../base/ids.ts';
import { parseLeaseToken } from '../../base/lease-token.ts';
import { queueKey } from '../../base/queue-key.ts';
import type { ReportAttemptsReply } from '../../commands/attempts/report-attempts.ts';
import type { Command, Replies } from '../../commands/commands.ts';
import type { AttachSessionReply } from '../../commands/sessions/attach-session.ts';
import type { Outputs } from '../../decision/outputs.ts';
import { pushCost, signalCost } from '../../matching/matching.ts';
import type { ReadonlyState } from '../../state/state.ts';
import type { OfferedType } from '../../workers/roster.ts';
import type { ModelWorker } from '../model/model-room.ts';
import { heldBy } from '../state-problems.ts';

const REFUSED_FOR_MS = 1000;

interface Moment {
  readonly state: ReadonlyState;
  /** The time of the command. */
  readonly now: number;
}

/** Sessions as their workers know them, from commands and replies. */
export class KnownSessions {
  readonly sessions = new Map<SessionId, ModelWorker>();
  /** The newest connection of each session. */
  private readonly connections = new Map<SessionId, number>();

  follow(command: Command, reply: Replies[Command['type']], moment: Moment): void {
    if (command.type === 'attach_session') {
      const { session: id, connection, rejection } = reply as AttachSessionReply;
      const { namespace, capacity, labels } = command;
      const types = typesIn(namespace, command.types);
      this.connections.set(id, connection);
      const draining = this.sessions.get(id)?.draining ?? false;
      const known = { id, types, capacity, labels, connected: true, draining, unsentBytes: 0 };
      if (rejection === undefined) this.sessions.set(id, { ...known, refused: new Map() });
      return;
    }
    const session = 'session' in command ? this.sessions.get(command.session) : undefined;
    if (session === undefined) return;
    if (command.type === 'disconnect_session') {
      const isCurrent = this.connections.get(command.session) === command.connection;
      if (isCurrent) session.connected = false;
    }
    if (command.type === 'session_read') {
      const isCurrent = this.connections.get(command.session) === command.connection;
      const left = Math.max(0, session.unsentBytes - command.bytes);
      if (isCurrent) session.unsentBytes = left;
    }
    if (command.type === 'drain_session') session.draining = true;
    if (command.type !== 'report_attempts') return;
    if (command.capacity !== undefined) {
      Object.assign(session, { capacity: command.capacity, refused: new Map() });
    }
    if (command.types !== undefined) {
      const types = typesIn(command.namespace, command.types);
      Object.assign(session, { types, refused: new Map() });
    }
    command.reports.forEach(({ kind, lease }, place) => {
      if (kind !== 'refused' || (reply as ReportAttemptsReply).outcomes[place] !== 'ok') return;
      const slot = parseLeaseToken(lease)?.slot ?? NO_SLOT;
      session.refused.set(moment.state.tasks.number[slot], moment.now + REFUSED_FOR_MS);
    });
  }

  followOutputs(state: ReadonlyState, outputs: Outputs): void {
    outputs.pushSlots.forEach((slot, index) => {
      this.sent(outputs.pushSessions[index], pushCost(state, slot));
    });
    for (const signal of outputs.signals) this.sent(signal.session, signalCost(signal));
    for (const id of outputs.closedSessions) this.sessions.delete(id);
  }

  private sent(id: SessionId, bytes: number): void {
    const session = this.sessions.get(id);
    if (session !== undefined) session.unsentBytes += bytes;
  }

  /** Every stream is broken, and only sessions with leases are still known. */
  restart(state: ReadonlyState): void {
    for (const session of [...this.sessions.values()]) {
      session.connected = false;
      session.draining = false;
      if (heldBy(state, session.id).length === 0) this.sessions.delete(session.id);
    }
    // The previous server may have ended a session but crashed before it was logged.
    for (const { session: id } of state.holders.holding()) {
      if (!this.sessions.has(id)) this.sessions.set(id, absent(id));
    }
  }
}

function typesIn(namespace: string, types: readonly OfferedType[]): ModelWorker['types'] {
  return types.map((each) => ({ ...each, type: queueKey(namespace, each.type) }));
}

/** A worker about which only its leases are known. */
function absent(id: SessionId): ModelWorker {
  return {
    id,
    types: [],
    capacity: { slots: 0 },
    labels: new Map(),
    connected: false,
    draining: false,
    refused: new Map(),
    unsentBytes: 0,
  };
}
