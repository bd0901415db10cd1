import { connect } from 'node:http2';
import { Agent, fetch as fetchBy, type RequestInit, type Response } from 'undici';
import { readEvents, type SentEvent } from '../support/sent-events.ts';

/** An HTTPS client that trusts only one authority. */
export interface SecureClient {
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Every event until the stream ends, over HTTP/2. */
  stream(path: string, key: string): AsyncIterable<SentEvent>;
}

export function createSecureClient(domain: string, ca: string): SecureClient {
  const dispatcher = new Agent({ connect: { ca }, pipelining: 0 });
  return {
    fetch: (path, init = {}) => fetchBy(`${domain}${path}`, { ...init, dispatcher }),
    async *stream(path, key) {
      const session = connect(domain, { ca });
      session.on('error', () => undefined); // each of its requests has it, too
      try {
        const answer = session.request({ ':path': path, authorization: `Bearer ${key}` });
        yield* readEvents(answer);
      } finally {
        session.close();
      }
    },
  };
}
