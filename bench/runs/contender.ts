/** What a run does: steps one after the other, or branches at the same time and their join. */
export interface Shape {
  readonly name: string;
  readonly what: string;
  readonly steps: number;
  readonly isFork: boolean;
}

export const SHAPES: readonly Shape[] = [
  { name: 'step1', what: 'one step', steps: 1, isFork: false },
  { name: 'steps3', what: 'three steps', steps: 3, isFork: false },
  { name: 'steps10', what: 'ten steps', steps: 10, isFork: false },
  { name: 'fork8', what: 'a fork of eight', steps: 8, isFork: true },
];

/** The input of a run: about 200 bytes of JSON. */
export const INPUT = { n: 7, text: 'x'.repeat(180) };

/** What a step does in every contender: next to nothing. */
export async function step({ n }: { readonly n: number }): Promise<{ n: number }> {
  return { n: n + 1 };
}

/** A workflow engine that is ready to run. */
interface OpenContender {
  /** Starts a run and waits for its output. */
  run(shape: Shape): Promise<unknown>;
  close(): Promise<void>;
}

export interface RunContender {
  /** What a step that ended survives. */
  readonly durability: string;
  readonly open: () => Promise<OpenContender>;
}
