import { existsSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { isCallbackSecret, SECRET_RULE } from '@sluice/protocol';
import { isRange } from '../base/address-range.ts';
import { isEveryAddress, ownNames } from './own-names.ts';
import type { Configuration } from './settings.ts';

/** A last label that is all digits would make it an address, or part of one. */
const HOST_NAME = /^(?!.*(?:^|\.)\d+$)[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/;

/** Problems between settings that are each valid alone. */
export function relationProblems(
  config: Configuration,
  sourceOf: (path: string) => string,
): string[] {
  const { dataFolder, host, allowedHosts, insecure, tls, limits, http, callbacks } = config;
  const problems: string[] = [];
  const refuse = (path: string, problem: string): void => {
    problems.push(`${sourceOf(path)}: ${path} ${problem}`);
  };

  if (!isLoopback(host) && tls.certFile === '' && !insecure) {
    refuse(
      'host',
      `'${host}' can be reached from other machines, but without TLS all traffic can be read on ` +
        'its way: set tls.certFile and tls.keyFile, or allow this with --insecure',
    );
  }
  if (isEveryAddress(host) && allowedHosts.length === 0) {
    refuse(
      'host',
      `'${host}' means every address of this machine, so the names by which clients reach it ` +
        `must be listed, for example: --allowed-hosts ${ownNames().join(',')}`,
    );
  }
  // The server looks for keys when it starts. Without a log there are none, which is said at once.
  const hasNoKeys = config.store === '' && !existsSync(join(dataFolder, 'log'));
  if (problems.length > 0 && hasNoKeys) {
    refuse('host', noKeysProblem(host, `--data ${dataFolder}`));
  }
  if (config.store !== '' && config.advertise === '' && isEveryAddress(host)) {
    refuse(
      'advertise',
      `is needed, because host '${host}' does not say by which URL other servers reach this one`,
    );
  }
  if ((tls.certFile === '') !== (tls.keyFile === '')) {
    refuse(
      tls.certFile === '' ? 'tls.keyFile' : 'tls.certFile',
      'needs the other one: set tls.certFile and tls.keyFile',
    );
  }
  for (const name of ['finishedTasksMax', 'deadLettersMax'] as const) {
    // They are tasks in memory, too. With more of them there would be no room for new tasks.
    if (limits[name] >= limits.tasksMax) {
      refuse(`limits.${name}`, `(${limits[name]}) must be below limits.tasksMax`);
    }
  }
  for (const each of callbacks.allow) {
    if (!isRange(each) && !HOST_NAME.test(each)) {
      refuse('callbacks.allow', `has '${each}', which is not an address, range or host name`);
    }
  }
  if (callbacks.secret !== '' && !isCallbackSecret(callbacks.secret)) {
    refuse('callbacks.secret', SECRET_RULE);
  }
  for (const each of callbacks.dnsServers) {
    if (!isNameServer(each)) {
      refuse(
        'callbacks.dnsServers',
        `has '${each}', which is not an address, with or without a port`,
      );
    }
  }
  // The head is part of the request, and both timeouts start at the same moment.
  if (http.headTimeoutMs > http.requestTimeoutMs) {
    refuse('http.headTimeoutMs', 'must not be greater than http.requestTimeoutMs');
  }
  return problems;
}

/** A server that other machines can reach needs a key. */
export function noKeysProblem(host: string, place: string): string {
  return (
    `'${host}' can be reached from other machines, and the server has no keys: make the first ` +
    `one with 'sluice key create --role admin ${place}', and start it then`
  );
}

/**
 * Other names may resolve to a different address later, so only addresses and `localhost` count.
 */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  return bare === 'localhost' || bare === '::1' || /^127(?:\.\d{1,3}){3}$/.test(bare);
}

/** `192.0.2.1`, `192.0.2.1:53`, `2001:db8::1` or `[2001:db8::1]:53`. */
function isNameServer(text: string): boolean {
  if (isIP(text) !== 0) return true;
  const [, bracketed, plain] = /^(?:\[(.+)\]|([\d.]+)):\d{1,5}$/.exec(text) ?? [];
  return bracketed === undefined ? isIP(plain ?? '') === 4 : isIP(bracketed) === 6;
}
