import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Server as TlsServer } from 'node:tls';
import type { Worker } from 'node:worker_threads';
import { LEVEL, REQUEST_KEYS_LEVEL } from '@sluice/core';
import type { FollowedPartition } from '@sluice/engine';
import { writeHalt } from '@sluice/postgres';
import { ROLE_PATH } from '@sluice/protocol';
import type { ServerOptions } from '../assembly/server-options.ts';
import { warmUp } from '../base/warm-up.ts';
import { ConfigError } from '../config/load-config.ts';
import { Forwarder } from '../forwarding/forwarder.ts';
import type { OwnerPlace } from '../forwarding/peer.ts';
import { requestIds } from '../host/build-app.ts';
import { readHop, writeHop } from '../http/hop.ts';
import { createListener } from '../http/listener.ts';
import type { RefusalDesk } from '../http/refusal.ts';
import { RequestGuard } from '../http/request-guard.ts';
import { urlOf } from '../http/server-url.ts';
import { listening } from '../membership/cluster-listener.ts';
import { LossWatch } from '../membership/loss-watch.ts';
import { Membership } from '../membership/membership.ts';
import type { Standby } from '../membership/standby.ts';
import { sayJson, sayPosition } from '../membership/standby-answers.ts';
import { StoreLevelError } from '../membership/store-level.ts';
import { storeView } from '../membership/store-view.ts';
import { troubleLog } from '../membership/trouble-log.ts';
import { ServerLog } from '../observation/server-log.ts';
import { CLUSTER_MAKERS, type StartedHost } from './cluster-hosts.ts';
import { type ClusterParts, openStore } from './cluster-parts.ts';
import { certificateOf, listenerOptions, watchCertificate } from './server.ts';

/** A start that takes longer goes on: requests wait, and the log says what is wrong. */
const ANSWERING_MS_MAX = 20_000;
const ANSWERING_LOOK_MS = 20;

/** The host of a partition, and what passes requests to it. */
interface Hosted extends StartedHost {
  readonly epoch: number;
}

/**
 * A server of a cluster: it listens all the time. While it owns the partition it answers; otherwise
 * it follows the log and passes requests on to the owner.
 */
export class ClusterServer {
  readonly url: string;
  private readonly parts: ClusterParts;
  private readonly membership: Membership;
  /** Undefined while this server does not own the partition, or is taking it over. */
  private hosted: Hosted | undefined;
  /** Undefined while this server owns the partition. */
  private standby: Standby | undefined;
  /** The projection's thread for the next takeover. */
  private parked: Worker | undefined;
  private isClosing = false;
  /** The partition is being taken over, or let go: nothing is claimed meanwhile. */
  private isBusy = false;
  /** Records that this server knows to be committed. */
  private committed = 0;
  /** The level of the cluster. */
  private level: number;
  /** Changes when a loss is accepted. */
  private generation: string;
  /** Runs while this server has halted, because the database went back in time. */
  private halted: LossWatch | undefined;

  constructor(parts: ClusterParts, url: string) {
    this.url = url;
    this.parts = parts;
    const { holds: store, runId, options, newestLevel } = parts;
    this.generation = parts.generation;
    this.level = newestLevel;
    this.standby = this.follow();
    this.membership = new Membership({
      store,
      runId,
      url: options.advertise ?? url,
      version: options.version,
      newestLevel,
      position: () => Math.max(this.position, this.committed),
      generation: () => this.generation,
      isReady: () => this.mayClaim,
      hop: () => this.ownHop(),
      onClaimed: (epoch) => this.takeOver(epoch),
      onLost: (cause) => this.stepDown(cause),
      onHandOff: () => void this.handOff(),
      onLevel: (level) => this.sawLevel(level),
      onTrouble: troubleLog(parts.log),
    });
  }

  /** Checks the store, listens, and becomes a candidate. */
  static async start(options: ServerOptions): Promise<ClusterServer> {
    const certificate = options.tls && (await certificateOf(options.tls));
    const log = options.log ?? ServerLog.onStderr('error');
    const { secret, ...store } = await openStore(options, log);
    const { runId } = store;
    const desk = deskOf(log);
    let server: ClusterServer | undefined;
    const { limits } = listenerOptions(options);
    const clock = () => server?.now() ?? Date.now();
    const forwarder = new Forwarder({
      owner: () => server?.answering,
      knowsRequestKeys: () => server !== undefined && server.level >= REQUEST_KEYS_LEVEL,
      guard: new RequestGuard([options.host, ...(options.allowedHosts ?? [])], limits),
      bodyBytesMax: limits.bodyBytesMax,
      ...{ runId, secret, desk, clock },
    });
    const handler: RequestListener = (request, answer) => server?.handle(request, answer);
    const listener = createListener(handler, { ...listenerOptions(options), certificate, desk });
    await listening(listener, options);
    const url = urlOf(listener, options, certificate !== undefined);
    const watcher = watchCertificate(listener as TlsServer, options.tls, certificate, log);
    const parts = { options, ...store, log, forwarder, listener, watcher };
    const known = { newestLevel: LEVEL, makers: CLUSTER_MAKERS };
    server = new ClusterServer({ ...parts, ...known, hopTrust: { secret, clock } }, url);
    void warmUp(log.forFramework());
    server.begin();
    log.line('info', 'the server is listening', { url, version: options.version, runId });
    await server.untilAnswering();
    return server;
  }

