import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import { type ErrorCode, errorStatuses } from '../../../../api/errors.ts';
import { isNode, type Node } from '../../../../api/openapi/json-tree.ts';
import { createFitCheck } from './fits-description.ts';
import { isKnownRefusal } from './known-refusals.ts';
import type { FuzzRequest } from './requests.ts';
import { referred } from './schema-values.ts';

export interface Checked {
  status: number;
  headers: Headers;
  text: string;
}

/** Checks the rules that every answer follows. */
export function answerCheck(document: Node) {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(document, 'document');
  const fits = createFitCheck(ajv, document);

  function checkSuccess({ operation }: FuzzRequest, { status, headers, text }: Checked): void {
    const [type = ''] = (headers.get('content-type') ?? '').split(';');
    const described = operation.responses[String(status)]?.['content'];
    if (!isNode(described)) return expect(text).toBe('');
    expect(Object.keys(described)).toContain(type);
    if (type !== 'application/json') return;
    const steps = ['paths', operation.path, operation.method.toLowerCase(), 'responses', status];
    const at = [...steps, 'content', type, 'schema'].map((step) => encodeStep(String(step)));
    const isFit = ajv.compile({ $ref: `document#/${at.join('/')}` });
    const body: unknown = JSON.parse(text);
    expect(Object.keys(body as Node)).toEqual(['data']);
    expect(isFit(body) ? null : isFit.errors).toBeNull();
  }

  return (request: FuzzRequest, answer: Checked): void => {
    checkHeaders(answer);
    checkNoFault(answer);
    const described = Object.keys(request.operation.responses);
    const expected = isElsewhere(request) ? [...described, '404', '405'] : described;
    expect(expected).toContain(String(answer.status));
    if (answer.status < 400) return checkSuccess(request, answer);
    checkRefusal(answer);
    if (answer.status !== 400 || isKnownRefusal(answer.text)) return;
    const { error } = JSON.parse(answer.text) as { error: { message: string } };
    expect(fits(request, error.message), 'refused although it fits the description').toBe(false);
  };
}

/** With a slash in a parameter, the path is not that of the operation. */
function isElsewhere({ operation, path }: FuzzRequest): boolean {
  const [sent = ''] = path.split('?');
  return sent.split('/').length !== operation.path.split('/').length;
}

/** A request to a sandbox that does not exist yet must be retried: not a failure. */
export function checkNoFault({ status, text }: Checked): void {
  const isNotYet = status === 503 && /UPSTREAM_UNAVAILABLE.*sandbox/.test(text);
  if (!isNotYet) expect(status).toBeLessThan(500);
}

export function checkHeaders({ headers }: Checked): void {
  for (const name of ['limit', 'remaining', 'reset']) {
    expect(headers.get(`x-ratelimit-${name}`)).toMatch(/^\d+$/);
  }
  expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
}

/** The envelope, with a code permitted for this status. */
export function checkRefusal({ status, headers, text }: Checked): void {
  expect(headers.get('content-type')).toMatch(/^application\/json/);
  const body = JSON.parse(text) as { error: { code: ErrorCode; message: string } };
  expect(Object.keys(body)).toEqual(['error']);
  const { code, message, ...rest } = body.error;
  expect(errorStatuses[code]).toContain(status);
  expect(message).toMatch(/./);
  for (const [name, value] of Object.entries(rest)) {
    expect(['limit', 'current']).toContain(name);
    expect(value).toBeTypeOf('number');
  }
  if (code === 'RATE_LIMITED') expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
}

const encodeStep = (step: string) =>
  encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'));

/** Whether an operation answers with a stream, whose end is not awaited. */
export function isStream(document: Node, { responses }: FuzzRequest['operation']): boolean {
  const success = responses['200'] ?? {};
  const { content } = '$ref' in success ? referred(document, String(success['$ref'])) : success;
  return isNode(content) && 'text/event-stream' in content;
}
