import { checks } from '../../cli/doctor/registry.ts';
import { type CheckOutcome, runChecks } from '../../cli/doctor/run-checks.ts';
import { withDoctor } from '../../cli/open-doctor.ts';
import { type ApiWorld, openApiWorld } from './api-world.ts';
import { stackEnv } from './stack-env.ts';

export interface Diagnosis {
  outcomes: CheckOutcome[];
  of(name: string): CheckOutcome;
  /** What is wrong and what to do, in one text; empty where this is not wrong. */
  about(code: string): string;
}

/** Sees, or with `fix` mends, what it was given by the environment alone. */
export type Doctor = (how?: { fix: boolean }) => Promise<Diagnosis>;

export function doctorWith(env: Record<string, string>): Doctor {
  return async ({ fix } = { fix: false }) => {
    const how = { fix, told: () => undefined };
    const outcomes = await withDoctor((parts) => runChecks(checks, parts, how), env);
    const troubles = outcomes.flatMap((outcome) => outcome.troubles);
    return {
      outcomes,
      of(name) {
        const found = outcomes.find((outcome) => outcome.name === name);
        if (!found) throw new Error(`nothing is said of ${name}`);
        return found;
      },
      about(wanted) {
        const found = troubles.find((trouble) => trouble.code === wanted);
        return found ? `${found.what} ${found.advice}` : '';
      },
    };
  };
}

/** An API, and what tells a doctor of all that it stands on. */
export async function openDoctorWorld(
  encryptionKey: string,
): Promise<{ world: ApiWorld; env: Record<string, string> }> {
  const world = await openApiWorld();
  const { url } = await world.start();
  const env = {
    DATABASE_URL: world.database.url,
    ENCRYPTION_KEY: encryptionKey,
    REDIS_URL: stackEnv.redisUrl,
    TEMPORAL_ADDRESS: stackEnv.temporalAddress,
    DOCKER_HOST: stackEnv.dockerHost,
    SANDBOX_IMAGE: stackEnv.scriptedImage,
    SANDBOX_RUNTIME: 'runc',
    DATA_DIR: '/tmp',
    PUBLIC_URL: url,
    INSTANCE: world.redis.instance,
  };
  return { world, env };
}
