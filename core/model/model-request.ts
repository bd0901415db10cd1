import { isObject, type JsonObject } from '../json.ts';

/** The two paths of the model API that the gateway serves. */
export const modelEndpoints = ['/v1/messages', '/v1/messages/count_tokens'] as const;
export type ModelEndpoint = (typeof modelEndpoints)[number];

/** The parsed body of a call to the model API. */
export interface ModelRequest {
  model: string;
  /** Null if the request has none, as a request that counts tokens. */
  maxTokens: number | null;
  stream: boolean;
  /** Every field of the body, those above included. They are serialized again for the model API. */
  fields: JsonObject;
}

type ReadModelRequest =
  | { outcome: 'read'; request: ModelRequest }
  /** `message` begins with the name of the field. */
  | { outcome: 'invalid'; message: string };

/** Reads the fields that determine a call's cost. The other fields are not checked. */
export function readModelRequest(body: unknown): ReadModelRequest {
  if (!isObject(body)) return invalid('the request body must be a JSON object');
  const { model, max_tokens: maxTokens = null, stream = false } = body;
  if (typeof model !== 'string' || model === '' || model.length > modelMaxChars) {
    return invalid(`model: must be a string of 1 to ${modelMaxChars} characters`);
  }
  if (maxTokens !== null && !isTokenCount(maxTokens)) {
    return invalid('max_tokens: must be a positive integer');
  }
  if (typeof stream !== 'boolean') return invalid('stream: must be true or false');
  return { outcome: 'read', request: { model, maxTokens, stream, fields: body } };
}

const modelMaxChars = 256;

const isTokenCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0;

const invalid = (message: string): ReadModelRequest => ({ outcome: 'invalid', message });
