import {
  type Ending,
  EventStreamParser,
  type HttpAnswer,
  type HttpRequest,
  type StreamListener,
  WorkerSession,
} from '@sluice/sdk/logic';
import type { RandomStream } from '../kernel/random.ts';
import { exchangeOf, openSdkStream, sendForSdk } from '../network/sdk-requests.ts';
import { drawOffer, type WorkerOffer } from './draw-offer.ts';
import { SilenceWatch } from './silence-watch.ts';
import { SimHandlers } from './sim-handlers.ts';
import type { SimWorker, WorkerParts } from './sim-worker.ts';
import { WorkerProcess } from './worker-process.ts';

/** How long a stopped worker waits for its handlers. */
const STOP_GRACE_MS = 5000;

/** The part of a welcome that is used here. */
interface Welcome {
  readonly lost: readonly string[];
  readonly heartbeatMs: number;
}

/** A worker as users write it: the session logic of the SDK on a simulated network. */
export class SdkWorker implements SimWorker {
  private readonly parts: WorkerParts;
  private readonly host: WorkerProcess;
  private readonly random: RandomStream;
  private readonly offer: WorkerOffer;
  private readonly isFlawless: boolean;
  private session: WorkerSession | undefined;

  /** A worker that is created with an offer never fails, unless that is asked for. */
  constructor(parts: WorkerParts, name: string, offer?: WorkerOffer, { fails = false } = {}) {
    this.parts = parts;
    this.random = parts.simulation.random(name);
    this.offer = offer ?? drawOffer(this.random);
    this.isFlawless = offer !== undefined && !fails;
    this.host = new WorkerProcess(parts.simulation, name, () => this.start());
  }

  get process() {
    return this.host.current;
  }

  kill(isNoticed: boolean, restartAfterMs: number): void {
    this.parts.network.clientGone(this.process, isNoticed);
    this.host.kill(restartAfterMs);
  }

  /** Stops like a worker on SIGTERM, and restarts later. */
  stop(restartAfterMs: number): void {
    if (!this.process.alive) return;
    this.parts.situations.note('a worker was stopped gently');
    this.session?.stop(STOP_GRACE_MS);
    const { process } = this;
    process.after(STOP_GRACE_MS * 2 + restartAfterMs, () => this.kill(true, 10));
  }

  heal(): void {
    this.host.killForGood();
    this.parts.network.clientGone(this.process, true);
  }

  private start(): void {
    const { process, random } = this;
    const { situations, runs } = this.parts;
    /** Leases whose handlers ended by themselves and whose reports are not answered yet. */
    const unanswered = new Set<string>();
    const silence = new SilenceWatch(this.parts.simulation, process);
    const handlers = new SimHandlers({
      process,
      random,
      isFlawless: this.isFlawless,
      finish: (lease: string, ending: Ending, isAborted: boolean) => {
        silence.over(lease);
        if (!isAborted) unanswered.add(lease);
        session.finish(lease, ending);
      },
      heartbeat: (lease) => session.heartbeat(lease),
      progress: (lease, progress) => session.progress(lease, progress),
    });
    const session = new WorkerSession(
      { name: process.name, ...this.offer, addresses: 1 },
      {
        send: (request, answered) => this.send(request, answered, silence),
        openStream: (request, listener) => {
          return this.openStream(request, listener, {
            welcomed: ({ lost, heartbeatMs }) => {
              silence.welcomed(heartbeatMs);
              this.lookAtLost(handlers, lost);
            },
            ended: () => silence.parted(),
          });
        },
        now: process.monotonic,
        wallTime: process.wall,
        startTimer: process.after,
        atEndOfTurn: (run) => void process.after(0, run),
        random: random.next,
        run: (task) => {
          runs.started(task, process.name);
          silence.started(task.lease);
          handlers.run(task);
        },
        abort: (lease, reason) => {
          situations.note(`a handler was aborted: ${reason.type}`);
          silence.over(lease);
          handlers.abort(lease);
        },
        signal: () => situations.note('a handler heard a signal'),
        notify: (notice) => {
          if (notice.type === 'over' && notice.refusal === undefined) {
            this.lookAtEnd(handlers, unanswered);
          } else if (notice.type === 'report_answered') {
            unanswered.delete(notice.lease);
            situations.note(`a final report was ${notice.outcome}`);
          } else if (notice.type === 'welcomed') {
            situations.note(notice.resumed ? 'a session was resumed' : 'a session was opened');
          }
        },
      },
    );
    this.session = session;
    session.start();
  }

  /** A handler hears that its lease is gone (session.server-decides). */
  private lookAtLost(handlers: SimHandlers, lost: readonly string[]): void {
    for (const lease of lost) {
      this.parts.simulation.check(!handlers.runsUnaware(lease), 'I27', () => {
        return `${this.process.name} lost ${lease}, and its handler runs on`;
      });
    }
  }

  /**
   * A worker that stops lets its handlers end or tells them, and is answered
   * (session.answered-stop).
   */
  private lookAtEnd(handlers: SimHandlers, unanswered: ReadonlySet<string>): void {
    this.parts.situations.note('a worker that was stopped is over');
    const unaware = handlers.unaware();
    this.parts.simulation.check(unaware.length === 0, 'I27', () => {
      return `${this.process.name} has left, and ${unaware} run on`;
    });
    this.parts.simulation.check(unanswered.size === 0, 'I27', () => {
      return `${this.process.name} has left before ${[...unanswered]} were answered`;
    });
  }

  private send(
    request: HttpRequest,
    answered: (answer: HttpAnswer | undefined) => void,
    silence: SilenceWatch,
  ): () => void {
    const settled = silence.sent();
    const hangUp = sendForSdk(this.parts.network, this.process, exchangeOf(request), (answer) => {
      settled(answer);
      answered(answer);
    });
    return () => {
      settled(undefined);
      hangUp();
    };
  }

  private openStream(
    request: HttpRequest,
    listener: StreamListener,
    watch: { welcomed: (welcome: Welcome) => void; ended: () => void },
  ): () => void {
    const events = new EventStreamParser(({ name, data }) => {
      if (name === 'welcome') watch.welcomed(JSON.parse(data) as Welcome);
    });
    return openSdkStream(this.parts.network, this.process, request, {
      bytes: (chunk) => {
        // The listener may change the bytes.
        const copy = chunk.slice();
        listener.bytes(chunk);
        events.push(copy);
      },
      ended: (refusal) => {
        watch.ended();
        listener.ended(refusal);
      },
    });
  }
}
