import { type ApiFixture, type ApiProcess, publicUrl } from '../../../support/api-fixture.ts';
import { type Answer, type CallOptions, caller } from '../call.ts';

export type OperatorClient = (path: string, options?: CallOptions) => Promise<Answer>;

export const sameOrigin = { origin: publicUrl };

/** The cookie that an answer sets, as a browser sends it back. */
export const cookieOf = (answer: Answer): string =>
  (answer.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '';

export function operatorWith(api: Pick<ApiProcess, 'url'>, cookie: string): OperatorClient {
  const call = caller(api, null);
  return (path, options = {}) =>
    call(path, { ...options, headers: { ...sameOrigin, cookie, ...options.headers } });
}

/** An operator who has signed in by a link. */
export async function signedIn(
  fixture: ApiFixture,
  api: Pick<ApiProcess, 'url'>,
  name = 'olga',
): Promise<OperatorClient> {
  const { code } = await fixture.stores.operators.invite(name);
  const answer = await caller(api, null)('/api/sign-in', { body: { code }, headers: sameOrigin });
  if (answer.status !== 200) throw new Error(`not signed in: ${answer.text}`);
  return operatorWith(api, cookieOf(answer));
}
