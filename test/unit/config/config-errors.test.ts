import { describe, expect, test } from 'vitest';
import { apiVariables } from '../../../config/api-variables.ts';
import { readApiConfig, readWorkerConfig } from '../../../config/config.ts';
import { ConfigError } from '../../../config/config-error.ts';
import { initialResourceVariables } from '../../../config/initial-resources-config.ts';
import { retiredSettings } from '../../../config/retired-settings.ts';
import { serviceVariables, workerVariables } from '../../../config/variables.ts';
import { env } from './config-env.ts';

describe('an error names the invalid settings, but no value', () => {
  const failureOf = (change: Record<string, string | undefined>): string => {
    try {
      readWorkerConfig({ ...env, ...change });
      readApiConfig({ ...env, ...change });
    } catch (error) {
      expect(error).toBeInstanceOf(ConfigError);
      return (error as ConfigError).message;
    }
    throw new Error('the configuration was accepted');
  };

  test('all missing settings at once', () => {
    const lines = failureOf({ DATABASE_URL: undefined, REDIS_URL: '', SANDBOX_IMAGE: undefined });
    expect(lines.split('\n')).toEqual([
      'DATABASE_URL is not set: expected a postgres:// address',
      'REDIS_URL is not set: expected a redis:// or rediss:// address',
      'SANDBOX_IMAGE is not set: expected the name of the sandbox image',
    ]);
  });

  test.each([
    ['DATABASE_URL', 'mysql://canary'],
    ['REDIS_URL', 'canary'],
    ['ENCRYPTION_KEY', 'canary'],
    ['INSTANCE', 'Canary!'],
    ['API_PORT', '70000'],
    ['API_PORT', '8e3'],
    ['PUBLIC_URL', 'canary.example'],
    ['PUBLIC_URL', 'https://flows.example/?canary'],
    ['PUBLIC_URL', 'https://flows.example/#canary'],
    ['PUBLIC_URL', 'https://canary@flows.example'],
    ['POSTGRES_DISK_DIR', 'canary/relative'],
    ['CORS_ORIGINS', 'canary.example'],
    ['CORS_ORIGINS', 'https://canary.example/'],
    ['CORS_ORIGINS', '*, https://canary.example'],
    ['TRUSTED_PROXIES', '10.0.0.0/33'],
    ['TRUSTED_PROXIES', '10.0.0.256'],
    ['TRUSTED_PROXIES', 'https://canary'],
    ['DATA_DIR', 'canary'],
    ['DATA_DIR', `/${'c'.repeat(83)}`],
    ['ANTHROPIC_API_KEY', 'two words'],
    ['DOCKER_HOST', '/var/run/canary.sock'],
    ['SANDBOX_RUNTIME', 'canary'],
    ['HOST_CAPACITY', '-1'],
    ['WORKER_POSTGRES_CONNECTIONS', '7'],
    ['WEBHOOK_CA_FILE', 'canary.crt'],
    ['WEBHOOK_ALLOW_PRIVATE', '10.0.0.0'],
    ['WEBHOOK_ALLOW_PRIVATE', '10.0.0.0/33'],
    ['EGRESS_ALLOW_PRIVATE', 'canary'],
    ['EGRESS_ALLOW_PRIVATE', 'canary:99999'],
    ['LOG_LEVEL', 'loud'],
    ['FAILPOINT', 'chat.canary'],
    ['LEASE_MS', '0'],
    ['LEASE_MS', '1.5'],
    ['MODEL_PRICES', 'canary'],
    ['MODEL_PRICES', '{"canary":{"input":3,"output":15}}'],
    ['MODEL_PRICES', '{"canary":{"input":-3,"output":15,"cacheRead":0}}'],
    ['MODEL_PRICES', '{"canary":{"input":3,"output":15,"cacheRead":0,"other":1}}'],
    ['MODEL_PRICES', '{"canary":{"input":3,"output":15,"cacheRead":0,"validFrom":"1.1.2027"}}'],
    ['MODEL_PRICES', '{"canary":[]}'],
  ])('%s=%s', (name, value) => {
    const message = failureOf({ [name]: value });
    expect(message).toMatch(new RegExp(`^${name} is wrong: expected .+`));
    expect(message).not.toContain('anary');
  });

  test('a number beyond the largest that is exact, with the bound', () => {
    const bytes = (value: string) => ({ DISK_RESERVE_BYTES: value, WORKSPACE_MAX_BYTES: value });
    const { sandboxLimits } = readWorkerConfig({ ...env, ...bytes('9007199254740991') });
    expect(sandboxLimits.workspaceBytes).toBe(Number.MAX_SAFE_INTEGER);
    for (const beyond of ['9007199254740992', '9007199254740993', '10000000000000000']) {
      const bound = 'expected a whole number from 1 to 9007199254740991';
      expect(failureOf({ WORKSPACE_MAX_BYTES: beyond })).toBe(
        `WORKSPACE_MAX_BYTES is wrong: ${bound}`,
      );
    }
  });

  test('a variable and its file that are both set', () => {
    expect(failureOf({ ENCRYPTION_KEY_FILE: '/dev/null' })).toBe(
      'ENCRYPTION_KEY and ENCRYPTION_KEY_FILE are both set: expected one',
    );
  });

  test('a missing file', () => {
    const message = failureOf({ ENCRYPTION_KEY: undefined, ENCRYPTION_KEY_FILE: '/nowhere/key' });
    expect(message).toContain('ENCRYPTION_KEY_FILE names a file that cannot be read: /nowhere/key');
  });

  test('a retired setting, with the one to use instead', () => {
    const named = (name: string) => failureOf({ [name]: '7' });
    expect(named('RUN_KEPT_DAYS')).toBe(
      'RUN_KEPT_DAYS is not used any more: set RUN_RETENTION_DAYS',
    );
    expect(named('MODEL_KEY_GIVEN_FILE')).toContain('HAS_MODEL_KEY');
    // The current name and an empty retired variable are accepted.
    const current = { ...env, RUN_RETENTION_DAYS: '7', RUN_KEPT_DAYS: '' };
    expect(readWorkerConfig(current).retention.runMs).toBe(7 * 24 * 3_600_000);
  });

  test('a missing Temporal address', () => {
    expect(failureOf({ TEMPORAL_ADDRESS: undefined })).toContain('TEMPORAL_ADDRESS is not set');
  });
});

test('every retired setting names a current one', () => {
  const current = {
    ...serviceVariables,
    ...apiVariables,
    ...workerVariables,
    ...initialResourceVariables,
  };
  for (const [retired, instead] of Object.entries(retiredSettings)) {
    expect(Object.keys(current)).not.toContain(retired);
    expect(Object.keys(current)).toContain(instead);
  }
});

test('every setting has a description', () => {
  const settings = {
    ...serviceVariables,
    ...apiVariables,
    ...workerVariables,
    ...initialResourceVariables,
  };
  for (const [name, { description }] of Object.entries(settings))
    expect(description, name).toMatch(/^[A-Z`].*\.$/);
});
