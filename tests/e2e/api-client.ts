import { connectHttp, type HttpClient, type Protocol } from '../support/http-client.ts';

export interface Answer {
  readonly status: number;
  // Tests read whatever they expect to be there; a wrong guess fails the test.
  // biome-ignore lint/suspicious/noExplicitAny: answers have many shapes
  readonly body: any;
}

/** Calls the API and parses the answers. */
export class ApiClient {
  private readonly http: HttpClient;

  constructor(url: string, protocol: Protocol) {
    this.http = connectHttp(protocol, url);
  }

  get(path: string): Promise<Answer> {
    return this.call('GET', path);
  }

  post(path: string, body?: unknown): Promise<Answer> {
    return this.call('POST', path, body);
  }

  put(path: string, body: unknown): Promise<Answer> {
    return this.call('PUT', path, body);
  }

  patch(path: string, body: unknown): Promise<Answer> {
    return this.call('PATCH', path, body);
  }

  delete(path: string): Promise<Answer> {
    return this.call('DELETE', path);
  }

  report(sessionId: string, reports: readonly object[]): Promise<Answer> {
    return this.post(`/v1/worker-sessions/${sessionId}/reports`, { reports });
  }

  close(): void {
    this.http.close();
  }

  private async call(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
  ): Promise<Answer> {
    const { status, text } = await this.http.send({ method, path, body });
    return { status, body: text === '' ? undefined : JSON.parse(text) };
  }
}
