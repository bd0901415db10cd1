/** The stacks of this machine by their folders in FLOWRUN_DATA. */
export const stackNames = {
  /** Of `npm run demo` and `npm start`. */
  demo: 'demo',
  /** Of `npm test -- <file>`, which leaves it running. */
  testFiles: 'test-files',
  /** Of `npm test`. */
  test: 'test',
  bench: 'bench',
};
