import path from 'node:path';
import { findAnchors, findLinks } from './markdown.ts';
import { isMarkdown, planted, type SourceFile, type TidyCheck } from './repository.ts';

export const links: TidyCheck = {
  name: 'links',
  find: findDeadLinks,
  examples: [
    {
      title: 'links and images without a file behind them',
      files: [
        planted('docs/a.md', '# A', '[b](b.md) and ![c](./c.png "C")', '', '[d]: /docs/d.md'),
        planted('b.md', '<img alt="" src="e.png">', '[f](../f.md)'),
      ],
      problems: [
        "docs/a.md:2: the link 'b.md' leads to no file",
        "docs/a.md:2: the link './c.png' leads to no file",
        "docs/a.md:4: the link '/docs/d.md' leads to no file",
        "b.md:1: the link 'e.png' leads to no file",
        "b.md:2: the link '../f.md' leads to no file",
      ],
    },
    {
      title: 'anchors without a heading',
      files: [
        planted('a.md', '# A', '[here](#b) [there](b.md#b-1)', '```', '# B', '```'),
        planted('b.md', '# B'),
      ],
      problems: [
        "a.md:2: the link '#b' leads to no heading",
        "a.md:2: the link 'b.md#b-1' leads to no heading",
      ],
    },
    {
      title: 'links that hold',
      files: [
        planted(
          'docs/a.md',
          '# A',
          '[b](../b.md#what-task_id-is-1)',
          '[c](<c d.md>) [c](c%20d.md)',
        ),
        planted('docs/c d.md', '[folder](.) [root](/docs/a.md) [a](a.md#a) [web](https://a.b/c)'),
        planted('b.md', '## What `task_id` *is*?', '## What task_id is', '[code](run.ts#L1)'),
        planted('run.ts', 'f();'),
      ],
      problems: [],
    },
    {
      title: 'what only looks like a link',
      files: [
        planted('a.md', '`[b](b.md)`', '', '```', '[c](c.md)', '```', '[mail](mailto:a@b.c)'),
      ],
      problems: [],
    },
  ],
};

function findDeadLinks(files: readonly SourceFile[]): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const folders = new Set(files.flatMap((file) => foldersOf(file.path)));

  const complaintAbout = (file: SourceFile, target: string): string | undefined => {
    if (/^(?:[a-z][a-z\d+.-]*:|\/\/)/i.test(target)) return undefined;
    const [name, anchor] = decoded(target).split('#');
    const resolved = resolveTarget(file.path, name);
    const found = byPath.get(resolved);
    if (found === undefined) return folders.has(resolved) ? undefined : 'leads to no file';
    if (anchor === undefined || !isMarkdown(found)) return undefined;
    return findAnchors(found.text).has(anchor) ? undefined : 'leads to no heading';
  };

  return files.filter(isMarkdown).flatMap((file) =>
    findLinks(file.text).flatMap(({ line, target }) => {
      const complaint = complaintAbout(file, target);
      return complaint === undefined
        ? []
        : [`${file.path}:${line}: the link '${target}' ${complaint}`];
    }),
  );
}

function decoded(target: string): string {
  try {
    return decodeURI(target);
  } catch {
    // A stray percent sign is part of the name. The name is then used as it is.
    return target;
  }
}

/** A leading slash means the root of the repository, as on GitHub. */
function resolveTarget(from: string, name: string): string {
  if (name === '') return from;
  const joined = name.startsWith('/') ? name.slice(1) : path.posix.join(path.dirname(from), name);
  return path.posix.normalize(joined).replace(/\/$/, '');
}

function foldersOf(file: string): string[] {
  const folders = ['.'];
  for (let end = file.indexOf('/'); end !== -1; end = file.indexOf('/', end + 1)) {
    folders.push(file.slice(0, end));
  }
  return folders;
}
