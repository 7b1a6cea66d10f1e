import { expect, test } from 'vitest';
import { environmentText, startArguments } from './start-script.ts';

test('arguments and variables are never joined to a text that a shell reads', () => {
  const argv = ['echo', '$(id)', "it's", '; rm -rf /'];
  const args = startArguments({
    control: '/c',
    environment: '/e',
    cwd: '/w',
    argv,
    user: { uid: 1, gid: 2 },
  });

  expect(args.slice(-argv.length)).toEqual(argv);
  expect(args).toContain('--reuid=1');
  expect(environmentText({ A: "it's $(id)" })).toBe("export A='it'\\''s $(id)'\n");
});
