/** Everything in this repository is released together, so it has one version. */
import { linesOf, planted, type SourceFile, type TidyCheck } from './repository.ts';

interface Manifest {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

export const oneVersion: TidyCheck = {
  name: 'one version',
  find(files) {
    const root = files.find(({ path }) => path === 'package.json');
    if (root === undefined) return ['package.json:1: there is none'];
    const { version = '' } = JSON.parse(root.text) as Manifest;
    return files.flatMap((file) => findInFile(file, version));
  },
  examples: [
    {
      title: 'a package that was left behind, and a dependency on one',
      files: [
        planted('package.json', '{ "version": "0.2.0" }'),
        planted('packages/a/package.json', '{', '"version": "0.1.0" }'),
        planted(
          'packages/b/package.json',
          '{ "version": "0.2.0",',
          '"dependencies": { "@sluice/a": "0.1.0", "c": "1.0.0" } }',
        ),
      ],
      problems: [
        "packages/a/package.json:2: 'version' is '0.1.0', not '0.2.0' as in package.json",
        "packages/b/package.json:2: '@sluice/a' is '0.1.0', not '0.2.0' as in package.json",
      ],
    },
    {
      title: 'one version',
      files: [
        planted('package.json', '{ "version": "0.2.0" }'),
        planted('packages/a/package.json', '{ "version": "0.2.0" }'),
        planted('examples/a/package.json', '{ "version": "7.0.0" }'),
      ],
      problems: [],
    },
  ],
};

function findInFile({ path, text }: SourceFile, version: string): string[] {
  if (!/^packages\/[^/]+\/package\.json$/.test(path)) return [];
  const manifest = JSON.parse(text) as Manifest;
  const own = Object.entries(manifest.dependencies ?? {}).filter(([name]) =>
    /^@sluice\//.test(name),
  );
  const named: [string, string | undefined][] = [['version', manifest.version], ...own];
  return named.flatMap(([name, given]) => {
    if (given === version) return [];
    const line = linesOf(text).findIndex((each) => each.includes(`"${name}":`)) + 1;
    return [`${path}:${line}: '${name}' is '${given}', not '${version}' as in package.json`];
  });
}
