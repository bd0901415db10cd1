// The setup of most API tests: opened before the tests of a file and closed after them, in one
// line.

import { afterAll, beforeAll } from 'vitest';
import {
  type ApiFixture,
  type ApiProcess,
  openApiFixture,
  type Tenant,
} from '../../support/api-fixture.ts';
import { type CallOptions, caller } from './call.ts';

/** A fixture with one process of the API. */
export function useApi() {
  // Empty until `beforeAll`, so that they can be constants; no test runs before that.
  const fixture = {} as ApiFixture;
  const api = {} as ApiProcess;
  beforeAll(async () => {
    Object.assign(fixture, await openApiFixture());
    Object.assign(api, await fixture.start());
  });
  afterAll(() => fixture.close());
  return { fixture, api };
}

/** The same with a project, a flow, and a key that `call` uses. */
export function useTenant() {
  const { fixture, api } = useApi();
  // Empty until `beforeAll`, as above.
  const tenant = {} as Tenant;
  beforeAll(async () => {
    Object.assign(tenant, await fixture.tenant());
  });
  const call = (path: string, options?: CallOptions) => caller(api, tenant.key)(path, options);
  return { fixture, api, tenant, call };
}
