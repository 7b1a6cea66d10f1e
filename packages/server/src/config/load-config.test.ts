import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { flagsHelp, flagTypes } from './flags.ts';
import { ConfigError, type ConfigSources, collect, loadConfig } from './load-config.ts';
import { printConfig, printSettings } from './print-config.ts';
import { settingsOf } from './setting.ts';
import { Settings } from './settings.ts';

function load(sources: Partial<ConfigSources> = {}) {
  return loadConfig({ flags: {}, env: {}, ...sources });
}

function problemsOf(sources: Partial<ConfigSources>): readonly string[] {
  try {
    load(sources);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

const file = (text: string) => ({ name: 'sluice.yaml', text });

test('without any source every setting has its default', () => {
  const { config, given } = load();

  expect(config).toMatchObject({
    host: '127.0.0.1',
    port: 7420,
    limits: { tasksMax: 10_000_000 },
    placement: { strategy: 'spread' },
  });
  expect(new Set([...given.values()].map(({ source }) => source))).toEqual(new Set(['default']));
});

test('flags go before the environment, that before the file, that before defaults', () => {
  const text = 'port: 1\nlogLevel: warn\ndrainMs: 1\nlimits:\n  sessionsMax: 1\n';
  const env = { SLUICE_PORT: '2', SLUICE_LOG_LEVEL: 'debug', SLUICE_DRAIN_MS: '' };

  const { config, given } = load({ file: file(text), env, flags: { port: '3' } });

  expect(config).toMatchObject({
    port: 3,
    logLevel: 'debug',
    drainMs: 1,
    limits: { sessionsMax: 1, tasksMax: 10_000_000 },
  });
  expect(given.get('port')?.source).toBe('flag --port');
  expect(given.get('logLevel')?.source).toBe('environment SLUICE_LOG_LEVEL');
  expect(given.get('limits.sessionsMax')?.source).toBe('file sluice.yaml');
});

test('every problem of every source is named, also of values that are overridden', () => {
  const text = 'port: x\nprot: 1\nlimits:\n  tasksMax: -1\n  tasks: 2\nhttp: 5\n';

  const problems = problemsOf({
    file: file(text),
    env: { SLUICE_PORT: 'http', SLUICE_LIMITS_TASKS_MAX: '0' },
    flags: { port: '7420', 'log-level': 'loud' },
  });

  expect(problems).toEqual([
    'file sluice.yaml: prot is not a known setting',
    'file sluice.yaml: limits.tasks is not a known setting',
    'file sluice.yaml: http must contain settings',
    'file sluice.yaml: port must be integer, not "x"',
    'environment SLUICE_PORT: port must be integer, not "http"',
    'flag --log-level: logLevel must be one of debug, info, warn, error, not "loud"',
    'file sluice.yaml: limits.tasksMax must be >= 1, not -1',
    'environment SLUICE_LIMITS_TASKS_MAX: limits.tasksMax must be >= 1, not 0',
  ]);
});

test.each([
  ['port: 1\nport: 2\n', /^file sluice.yaml: Map keys must be unique at line 2, column 1/],
  ['port: [\n', /^file sluice.yaml: .* at line /],
  ['- port\n', /must contain settings/],
  ['just text', /must contain settings/],
])('a file that is no set of settings: %j', (text, problem) => {
  expect(problemsOf({ file: file(text) })[0]).toMatch(problem);
});

test('an empty file, and one of comments, sets nothing', () => {
  expect(load({ file: file('') }).config).toEqual(load().config);
  expect(load({ file: file('# port: 1\n') }).config).toEqual(load().config);
});

test('settings that are each fine are refused where they do not go together', () => {
  const text = 'limits: {tasksMax: 10, finishedTasksMax: 10, deadLettersMax: 20}';

  const problems = problemsOf({
    file: file(text),
    // The folder of a server that was started here may exist.
    flags: { host: '192.0.2.7', data: 'new-folder' },
    env: { SLUICE_HTTP_REQUEST_TIMEOUT_MS: '100' },
  });

  expect(problems).toEqual([
    expect.stringMatching(/^flag --host: host '192.0.2.7' .* --insecure$/),
    expect.stringContaining('the server has no keys'),
    'file sluice.yaml: limits.finishedTasksMax (10) must be below limits.tasksMax',
    'file sluice.yaml: limits.deadLettersMax (20) must be below limits.tasksMax',
    'default: http.headTimeoutMs must not be greater than http.requestTimeoutMs',
  ]);
});

describe('callbacks', () => {
  const SECRET = `whsec_${'hush'.repeat(8)}`;
  const readSecret = (name: string): string => {
    if (name === 'none.txt') throw new Error('ENOENT');
    return name === 'good.txt' ? `${SECRET}\n` : 'hush';
  };

  test('who may be called and who is asked for names is an address, a range or a name', () => {
    const good = [
      { 'callbacks-allow': '10.0.0.0/8,::1,receiver.internal,host_1' },
      { 'callbacks-dns-servers': '192.0.2.1,192.0.2.1:53,2001:db8::1,[2001:db8::1]:53' },
      { 'callbacks-secret-file': 'good.txt' },
    ];
    const bad = [
      ...['10.0.0.0/33', '10.0.0', 'a b', 'http://x', '*.internal'].map((allow) => {
        return { 'callbacks-allow': allow };
      }),
      ...['ns.example', '192.0.2.1:', '[192.0.2.1]:53'].map((server) => {
        return { 'callbacks-dns-servers': server };
      }),
      { 'callbacks-secret-file': 'bad.txt' },
      { 'callbacks-secret-file': 'none.txt' },
    ];

    for (const flags of good) {
      expect(problemsOf({ flags, readSecret }), JSON.stringify(flags)).toEqual([]);
    }
    for (const flags of bad) {
      expect(problemsOf({ flags, readSecret }), JSON.stringify(flags)).toHaveLength(1);
    }
  });

  test('the secret is not printed, and that there is none is', () => {
    const { given } = load({ flags: { 'callbacks-secret-file': 'good.txt' }, readSecret });

    expect(printConfig(given)).toContain('  secret: (hidden) # flag --callbacks-secret-file');
    expect(printConfig(given)).not.toContain('hush');
    expect(printConfig(load().given)).toContain('  secret: "" # default');
    const flags = { 'callbacks-secret-file': 'bad.txt' };
    expect(problemsOf({ flags, readSecret })[0]).not.toContain('hush');
  });

  test('a secret on the command line, which everybody can read, is refused', () => {
    expect(problemsOf({ flags: { 'callbacks-secret': SECRET } })).toEqual([
      'flag --callbacks-secret: callbacks.secret would be visible in the list of processes; ' +
        'give --callbacks-secret-file FILE or set SLUICE_CALLBACKS_SECRET',
    ]);
  });
});

test.each(['127.0.0.1', '127.8.0.1', '::1', 'localhost'])('%s is this machine', (host) => {
  expect(problemsOf({ flags: { host } })).toEqual([]);
});

test.each(['0.0.0.0', '::', '10.0.0.1', 'example.com', '127.0.0.1.example.com'])(
  '%s is not, and needs to be wanted',
  (host) => {
    const names = { 'allowed-hosts': 'sluice.example' };
    expect(problemsOf({ flags: { host, ...names } })[0]).toContain('without TLS');
    expect(problemsOf({ flags: { host, ...names, insecure: true } })).toEqual([]);
  },
);

test.each(['0.0.0.0', '::', '[::]', '0:0:0:0:0:0:0:0'])(
  '%s is every address, so the names of the server must be listed',
  (host) => {
    const flags = { host, insecure: true, data: 'new-folder' };
    const [problem, ...others] = problemsOf({ flags });

    expect(problem).toContain('must be listed, for example: --allowed-hosts ');
    expect(problem.endsWith(hostname())).toBe(true);
    expect(others).toEqual([expect.stringContaining('the server has no keys')]);
  },
);

test('a first start on every address is told at once everything that is missing', () => {
  const problems = problemsOf({ flags: { host: '0.0.0.0', data: 'new-folder' } });

  expect(problems).toEqual([
    expect.stringContaining('set tls.certFile and tls.keyFile'),
    expect.stringContaining('--allowed-hosts'),
    expect.stringContaining("'sluice key create --role admin --data new-folder'"),
  ]);
});

test('a single address is the name of the server', () => {
  expect(problemsOf({ flags: { host: '192.0.2.7', insecure: true } })).toEqual([]);
});

test('with TLS it does not need to be wanted, and a certificate goes with its key', () => {
  const host = '192.0.2.7';
  const tls = { 'tls-cert-file': 'a.pem', 'tls-key-file': 'b.pem' };

  expect(problemsOf({ flags: { host, ...tls } })).toEqual([]);
  expect(problemsOf({ flags: { 'tls-cert-file': 'a.pem' } })).toEqual([
    'flag --tls-cert-file: tls.certFile needs the other one: set tls.certFile and tls.keyFile',
  ]);
  expect(problemsOf({ flags: { 'tls-key-file': 'b.pem' } })).toEqual([
    'flag --tls-key-file: tls.keyFile needs the other one: set tls.certFile and tls.keyFile',
  ]);
});

test('lists are written with commas outside of files', () => {
  const { config } = load({ env: { SLUICE_ALLOWED_HOSTS: 'a.example, b.example' } });

  expect(config.allowedHosts).toEqual(['a.example', 'b.example']);
});

test('a variable that means nothing is pointed out; one of Kubernetes is not ours', () => {
  const env = { SLUICE_PROT: '1', SLUICE_URL: 'http://x', SLUICE_PORT: 'tcp://10.0.0.1:7420' };

  const { config, warnings } = load({ env });

  expect(warnings).toEqual(['environment SLUICE_PROT is not a setting of the server']);
  expect(config.port).toBe(7420);
});

describe('the printed configuration', () => {
  test('says where each value comes from, and is a configuration', () => {
    const flags = { port: '8000', 'allowed-hosts': 'a.example,b.example' };
    const { config, given } = load({ flags, file: file('limits: {tasksMax: 5000000}') });

    const printed = printConfig(given);

    expect(printed).toContain('\nport: 8000 # flag --port\n');
    expect(printed).toContain('\nlimits:\n  tasksMax: 5000000 # file sluice.yaml\n');
    expect(load({ file: file(printed) }).config).toEqual(config);
  });

  test('hides secrets, in problems too', () => {
    const settings = settingsOf(
      Type.Object({
        key: Type.String({ secret: true, minLength: 20 }),
        unset: Type.String({ secret: true }),
      }),
    );
    const { given, problems } = collect(settings, { flags: {}, env: { SLUICE_KEY: 'hunter2' } });

    expect(printSettings(settings, given)).toContain('key: (hidden) # environment SLUICE_KEY');
    expect(problems).toHaveLength(1);
    expect(printSettings(settings, given) + problems).not.toContain('hunter2');
  });
});

describe('what is made from the settings', () => {
  const settings = settingsOf(Settings);

  test('every setting has a flag and a variable of its own, and a description', () => {
    expect(new Set(settings.map(({ flag }) => flag)).size).toBe(settings.length);
    expect(new Set(settings.map(({ variable }) => variable)).size).toBe(settings.length);
    for (const setting of settings) {
      expect(setting.description, setting.path).not.toBe('');
      expect(flagTypes()[setting.flag]).toBeDefined();
      expect(flagsHelp()).toContain(`  --${setting.flag}`);
    }
    expect(Object.keys(flagTypes())).toContain('data');
  });

  test('docs/configuration.md lists every setting as it is', () => {
    const page = join(import.meta.dirname, '../../../../docs/configuration.md');
    const rows = settings.map(({ path, variable, flag, secret, defaultText, description }) => {
      const shown = secret ? `--${flag}-file` : `--${flag}`;
      return `| \`${path}\` | \`${variable}\`<br>\`${shown}\` | ${defaultText} | ${description} |`;
    });

    const documented = readFileSync(page, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('| `'));

    expect(documented).toEqual(rows);
  });
});
