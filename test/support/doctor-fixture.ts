import { checks } from '../../cli/doctor/registry.ts';
import { type CheckOutcome, runChecks } from '../../cli/doctor/run-checks.ts';
import { withDoctor } from '../../cli/open-doctor.ts';
import { type ApiFixture, openApiFixture } from './api-fixture.ts';
import { stackEnv } from './stack-env.ts';

export interface Diagnosis {
  outcomes: CheckOutcome[];
  of(name: string): CheckOutcome;
  /** Message and advice of the problem; empty if the problem was not found. */
  about(code: string): string;
}

/** With such a reserve the doctor does not measure the speed of the disk. */
const unmeasured = { DISK_RESERVE_BYTES: String(2 ** 50) };

/** The API of a test does not know the disk of Postgres. */
const skippedInTests = ['postgres disk', 'disk speed'];

/** What the doctor finds wrong, or cannot check although a test has configured it. */
export const notOk = (outcomes: CheckOutcome[]): CheckOutcome[] =>
  outcomes.filter(
    ({ name, state }) =>
      state === 'failed' || (state === 'skipped' && !skippedInTests.includes(name)),
  );

/** Runs the doctor with only these environment variables. */
export type Doctor = (how?: { fix: boolean }) => Promise<Diagnosis>;

export function doctorWith(env: Record<string, string>): Doctor {
  return async ({ fix } = { fix: false }) => {
    const how = { fix, onOutcome: () => undefined };
    const outcomes = await withDoctor((parts) => runChecks(checks, parts, how), {
      ...unmeasured,
      ...env,
    });
    const problems = outcomes.flatMap((outcome) => outcome.problems);
    return {
      outcomes,
      of(name) {
        const found = outcomes.find((outcome) => outcome.name === name);
        if (!found) throw new Error(`no outcome of ${name}`);
        return found;
      },
      about(code) {
        const found = problems.find((problem) => problem.code === code);
        return found ? `${found.message} ${found.advice}` : '';
      },
    };
  };
}

/** An API, and the settings with which a doctor finds all of its dependencies. */
export async function openDoctorFixture(
  encryptionKey: string,
): Promise<{ fixture: ApiFixture; env: Record<string, string> }> {
  const fixture = await openApiFixture();
  const { url } = await fixture.start();
  const env = {
    DATABASE_URL: fixture.database.url,
    ENCRYPTION_KEY: encryptionKey,
    REDIS_URL: stackEnv.redisUrl,
    TEMPORAL_ADDRESS: stackEnv.temporalAddress,
    DOCKER_HOST: stackEnv.dockerHost,
    SANDBOX_IMAGE: stackEnv.scriptedImage,
    SANDBOX_RUNTIME: 'runc',
    DATA_DIR: '/tmp',
    PUBLIC_URL: url,
    INSTANCE: fixture.redis.instance,
    RECONCILE_EVERY_MS: '500', // the doctor waits for a pass
  };
  return { fixture, env };
}
