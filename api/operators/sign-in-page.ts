import { createHash } from 'node:crypto';

/**
 * The page that a sign-in link opens. The code stands behind the `#`, where neither a log nor a
 * preview of the link gets to see it, and is used up only when a person says so.
 */
const script = `
const code = location.hash.slice(1);
history.replaceState(null, '', location.pathname);
const say = (text) => { document.querySelector('p').textContent = text; };
const button = document.querySelector('button');
if (code === '') { button.hidden = true; say('This link is not complete.'); }
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
    if (answer.ok) say('You are signed in as ' + data.name + '.');
    else if (answer.status === 401) say('This link was used before, or is too old.');
    else say(error.message);
  } catch {
    say('The service does not answer. Try again.');
  }
  button.disabled = false;
});
`;

const offlineNote = `
<aside>No model key is set: a small offline model answers, with made-up words.
Set ANTHROPIC_API_KEY for the real one.</aside>`;

export const signInPage = ({ offlineModel }: { offlineModel: boolean }) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Sign in</title>
<p>Sign in as an operator of this service.</p>
<button type="button">Sign in</button>${offlineModel ? offlineNote : ''}
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
