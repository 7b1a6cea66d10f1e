import type { SessionId } from '../../base/ids.ts';
import type { ReportAttempts } from '../../commands/attempts/report-attempts.ts';
import type { Command } from '../../commands/commands.ts';
import type { AttachSession, AttachSessionReply } from '../../commands/sessions/attach-session.ts';
import type { DetachSession } from '../../commands/sessions/end-sessions.ts';
import type {
  DisconnectSession,
  DrainSession,
  SessionRead,
} from '../../commands/sessions/session-stream.ts';
import type { SubmitTasks, SubmitTasksReply } from '../../commands/tasks/submit-tasks.ts';
import type { PartitionLimits } from '../../state/state.ts';
import type { TaskSpec } from '../../task/task-spec.ts';
import type { GivenKey } from '../model/model-keys.ts';
import type { ModelRules, ModelSession } from '../model/model-matching.ts';
import { keyOf, type SubmittedTask } from '../model/model-task.ts';
import { PartitionModel } from '../model/partition-model.ts';
import { payloadAt } from '../test-payloads.ts';
import type { TestReport } from '../test-requests.ts';
import { agree } from './agree.ts';
import type { Carried } from './carried-command.ts';
import { followAccess } from './follow-access.ts';
import { followCallback } from './follow-callbacks.ts';
import { followOperation } from './follow-operation.ts';

/** A `Carried` of one kind of command. */
type CarriedOf<C extends Command> = Carried & { readonly command: C };

/**
 * Keeps a model in step with a partition: it is told every executed command, applies it to the
 * model, and throws when the two disagree.
 */
export class ModelFollower {
  readonly model: PartitionModel;
  /** What commands did and replied, in words. */
  readonly met = new Set<string>();

  constructor(limits: PartitionLimits, rules: ModelRules) {
    this.model = new PartitionModel(limits, rules);
  }

  follow(carried: Carried): void {
    if (!carried.grantsLeases) this.met.add('leases held back');
    this.met.add(carried.command.type);
    this.obey(carried);
    this.takeDueTimes(carried);
    this.takeOutputs(carried);
  }

  /** The server restarted at this time. */
  restart(now: number, graceMsMin: number): void {
    this.model.restart(now, graceMsMin);
    this.model.reserved = new Map();
  }

  private obey(carried: Carried): void {
    const { command, at } = carried;
    const { model } = this;
    switch (command.type) {
      case 'submit_tasks':
        return this.submit({ ...carried, command });
      case 'attach_session':
        return this.attach({ ...carried, command });
      case 'report_attempts':
        return this.report({ ...carried, command });
      case 'disconnect_session':
        return this.disconnect(command, at);
      case 'session_read':
        return this.read(command);
      case 'detach_session':
        return this.detach({ ...carried, command });
      case 'drain_session':
        return this.drain({ ...carried, command });
      case 'renew_sessions':
        return model.hear(at);
      case 'expire_sessions':
        return this.expire(carried);
      case 'advance_time':
        agree('whether more is due', carried.reply, { more: false });
        return model.advance(at);
      case 'record_backup':
        if (command.by !== undefined) model.access.records += 1;
        return;
      case 'reset_after_restore':
        if (command.by !== undefined) model.access.records += 1;
        this.resetAfterRestore(carried);
        model.outbox.owed += command.deliveriesSkipped;
        return;
      case 'create_access_key':
      case 'revoke_access_key':
        this.met.add(followAccess(model.access, { ...carried, command }));
        return;
      case 'put_workflow':
      case 'delete_workflow':
      case 'start_runs':
      case 'cancel_runs':
      case 'pause_runs':
      case 'operate_step':
      case 'revive_run':
      case 'readmit_run':
      case 'scripts_evaluated':
        // Runs have their own model (`run-model.ts`).
        return;
      case 'change_schedules':
      case 'pause_schedules':
      case 'trigger_schedule':
      case 'start_backfill':
      case 'end_backfill':
        // So have schedules.
        return;
      case 'record_delivery':
      case 'redeliver_callbacks':
        this.met.add(followCallback(model, { ...carried, command }));
        return;
      default:
        for (const what of followOperation(model, { ...carried, command })) this.met.add(what);
    }
  }