  /** Becomes a candidate. */
  begin(): void {
    this.membership.start();
  }

  /** The cluster's time. */
  now(): number {
    return this.membership.now();
  }

  /** Resolves when requests are answered, here or by the owner, or that takes too long. */
  private async untilAnswering(): Promise<void> {
    const until = performance.now() + ANSWERING_MS_MAX;
    while (this.answering === undefined && performance.now() < until)
      await sleep(ANSWERING_LOOK_MS);
  }

  /**
   * The server that answers requests. It may be this one: then it gets what it held while there
   * was no owner, through its own address.
   */
  get answering(): OwnerPlace | undefined {
    const { owner } = this.membership;
    const isSelf = owner?.runId === this.parts.runId;
    return isSelf && this.hosted === undefined ? undefined : owner;
  }

  /** Reloads the certificate files for new connections. Never rejects. */
  async reloadCertificate(): Promise<void> {
    await this.parts.watcher?.look();
  }

  /** Hands the partition over, finishes open requests, and leaves the cluster. */
  async close(): Promise<void> {
    const { log, listener, forwarder, reader, notes, watcher } = this.parts;
    log.line('info', 'the server is stopping');
    this.isClosing = true;
    watcher?.stop();
    await this.handOff();
    await this.standby?.finish();
    await this.parked?.terminate();
    await forwarder.passedOn();
    await this.membership.close({ isKept: this.halted !== undefined });
    const closed = new Promise<void>((resolve) => listener.close(() => resolve()));
    await Promise.all([forwarder.close(), closed]);
    this.halted?.stop();
    await notes.close();
    await reader.close();
    log.line('info', 'the server has stopped');
  }

  /** Lets another server take the partition over. Requests that come now are passed on to it. */
  async handOff(): Promise<void> {
    const { hosted } = this;
    if (hosted === undefined) return;
    this.hosted = undefined;
    await this.letGo(async () => {
      // A request that is answered now belongs to the time before.
      await hosted.host.quiesce(0);
      await this.membership.release(hosted.epoch).catch(() => undefined);
      this.followUnlessBusy();
      await hosted.host.close(0);
    });
  }

  /** A server that owns nothing follows the log. */
  private followUnlessBusy(): void {
    if (this.isClosing || this.hosted !== undefined || this.halted !== undefined) return;
    this.standby ??= this.follow();
  }

  private get mayClaim(): boolean {
    const { isClosing, isBusy, level, standby, parts } = this;
    return !isClosing && !isBusy && level <= parts.newestLevel && standby?.isReady === true;
  }

  /** Others may write, or have written, what this version cannot read. */
  private sawLevel(level: number): void {
    if (level === this.level) return;
    this.level = level;
    const { log, options, address, newestLevel } = this.parts;
    if (level > newestLevel) return options.onFatal(new StoreLevelError(address, level));
    if (this.hosted !== undefined) this.hosted.host.level = level;
    log.line('info', 'the level of the cluster was raised', { to: level });
  }

  private get position(): number {
    const position = this.hosted?.host.engine.position ?? this.standby?.position ?? 0;
    this.committed = Math.max(this.committed, position);
    return position;
  }

  handle(request: IncomingMessage, answer: ServerResponse): void {
    const { url = '/' } = request;
    if (url === ROLE_PATH) return this.sayRole(request, answer);
    if (this.hosted !== undefined) return void this.hosted.handler(request, answer as never);
    if (url === '/health/live') return sayJson(answer, { status: 'ok' });
    // It can pass requests on, or hold them until there is an owner.
    if (url === '/health/ready' && this.standby?.isReady === true) {
      return sayJson(answer, { status: 'ok' });
    }
    if (url === '/metrics') return sayPosition(answer, this.position);
    this.parts.forwarder.handle(request, answer as never);
  }

  /** A server that lets go says so, and this one looks at once. */
  private sayRole(request: IncomingMessage, answer: ServerResponse): void {
    const { secret, clock } = this.parts.hopTrust;
    if (typeof readHop(request.headers, secret, clock()) === 'object') this.membership.nudge();

    sayJson(answer, this.membership.role);
  }

