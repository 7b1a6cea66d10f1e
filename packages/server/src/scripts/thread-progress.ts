/**
 * What the thread that evaluates scripts works on, in memory that both threads see: the thread
 * itself cannot answer while a script keeps it busy.
 */
export class ThreadProgress {
  readonly memory: SharedArrayBuffer;
  private readonly id: Int32Array;
  private readonly cpu: Float64Array;

  constructor(memory = new SharedArrayBuffer(16)) {
    this.memory = memory;
    this.id = new Int32Array(memory, 0, 1);
    this.cpu = new Float64Array(memory, 8, 1);
  }

  /** Id of the question that is worked on; 0 for none. */
  get current(): number {
    return Atomics.load(this.id, 0);
  }

  /** CPU time that the thread had used when it began with the current question. */
  get beganAtCpuMs(): number {
    return this.cpu[0];
  }

  /** Called by the thread. The time is written first, so that a reader of the id sees its time. */
  begin(id: number): void {
    const { user, system } = process.threadCpuUsage();
    this.cpu[0] = (user + system) / 1000;
    Atomics.store(this.id, 0, id);
  }

  end(): void {
    Atomics.store(this.id, 0, 0);
  }
}
