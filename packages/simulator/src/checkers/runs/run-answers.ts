import { parseRunId } from '@sluice/core';
import type { Checker } from '../story/checker.ts';
import type { RunStories } from './run-stories.ts';
import { isGoingOn } from './run-story.ts';

interface Shown {
  readonly status: string;
  readonly steps: readonly { readonly reference: string; readonly taskId: string | null }[];
}

/** I29: an answer shows nothing of a run that is not in the log. */
export class RunAnswers implements Checker {
  readonly name = 'run answers';
  private readonly stories: RunStories;

  constructor(stories: RunStories) {
    this.stories = stories;
  }

  shown(id: string, json: string): void {
    if (parseRunId(id) === undefined) return;
    const { simulation } = this.stories.story;
    const run = this.stories.byId.get(id);
    const { status, steps } = JSON.parse(json) as Shown;
    // The log may have more by now than the answer.
    const isDurable = isGoingOn({ status }) || status === run?.state || run?.wasRevived === true;
    simulation.check(isDurable, 'I29', () => {
      return `${id} is shown as ${status}, and is ${run?.state} by the log`;
    });
    for (const { reference, taskId } of steps) {
      if (taskId === null) continue;
      const hasBegun = run?.steps.has(reference) === true || run?.wasRevived === true;
      simulation.check(hasBegun, 'I29', () => {
        return `${id} is shown with step ${reference}, which has not begun by the log`;
      });
    }
  }
}
