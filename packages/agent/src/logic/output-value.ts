/** Reads the output of a program that exited with 0. */

/** The value of a line that is an object or an array in JSON; undefined for other lines. */
function jsonLine(line: string): unknown {
  const text = line.trim();
  if (!text.startsWith('{') && !text.startsWith('[')) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

export interface OutputSources {
  /** Text of the result file; undefined when the program wrote none. */
  readonly resultFile: string | undefined;
  /** The last line of stdout that has anything in it. */
  readonly lastLine: string;
}

/**
 * The output of a task: the result file, or the last line of stdout if it is JSON, or the exit
 * code. A result file that is not JSON is a mistake of the program, which it should hear of.
 */
export function outputValue({ resultFile, lastLine }: OutputSources): unknown {
  if (resultFile !== undefined && resultFile.trim() !== '') return JSON.parse(resultFile);
  return jsonLine(lastLine) ?? { exitCode: 0 };
}
