import type { Configuration } from './settings.ts';

/** What is wrong with settings that are each fine by themselves. */
export function relationProblems(
  config: Configuration,
  sourceOf: (path: string) => string,
): string[] {
  const { host, insecure, tls, limits, http } = config;
  const problems: string[] = [];
  const refuse = (path: string, problem: string): void => {
    problems.push(`${sourceOf(path)}: ${path} ${problem}`);
  };

  if (!isLoopback(host) && tls.certFile === '' && !insecure) {
    refuse(
      'host',
      `'${host}' can be reached from other machines, and without TLS all that is said can be ` +
        'read on its way: set tls.certFile and tls.keyFile, or allow it with --insecure',
    );
  }
  if ((tls.certFile === '') !== (tls.keyFile === '')) {
    refuse(tls.certFile === '' ? 'tls.keyFile' : 'tls.certFile', 'goes with the other one');
  }
  for (const name of ['finishedTasksMax', 'deadLettersMax'] as const) {
    // They are tasks in memory, too: with more of them there would be no room for new ones.
    if (limits[name] >= limits.tasksMax) {
      refuse(`limits.${name}`, `(${limits[name]}) must be below limits.tasksMax`);
    }
  }
  // The head is a part of the request, and its time is counted from the same moment.
  if (http.headTimeoutMs > http.requestTimeoutMs) {
    refuse('http.headTimeoutMs', 'must not be over http.requestTimeoutMs');
  }
  return problems;
}

/** A name may lead anywhere tomorrow; only addresses and the name that is fixed count. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  return bare === 'localhost' || bare === '::1' || /^127(?:\.\d{1,3}){3}$/.test(bare);
}
