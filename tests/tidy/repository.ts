/**
 * The files that the tidy checks read, and the interface of a check.
 *
 * A check is a pure function over a list of files. Its examples are planted in memory and prove
 * that it finds what it is for and ignores what merely looks similar.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';

export interface SourceFile {
  /** Relative to the root of the repository, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

interface Example {
  readonly title: string;
  readonly files: readonly SourceFile[];
  /** Exactly what the check must report; empty for a near miss. */
  readonly problems: readonly string[];
}

export interface TidyCheck {
  readonly name: string;
  /** Problems read `path:line: message`. */
  find(files: readonly SourceFile[]): string[];
  readonly examples: readonly Example[];
}

export const REPOSITORY_ROOT = path.resolve(import.meta.dirname, '../..');

/** Everything that git tracks or would track, as it is in the working tree. */
export function readRepository(): SourceFile[] {
  const listing = execFileSync(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
    { cwd: REPOSITORY_ROOT, encoding: 'utf8' },
  );
  const paths = [...new Set(listing.split('\0'))].filter((name) => name !== '');

  return paths.flatMap((name) => {
    const absolute = path.join(REPOSITORY_ROOT, name);
    // Git still lists a file that was deleted but not yet staged.
    if (statSync(absolute, { throwIfNoEntry: false })?.isFile() !== true) return [];
    return [{ path: name, text: readFileSync(absolute, 'utf8') }];
  });
}

/** A file that an example plants. */
export function planted(path: string, ...lines: string[]): SourceFile {
  return { path, text: `${lines.join('\n')}\n` };
}

export function isTypeScript(file: SourceFile): boolean {
  return /\.tsx?$/.test(file.path);
}

export function isMarkdown(file: SourceFile): boolean {
  return file.path.endsWith('.md');
}

/** The lines of a text, without the empty one after the last line feed. */
export function linesOf(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let index = text.indexOf('\n'); index !== -1 && index < offset; ) {
    line++;
    index = text.indexOf('\n', index + 1);
  }
  return line;
}
