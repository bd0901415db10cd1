import { redactText } from '../../core/runs/redact.ts';
import type { DoctorContext } from './types.ts';
import { type Check, type CheckResult, checked, type Problem } from './types.ts';

export interface CheckOutcome {
  name: string;
  state: 'ok' | 'wrong' | 'skipped';
  said: string[];
  /** What is wrong now, and whether `--fix` may mend it. */
  troubles: { code: string; what: string; advice: string; mendable: boolean }[];
  /** What was wrong, and is not any more. */
  mended: string[];
}

/** One check after the other; what cannot see anything without another is skipped where that is wrong. */
export async function runChecks(
  checks: Check[],
  parts: DoctorContext,
  { fix, told }: { fix: boolean; told: (outcome: CheckOutcome) => void },
): Promise<CheckOutcome[]> {
  const outcomes: CheckOutcome[] = [];
  const unwell = (names: string[] = []) =>
    outcomes.find(({ name, state }) => state !== 'ok' && names.includes(name));
  for (const check of checks) {
    const blind = unwell(check.needs);
    const mayMend = unwell(check.mendNeeds) === undefined;
    const outcome = blind
      ? skippedFor(check, blind)
      : await (fix && mayMend ? lookAndMend : lookOnce)(mayMend ? check : unmended(check), parts);
    outcomes.push(outcome);
    told(outcome);
  }
  return outcomes;
}

const unmended = (check: Check): Check => ({
  ...check,
  look: async (parts) => {
    const finding = await check.look(parts);
    const troubles = finding.troubles.map(({ mend: _mend, ...trouble }) => trouble);
    return { ...finding, troubles };
  },
});

async function lookOnce(check: Check, parts: DoctorContext): Promise<CheckOutcome> {
  return outcomeOf(check, await look(check, parts));
}

/** What was mended is what is not found any more. */
async function lookAndMend(check: Check, parts: DoctorContext): Promise<CheckOutcome> {
  const first = await look(check, parts);
  const mendable = first.troubles.filter(({ mend }) => mend !== undefined);
  if (mendable.length === 0) return outcomeOf(check, first);
  const failures: Problem[] = [];
  for (const trouble of mendable) {
    await trouble.mend?.().catch((error: unknown) => failures.push(notMended(trouble, error)));
  }
  await parts.settle(); // what was set going takes its time
  const then = await look(check, parts);
  const left = new Set([...then.troubles, ...failures].map(({ code }) => code));
  const mended = mendable.filter(({ code }) => !left.has(code)).map(({ what }) => what);
  return { ...outcomeOf(check, withFailures(then, failures)), mended };
}

function withFailures(finding: CheckResult, failures: Problem[]): CheckResult {
  const failed = new Map(failures.map((failure) => [failure.code, failure]));
  return {
    ...finding,
    troubles: finding.troubles.map((trouble) => failed.get(trouble.code) ?? trouble),
  };
}

const notMended = (trouble: Problem, error: unknown): Problem => ({
  ...trouble,
  what: `${trouble.what} It could not be mended: ${textOf(error)}`,
});

async function look(check: Check, parts: DoctorContext): Promise<CheckResult> {
  try {
    return await check.look(parts);
  } catch (error) {
    const ofTls = check.store && (await parts.handshake(check.store, error));
    if (ofTls) return checked([], { ...ofTls, what: redactText(ofTls.what) });
    const what = `${check.ifItFails.what}: ${textOf(error).replace(/\.$/, '')}.`;
    return checked([], { ...check.ifItFails, what });
  }
}

function outcomeOf({ name }: Check, { said, troubles, skipped }: CheckResult): CheckOutcome {
  const found = troubles.length > 0 ? ('wrong' as const) : ('ok' as const);
  return {
    name,
    state: skipped === null ? found : 'skipped',
    said: skipped === null ? said : [skipped],
    troubles: troubles.map(({ mend, ...trouble }) => ({
      ...trouble,
      mendable: mend !== undefined,
    })),
    mended: [],
  };
}

function skippedFor({ name }: Check, blind: CheckOutcome): CheckOutcome {
  const why = blind.state === 'wrong' ? 'is wrong' : 'was not looked at';
  const said = [`not looked at, because ${blind.name} ${why}`];
  return { name, state: 'skipped', said, troubles: [], mended: [] };
}

/** A connection tried on several addresses fails with all of their errors at once. */
function textOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(textOf).join('; ');
  return redactText(error instanceof Error ? error.message : String(error));
}
