import type { IncomingMessage } from 'node:http';
import type { NetworkPolicy } from '../../../core/flows/flow.ts';
import {
  type ModelEndpoint,
  modelEndpoints,
  readModelRequest,
} from '../../../core/model/model-request.ts';
import { callHeaders } from './call-headers.ts';
import type { ModelCall } from './forward-call.ts';
import { invalidRequest, type ModelApiError } from './model-api-error.ts';
import { readCallBody } from './read-call-body.ts';
import type { RefusalLog } from './refusal-log.ts';

type ReadCall = { outcome: 'read'; call: ModelCall } | { outcome: 'refused'; error: ModelApiError };

/** Reads a whole call, and checks that the policy permits it. */
export async function readCall(
  request: IncomingMessage,
  path: string,
  { policy, log }: { policy: NetworkPolicy; log: RefusalLog },
): Promise<ReadCall> {
  const target = targetOf(request.method, path);
  if ('status' in target) return refused(target);
  const body = await readCallBody(request);
  if (body.outcome === 'rejected') return refused(body.error);
  const read = readModelRequest(body.value, policy);
  if (read.outcome === 'refused') {
    log.field(read.refusal.field);
    return refused(invalidRequest(read.refusal.message));
  }
  const { headers, removedFlags } = callHeaders(request.headers, policy);
  log.flags(removedFlags);
  return { outcome: 'read', call: { ...target, headers, request: read.request } };
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

const refused = (error: ModelApiError): ReadCall => ({ outcome: 'refused', error });
