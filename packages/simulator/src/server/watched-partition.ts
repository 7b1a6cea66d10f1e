import {
  type Command,
  Partition,
  type PartitionOptions,
  type RecordWriter,
  type Replies,
} from '@sluice/core';
import { LastTouches } from './last-touches.ts';

/** Is called after every command of a partition. */
export interface PartitionWatch {
  /** `partition.records` is the length of the log once this command is durable. */
  executed(command: Command, reply: unknown, partition: WatchedPartition): void;
}

/** A partition that reports every executed command to a watcher. */
export class WatchedPartition extends Partition {
  readonly options: PartitionOptions;
  private readonly watch: PartitionWatch;
  /** Number of records, including those that are not durable yet. */
  records = 0;
  readonly touches = new LastTouches();
  /** When it began to wait for the return of its sessions. */
  expectedAt = 0;

  constructor(options: PartitionOptions, watch: PartitionWatch) {
    super(options);
    this.options = options;
    this.watch = watch;
  }

  override execute<C extends Command>(command: C, writer: RecordWriter): Replies[C['type']] {
    const { recordCount } = writer;
    const reply = super.execute(command, writer);
    this.records += writer.recordCount - recordCount;
    if (writer.recordCount > recordCount) this.touches.follow(writer, this.records);
    this.watch.executed(command, reply, this);
    return reply;
  }

  override expectHolders(now: number, graceMsMin: number): void {
    super.expectHolders(now, graceMsMin);
    this.expectedAt = Math.max(now, this.state.now);
  }
}
