/** The stacks of this machine by their folders in FLOWRUN_DATA. */
export const stackNames = {
  /** The stack of `npm run demo` and `npm start`. */
  demo: 'demo',
  /** The stack of `npm test -- <file>`, which leaves it running. */
  testFiles: 'test-files',
  /** The stack of `npm test`. */
  test: 'test',
  bench: 'bench',
};
