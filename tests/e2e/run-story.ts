import type { RunView } from '@sluice/sdk';

/** Everything but ids, times and stacks. */
export function story({ id: _, startedAt, endedAt, error, steps, ...run }: RunView): object {
  return {
    ...run,
    hasTimes: [startedAt, endedAt].map((time) => time !== null),
    error: error === null ? null : { ...error, message: error.message.replace(/t_\w+/, 't') },
    steps: steps.map(({ taskId, startedAt: began, endedAt: ended, error: own, ...step }) => ({
      ...step,
      has: [taskId, began, ended].map((value) => value !== null),
      error: own?.message,
    })),
  };
}

/** What a refused call says of itself. */
export async function refusal(made: Promise<unknown>): Promise<object> {
  const { code, status } = await made.then(
    () => Promise.reject(new Error('it was taken')),
    (cause) => cause,
  );
  return { code, status };
}
