import type { ChangeSchedules, ScheduleChange, ScheduleSettings } from '@sluice/core';
import { textOf } from '../checkers/story/task-story.ts';

/** A change of one schedule that a client asked for. */
interface AskedChange {
  readonly change: ScheduleChange & { readonly settings?: ScheduleSettings };
  readonly input: string;
}

/** What the command asks of the schedule with this name. */
export function changeOf(command: ChangeSchedules, name: string): AskedChange | undefined {
  const place = command.changes.findIndex((each) => each.name === name);
  if (place < 0) return undefined;
  const { inputs, inputEnds } = command;
  const start = place === 0 ? 0 : inputEnds[place - 1];
  const input = textOf({ bytes: inputs, start, end: inputEnds[place] });
  return { change: command.changes[place], input };
}

/** The number in the input of a drawn schedule. */
export function inputNumber(input: string): number {
  return input === '' ? 0 : (JSON.parse(input) as { readonly n: number }).n;
}
