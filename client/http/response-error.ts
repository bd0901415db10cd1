import { isObject, parseObject } from '../../core/json.ts';
import { type BudgetOwner, budgetOwners } from '../../core/metering/monthly-budget.ts';
import { errorClasses, FlowrunError } from './errors.ts';

/** The error of a response that is not a success. */
export async function responseError(response: Response): Promise<FlowrunError> {
  const { status, headers } = response;
  const body = parseObject(await response.text().catch(() => ''))?.['error'];
  const envelope = isObject(body) ? body : {};
  const code = textOr(envelope['code'], `HTTP_${status}`);
  const Class = (Object.hasOwn(errorClasses, code) && errorClasses[code]) || FlowrunError;
  return new Class({
    code,
    message: textOr(envelope['message'], `The response has the status ${status}.`),
    status,
    requestId: headers.get('x-request-id'),
    retryAfterSeconds: secondsIn(headers.get('retry-after')),
    ...numberAs('limit', envelope['limit']),
    ...numberAs('current', envelope['current']),
    ...ownerOf(envelope['budget']),
  });
}

const textOr = (value: unknown, fallback: string): string =>
  typeof value === 'string' ? value : fallback;

function ownerOf(budget: unknown): { budget?: BudgetOwner } {
  const owner = budgetOwners.find((each) => each === budget);
  return owner === undefined ? {} : { budget: owner };
}

function numberAs<Name extends string>(name: Name, value: unknown): Partial<Record<Name, number>> {
  const fields: Partial<Record<Name, number>> = {};
  if (typeof value === 'number') fields[name] = value;
  return fields;
}

/** A proxy may send a date instead. */
function secondsIn(header: string | null): number | null {
  if (header === null) return null;
  if (/^\d+$/.test(header.trim())) return Number(header);
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - Date.now()) / 1_000));
}
