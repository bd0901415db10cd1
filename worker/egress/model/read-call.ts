import type { IncomingMessage } from 'node:http';
import type { NetworkPolicy } from '../../../core/flows/flow.ts';
import {
  type ModelEndpoint,
  modelEndpoints,
  readModelRequest,
} from '../../../core/model/model-request.ts';
import type { CallMemory } from './body-memory.ts';
import { callHeaders } from './call-headers.ts';
import type { Pacer } from './large-body-pacer.ts';
import {
  invalidRequest,
  type ModelApiError,
  type RefusedCall,
  refused,
} from './model-api-error.ts';
import { parseCallBody, readCallBody } from './read-call-body.ts';
import type { RefusalLog } from './refusal-log.ts';
import type { ModelCall } from './upstream-request.ts';

type ReadCall = { outcome: 'read'; call: ModelCall } | RefusedCall;

/** The properties that all calls of a run share. */
export interface ReadingContext {
  policy: NetworkPolicy;
  log: RefusalLog;
  pace: Pacer;
}

/** Reads a whole call, and checks that the policy permits it. */
export async function readCall(
  { request, path, memory }: { request: IncomingMessage; path: string; memory: CallMemory },
  context: ReadingContext,
): Promise<ReadCall> {
  const target = targetOf(request.method, path);
  if ('status' in target) return refused(target);
  const body = await readCallBody(request, memory);
  if (body.outcome === 'refused') return body;
  const content = await context.pace(body.bytes.length, () => contentOf(body.bytes, context));
  if (content.outcome === 'refused') return content;
  const { headers, removedFlags } = callHeaders(request.headers, context.policy);
  context.log.flags(removedFlags);
  return { outcome: 'read', call: { ...target, headers, ...content.content } };
}

type CallContent = Pick<ModelCall, 'request' | 'body'>;

function contentOf(
  bytes: Buffer,
  { policy }: ReadingContext,
): { outcome: 'read'; content: CallContent } | RefusedCall {
  const parsed = parseCallBody(bytes);
  if (parsed.outcome === 'refused') return parsed;
  const read = readModelRequest(parsed.value, policy);
  if (read.outcome === 'refused') {
    const { field, message } = read.refusal;
    return refused({ ...invalidRequest(message), field });
  }
  const { request } = read;
  return { outcome: 'read', content: { request, body: JSON.stringify(request.fields) } };
}

function targetOf(
  method: string | undefined,
  path: string,
): Pick<ModelCall, 'endpoint' | 'query'> | ModelApiError {
  const [pathname = ''] = path.split('?', 1);
  const query = path.slice(pathname.length);
  if (!isServed(pathname)) return notServed;
  if (method !== 'POST') return methodNotServed;
  if (query !== '' && query !== '?beta=true') return queryNotServed;
  return { endpoint: pathname, query };
}

const isServed = (path: string): path is ModelEndpoint =>
  modelEndpoints.some((endpoint) => endpoint === path);

const notServed: ModelApiError = {
  status: 404,
  type: 'not_found_error',
  message: 'only the messages API is served',
};
const methodNotServed: ModelApiError = {
  status: 405,
  type: 'invalid_request_error',
  message: 'only POST is served',
};
const queryNotServed = invalidRequest('the query must be empty or beta=true');
