import { useEffect } from 'preact/hooks';
import { HomeScreen } from '../home/home-screen.tsx';
import { RunsScreen } from '../runs/runs-screen.tsx';
import { SignInScreen } from '../sign-in/sign-in-screen.tsx';
import { FailureNote } from '../ui/failure-note.tsx';
import { Frame } from './frame.tsx';
import { lazyScreen } from './lazy-screen.tsx';
import { page, replaceWith } from './location.ts';
import { loadOperator, operator, projects, startFailure } from './operator.ts';
import { ShortcutList } from './shortcut-list.tsx';
import { isSignedOut } from './signed-out.ts';

const RunScreen = lazyScreen(async () => (await import('../run/run-screen.tsx')).RunScreen);
const ChatScreen = lazyScreen(async () => (await import('../chat/chat-screen.tsx')).ChatScreen);
const ChatsScreen = lazyScreen(async () => (await import('../chat/chats-screen.tsx')).ChatsScreen);

/** The screen at the address. Operators who are not signed in see how to sign in. */
export function App() {
  if (page.value?.name === 'signIn' || isSignedOut.value) return <SignInScreen />;
  if (startFailure.value !== null) {
    return (
      <main class="alone">
        <h1>Flowrun</h1>
        <FailureNote failure={startFailure.value} onRetry={() => void loadOperator()} />
      </main>
    );
  }
  if (operator.value === null) return <main class="alone" aria-busy="true" aria-label="Loading" />;
  return (
    <Frame>
      <Screen />
      <ShortcutList />
    </Frame>
  );
}

function Screen() {
  const { name, params } = page.value ?? { name: 'start', params: {} };
  const { projectId = '', runId = '' } = params;
  switch (name) {
    case 'chat':
      return <ChatScreen key={runId} projectId={projectId} runId={runId} />;
    case 'chats':
      return <ChatsScreen key={projectId} projectId={projectId} />;
    case 'run':
      return <RunScreen key={runId} projectId={projectId} runId={runId} />;
    case 'home':
      return <HomeScreen key={projectId} projectId={projectId} />;
    case 'runs':
      return <RunsScreen key={projectId} projectId={projectId} />;
    default:
      return <Start />;
  }
}

/** Opens the project that was used last, or the first one. */
function Start() {
  const known = projects.value.map(({ projectId }) => projectId);
  const last = lastProject();
  const projectId = last !== null && known.includes(last) ? last : known[0];
  useEffect(() => {
    if (projectId !== undefined) replaceWith('home', { projectId });
  }, [projectId]);
  if (projectId !== undefined) return null;
  return (
    <div class="empty">
      <h1>No projects</h1>
      <p>
        A project has flows, keys and limits. <code>flowrun hello</code> creates one with a flow and
        a key, and starts a run.
      </p>
    </div>
  );
}

function lastProject(): string | null {
  return localStorage.getItem('project');
}
