import { linesOf, planted, type SourceFile, type TidyCheck } from './repository.ts';

const SECTIONS = ['dependencies', 'devDependencies', 'optionalDependencies', 'overrides'];
const EXACT = /^\d+\.\d+\.\d+(?:-[\w.-]+)?$/;

export const exactVersions: TidyCheck = {
  name: 'exact versions',
  find: (files) => files.flatMap(findInFile),
  examples: [
    {
      title: 'ranges, tags and addresses',
      files: [
        planted('package.json', '{ "devDependencies": {', '"a": "^1.0.0",', '"b": "latest" } }'),
        planted('packages/a/package.json', '{ "dependencies": { "@sluice/core": "*" } }'),
        planted('packages/b/package.json', '{ "dependencies": { "c": "1.x", "d": "file:../d" } }'),
      ],
      problems: [
        "package.json:2: 'a' has the version '^1.0.0'; give an exact one",
        "package.json:3: 'b' has the version 'latest'; give an exact one",
        "packages/a/package.json:1: '@sluice/core' has the version '*'; give an exact one",
        "packages/b/package.json:1: 'c' has the version '1.x'; give an exact one",
        "packages/b/package.json:1: 'd' has the version 'file:../d'; give an exact one",
      ],
    },
    {
      title: 'exact versions, and a range of engines',
      files: [
        planted('package.json', '{ "engines": { "node": ">=20" }, "overrides": { "a": "1.0.0" } }'),
        planted('packages/a/package.json', '{ "dependencies": { "b": "2.0.0-rc.1" } }'),
        planted('packages/a/src/package.json.md', '{ "dependencies": { "b": "^1.0.0" } }'),
      ],
      problems: [],
    },
  ],
};

function findInFile(file: SourceFile): string[] {
  if (!/(?:^|\/)package\.json$/.test(file.path)) return [];
  const manifest: Record<string, Record<string, unknown> | undefined> = JSON.parse(file.text);

  return SECTIONS.flatMap((section) =>
    Object.entries(manifest[section] ?? {}).flatMap(([name, version]) => {
      if (typeof version === 'string' && EXACT.test(version)) return [];
      const line = linesOf(file.text).findIndex((text) => text.includes(`"${name}":`)) + 1;
      return [`${file.path}:${line}: '${name}' has the version '${version}'; give an exact one`];
    }),
  );
}
