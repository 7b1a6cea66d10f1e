import type { Event, SubmitTasks, SubmitTasksReply } from '@sluice/core';

type Remembered = Extract<Event, { type: 'request_remembered' }>;

/** A request that is remembered by its key. */
interface Request {
  readonly text: string;
  readonly body: string;
  /** Its first task. */
  readonly task: number;
  readonly expiresAt: number;
}

/** The two halves of a claim: the key's hash and the body's. */
const HALF = 4;

/**
 * I7: a request that comes again within its window gives the tasks that it gave, in order, and
 * stores nothing. With another body it is refused. Every accepted request is remembered, and not
 * for longer or shorter than it asked.
 */
export class RequestKeys {
  private readonly byText = new Map<string, Request>();
  private readonly byTask = new Map<number, Request>();
  /** The command's request is new and accepted, so it has to be remembered. */
  private due: SubmitTasks | undefined;
  private firstTask: number | undefined;
  private readonly check: (holds: boolean, what: () => string) => void;

  constructor(check: (holds: boolean, what: () => string) => void) {
    this.check = check;
  }

  /** Returns whether the request came before, so that the submit stores nothing. */
  begins(command: SubmitTasks, { rejection, known }: SubmitTasksReply, at: number): boolean {
    this.due = undefined;
    this.firstTask = undefined;
    if (command.request === undefined) return false;
    const { text, body } = textsOf(command.request);
    const before = this.byText.get(text);
    if (before === undefined || at >= before.expiresAt) {
      this.check(rejection !== 'request_mismatch', () => 'a request with a new key is refused');
      if (rejection === undefined) this.due = command;
      return false;
    }
    const isSame = before.body === body;
    this.check(isSame === (rejection === undefined), () => {
      return `a request with the key of task ${before.task} is ${rejection ?? 'taken for it'}`;
    });
    const numbers = command.tasks.map((_, place) => known?.get(place)?.number);
    const expected = command.tasks.map((_, place) => before.task + place);
    this.check(!isSame || numbers.join() === expected.join(), () => {
      return `a repeated request gives ${numbers}, and its tasks are ${expected}`;
    });
    return true;
  }

  /** A task of the command is stored. */
  stored(task: number): void {
    this.firstTask ??= task;
  }

  remembered({ task, dedupe }: Remembered, at: number): void {
    const asked = this.due?.request;
    const texts = textsOf(dedupe);
    const isAsked =
      asked !== undefined &&
      Object.values(textsOf(asked)).join() === Object.values(texts).join() &&
      asked.windowMs === dedupe.windowMs;
    this.check(isAsked && task === this.firstTask, () => {
      return `a request is remembered for task ${task} that nobody sent so`;
    });
    this.due = undefined;
    const request = { ...texts, task, expiresAt: at + dedupe.windowMs };
    this.byText.set(request.text, request);
    this.byTask.set(task, request);
  }

  ends(): void {
    this.check(this.due === undefined, () => 'a request with a key is not remembered');
  }

  /** Returns whether the key was that of a request. */
  forgotten(task: number, at: number): boolean {
    const request = this.byTask.get(task);
    if (request === undefined) return false;
    this.check(at >= request.expiresAt, () => {
      return `the request of task ${task} is forgotten at ${at}, and not at ${request.expiresAt}`;
    });
    this.byTask.delete(task);
    if (this.byText.get(request.text) === request) this.byText.delete(request.text);
    return true;
  }
}

function textsOf({ words, start }: { words: Uint32Array; start: number }) {
  return {
    text: words.subarray(start, start + HALF).join(),
    body: words.subarray(start + HALF, start + 2 * HALF).join(),
  };
}
