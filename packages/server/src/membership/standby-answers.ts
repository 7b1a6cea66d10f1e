import type { ServerResponse } from 'node:http';
import { EXPOSITION_TYPE } from '../metrics/exposition.ts';

export function sayJson(answer: ServerResponse, value: object): void {
  answer.writeHead(200, { 'content-type': 'application/json' });
  answer.end(JSON.stringify(value));
}

/**
 * The metrics of a standby. Figures of the partition come from its owner alone: two pages with them
 * would count twice.
 */
export function sayPosition(answer: ServerResponse, position: number): void {
  const name = 'sluice_standby_position';
  const head = `# HELP ${name} Records that this standby has read\n# TYPE ${name} gauge\n`;
  answer.writeHead(200, { 'content-type': EXPOSITION_TYPE });
  answer.end(`${head}${name} ${position}\n`);
}
