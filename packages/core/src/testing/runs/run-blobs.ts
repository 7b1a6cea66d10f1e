import { lookIntoBlobs } from '../../expressions/blob-questions.ts';
import { EVALUATES_VALUES } from '../../workflow/run-state.ts';
import type { TestPartition } from '../test-partition.ts';
import { testUtf8 } from '../test-utf8.ts';

const HASH_DIGITS = 64;

/** Blobs of a test, and the shell that looks into them. Their names are numbers. */
export class RunBlobs {
  private readonly texts: string[] = [];
  hasAnswered = false;

  /** Returns the reference to a new blob. */
  keep(text: string): string {
    this.texts.push(text);
    return `@${(this.texts.length - 1).toString(16).padStart(HASH_DIGITS, '0')}`;
  }

  /** The payload itself, or the content of the blob. */
  read(payload: string): string {
    return payload.startsWith('@') ? this.texts[Number.parseInt(payload.slice(1), 16)] : payload;
  }

  /**
   * Answers everything that steps and runs ask of blobs; conditions of loops are left out. False
   * when nothing was asked.
   */
  answer(partition: TestPartition): boolean {
    let isAsked = false;
    const { isEvaluating } = partition.state.runs.steps;
    const read = (sha256: string): Uint8Array => testUtf8.encode(this.read(`@${sha256}`));
    for (const { step, input, ...asked } of partition.openEvaluations()) {
      if (step >= 0 && isEvaluating[step] !== EVALUATES_VALUES) continue;
      const values = lookIntoBlobs(JSON.parse(input) as string[], { read, utf8: testUtf8 });
      partition.evaluated([{ ...asked, step, values }]);
      isAsked = true;
    }
    this.hasAnswered ||= isAsked;
    return isAsked;
  }
}
