import type { CommandExec, ContainerExec } from '@sluice/protocol';
import {
  type FieldRules,
  isObject,
  isText,
  type Problem,
  readShared,
  readTexts,
} from './exec-fields.ts';

/**
 * Reads what a task says of its command. The server has checked it, unless expressions of a
 * workflow made it.
 */
export function readCommand(given: unknown): CommandExec | Problem {
  if (!isObject(given)) return { problem: 'the task has no exec' };
  const { command } = given;
  if (!Array.isArray(command) || command.length === 0) {
    return { problem: 'exec.command must be a list of the program and its arguments' };
  }
  const words = readTexts('exec.command', command);
  if ('problem' in words) return words;
  const shared = readShared(given, { cwd: isText });
  if ('problem' in shared) return shared;
  return { ...(given as CommandExec), command: words.texts, env: shared.env };
}

/** The same for a container. */
export function readContainer(given: unknown): ContainerExec | Problem {
  if (!isObject(given)) return { problem: 'the task has no exec' };
  const { image, args, entrypoint } = given;
  if (typeof image !== 'string' || !IMAGE.test(image)) {
    return { problem: 'exec.image must be the name of an image' };
  }
  const shared = readShared(given, CONTAINER_RULES);
  if ('problem' in shared) return shared;
  const lists: Record<string, string[]> = {};
  for (const [name, list] of Object.entries({ args, entrypoint })) {
    if (list === undefined) continue;
    if (!Array.isArray(list)) return { problem: `exec.${name} must be a list` };
    const read = readTexts(`exec.${name}`, list);
    if ('problem' in read) return read;
    lists[name] = read.texts;
  }
  return { ...(given as ContainerExec), ...lists, env: shared.env };
}

const IMAGE = /^[a-z0-9][A-Za-z0-9._:/@-]{0,511}$/;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

const isFlag = (value: unknown) => typeof value === 'boolean';

/** No part may lead upwards, and a colon would end the path in a mount. */
const isAbsolute = (value: unknown) =>
  typeof value === 'string' &&
  value.startsWith('/') &&
  !/[\0:]/.test(value) &&
  !value.split('/').includes('..');

const CONTAINER_RULES: FieldRules = {
  workdir: isAbsolute,
  network: (value) => typeof value === 'string' && NAME.test(value),
  volumes: (value) => Array.isArray(value) && value.every(isVolume),
  pull: (value) => ['always', 'ifNotPresent', 'never'].includes(String(value)),
  readOnly: isFlag,
  privileged: isFlag,
  shmMb: (value) => Number.isSafeInteger(value) && Number(value) > 0,
  devices: (value) => Array.isArray(value) && value.every(isAbsolute),
  gpus: isObject,
  registryAuth: isObject,
};

function isVolume(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { source, target, readOnly = false } = value;
  const isSource = isAbsolute(source) || (typeof source === 'string' && NAME.test(source));
  return isSource && isAbsolute(target) && isFlag(readOnly);
}
