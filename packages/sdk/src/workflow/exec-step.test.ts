import { expect, test } from 'vitest';
import { defineWorkflow } from './define-workflow.ts';
import { inputOf } from './workflow.ts';

const clip = defineWorkflow('clip', { version: 1, input: inputOf<{ path: string }>() }, (w) => {
  const made = w.exec<{ frames: string }>(
    'make',
    { command: ['ffmpeg', '-i', w.input.path, 'x ${y}.mp4'], outputs: { video: 'out.mp4' } },
    { resources: { cpu: 1 }, retry: { maxAttempts: 2 }, input: { a: 1 } },
  );
  w.exec('count', ['wc', '-l']);
  w.exec('inside', { image: 'tools:1', args: ['count', made.output.frames] }, { optional: true });
  return { frames: made.output.frames };
});

test('a program is a step with exec, in which values of earlier steps may stand', () => {
  const [make, count, inside] = clip.definition.tasks;

  expect(make).toEqual({
    name: 'command',
    taskReferenceName: 'make',
    type: 'SIMPLE',
    exec: {
      // What looks like a reference and is none stays as it is.
      command: ['ffmpeg', '-i', '${workflow.input.path}', 'x $${y}.mp4'],
      outputs: { video: 'out.mp4' },
    },
    inputParameters: { a: 1 },
    resources: { cpu: 1 },
    retry: { maxAttempts: 2 },
  });
  expect(count).toMatchObject({ name: 'command', exec: { command: ['wc', '-l'] } });
  expect(inside).toMatchObject({
    name: 'container',
    exec: { image: 'tools:1', args: ['count', '${make.output.frames}'] },
    optional: true,
  });
  expect(clip.definition.outputParameters).toEqual({ frames: '${make.output.frames}' });
});
