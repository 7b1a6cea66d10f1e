import type { EventOf, Slot, TaskNumber } from '@sluice/core';

type Submitted = EventOf<'task_submitted'>;

/** The event of a submit. Its input lies between other bytes, as in a batch. */
export function submitted(task: number, beside: Partial<Submitted> = {}): Submitted {
  const texts = { shape: '', retry: '', timeouts: '', tags: '', callback: '', parent: '' };
  return {
    type: 'task_submitted',
    slot: 0 as Slot,
    task: task as TaskNumber,
    runAt: 0,
    dedupe: { words: new Uint32Array(8), start: 0, windowMs: 0 },
    taskType: 'mail',
    priority: 3,
    ...texts,
    input: inputOf('{"n":1}'),
    ...beside,
  } as Submitted;
}

export function inputOf(text: string): Submitted['input'] {
  const bytes = new TextEncoder().encode(`before${text}behind`);
  return { bytes, start: 6, end: bytes.length - 6 } as Submitted['input'];
}
