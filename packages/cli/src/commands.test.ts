import { expect, test } from 'vitest';
import type { Command } from './base/command.ts';
import { COMMANDS, HELP } from './commands.ts';

type Commands = Readonly<Record<string, Command>>;

/** Every command that is not a group, by its full name. */
function leaves(commands: Commands, before = ''): (readonly [string, Command])[] {
  return Object.entries(commands).flatMap(([name, command]) => {
    const path = `${before}${name}`;
    if (command.commands !== undefined) return leaves(command.commands, `${path} `);
    return [[path, command]];
  });
}

test('docs/command-line.md says what --help says', async () => {
  const pages = leaves(COMMANDS).map(([name, { help }]) => {
    return `## sluice ${name}\n\n\`\`\`\n${help}\n\`\`\`\n`;
  });
  const page = `# The command line

\`sluice\` runs a server and controls it from a terminal. This page has the help text of every command. In the
repository, type \`npx sluice …\`. The texts are what \`--help\` prints; \`npm run unit -- -u\` updates this page.

\`\`\`
${HELP}
\`\`\`

${pages.join('\n')}`;

  await expect(page).toMatchFileSnapshot('../../../docs/command-line.md');
});

test.each(leaves(COMMANDS))(
  '%s has an example, and its help fits on a screen',
  (name, { help }) => {
    expect(help).toContain(`sluice ${name}`);
    expect(help).toContain('Examples:');
    expect(help.split('\n').filter((line) => line.length > 100)).toEqual([]);
  },
);

test.each(leaves(COMMANDS))('the help of %s shows every flag once', (_name, { flags, help }) => {
  const shown = [...help.matchAll(/^ {2}(?:-\w, )?--([a-z0-9-]+)/gm)].map(([, flag]) => flag);

  expect(shown.toSorted()).toEqual([...flags].sort());
});
