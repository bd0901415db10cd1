import { expect, test } from 'vitest';
import { useApi } from './use-api.ts';

const { fixture } = useApi();

test('links the parts of the service for clients that are no browsers', async () => {
  const publicUrl = 'http://127.0.0.1/flows';
  const { url } = await fixture.start({ publicUrl, temporalUiUrl: 'http://127.0.0.1:8233' });
  const json = await fetch(`${url}/`);
  expect(await json.json()).toEqual({
    data: {
      links: {
        openapi: 'http://127.0.0.1/flows/api/v1/openapi.json',
        postman: 'http://127.0.0.1/flows/api/v1/postman.json',
        client: 'http://127.0.0.1/flows/client.tgz',
        clientPython: 'http://127.0.0.1/flows/client-python.tar.gz',
        cli: 'http://127.0.0.1/flows/cli.tgz',
        readiness: 'http://127.0.0.1/flows/readyz',
        signIn: 'http://127.0.0.1/flows/sign-in',
        temporalUi: 'http://127.0.0.1:8233/',
      },
    },
  });
  const html = await fetch(`${url}/`, { headers: { accept: 'text/html,*/*' } });
  expect(html.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect((await fetch(`${url}/`, { method: 'POST' })).status).toBe(405);
  expect((await fetch(`${url}/nothing`)).status).toBe(404);
});
