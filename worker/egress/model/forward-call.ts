import type { ServerResponse } from 'node:http';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Dispatcher } from 'undici';
import { answerHeaders } from './call-headers.ts';
import type { MeteredCall } from './call-meter.ts';
import { type ModelCall, type Upstream, upstreamRequest } from './upstream-request.ts';

/** The receivers of the answer. */
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
    const answer = await to.dispatcher.request(upstreamRequest(to, call, abort.signal));
    // Registered before `pipeline` closes the agent's connection, which would count as a
    // disconnect.
    answer.body.once('error', fail);
    await relayAnswer(answer, { response, metered });
  } finally {
    fail();
  }
}

/**
 * Metering needs the uncompressed answer, so the request asked the model API not to compress it.
 */
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
