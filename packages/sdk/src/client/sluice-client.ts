import type { TaskRequest } from '@sluice/protocol';
import { LIMITS } from '@sluice/protocol/limits';
import { addressesOf, authorization, type ServerUrl } from '../base/addresses.ts';
import { freshKeys } from '../base/fresh-keys.ts';
import { type FieldsOf, refuseUnknownFields } from '../base/known-fields.ts';
import type { ClientPorts } from '../base/ports.ts';
import { SYSTEM_PORTS } from '../base/system-ports.ts';
import { ApiCalls } from '../calls/api-calls.ts';
import type { Followed } from '../calls/followed-stream.ts';
import { type Refusal, withDetails } from '../calls/http-answers.ts';
import type { Platform, Transport } from '../calls/platform.ts';
import { promisedCall, type Start } from '../calls/promised-call.ts';
import { RemoteBlobs } from '../calls/remote-blobs.ts';
import { closedError, errorOf, noAnswer, SluiceError } from '../calls/sluice-error.ts';
import { traced } from '../calls/traced.ts';
import { QueueGroup } from '../operators/operator-groups.ts';
import type { ChangeNotice, FollowOptions, ServerPort } from '../operators/operator-port.ts';
import { type FollowSetup, RemoteOperators } from '../operators/remote-operators.ts';
import { WorkflowGroup } from '../operators/run-groups.ts';
import {
  KeyGroup,
  ServerDeadLetterGroup,
  ServerRunGroup,
  ServerScheduleGroup,
  ServerTaskGroup,
  StatsGroup,
  WorkerGroup,
} from '../operators/server-groups.ts';
import type { AnyTask, TaskBody } from '../task/define-task.ts';
import type { TaskOperations } from '../task/task-operations.ts';
import type { TaskDefaults } from '../task/task-options.ts';
import { checkWorkOptions, Worker, type WorkOptions } from '../worker/worker.ts';
import { guarded } from '../worker/worker-lines.ts';
import { NamedTypes } from './named-types.ts';
import { RemoteRuns } from './remote-runs.ts';
import { RemoteSchedules } from './remote-schedules.ts';
import { RemoteTasks } from './remote-tasks.ts';
import { RunStarts } from './run-starts.ts';
import { RunWaits } from './run-waits.ts';
import { type SubmitOutcome, Submitter } from './submitter.ts';
import { pathOfTask, type Submitted, TaskClient } from './task-client.ts';
import { TaskWaits } from './task-waits.ts';

export interface SluiceOptions {
  /**
   * Address of the server. Default: `SLUICE_URL`, then `http://127.0.0.1:7420`. With several
   * addresses, those that do not answer are skipped.
   */
  readonly url?: ServerUrl;
  /** Default: `SLUICE_API_KEY`. */
  readonly apiKey?: string;
  /**
   * In a cluster: whether requests go directly to the server that owns the partition, where it can
   * be reached. False sends all of them to `url`. Default: `SLUICE_FOLLOW_OWNER`, then true.
   */
  readonly followOwner?: boolean;
  /** How long a call is tried before it fails with `no_answer`. Default 60 s. */
  readonly giveUpAfterMs?: number;
  /**
   * Called with warnings, each of them once: a type that is submitted by name is not registered.
   * Default: they are written to the console.
   */
  readonly onWarning?: (message: string) => void;
}

const FIELDS: FieldsOf<SluiceOptions> = {
  url: true,
  apiKey: true,
  followOwner: true,
  giveUpAfterMs: true,
  onWarning: true,
};

const GIVE_UP_AFTER_MS = 60_000;

/** Uploading tens of megabytes takes time. */
const BLOB_WITHIN_MS = 120_000;

/** A wait for a run is sent again until it is answered, as one for a task. */
const RUN_WAITS = { answerWithinMs: 20_000, giveUpAfterMs: Number.POSITIVE_INFINITY };

/** How long a request may still be under way after it was given up. */
const STRAY_MS = 60_000;

/** How long the server must remember the key of a start. */
function resentWithin(giveUpAfterMs = GIVE_UP_AFTER_MS): number {
  return Math.min(Math.ceil(giveUpAfterMs) + STRAY_MS, LIMITS.dedupeWindowMsMax);
}

