import { statSync } from 'node:fs';

/** A file that a bundle was built from, and what told its content apart then. */
export type BundledSource = readonly [path: string, size: number, modifiedMs: number];

/**
 * Whether all files are as they were, as far as their sizes and times tell. A file that is missing
 * has changed. A new file matters only if another one imports it, and that one has changed.
 */
export function areUnchanged(sources: readonly BundledSource[], root: string): boolean {
  return sources.every(([path, size, modifiedMs]) => {
    const found = statSync(`${root}/${path}`, { throwIfNoEntry: false });
    return found?.size === size && found.mtimeMs === modifiedMs;
  });
}
