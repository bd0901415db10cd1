import type { NetworkPolicy } from '../flows/flow.ts';
import { isObject, type JsonObject, listIn, textIn } from '../json.ts';
import { findForbiddenContent, type Refusal } from './request-content.ts';

/** The two paths of the model API that the gateway serves. */
export const modelEndpoints = ['/v1/messages', '/v1/messages/count_tokens'] as const;
export type ModelEndpoint = (typeof modelEndpoints)[number];

/** The parsed body of a call to the model API. */
export interface ModelRequest {
  model: string;
  /** Null if the request has none, for example if it counts tokens. */
  maxTokens: number | null;
  stream: boolean;
  /** All fields of the body, including those above. They are serialized again for the model API. */
  fields: JsonObject;
}

type ReadModelRequest =
  | { outcome: 'read'; request: ModelRequest }
  | { outcome: 'refused'; refusal: Refusal };

/**
 * Reads the body of a call. Only the policy `open` permits content that acts outside the sandbox.
 */
export function readModelRequest(body: unknown, policy: NetworkPolicy): ReadModelRequest {
  if (!isObject(body)) return refused('body', 'must be a JSON object');
  const { model } = body;
  const maxTokens = body['max_tokens'] ?? null;
  const stream = body['stream'] ?? false;
  if (typeof model !== 'string' || model === '' || model.length > modelMaxChars) {
    return refused('model', `must be a string of 1 to ${modelMaxChars} characters`);
  }
  if (maxTokens !== null && !isTokenCount(maxTokens)) {
    return refused('max_tokens', 'must be a positive integer');
  }
  if (typeof stream !== 'boolean') return refused('stream', 'must be true or false');
  const refusal = policy === 'open' ? null : findForbiddenContent(body);
  if (refusal !== null) return { outcome: 'refused', refusal };
  return { outcome: 'read', request: { model, maxTokens, stream, fields: body } };
}

/**
 * The models that other fields name, for example to answer if the called model does not. Only the
 * policy `open` permits such fields.
 */
export const furtherModels = ({ fields }: Pick<ModelRequest, 'fields'>): string[] =>
  [...listIn(fields, 'fallbacks'), ...listIn(fields, 'tools')]
    .filter(isObject)
    .map((each) => textIn(each, 'model'))
    .filter((model) => model !== null);

const modelMaxChars = 256;

const isTokenCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0;

function refused(field: string, problem: string): ReadModelRequest {
  return { outcome: 'refused', refusal: { field, message: `${field}: ${problem}` } };
}