  private async takeOver(epoch: number): Promise<void> {
    this.parts.log.line('info', 'this server takes the partition over', { epoch });
    this.isBusy = true;
    try {
      await this.beginAs(epoch);
    } finally {
      this.isBusy = false;
      this.followUnlessBusy();
    }
  }

  private async beginAs(epoch: number): Promise<void> {
    const committed = await this.membership.committed();
    // Nobody else can append any more, so this is the end of the log.
    const { tail } = await this.parts.reader.extent();
    if (tail < committed) return this.haltAt(epoch, { tail, committed });
    const followed = await this.standby?.finish();
    this.standby = undefined;
    const { host, handler } = await this.startHost(epoch, followed);
    host.level = this.level;
    if (!this.membership.holds(epoch)) return host.abandon();
    this.hosted = { epoch, host, handler };
    const { position } = host.engine;
    this.parts.log.line('info', 'this server is the owner', { epoch, position });
  }

  private startHost(epoch: number, followed: FollowedPartition | undefined): Promise<StartedHost> {
    const { parked, membership } = this;
    this.parked = undefined;
    return this.parts.makers.startHost(this.parts, {
      ...{ epoch, followed, parked },
      term: membership.term,
      now: () => membership.now(),
      onLost: (cause) => membership.lose(epoch, cause),
      storeView: () => storeView(this.parts, this.position),
    });
  }

  /** Shows another server of the cluster that this one speaks. */
  private ownHop(): string {
    const { runId, hopTrust } = this.parts;
    const from = { runId, at: hopTrust.clock(), address: '', isEncrypted: false, host: '' };
    return writeHop(from, hopTrust.secret);
  }

  /** Nothing more is released: the memory may be ahead of the log (L5). */
  private stepDown(cause: Error): void {
    const { hosted } = this;
    this.committed = Math.max(this.committed, this.position);
    this.hosted = undefined;
    this.parts.log.line('warn', 'this server is no longer the owner', { cause: cause.message });
    // Trying again would not help.
    if (cause instanceof ConfigError) this.parts.options.onFatal(cause);
    hosted?.host.engine.stepDown(cause);
    if (hosted !== undefined) void this.letGo(() => hosted.host.abandon());
    if (!this.isBusy) this.followUnlessBusy();
  }

  /** The next takeover waits for it. Never rejects. */
  private async letGo(close: () => Promise<void>): Promise<void> {
    this.isBusy = true;
    try {
      await close();
    } catch (problem) {
      const { message } = problem as Error;
      this.parts.log.line('error', 'closing the partition failed', { cause: message });
    } finally {
      this.isBusy = false;
      this.followUnlessBusy();
    }
  }

  private follow(): Standby {
    const { log } = this.parts;
    this.parked ??= this.park();
    return this.parts.makers.follow(this.parts, {
      committed: this.committed,
      onWentBack: (cause) => this.halt(cause),
      onTrouble: ({ message: cause }) => log.line('warn', 'the log cannot be followed', { cause }),
    });
  }

  /** Another server has seen more of the log than there is. */
  private async haltAt(
    epoch: number,
    { tail, committed }: { readonly tail: number; readonly committed: number },
  ): Promise<void> {
    this.committed = committed;
    this.halt(new Error(`the log has ${tail} records, and another server saw ${committed}`));
    await this.standby?.finish();
    this.standby = undefined;
    await this.membership.release(epoch).catch(() => undefined);
  }

  /** What was acknowledged is missing, so nobody may go on as if nothing had happened. */
  private halt({ message }: Error): void {
    const { log, notes, runId } = this.parts;
    log.line(
      'error',
      'the database went back in time, and acknowledged work is missing: restore what is ' +
        "missing, or accept the loss with 'sluice cluster accept-loss'",
      { cause: message },
    );
    // 'sluice cluster status' says less without it.
    const told = { runId, generation: this.generation, cause: message };
    void writeHalt(notes, told).catch(() => undefined);
    this.halted = new LossWatch(notes, this.generation, (generation) => {
      this.halted = undefined;
      log.line('warn', 'the loss was accepted; this server goes on');
      this.generation = generation;
      this.committed = 0;
      this.standby = this.follow();
    });
  }

  /** A thread that ends, because the database is away, is not missed: the takeover starts one. */
  private park(): Worker | undefined {
    const parked = this.parts.makers.park(this.parts);
    const ended = () => {
      if (this.parked === parked) this.parked = undefined;
    };
    return parked?.on('error', ended).on('exit', ended);
  }
}

function deskOf(log: ServerLog): RefusalDesk {
  return { newRequestId: requestIds(), refused: (refusal) => log.refused(refusal) };
}
