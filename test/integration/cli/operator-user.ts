// A user of the served command line with an operator token.

import { randomUUID } from 'node:crypto';
import { onTestFinished } from 'vitest';
import type { ApiFixture } from '../../support/api-fixture.ts';
import { type RemoteCli, remoteCli } from '../../support/remote-cli.ts';

/** An empty home folder, removed after the test. */
export function userWith(env: Record<string, string> = {}): RemoteCli {
  const flowrun = remoteCli(env);
  onTestFinished(() => flowrun.remove());
  return flowrun;
}

/** A new operator's token, for the given projects or for all. */
export async function newToken(
  { stores }: Pick<ApiFixture, 'stores'>,
  projectIds?: string[],
): Promise<string> {
  const operator = `olga-${randomUUID()}`;
  await stores.operators.invite(operator);
  const expiresAt = new Date(Date.now() + 3_600_000);
  const ofProjects = projectIds === undefined ? {} : { projectIds };
  const fields = { operator, name: 'laptop', expiresAt, ...ofProjects };
  return (await stores.operatorTokens.create(fields))?.token ?? '';
}