/** The whole SDK, independent of the platform. */
export abstract class SluiceClient extends TaskClient {
  /** Addresses of the server, in the order in which they are tried. */
  readonly addresses: readonly string[];
  override readonly tasks: ServerTaskGroup;
  override readonly deadLetters: ServerDeadLetterGroup;
  override readonly queues: QueueGroup;
  /** Lists and drains all workers of the server. */
  readonly workers: WorkerGroup;
  /** Creates, lists and revokes access keys. */
  readonly keys: KeyGroup;
  /** Figures over time. */
  readonly stats: StatsGroup;
  override readonly runs: ServerRunGroup;
  override readonly workflows: WorkflowGroup;
  override readonly schedules: ServerScheduleGroup;
  protected readonly operations: TaskOperations;
  protected readonly starts: RunStarts;
  protected readonly operators: ServerPort;
  private readonly remote: RemoteTasks;
  private readonly blobs: RemoteBlobs;
  private readonly waits: TaskWaits;
  private readonly calls: ApiCalls;
  private readonly blobCalls: ApiCalls;
  private readonly runCalls: ApiCalls;
  private readonly platform: Platform;
  private readonly transport: Transport;
  private readonly submitter: Submitter;
  private readonly namedTypes: NamedTypes;
  private readonly running = new Set<Worker>();
  /** Rejects the pending promises when the client is closed. */
  private readonly onClose = new Set<(cause: Error) => void>();
  private isClosed = false;

  protected constructor(given: SluiceOptions, platform: Platform) {
    super();
    refuseUnknownFields(given, FIELDS, 'the options of Sluice');
    const { url, apiKey, followOwner, giveUpAfterMs, onWarning = writeWarning } = given;
    this.platform = platform;
    this.addresses = addressesOf(url ?? (platform.setting('SLUICE_URL') || platform.defaultUrl()));
    const headers = authorization(apiKey ?? platform.setting('SLUICE_API_KEY'));
    const followsOwner = followOwner ?? platform.setting('SLUICE_FOLLOW_OWNER') !== 'false';
    this.transport = platform.connect({ addresses: this.addresses, headers, followsOwner });
    const ports: ClientPorts = {
      ...SYSTEM_PORTS,
      atEndOfTurn: platform.atEndOfTurn,
      send: (request, answered) => this.transport.send(request, answered),
    };
    const patience = giveUpAfterMs === undefined ? {} : { giveUpAfterMs };
    const options = { addresses: this.addresses.length, ...patience };
    this.submitter = new Submitter(options, ports);
    this.waits = new TaskWaits(options, ports);
    this.calls = new ApiCalls(options, ports);
    this.blobCalls = new ApiCalls({ ...options, answerWithinMs: BLOB_WITHIN_MS }, ports);
    const until = <T>(start: Start<T>): Promise<T> => this.untilClosed(start);
    const call = promisedCall(this.calls, until, this.addresses);
    this.blobs = new RemoteBlobs(promisedCall(this.blobCalls, until, this.addresses));
    const { waits, blobs } = this;
    const { startTimer } = ports;
    const newKey = freshKeys(ports);
    this.remote = new RemoteTasks({ call, waits, blobs, until, startTimer, newKey });
    this.operations = this.remote;
    this.runCalls = new ApiCalls({ addresses: this.addresses.length, ...RUN_WAITS }, ports);
    const { runCalls: calls, addresses } = this;
    const runs = new RemoteRuns({
      call,
      waits: new RunWaits({
        calls,
        until,
        addresses,
        now: ports.now,
        atOnce: platform.runWaitsMax,
      }),
      blobs,
      newKey,
      resentWithinMs: resentWithin(giveUpAfterMs),
    });
    this.starts = new RunStarts(runs);
    this.workflows = new WorkflowGroup(runs);
    const registered = (type: string) => this.remote.getType(type);
    this.namedTypes = new NamedTypes({ registered, warn: guarded('onWarning', onWarning) });
    const operators = new RemoteOperators({
      call,
      tasks: this.remote,
      follow: this.followSetup(ports, giveUpAfterMs),
    });
    this.operators = operators;
    this.runs = new ServerRunGroup(runs, operators);
    this.schedules = new ServerScheduleGroup(new RemoteSchedules(call), operators);
    this.stats = new StatsGroup(operators);
    this.tasks = new ServerTaskGroup(operators);
    this.deadLetters = new ServerDeadLetterGroup(operators);
    this.queues = new QueueGroup(operators);
    this.workers = new WorkerGroup(operators);
    this.keys = new KeyGroup(operators);
  }

  private followSetup(ports: ClientPorts, giveUpAfterMs = GIVE_UP_AFTER_MS): FollowSetup {
    return {
      ports: {
        ...ports,
        openStream: (request, listener) => this.transport.openStream(request, listener),
      },
      addresses: this.addresses,
      giveUpAfterMs,
      onClose: (fail) => {
        if (this.isClosed) fail(closedError());
        else this.onClose.add(fail);
        return () => this.onClose.delete(fail);
      },
    };
  }

  /**
   * Runs tasks of these types until the process is asked to end (SIGTERM, SIGINT) or the worker is
   * stopped. Resolves once the server has welcomed the worker, however long that takes, and rejects
   * when the server refuses it.
   */
  async work(tasks: readonly AnyTask[], options: WorkOptions = {}): Promise<Worker> {
    if (this.isClosed) throw closedError();
    checkWorkOptions(options);
    const { platform, transport, addresses, blobs } = this;
    const registered = (type: string) => this.remote.getType(type);
    const setup = { platform, transport, addresses, blobs, submits: this, registered };
    const worker = new Worker(tasks, { ...options, ...setup });
    this.running.add(worker);
    const forget = (): boolean => this.running.delete(worker);
    worker.stopped.then(forget, forget);
    await traced(worker.start());
    return worker;
  }

