export const answer = fetch('https://example.org');
