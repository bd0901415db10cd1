import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { PageName } from '../../core/page/page-paths.ts';
import { hrefOf, open, page } from './location.ts';
import { operator, projects, signOut } from './operator.ts';

interface Place {
  name: PageName;
  title: string;
  /** Pages that belong to the same place. */
  also: readonly PageName[];
}

const places: readonly Place[] = [
  { name: 'home', title: 'Home', also: [] },
  { name: 'runs', title: 'Runs', also: ['run'] },
  { name: 'chats', title: 'Chat', also: ['chat'] },
];

/** What surrounds every screen: the project, the places to go, and the operator. */
export function Frame({ children }: { children: ComponentChildren }) {
  const isOpen = useSignal(false);
  const here = page.value?.name;
  const projectId = page.value?.params['projectId'];
  useEffect(() => {
    isOpen.value = false;
    if (projectId !== undefined) localStorage.setItem('project', projectId);
  }, [projectId, here]);

  return (
    <div class="frame">
      <a class="skip" href="#main" onClick={skipToMain}>
        Skip to content
      </a>
      <header class="side">
        <div class="brand">
          <a href={hrefOf('start')}>Flowrun</a>
          <button
            type="button"
            class="menu quiet"
            aria-expanded={isOpen.value}
            aria-controls="places"
            onClick={() => {
              isOpen.value = !isOpen.value;
            }}
          >
            Menu
          </button>
        </div>
        <div id="places" class={isOpen.value ? 'places open' : 'places'}>
          {projectId !== undefined && <ProjectChoice projectId={projectId} />}
          <nav aria-label="Screens">
            {projectId !== undefined &&
              places.map(({ name, title, also }) => (
                <a
                  key={name}
                  href={hrefOf(name, { projectId })}
                  aria-current={
                    here !== undefined && [name, ...also].includes(here) ? 'page' : undefined
                  }
                >
                  {title}
                </a>
              ))}
          </nav>
          <div class="who">
            <span class="cut">{operator.value?.name}</span>
            <button type="button" class="quiet" onClick={() => void signOut()}>
              Sign out
            </button>
          </div>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}

function skipToMain(event: Event): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

function ProjectChoice({ projectId }: { projectId: string }) {
  return (
    <label class="choice">
      <span class="hidden">Project</span>
      <select
        value={projectId}
        onChange={({ currentTarget }) => open('home', { projectId: currentTarget.value })}
      >
        {projects.value.map((project) => (
          <option key={project.projectId} value={project.projectId}>
            {project.name}
          </option>
        ))}
      </select>
    </label>
  );
}
