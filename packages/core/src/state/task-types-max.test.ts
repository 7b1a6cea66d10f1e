import { expect, test } from 'vitest';
import type { TaskNumber } from '../base/ids.ts';
import { taskIdText } from '../base/task-id.ts';
import type { Command, Replies } from '../commands/commands.ts';
import { RecordWriter } from '../events/record-writer.ts';
import { Partition } from '../partition.ts';
import { TASK_STATES } from '../task/task-state.ts';
import { testUtf8 } from '../testing/test-utf8.ts';
import { TASK_TYPES_MAX } from './state.ts';
import type { TaskTypeDefinition } from './task-types.ts';

const COMMON = { now: 1, namespace: 'default' };
const NOTHING = new Uint8Array(0);
const FIRST_ID = taskIdText({ submittedAt: 1, partition: 0, number: 1 as TaskNumber });

test('submit: the last possible type is taken, and known ones after it; no new one is', () => {
  const crowd = almostFull();

  const rejections = [
    crowd.submit('last', 'last'),
    crowd.submit('type-0'),
    crowd.submit('type-1', 'one too many'),
  ];

  expect(rejections).toEqual([undefined, undefined, 'too_many_types']);
});

test('pausing a queue: likewise', () => {
  const crowd = almostFull();

  const rejections = [
    crowd.setPaused('last', true),
    crowd.setPaused('type-0', true),
    crowd.setPaused('one too many', false),
    crowd.setPaused('one too many', true),
  ];

  expect(rejections).toEqual([undefined, undefined, undefined, 'too_many_types']);
});

test('readmitting a task: likewise', () => {
  const crowd = almostFull();
  crowd.execute({ type: 'cancel_tasks', ids: [FIRST_ID], graceMs: 0, ...COMMON });
  // The type of the cancelled task is forgotten with it, which leaves room for two.
  crowd.submit('last', 'another');

  expect(crowd.readmitFirst('one too many')).toBe('too_many_types');
  expect(crowd.readmitFirst('type-1')).toBeUndefined();
});

test('a task that is readmitted may bring the last possible type', () => {
  const crowd = almostFull();
  crowd.execute({ type: 'cancel_tasks', ids: [FIRST_ID], graceMs: 0, ...COMMON });
  crowd.submit('type-1');

  expect(crowd.readmitFirst('last')).toBeUndefined();
});

test('a type whose tasks are gone makes room for another one', () => {
  const crowd = almostFull();
  crowd.submit('last');
  crowd.execute({ type: 'cancel_tasks', ids: [FIRST_ID], graceMs: 0, ...COMMON });

  expect(crowd.submit('another')).toBeUndefined();
  expect(crowd.submit('one too many')).toBe('too_many_types');
});

test('defining types: as many as there can be, each of which can be changed and removed', () => {
  const crowd = new Crowd();
  for (let n = 1; n < TASK_TYPES_MAX; n++) crowd.define(`type-${n}`, { priority: 1 });

  const rejections = [
    crowd.define('last', { priority: 1 }),
    crowd.define('one too many', { priority: 1 }),
    crowd.define('one too many', undefined),
    crowd.define('last', { priority: 2 }),
    crowd.define('last', undefined),
    crowd.define('another', { priority: 1 }),
  ];

  expect(rejections).toEqual([
    undefined,
    'too_many_types',
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

/** A partition without checks after each command, because it is too large for them. */
class Crowd {
  private readonly writer = new RecordWriter(testUtf8);
  private readonly partition = new Partition({
    partition: 0,
    limits: {
      tasksMax: TASK_TYPES_MAX + 10,
      finishedTasksMax: 0,
      deadLettersMax: 0,
      callbacksMax: 0,
      sessionsMax: 100,
      dedupeKeysMax: 100,
      payloadBytesMax: 100_000,
      unsentBytesMax: 100_000,
    },
    utf8: testUtf8,
  });

  execute<C extends Command>(command: C): Replies[C['type']] {
    return this.partition.execute(command, this.writer);
  }

  submit(...types: string[]): string | undefined {
    return this.execute({
      type: 'submit_tasks',
      tasks: types.map((type) => ({ type })),
      inputs: NOTHING,
      inputEnds: types.map(() => 0),
      ...COMMON,
    }).rejection;
  }

  setPaused(taskType: string, paused: boolean): string | undefined {
    return this.execute({ type: 'set_queue_paused', taskType, paused, ...COMMON }).rejection;
  }

  readmitFirst(type: string): string | undefined {
    return this.execute({
      type: 'readmit_task',
      id: FIRST_ID,
      state: TASK_STATES.indexOf('cancelled'),
      spec: { type },
      input: NOTHING,
      ...COMMON,
    }).rejection;
  }

  define(taskType: string, definition: TaskTypeDefinition | undefined): string | undefined {
    return this.execute({ type: 'put_task_type', taskType, definition, ...COMMON }).rejection;
  }
}

/** Has room for one more type. */
function almostFull(): Crowd {
  const crowd = new Crowd();
  crowd.submit(...Array.from({ length: TASK_TYPES_MAX - 1 }, (_, n) => `type-${n}`));
  return crowd;
}