  private resetAfterRestore({ reply, at }: Carried): void {
    const { returned } = reply as { readonly returned: number };
    agree('what was returned', returned, this.model.held.length);
    this.model.resetAfterRestore(at);
  }

  private submit({ command, reply, answers, at }: CarriedOf<SubmitTasks>): void {
    const { rejection } = reply as { readonly rejection?: string };
    const tasks = command.tasks.map((spec, place) => submitted(command, spec, place, at));
    if (tasks.some((task) => this.leavesSomething(task))) this.met.add('default of a type');
    const expected = this.model.submit(tasks, at, requestOf(command));
    agree('the answer to a submit', rejection ?? answers, expected);
    this.met.add(rejection ?? 'accepted');
    const isRepeated = (reply as SubmitTasksReply).known !== undefined;
    if (isRepeated)
      this.met.add(command.request === undefined ? 'deduplicated' : 'request repeated');
  }

  /** Whether the definition of its type has a field that the task leaves out. */
  private leavesSomething(task: SubmittedTask): boolean {
    const definition = this.model.definitions.get(task.type) ?? {};
    return Object.keys(definition).some((part) => !(part in task));
  }

  private attach({ command, reply, at }: CarriedOf<AttachSession>): void {
    const { rejection, session: id, connection, resumed, lost } = reply as AttachSessionReply;
    const known = command.resume && this.known(command.resume.session);
    agree('why a session is refused', rejection, this.whyRefused(command, known));
    if (rejection !== undefined) {
      this.met.add(rejection);
      return;
    }
    const { namespace, capacity, labels, leaseMs, resume } = command;
    const types = this.typesIn(namespace, command.types);
    const resumeNumber = resume?.number;
    const offer = { types, capacity, labels, leaseMs, resumeNumber, heardAt: at };
    const { running = [] } = resume ?? {};
    agree('whether a session comes back', resumed, known !== undefined);
    if (known === undefined) {
      agree('the id of a session', id, resume?.session ?? command.newSession);
      agree('what a new session lost', lost, running);
      this.model.attach({ id, namespace, connection, ...offer });
    } else {
      agree('what a session lost', lost, this.model.resume(known, running, offer));
      agree('that a connection is new', connection > known.connection, true);
      known.connection = connection;
    }
  }

  private typesIn(namespace: string, types: AttachSession['types']): AttachSession['types'] {
    return types.map((each) => ({ ...each, type: keyOf(namespace, each.type) }));
  }

  private whyRefused(command: AttachSession, known: ModelSession | undefined): string | undefined {
    if (known === undefined) return this.model.whyFull(command.namespace);
    if (known.namespace !== command.namespace) return 'session_not_found';
    const { number } = command.resume ?? {};
    return number !== undefined && number <= known.resumeNumber ? 'resume_outdated' : undefined;
  }

  private report({ command, reply, at }: CarriedOf<ReportAttempts>): void {
    const { session: id, capacity, types, payloads, payloadEnds } = command;
    const reports = command.reports.map((report, place): TestReport => {
      return { ...report, payload: payloadAt(payloads, payloadEnds, place) };
    });
    const known = this.known(id);
    if (known !== undefined && known.namespace !== command.namespace) {
      const stale = { found: false, outcomes: reports.map(() => 'stale_lease') };
      agree('the answer to reports', reply, stale);
      return;
    }
    const more = {
      ...(capacity === undefined ? {} : { capacity }),
      ...(types === undefined ? {} : { types: this.typesIn(command.namespace, types) }),
    };
    agree('the answer to reports', reply, this.model.report(id, { reports, ...more }, at));
  }

  private disconnect({ session: id, connection }: DisconnectSession, at: number): void {
    const session = this.known(id);
    if (session !== undefined) this.model.disconnect(session, connection, at);
  }

  private read({ session: id, connection, bytes }: SessionRead): void {
    const session = this.known(id);
    if (session !== undefined) this.model.read(session, connection, bytes);
  }

  private detach({ command, reply, at }: CarriedOf<DetachSession>): void {
    const session = this.knownIn(command.namespace, command.session);
    agree('whether a session was found', reply, { found: session !== undefined });
    if (session !== undefined) this.model.end([session], 'handed_back', at);
  }

