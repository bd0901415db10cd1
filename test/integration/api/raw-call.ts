import { connect } from 'node:net';
import type { ApiProcess } from '../../support/api-fixture.ts';

/** The answer to bytes that no client library would send, read until the server disconnects. */
export function rawCall(api: Pick<ApiProcess, 'url'>, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1', () => socket.write(bytes));
    let text = '';
    socket.on('data', (data) => {
      text += String(data);
    });
    socket.on('end', () => resolve(text));
    socket.on('error', reject);
  });
}
