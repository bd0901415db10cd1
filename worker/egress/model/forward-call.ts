import type { ServerResponse } from 'node:http';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Dispatcher } from 'undici';
import type { ModelEndpoint, ModelRequest } from '../../../core/model/model-request.ts';
import { answerHeaders } from './call-headers.ts';
import type { MeteredCall } from './call-meter.ts';

/** A call of an agent that was read and accepted. */
export interface ModelCall {
  endpoint: ModelEndpoint;
  /** `?beta=true` or empty. */
  query: string;
  /** Those of the agent that are forwarded. */
  headers: Record<string, string | string[]>;
  request: ModelRequest;
  /**
   * Serialized from its parsed form: the model API reads what was checked, even if the agent's text named
   * a field twice.
   */
  body: string;
}

export interface Upstream {
  dispatcher: Dispatcher;
  base: URL;
  apiKey: string;
}

/** Where the answer goes. */
interface AnswerTarget {
  response: ServerResponse;
  metered: MeteredCall;
}

/** Sends the call to the model API with the owner's key, and relays the answer as it arrives. */
export async function forwardCall(
  to: Upstream,
  call: ModelCall,
  { response, metered }: AnswerTarget,
): Promise<void> {
  const abort = new AbortController();
  response.once('close', () => abort.abort());
  const fail = (): void => metered.end(abort.signal.aborted ? 'agent_disconnected' : 'failed');
  try {
    const answer = await to.dispatcher.request({
      origin: to.base.origin,
      path: to.base.pathname.replace(/\/+$/, '') + call.endpoint + call.query,
      method: 'POST',
      headers: {
        ...call.headers,
        'content-type': 'application/json',
        'accept-encoding': 'identity',
        'x-api-key': to.apiKey,
      },
      body: call.body,
      signal: abort.signal,
    });
    // Before the agent's connection is closed for it, which looks as if the agent had closed it.
    answer.body.once('error', fail);
    await relayAnswer(answer, { response, metered });
  } finally {
    fail();
  }
}

/** Every byte of every answer passes here. The model API was asked not to compress it. */
async function relayAnswer(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  { response, metered }: AnswerTarget,
): Promise<void> {
  metered.answered(statusCode, String(headers['content-type'] ?? ''));
  const meter = new Transform({
    transform(part: Buffer, _encoding, done) {
      metered.read(part);
      done(null, part);
    },
    flush(done) {
      metered.end('answered');
      done();
    },
  });
  response.writeHead(statusCode, answerHeaders(headers));
  response.flushHeaders();
  await pipeline(body, meter, response);
}
