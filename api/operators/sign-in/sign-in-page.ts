import { createHash } from 'node:crypto';
import type { ApiDeps } from '../../deps.ts';
import { linkList } from '../../http/landing-page.ts';

/**
 * The page that a sign-in link opens. The code is in the URL fragment, which is never sent to a
 * server or to a link preview. It is used only when the button is clicked.
 */
const script = `
const code = location.hash.slice(1);
history.replaceState(null, '', location.pathname);
const show = (text) => { document.querySelector('p').textContent = text; };
const button = document.querySelector('button');
if (code === '') { button.hidden = true; show('This link is incomplete.'); }
button.addEventListener('click', async () => {
  button.disabled = true;
  try {
    const answer = await fetch('api/sign-in', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code }),
    });
    const { data, error } = await answer.json();
    button.hidden = answer.ok || answer.status === 401;
    if (answer.ok) show('You are signed in as ' + data.name + '.');
    else if (answer.status === 401) show('This link was used or has expired.');
    else show(error.message);
  } catch {
    show('The service is unreachable. Try again.');
  }
  button.disabled = false;
});
`;

const offlineNote = `
<aside>No model key is set on this machine. If no host has one, a small offline model answers with
made-up text, and the records of its runs say so. Set ANTHROPIC_API_KEY to use a real model.</aside>`;

export const signInPage = (
  deps: Pick<ApiDeps, 'offlineModel' | 'publicUrl' | 'temporalUiUrl'>,
) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Sign in</title>
<p>Sign in as an operator of this service.</p>
<button type="button">Sign in</button>${deps.offlineModel ? offlineNote : ''}
${linkList(deps)}
<script>${script}</script>
</html>
`;

const scriptHash = createHash('sha256').update(script).digest('base64');

export const signInPageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; script-src 'sha256-${scriptHash}'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};
