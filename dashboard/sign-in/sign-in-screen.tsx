import { signal, useSignal } from '@preact/signals';
import { isFlowrunError } from '../../client/http/errors.ts';
import { page, replaceWith } from '../shell/location.ts';
import { signIn } from '../shell/operator.ts';
import { basePath, hasOfflineModel, temporalUiUrl } from '../shell/settings.ts';
import { failureOf } from '../ui/failure.ts';
import { useTitle } from '../ui/use-title.ts';

/** The code of the link. */
const code = signal('');
takeCode();
addEventListener('hashchange', takeCode);

/** The code leaves the address at once, so that no history keeps it. */
function takeCode(): void {
  const { hash, pathname } = location;
  if (page.value?.name !== 'signIn' || hash === '') return;
  code.value = hash.slice(1);
  history.replaceState(null, '', pathname);
}

/** Uses the code of a link, once its button is clicked: a preview of a link does not use it up. */
export function SignInScreen() {
  const failure = useSignal('');
  useTitle('Sign in');
  const canSignIn = code.value !== '';
  const isBusy = useSignal(false);

  async function useCode(): Promise<void> {
    isBusy.value = true;
    try {
      await signIn(code.value);
      code.value = '';
      replaceWith('start');
    } catch (error) {
      const isUsed = isFlowrunError(error) && error.status === 401;
      if (isUsed) code.value = '';
      failure.value = isUsed ? usedCode : failureOf(error).message;
    } finally {
      isBusy.value = false;
    }
  }

  return (
    <main class="alone">
      <h1>Flowrun</h1>
      <p role="status">{failure.value || (canSignIn ? ready : noCode)}</p>
      {canSignIn && (
        <button
          type="button"
          class="primary"
          disabled={isBusy.value}
          onClick={() => void useCode()}
        >
          Sign in
        </button>
      )}
      {!canSignIn && (
        <p class="muted">
          <code>flowrun operator add NAME</code> prints a link. It works once, within 24 hours.
        </p>
      )}
      {hasOfflineModel && <OfflineNote />}
      <Links />
    </main>
  );
}

const ready = 'Sign in as an operator of this service.';
const noCode = 'Open a sign-in link to use this page.';
const usedCode = 'This link was already used or has expired.';

function OfflineNote() {
  return (
    <aside class="note">
      No model key is set on this machine. If no host has one, a small offline model answers with
      made-up text, and the records of its runs say so. Set ANTHROPIC_API_KEY to use a real model.
    </aside>
  );
}

function Links() {
  return (
    <ul class="links">
      <li>
        <a href={`${basePath}api/v1/openapi.json`}>OpenAPI description</a>
      </li>
      <li>
        <a href={`${basePath}client.tgz`}>TypeScript client</a>
      </li>
      <li>
        <a href={`${basePath}cli.tgz`}>Command line</a>
      </li>
      <li>
        <a href={`${basePath}readyz`}>Readiness</a>
      </li>
      {temporalUiUrl !== null && (
        <li>
          <a href={temporalUiUrl}>Temporal UI</a>
        </li>
      )}
    </ul>
  );
}