  private drain({ command, reply }: CarriedOf<DrainSession>): void {
    const session = this.knownIn(command.namespace, command.session);
    agree('whether a session was found', reply, { found: session !== undefined });
    if (session === undefined) return;
    this.model.access.changed(!session.draining, command);
    session.draining = true;
    this.met.add('drained');
  }

  private expire({ closed, at }: Carried): void {
    const lost = this.model.lostAt(at);
    const ids = lost.map((session) => session.id);
    agree('which sessions are lost', closed.toSorted(), ids.toSorted());
    // When several sessions are lost together, the partition chooses their order.
    const inOrder = lost.toSorted((a, b) => closed.indexOf(a.id) - closed.indexOf(b.id));
    this.model.end(inOrder, 'worker_lost', at);
  }

  /** Jitter cannot be predicted: the model takes it from the partition and checks its bounds. */
  private takeDueTimes({ dueAt }: Carried): void {
    for (const task of this.model.tasks) {
      if (task.state !== 'waiting' || task.jitterMs === 0) continue;
      const drawn = dueAt.get(task.number) ?? 0;
      const isWithin = drawn >= task.dueAt && drawn <= task.dueAt + task.jitterMs;
      agree(`that jitter of task ${task.number} is within its bounds`, isWithin, true);
      Object.assign(task, { dueAt: drawn, jitterMs: 0 });
    }
  }

  private takeOutputs({ pushes, ended, reserved, grantsLeases, at }: Carried): void {
    const { model } = this;
    if (!grantsLeases) agree('what is pushed while no lease is granted', pushes, []);
    model.reservedBefore = model.reserved;
    model.reserved = reserved;
    model.given = new Set(pushes.map(({ task }) => task));
    if (reserved.size > 0) this.met.add('reserved');
    for (const push of pushes) {
      if (model.reservedBefore.get(push.session) === push.task) {
        this.met.add('given what was reserved');
      }
      if (model.isAgedTurn(push, at)) this.met.add('aged');
      model.push(push, at);
    }
    for (const number of ended) {
      if (!model.waiting.some((task) => task.number === number)) continue;
      model.expire(number, at);
      this.met.add('expired instead of leased');
    }
    agree('what is wrong with reservations', model.reservationProblems(at), []);
    if (grantsLeases)
      agree('what could be pushed (matching.no-idle-fit)', model.missingPushes(at), []);
  }

  private known(id: SessionId): ModelSession | undefined {
    return this.model.sessions.find((session) => session.id === id);
  }

  private knownIn(namespace: string, id: SessionId): ModelSession | undefined {
    const session = this.known(id);
    return session?.namespace === namespace ? session : undefined;
  }
}

function requestOf({ request }: SubmitTasks): GivenKey | undefined {
  if (request === undefined) return undefined;
  const { words, start, windowMs } = request;
  const key = words.slice(start, start + 4).join();
  return { key, input: words.slice(start + 4, start + 8).join(), windowMs };
}

/** In the order of the core's numbers. */
const POLICIES = ['refuse', 'existing', 'replace'] as const;

function submitted(
  { namespace, inputs, inputEnds, dedupe }: SubmitTasks,
  spec: TaskSpec,
  place: number,
  now: number,
): SubmittedTask {
  const { type, delayMs, runAt, parentId: _, ...given } = spec;
  const stated = Object.entries(given).filter(([, value]) => value !== undefined);
  const windowMs = dedupe?.windowsMs[place] ?? 0;
  const words = dedupe?.words.subarray(8 * place, 8 * place + 8) ?? [];
  const claim = {
    key: words.slice(0, 4).join(),
    input: words.slice(4).join(),
    windowMs,
    onDuplicate: POLICIES[dedupe?.onDuplicate?.[place] ?? 0],
  };
  return {
    ...Object.fromEntries(stated),
    type: keyOf(namespace, type),
    input: payloadAt(inputs, inputEnds, place),
    delayMs: delayMs ?? Math.max(0, (runAt ?? now) - now),
    ...(windowMs > 0 ? { dedupe: claim } : {}),
  };
}
