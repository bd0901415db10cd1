import type { Dispatcher } from 'undici';
import { type JsonObject, parseObject } from '../../../core/json.ts';
import { type ModelCall, type Upstream, upstreamRequest } from './upstream-request.ts';

const timeoutMs = 10_000;

/** Lets the model API count the tokens of a call's prompt, which is free. Null if that fails. */
export async function countTokens(to: Upstream, call: ModelCall): Promise<number | null> {
  const signal = AbortSignal.timeout(timeoutMs);
  const endpoint = '/v1/messages/count_tokens';
  const body = JSON.stringify(countedFields(call.request.fields));
  try {
    const answer = await to.dispatcher.request(
      upstreamRequest(to, { ...call, endpoint, body }, signal),
    );
    return await readCount(answer);
  } catch {
    return null;
  }
}

const countedNames = ['model', 'messages', 'system', 'tools', 'tool_choice', 'thinking'];

/** The endpoint accepts no other fields. */
const countedFields = (fields: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => countedNames.includes(name)));

async function readCount({ statusCode, body }: Dispatcher.ResponseData): Promise<number | null> {
  if (statusCode !== 200) {
    await body.dump();
    return null;
  }
  const count = parseObject(await body.text())?.input_tokens;
  return typeof count === 'number' && count >= 0 ? count : null;
}
