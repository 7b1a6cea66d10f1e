import {
  type Command,
  Partition,
  type PartitionOptions,
  type RecordWriter,
  type Replies,
} from '@sluice/core';

/** Looks at a partition after every command. */
export interface PartitionWatch {
  /** `records` is how many records the log will hold once this command is durable. */
  executed(command: Command, reply: unknown, partition: WatchedPartition): void;
}

/** A partition that tells somebody of every command that it carried out. */
export class WatchedPartition extends Partition {
  readonly options: PartitionOptions;
  private readonly watch: PartitionWatch;
  /** How many records there are, with those that are not durable yet. */
  records = 0;
  /** When it began to expect its sessions back. */
  expectedAt = 0;

  constructor(options: PartitionOptions, watch: PartitionWatch) {
    super(options);
    this.options = options;
    this.watch = watch;
  }

  override execute<C extends Command>(command: C, writer: RecordWriter): Replies[C['type']] {
    const before = writer.recordCount;
    const reply = super.execute(command, writer);
    this.records += writer.recordCount - before;
    this.watch.executed(command, reply, this);
    return reply;
  }

  override expectHolders(now: number, graceMsMin: number): void {
    super.expectHolders(now, graceMsMin);
    this.expectedAt = Math.max(now, this.state.now);
  }
}
