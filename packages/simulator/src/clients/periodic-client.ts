import type { TaskRequest } from '@sluice/protocol';
import type { RandomStream } from '../kernel/random.ts';
import { SimProcess } from '../kernel/sim-process.ts';
import { call } from '../network/call.ts';
import { drawTask } from './draw-task.ts';
import type { Asked } from './history.ts';
import type { ClientParts } from './sim-client.ts';

/**
 * A client that submits the same task with the same key once per dedupe window, like a user who
 * wants at most one task per period. Each submit arrives just as the previous key expires.
 */
export class PeriodicClient {
  private readonly parts: ClientParts;
  private readonly process: SimProcess;
  private readonly task: TaskRequest;
  private readonly periodMs: number;
  private isStopped = false;

  constructor(parts: ClientParts, name: string) {
    this.parts = parts;
    this.process = new SimProcess(parts.simulation, name);
    const random: RandomStream = parts.simulation.random(name);
    this.periodMs = random.pick([1000, 3000]);
    const task = drawTask(random, parts.known.nextNumber());
    this.task = { ...task, dedupeKey: name, dedupeWindowMs: this.periodMs };
    this.next();
  }

  /** No further submits. */
  stop(): void {
    this.isStopped = true;
  }

  private next(): void {
    this.process.after(this.periodMs, () => {
      if (this.isStopped) return;
      this.submit();
      this.next();
    });
  }

  private submit(): void {
    const { simulation, history, network, known } = this.parts;
    const asked: Asked = { kind: 'submit', tasks: [this.task] };
    const entry = history.begin(this.process.name, asked, simulation.now);
    const request = {
      method: 'POST',
      path: '/v1/tasks',
      body: JSON.stringify([this.task]),
    } as const;
    call(network, this.process, request, (answer) => {
      entry.isRepeated = network.repeated.has(request);
      if (answer === undefined) return;
      entry.answeredAt = simulation.now;
      entry.status = answer.status;
      entry.answer = JSON.parse(answer.body);
      if (answer.status >= 300) return;
      for (const { id } of (entry.answer as { items: { id: string }[] }).items) known.add(id);
    });
  }
}
