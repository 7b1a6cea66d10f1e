import path from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  linesOf,
  planted,
  REPOSITORY_ROOT,
  type SourceFile,
  type TidyCheck,
} from './repository.ts';

const REGISTRY = 'packages/protocol/src/base/error-codes.ts';

/** One page per error code, and no page for a code that does not exist. */
export function errorPages(codes: readonly string[]): TidyCheck {
  return {
    name: 'error pages',
    find: (files) => [...findMissingPages(files, codes), ...findStrayPages(files, codes)],
    examples: [],
  };
}

/** The check with an invented registry. */
export const errorPagesExample: TidyCheck = {
  ...errorPages(['task_not_found', 'stale_lease']),
  examples: [
    {
      title: 'a code without a page, and a page without a code',
      files: [
        planted(REGISTRY, 'export const ERROR_CODES = {', 'task_not_found: {}, stale_lease: {} };'),
        planted('docs/errors/task_not_found.md'),
        planted('docs/errors/stale-lease.md'),
      ],
      problems: [
        `${REGISTRY}:2: 'stale_lease' has no page docs/errors/stale_lease.md`,
        `docs/errors/stale-lease.md:1: 'stale-lease' is no code in ${REGISTRY}`,
      ],
    },
    {
      title: 'a page for each code, and an overview',
      files: [
        planted('docs/errors/task_not_found.md'),
        planted('docs/errors/stale_lease.md'),
        planted('docs/errors/README.md'),
        planted('docs/concepts/leases.md'),
      ],
      problems: [],
    },
  ],
};

/** Reads the registry itself, so a registry that moved or changed its shape fails the test. */
export async function loadErrorCodes(): Promise<string[]> {
  const address = pathToFileURL(path.join(REPOSITORY_ROOT, REGISTRY)).href;
  const { ERROR_CODES: registry } = (await import(address)) as { ERROR_CODES?: unknown };
  if (typeof registry !== 'object' || registry === null || Object.keys(registry).length === 0) {
    throw new Error(`${REGISTRY} must export an object ERROR_CODES with an entry per code`);
  }
  return Object.keys(registry);
}

function findMissingPages(files: readonly SourceFile[], codes: readonly string[]): string[] {
  const paths = new Set(files.map((file) => file.path));
  const registry = linesOf(files.find((file) => file.path === REGISTRY)?.text ?? '');

  return codes.flatMap((code) => {
    const page = `docs/errors/${code}.md`;
    if (paths.has(page)) return [];
    const line = registry.findIndex((text) => new RegExp(`\\b${code}\\b`).test(text)) + 1;
    return [`${REGISTRY}:${Math.max(1, line)}: '${code}' has no page ${page}`];
  });
}

function findStrayPages(files: readonly SourceFile[], codes: readonly string[]): string[] {
  return files.flatMap((file) => {
    const name = /^docs\/errors\/(.+)\.md$/.exec(file.path)?.[1];
    if (name === undefined || name === 'README' || codes.includes(name)) return [];
    return [`${file.path}:1: '${name}' is no code in ${REGISTRY}`];
  });
}
