import { expect, test } from 'vitest';
import {
  blobsInText,
  enveloped,
  envelopeOf,
  hasEnvelope,
  hideSecrets,
  hideSecretsIn,
  readEnvelope,
  shownEnvelope,
} from './exec-envelope.ts';

const HASH = 'a'.repeat(64);
const EXEC = { command: ['a'], env: { A: 'plain', B: { secret: 'hidden' } } };

test('a task without exec is stored as it is', () => {
  const task = { type: 'a', input: 1 };

  expect(enveloped(task)).toBe(task);
});

test('a command is stored in front of its input, or of the name of its blob', () => {
  const stored = enveloped({ type: 'command', exec: EXEC, input: 1, priority: 3 });

  expect(stored).toEqual({ type: 'command', priority: 3, input: { exec: EXEC, input: 1 } });
  expect(envelopeOf(EXEC, { inputBlob: HASH })).toEqual({ exec: EXEC, inputBlob: HASH });
  expect(envelopeOf(EXEC, {})).toEqual({ exec: EXEC, input: null });
});

test('only tasks of an agent have an envelope, and only if their input has its form', () => {
  const text = JSON.stringify(envelopeOf(EXEC, { input: 1 }));
  const bytes = new TextEncoder().encode(` ${text}`);

  expect(readEnvelope('command', text)).toEqual({ exec: EXEC, input: 1 });
  expect(readEnvelope('mail', text)).toBeUndefined();
  expect(readEnvelope('command', '{"input":1}')).toBeUndefined();
  expect(readEnvelope('command', '')).toBeUndefined();
  expect(hasEnvelope(bytes, 1, text.length)).toBe(true);
  expect(hasEnvelope(bytes, 0, text.length)).toBe(false);
  expect(hasEnvelope(bytes, 1, 3)).toBe(false);
});

test('nothing that is shown has a secret', () => {
  const envelope = envelopeOf(EXEC, { input: 1 });
  const text = JSON.stringify(envelope);

  for (const shown of [
    shownEnvelope(envelope),
    JSON.stringify(hideSecrets(envelope)),
    hideSecretsIn(text),
  ]) {
    expect(shown).toContain('plain');
    expect(shown).not.toContain('hidden');
  }
});

test('credentials of a registry are not shown, also without variables', () => {
  const exec = { image: 'a', registryAuth: { username: 'ada', password: 'hidden' } };

  expect(hideSecrets({ exec })).toEqual({
    exec: { image: 'a', registryAuth: { secret: '***' } },
  });
});

test.each([null, 1, 'text', [], {}, { exec: null }, { exec: 'a' }, { exec: { env: null } }])(
  'hiding secrets leaves %j as it is',
  (value) => {
    expect(hideSecrets(value)).toEqual(value);
    expect(JSON.parse(hideSecretsIn(JSON.stringify(value)))).toEqual(value);
  },
);

test('blobs are found in inputs and outputs of commands only', () => {
  const text = `{"exec":{"files":{"a":{"blob":"${HASH}"}}},"inputBlob":"${HASH}"}`;

  expect(blobsInText('command', text)).toEqual([HASH, HASH]);
  expect(blobsInText('mail', text)).toEqual([]);
});
