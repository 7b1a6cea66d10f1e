import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Peer } from './peer.ts';
import type { Traits } from './route-traits.ts';
import { sendUpload } from './send-upload.ts';

/** A request as the owner gets it. */
export interface Outgoing {
  readonly method: string;
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  /** The client's request while its body has not been read. */
  readonly body: Buffer | IncomingMessage | undefined;
  readonly traits: Traits;
}

/**
 * How a try ended.
 *
 * - `not_sent`: no byte of the request reached the owner.
 * - `not_owner`: the other server did nothing, because it is not the owner.
 * - `broken`: the request was sent, and no answer came.
 */
export type Outcome =
  | { readonly kind: 'answered'; readonly answer: IncomingMessage }
  | { readonly kind: 'not_sent' | 'not_owner' | 'broken' };

const CONNECT_MS_MAX = 500;

/** A request that takes longer than this no longer counts as one of the pool's. */
const POOLED_MS_MAX = 1000;

const MISDIRECTED = 421;

/** One try of sending a request to the owner, up to the head of its answer. */
export class Exchange {
  readonly outcome: Promise<Outcome>;
  private readonly upstream: ClientRequest;
  private readonly outgoing: Outgoing;
  private readonly settle: (outcome: Outcome) => void;
  /** Once true, the owner may have executed the request. */
  private isSent = false;
  private isPooled = true;
  /** Bounds the current phase: until there is a connection, until it is open, until the head. */
  private phase: NodeJS.Timeout | undefined;
  private leaving: NodeJS.Timeout | undefined;

  /** `sendMsMax` bounds the time in which the request waits for a connection of the pool. */
  constructor(peer: Peer, outgoing: Outgoing, sendMsMax: number) {
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    this.outcome = promise;
    this.settle = resolve;
    this.outgoing = outgoing;
    const { method, path, headers, body } = outgoing;
    this.upstream = peer.request(method, path, headers);
    this.upstream.on('error', () => this.failed());
    this.upstream.on('close', () => this.failed());
    this.upstream.once('response', (answer) => this.answered(answer));
    this.upstream.once('socket', (socket) => this.assigned(socket));
    this.bound(sendMsMax);
    // An upload begins when the connection is open: until then it can be sent to another owner.
    if (body === undefined || Buffer.isBuffer(body)) this.upstream.end(body);
    else this.upstream.flushHeaders();
  }

  /** The client is gone. */
  abort(): void {
    this.upstream.destroy();
    this.failed();
  }

  /**
   * Takes the connection out of the pool, because it will be busy for long: a stream, a wait, a
   * slow reader, or an owner that waits for its disk. Others would have to wait for it.
   */
  leavePool(): void {
    clearTimeout(this.leaving);
    const { socket } = this.upstream;
    // After the answer the connection may serve another request.
    if (!this.isPooled || socket === null || this.upstream.destroyed) return;
    this.isPooled = false;
    socket.emit('agentRemove');
    this.upstream.once('close', () => socket.destroy());
  }

  private assigned(socket: Socket): void {
    const isOpen =
      !socket.connecting && (socket as Partial<SecureSocket>).secureConnecting !== true;
    if (isOpen) return this.opened();
    this.bound(CONNECT_MS_MAX);
    socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => this.opened());
  }

  private opened(): void {
    const { traits, body } = this.outgoing;
    this.isSent = true;
    this.bound(traits.headMsMax);
    if (traits.isLong) this.leavePool();
    else this.leaving = setTimeout(() => this.leavePool(), POOLED_MS_MAX);
    if (body !== undefined && !Buffer.isBuffer(body)) sendUpload(body, this.upstream);
  }

  private answered(answer: IncomingMessage): void {
    clearTimeout(this.phase);
    // The reader of the answer looks whether it is complete.
    answer.on('error', () => undefined);
    if (answer.statusCode !== MISDIRECTED) return this.settle({ kind: 'answered', answer });
    answer.resume();
    this.settle({ kind: 'not_owner' });
  }

  /** After the answer's head this has no effect: an outcome is settled once. */
  private failed(): void {
    clearTimeout(this.phase);
    clearTimeout(this.leaving);
    this.settle({ kind: this.isSent ? 'broken' : 'not_sent' });
  }

  private bound(timeoutMs: number | undefined): void {
    clearTimeout(this.phase);
    if (timeoutMs === undefined) return;
    this.phase = setTimeout(() => this.abort(), timeoutMs);
  }
}

/** Node knows this field, its types do not. */
type SecureSocket = TLSSocket & { readonly secureConnecting: boolean };
