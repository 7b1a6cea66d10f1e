import {
  type AttachSession,
  type AttachSessionReply,
  type Command,
  type DisconnectSession,
  Partition,
  type PartitionLimits,
  RecordWriter,
  type Replies,
  type ReportAttempts,
  type SubmitTasks,
} from '@sluice/core';
import { attachRequest, LIMITS, leaseOf, submitRequest, successRequest, UTF8 } from './requests.ts';

/** Commands that share a batch of the log. The batch is discarded. */
const COMMANDS_PER_BATCH = 64;

/** A partition without engine and log. Its records are encoded and dropped. */
export class CoreLoad {
  readonly partition: Partition;
  private readonly writer = new RecordWriter(UTF8);
  private commands = 0;

  constructor(limits: Partial<PartitionLimits> = {}) {
    this.partition = new Partition({
      partition: 0,
      limits: { ...LIMITS, ...limits },
      utf8: UTF8,
    });
  }

  submit(request: Omit<SubmitTasks, 'now'>): void {
    this.execute<SubmitTasks>(request);
  }

  submitMany(tasks: number, batch: number): void {
    const request = submitRequest(batch);
    for (let sent = 0; sent < tasks; sent += batch) this.submit(request);
  }

  attach(session: string, slots: number, offer: Partial<AttachSession> = {}): AttachSessionReply {
    return this.execute<AttachSession>(attachRequest(session, slots, offer));
  }

  /** From now on the session gets nothing more. It keeps what it has. */
  disconnect({ session, connection }: AttachSessionReply): void {
    this.execute<DisconnectSession>({ type: 'disconnect_session', session, connection });
  }

  report(request: Omit<ReportAttempts, 'now'>): void {
    this.execute<ReportAttempts>(request);
  }

  complete(session: string, leases: readonly string[]): void {
    this.report(successRequest(session, leases));
  }

  /** The leases that the last command granted. */
  granted(): string[] {
    const { state, outputs } = this.partition;
    return outputs.pushSlots.map((slot) => leaseOf(state, slot));
  }

  /** The same, with the session of each lease. */
  grantedPairs(): [session: string, lease: string][] {
    const { state, outputs } = this.partition;
    return outputs.pushSlots.map((slot, index) => [
      outputs.pushSessions[index],
      leaseOf(state, slot),
    ]);
  }

  protected execute<C extends Command>(request: Omit<C, 'now'>): Replies[C['type']] {
    this.commands += 1;
    if (this.commands % COMMANDS_PER_BATCH === 0) this.writer.reset();
    const command = { ...request, now: Date.now() } as unknown as C;
    return this.partition.execute(command, this.writer);
  }
}
