import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';

const HEADER_BYTES = 12;
const TYPE_A = 1;

/**
 * A name server that answers each query with the next of its answers, and then repeats the last.
 */
export class NameServer {
  readonly asked: string[] = [];
  private readonly socket: Socket = createSocket('udp4');
  private readonly answers: ReadonlyMap<string, string[]>;

  private constructor(answers: Readonly<Record<string, string[]>>) {
    this.answers = new Map(Object.entries(answers));
    this.socket.on('message', (query, { port, address }) => {
      this.socket.send(this.reply(query), port, address);
    });
  }

  static async start(answers: Readonly<Record<string, string[]>>): Promise<NameServer> {
    const server = new NameServer(answers);
    server.socket.bind(0, '127.0.0.1');
    await once(server.socket, 'listening');
    return server;
  }

  get address(): string {
    return `127.0.0.1:${this.socket.address().port}`;
  }

  close(): void {
    this.socket.close();
  }

  private reply(query: Buffer): Buffer {
    const end = query.indexOf(0, HEADER_BYTES) + 1;
    const question = query.subarray(HEADER_BYTES, end + 4);
    const isForA = query.readUInt16BE(end) === TYPE_A;
    const address = isForA ? this.next(nameIn(question)) : undefined;
    const header = Buffer.alloc(HEADER_BYTES);
    query.copy(header, 0, 0, 2);
    // Flags: a response without an error; recursion desired and available.
    header.writeUInt16BE(0x8180, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(address === undefined ? 0 : 1, 6);
    return Buffer.concat([header, question, ...(address === undefined ? [] : [record(address)])]);
  }

  private next(name: string): string | undefined {
    this.asked.push(name);
    const answers = this.answers.get(name) ?? [];
    return answers.length > 1 ? answers.shift() : answers[0];
  }
}

function nameIn(question: Buffer): string {
  const labels: string[] = [];
  for (let at = 0; question[at] !== 0; at += question[at] + 1) {
    labels.push(question.toString('latin1', at + 1, at + 1 + question[at]));
  }
  return labels.join('.').toLowerCase();
}

/** A record for the name of the question: an internet address with a TTL of 0. */
function record(address: string): Buffer {
  const head = Buffer.from([0xc0, HEADER_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, 0, 0, 4]);
  return Buffer.concat([head, Buffer.from(address.split('.').map(Number))]);
}