  /**
   * Says, at most once a second, that there is something new to read: for programs that show lists.
   * To learn what changed, use `events`.
   */
  changes(options: FollowOptions = {}): Followed<ChangeNotice> {
    return this.operators.changes(options);
  }

  /**
   * Stops the workers and closes all connections. Pending calls are rejected with a `SluiceError`
   * with code `closed`.
   */
  async close(): Promise<void> {
    // Handlers that still run may submit and wait until they have ended.
    await Promise.all([...this.running].map((worker) => worker.stop()));
    this.isClosed = true;
    for (const reject of this.onClose) reject(closedError());
    this.submitter.close();
    this.waits.close();
    this.calls.close();
    this.blobCalls.close();
    this.runCalls.close();
    this.transport.close();
  }

  protected send<T>(
    tasks: readonly TaskBody[],
    first: number | undefined,
    made: (submitted: readonly Submitted[]) => T,
  ): Promise<T> {
    const large: LargeInputs = { places: [] };
    const sent = new Promise<T>((resolve, reject) => {
      const told = this.tellerOf({ first, made, resolve, reject, large });
      this.submitter.submit(tasks as readonly TaskRequest[], told);
    });
    return large.places.length === 0 ? sent : this.sendLarge({ tasks, first, large, made });
  }

  /** Inputs that are too big for a request are uploaded first, and the tasks name them. */
  private async sendLarge<T>({ tasks, first, large, made }: LargeCall<T>): Promise<T> {
    const bodies = [...tasks];
    const uploads = large.places.map(async (place) => {
      const { input, ...body } = tasks[place];
      try {
        bodies[place] = { ...body, inputBlob: await this.blobs.put(JSON.stringify(input)) };
      } catch (cause) {
        throw placed(cause, `${pathOfTask(first, place)}/input`);
      }
    });
    await Promise.all(uploads);
    return this.send(bodies, first, made);
  }

  /** A separate function, so that the closure does not keep the tasks in memory. */
  private tellerOf<T>(sent: Sent<T>): (outcome: SubmitOutcome) => void {
    const { first, made, resolve, reject, large } = sent;
    return (outcome) => {
      if (outcome.type === 'submitted') resolve(made(outcome.tasks));
      else if (outcome.type === 'large') large.places = outcome.places;
      else if (outcome.type === 'refused') reject(errorOf(movedBy(first, outcome.refusal)));
      else {
        const { addresses } = this;
        reject(outcome.type === 'closed' ? closedError() : noAnswer(addresses, outcome.problem));
      }
    };
  }

  protected async putType(type: string, defaults: TaskDefaults): Promise<void> {
    await this.remote.putType(type, defaults);
  }

  protected override submittedByName(type: string, sent: Promise<unknown>): void {
    this.namedTypes.submitted(type, sent);
  }

  /** A promise that is rejected when the client is closed first. */
  private untilClosed<T>(start: Start<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.isClosed) {
        reject(closedError());
        return;
      }
      this.onClose.add(reject);
      start(
        (value) => {
          this.onClose.delete(reject);
          resolve(value);
        },
        (cause) => {
          this.onClose.delete(reject);
          reject(cause);
        },
      );
    });
  }
}

function writeWarning(message: string): void {
  console.error(`sluice: ${message}`);
}

/** The callbacks of a submit under way. */
interface Sent<T> {
  readonly first: number | undefined;
  readonly made: (submitted: readonly Submitted[]) => T;
  readonly resolve: (value: T) => void;
  readonly reject: (cause: Error) => void;
  readonly large: LargeInputs;
}

/** Indexes of the tasks whose inputs are too big for a request; set before `submit` returns. */
interface LargeInputs {
  places: readonly number[];
}

interface LargeCall<T> extends Pick<Sent<T>, 'first' | 'made' | 'large'> {
  readonly tasks: readonly TaskBody[];
}

/** Adds the path of the input to the error of its upload. */
function placed(cause: unknown, path: string): unknown {
  if (!(cause instanceof SluiceError) || cause.status === 0) return cause;
  const { code, message, status } = cause;
  const details = [{ path, problem: message }];
  return new SluiceError(code, `${path}: ${message}`, { status, details });
}

/** Makes paths relative to all tasks of the caller, or to the only one. */
function movedBy(first: number | undefined, refusal: Refusal): Refusal {
  const details = refusal.details.map(({ path, problem }) => ({
    path: path.replace(/^\/(\d+)/, (_, place: string) => pathOfTask(first, Number(place))),
    problem,
  }));
  return withDetails(refusal, details);
}
