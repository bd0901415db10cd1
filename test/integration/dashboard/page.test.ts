// The web page in one browser, because it takes seconds to start.

import { describe } from 'vitest';
import { chatTests } from './chat-tests.ts';
import { homeTests } from './home-tests.ts';
import { hostileTranscriptTests } from './hostile-transcript-tests.ts';
import { runTests } from './run-tests.ts';
import { usePage } from './use-page.ts';

const opened = usePage();

describe('the start of a project', () => homeTests(opened));
describe('runs', () => runTests(opened));
describe('chats', () => chatTests(opened));
describe('the text of agents', () => hostileTranscriptTests(opened));
